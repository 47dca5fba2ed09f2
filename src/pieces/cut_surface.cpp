#include "pieces/cut_surface.hpp"

#include <cmath>
#include <unordered_map>

#include <Eigen/Dense>

#include "pieces/chains.hpp"
#include "pieces/edges.hpp"
#include "pieces/triangulate.hpp"
#include "recoil/geometry/box_tree.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::pieces {

namespace {

using Triangle = std::array<std::int32_t, 3>;
constexpr std::int32_t outside = 0, inside = 1;

/// 1 if pq passes through abc from below to above, -1 if from above, 0 if it does not.
/// @throws Degenerate if it may do so in an edge or with an end.
int passes(const Point<3>& p, const Point<3>& q, const Point<3>& a, const Point<3>& b, const Point<3>& c) {
  using geometry::orientation;
  const int from = orientation(a, b, c, p), to = orientation(a, b, c, q);
  if (from == to && from != 0) return 0;
  const int sides[3] = {orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a)};
  const auto has = [&](int side) { return sides[0] == side || sides[1] == side || sides[2] == side; };
  if (has(1) && has(-1)) return 0;
  if (has(0) || from == 0 || to == 0) throw Degenerate{};
  return to;
}

/// A line in which a facet of the surface and one of the faults meet. Seen on the facet of the surface its
/// left is below the fault, seen on the fault its left is outside.
struct Segment {
  std::int32_t from, to, fault;
};

struct HalfEdge {
  std::int32_t from, to, label; ///< of the face to its left
};

class SurfaceCutter {
public:
  SurfaceCutter(const cage::Solid<3>& solid, const cage::CutCells<3>& cells,
                const std::vector<Point<3>>& moved, const std::vector<cage::Interface<3>>& faults)
      : solid_(solid), cells_(cells), faults_(faults), facets_(solid.surface.facets),
        num_surface_(static_cast<std::int32_t>(solid.surface.vertices.size())) {
    result_.points = solid.surface.vertices;
    result_.points.insert(result_.points.end(), moved.begin(), moved.end());
    for (const auto& fault : faults) {
      fault_facets_.push_back({fault.vertices[0] + num_surface_, fault.vertices[1] + num_surface_,
                               fault.vertices[2] + num_surface_});
      largest_label_ = std::max({largest_label_, fault.below, fault.above});
    }
    for (const auto label : cells.labels) largest_label_ = std::max(largest_label_, label);
    result_.of_label.resize(largest_label_ + 1);
  }

  CutSurfaces<3> cut() {
    const Edges surface_edges(facets_), fault_edges(fault_facets_);
    find_segments(surface_edges, fault_edges);
    for (auto* chains : {&surface_chains_, &fault_chains_})
      for (auto& chain : *chains) sort_chain(chain);
    const auto labels = vertex_labels(result_.points.size(), surface_edges.ends, surface_chains_,
                                      [&](std::int32_t v) { return label_at(cells_, result_.points[v]); });
    const cage::WindingTree<3> tree(solid_.surface);
    const auto insides =
        vertex_labels(result_.points.size(), fault_edges.ends, fault_chains_,
                      [&](std::int32_t v) { return tree.encloses(result_.points[v]) ? inside : outside; });
    for (std::size_t t = 0; t < facets_.size(); ++t) {
      std::vector<HalfEdge> inner;
      for (const auto& segment : on_facets_[t]) {
        inner.push_back({segment.from, segment.to, faults_[segment.fault].below});
        inner.push_back({segment.to, segment.from, faults_[segment.fault].above});
      }
      subdivide(facets_[t], surface_edges, t, surface_chains_, labels, std::move(inner),
                [&](const Triangle& part, std::int32_t label) {
                  result_.of_label[label].push_back({part, -1, solid_.parents[t]});
                });
    }
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      std::vector<HalfEdge> inner;
      for (const auto& segment : on_faults_[f]) {
        inner.push_back({segment.from, segment.to, outside});
        inner.push_back({segment.to, segment.from, inside});
      }
      const auto [below, above] = std::pair(faults_[f].below, faults_[f].above);
      subdivide(fault_facets_[f], fault_edges, f, fault_chains_, insides, std::move(inner),
                [&](const Triangle& part, std::int32_t label) {
                  if (label != inside) return;
                  result_.of_label[below].push_back({part, above, -1});
                  result_.of_label[above].push_back({{part[1], part[0], part[2]}, below, -1});
                });
    }
    return std::move(result_);
  }

private:
  void find_segments(const Edges& surface_edges, const Edges& fault_edges) {
    surface_chains_.resize(surface_edges.ends.size());
    fault_chains_.resize(fault_edges.ends.size());
    on_facets_.resize(facets_.size());
    on_faults_.resize(faults_.size());
    if (faults_.empty()) return;
    std::vector<Eigen::AlignedBox3d> boxes;
    for (const auto& facet : fault_facets_) boxes.push_back(box(facet));
    const geometry::BoxTree tree(std::move(boxes));
    for (std::size_t t = 0; t < facets_.size(); ++t)
      for (const auto f : tree.meeting(box(facets_[t]))) {
        Segment segment{-1, -1, f};
        const auto end = [&](bool begins, std::int32_t vertex) {
          auto& place = begins ? segment.from : segment.to;
          if (place >= 0) throw Degenerate{};
          place = vertex;
        };
        for (int k = 0; k < 3; ++k) {
          const auto edge = surface_edges.of_triangle[t][k];
          const auto& crossing =
              meet(surface_edges.ends[edge], fault_facets_[f], std::int64_t{edge} << 32 | f, surface_known_,
                   surface_chains_[edge], faults_[f].below, faults_[f].above);
          const int along = facets_[t][k] == surface_edges.ends[edge][0] ? 1 : -1;
          if (crossing.direction != 0) end(crossing.direction * along > 0, crossing.vertex);
        }
        for (int k = 0; k < 3; ++k) {
          const auto edge = fault_edges.of_triangle[f][k];
          const auto& crossing = meet(fault_edges.ends[edge], facets_[t],
                                      std::int64_t{edge} << 32 | static_cast<std::int64_t>(t), fault_known_,
                                      fault_chains_[edge], inside, outside);
          const int along = fault_facets_[f][k] == fault_edges.ends[edge][0] ? 1 : -1;
          if (crossing.direction != 0) end(crossing.direction * along < 0, crossing.vertex);
        }
        if ((segment.from >= 0) != (segment.to >= 0)) throw Degenerate{};
        if (segment.from < 0) continue;
        on_facets_[t].push_back(segment);
        on_faults_[f].push_back(segment);
      }
  }

  struct Meeting {
    int direction;
    std::int32_t vertex;
  };
  using Known = std::unordered_map<std::int64_t, Meeting>;

  /// Whether an edge passes through a facet; a new point of its chain if so.
  const Meeting& meet(const std::array<std::int32_t, 2>& edge, const Triangle& facet, std::int64_t key,
                      Known& known, std::vector<Crossing>& chain, std::int32_t below, std::int32_t above) {
    const auto [entry, is_new] = known.try_emplace(key, Meeting{0, -1});
    if (!is_new) return entry->second;
    auto& x = result_.points;
    const Point<3> p = x[edge[0]], q = x[edge[1]], a = x[facet[0]], b = x[facet[1]], c = x[facet[2]];
    const int direction = passes(p, q, a, b, c);
    if (direction == 0) return entry->second;
    const Point<3> normal = (b - a).cross(c - a);
    const double from = std::abs(normal.dot(p - a)), to = std::abs(normal.dot(q - a));
    const double t = from + to > 0 ? from / (from + to) : 0.5;
    entry->second = {direction, static_cast<std::int32_t>(x.size())};
    x.push_back(p + t * (q - p));
    chain.push_back({t, direction > 0 ? below : above, direction > 0 ? above : below, entry->second.vertex});
    return entry->second;
  }

  /// Calls emit(triangle, label) for the parts of a facet between the lines `inner` and its sides.
  template <class Emit>
  void subdivide(const Triangle& facet, const Edges& edges, std::size_t number,
                 const std::vector<std::vector<Crossing>>& chains, const std::vector<std::int32_t>& labels,
                 std::vector<HalfEdge> inner, const Emit& emit) {
    std::vector<HalfEdge> half_edges;
    for (int k = 0; k < 3; ++k) {
      const auto edge = edges.of_triangle[number][k];
      const auto& chain = chains[edge];
      const bool is_along = facet[k] == edges.ends[edge][0];
      HalfEdge last{facet[k], -1, labels[facet[k]]};
      for (std::size_t n = 0; n < chain.size(); ++n) {
        const auto& crossing = is_along ? chain[n] : chain[chain.size() - 1 - n];
        last.to = crossing.vertex;
        half_edges.push_back(last);
        last = {crossing.vertex, -1, is_along ? crossing.after : crossing.before};
      }
      last.to = facet[(k + 1) % 3];
      half_edges.push_back(last);
    }
    if (half_edges.size() == 3 && inner.empty()) return emit(facet, labels[facet[0]]);
    const auto num_sides = half_edges.size();
    half_edges.insert(half_edges.end(), inner.begin(), inner.end());
    const auto faces = trace_faces(facet, half_edges, num_sides);
    for (const auto& [label, loops] : faces)
      for (const auto& triangle : triangulate(places_, loops))
        emit({globals_[triangle[0]], globals_[triangle[1]], globals_[triangle[2]]}, label);
  }

  struct Face {
    std::int32_t label;
    std::vector<Loop> loops;
  };

  /// The faces of a facet that half-edges divide: after one follows the one from its end with its label.
  std::vector<Face> trace_faces(const Triangle& facet, const std::vector<HalfEdge>& half_edges,
                                std::size_t num_sides) {
    globals_.clear();
    places_.clear();
    std::unordered_map<std::int32_t, std::int32_t> locals;
    const auto& x = result_.points;
    const Point<3> origin = x[facet[0]];
    const Point<3> normal = (x[facet[1]] - origin).cross(x[facet[2]] - origin);
    int axis = 0;
    normal.cwiseAbs().maxCoeff(&axis);
    const bool mirrored = normal[axis] < 0;
    const auto local = [&](std::int32_t v) {
      const auto [entry, is_new] = locals.try_emplace(v, static_cast<std::int32_t>(globals_.size()));
      if (is_new) {
        globals_.push_back(v);
        const Point<3> r = x[v] - origin;
        const double first = r[(axis + 1) % 3], second = r[(axis + 2) % 3];
        places_.emplace_back(mirrored ? second : first, mirrored ? first : second);
      }
      return entry->second;
    };
    std::unordered_map<std::int64_t, std::size_t> leaving; // by vertex and label
    for (std::size_t h = 0; h < half_edges.size(); ++h) {
      const auto key = std::int64_t{half_edges[h].from} << 32 | half_edges[h].label;
      if (!leaving.emplace(key, h).second) throw Degenerate{};
    }
    std::vector<char> used(half_edges.size(), 0);
    std::vector<Face> faces, holes;
    for (std::size_t start = 0; start < half_edges.size(); ++start) {
      if (used[start]) continue;
      Face face{half_edges[start].label, {{}}};
      bool touches_side = false;
      for (auto h = start; !used[h];) {
        used[h] = 1;
        touches_side |= h < num_sides;
        face.loops[0].push_back(local(half_edges[h].from));
        const auto next = leaving.find(std::int64_t{half_edges[h].to} << 32 | face.label);
        if (next == leaving.end()) throw Degenerate{};
        h = next->second;
        if (used[h] && h != start) throw Degenerate{};
      }
      if (face.loops[0].size() < 3) throw Degenerate{};
      const bool is_outer = touches_side || doubled_area(places_, face.loops[0]) > 0;
      (is_outer ? faces : holes).push_back(std::move(face));
    }
    for (auto& hole : holes) place_hole(faces, hole);
    return faces;
  }

  /// Gives a hole to the smallest face of its label around it.
  void place_hole(std::vector<Face>& faces, Face& hole) const {
    Face* around = nullptr;
    for (auto& face : faces)
      if (face.label == hole.label && is_inside(places_, face.loops[0], places_[hole.loops[0][0]]) &&
          (around == nullptr ||
           doubled_area(places_, face.loops[0]) < doubled_area(places_, around->loops[0])))
        around = &face;
    if (around == nullptr) throw Degenerate{};
    around->loops.push_back(std::move(hole.loops[0]));
  }

  Eigen::AlignedBox3d box(const Triangle& facet) const {
    Eigen::AlignedBox3d box;
    for (const auto v : facet) box.extend(result_.points[v]);
    return box;
  }

  const cage::Solid<3>& solid_;
  const cage::CutCells<3>& cells_;
  const std::vector<cage::Interface<3>>& faults_;
  const std::vector<Triangle>& facets_;
  std::vector<Triangle> fault_facets_; ///< by numbers of the body
  std::int32_t num_surface_, largest_label_ = 0;
  CutSurfaces<3> result_;
  Known surface_known_, fault_known_;
  std::vector<std::vector<Crossing>> surface_chains_, fault_chains_;
  std::vector<std::vector<Segment>> on_facets_, on_faults_;
  std::vector<std::int32_t> globals_;   ///< points of the facet at work
  std::vector<Eigen::Vector2d> places_; ///< in its plane
};

} // namespace

CutSurfaces<3> cut_surfaces(const cage::Solid<3>& solid, const cage::CutCells<3>& cells,
                            const std::vector<Point<3>>& moved,
                            const std::vector<cage::Interface<3>>& faults) {
  return SurfaceCutter(solid, cells, moved, faults).cut();
}

} // namespace recoil::pieces

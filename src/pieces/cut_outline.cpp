#include <cmath>

#include <Eigen/Geometry>

#include "pieces/chains.hpp"
#include "recoil/geometry/box_tree.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::pieces {

namespace {

constexpr std::int32_t out_of_outline = 0, in_outline = 1;

Eigen::AlignedBox3d box_of_edge(const Point<2>& a, const Point<2>& b) {
  Eigen::AlignedBox3d box(Eigen::Vector3d(a.x(), a.y(), 0));
  box.extend(Eigen::Vector3d(b.x(), b.y(), 0));
  return box;
}

} // namespace

CutSurfaces<2> cut_surfaces(const cage::Solid<2>& solid, const cage::CutCells<2>& cells,
                            const std::vector<Point<2>>& moved,
                            const std::vector<cage::Interface<2>>& faults) {
  using geometry::orientation;
  CutSurfaces<2> result;
  auto& x = result.points;
  x = solid.surface.vertices;
  const auto num_surface = static_cast<std::int32_t>(x.size());
  x.insert(x.end(), moved.begin(), moved.end());
  const auto& outline = solid.surface.facets;
  std::vector<std::array<std::int32_t, 2>> lines;
  std::vector<Eigen::AlignedBox3d> boxes;
  std::int32_t largest = *std::max_element(cells.labels.begin(), cells.labels.end());
  for (const auto& fault : faults) {
    lines.push_back({fault.vertices[0] + num_surface, fault.vertices[1] + num_surface});
    boxes.push_back(box_of_edge(x[lines.back()[0]], x[lines.back()[1]]));
  }
  result.of_label.resize(largest + 1);
  std::vector<std::vector<Crossing>> outline_chains(outline.size()), line_chains(lines.size());
  if (!lines.empty()) {
    const geometry::BoxTree tree(std::move(boxes));
    for (std::size_t e = 0; e < outline.size(); ++e) {
      const Point<2> p = x[outline[e][0]], q = x[outline[e][1]];
      for (const auto f : tree.meeting(box_of_edge(p, q))) {
        const Point<2> a = x[lines[f][0]], b = x[lines[f][1]];
        const int from = orientation(a, b, p), to = orientation(a, b, q);
        const int first = orientation(p, q, a), second = orientation(p, q, b);
        if ((from == to && from != 0) || (first == second && first != 0)) continue;
        if (from * to * first * second == 0) throw Degenerate{};
        const auto vertex = static_cast<std::int32_t>(x.size());
        const auto share = [](const Point<2>& u, const Point<2>& v, const Point<2>& c, const Point<2>& d) {
          const Point<2> normal(c.y() - d.y(), d.x() - c.x());
          const double before = std::abs(normal.dot(u - c)), behind = std::abs(normal.dot(v - c));
          return before + behind > 0 ? before / (before + behind) : 0.5;
        };
        const double t = share(p, q, a, b);
        // the normal of a fault, to the right of it, points above; the body lies to the left of its outline
        const auto [below, above] = std::pair(faults[f].below, faults[f].above);
        outline_chains[e].push_back({t, from > 0 ? below : above, from > 0 ? above : below, vertex});
        line_chains[f].push_back({share(a, b, p, q), first > 0 ? in_outline : out_of_outline,
                                  first > 0 ? out_of_outline : in_outline, vertex});
        x.push_back(p + t * (q - p));
      }
    }
  }
  for (auto* chains : {&outline_chains, &line_chains})
    for (auto& chain : *chains) sort_chain(chain);
  const auto labels =
      vertex_labels(x.size(), outline, outline_chains, [&](std::int32_t v) { return label_at(cells, x[v]); });
  const cage::WindingTree<2> tree(solid.surface);
  const auto insides = vertex_labels(x.size(), lines, line_chains, [&](std::int32_t v) {
    return tree.encloses(x[v]) ? in_outline : out_of_outline;
  });
  const auto for_parts = [](const std::array<std::int32_t, 2>& edge, const std::vector<Crossing>& chain,
                            std::int32_t label, const auto& what) {
    auto from = edge[0];
    for (const auto& crossing : chain) {
      what(std::array{from, crossing.vertex}, label);
      from = crossing.vertex;
      label = crossing.after;
    }
    what(std::array{from, edge[1]}, label);
  };
  for (std::size_t e = 0; e < outline.size(); ++e)
    for_parts(outline[e], outline_chains[e], labels[outline[e][0]],
              [&](const auto& part, std::int32_t label) {
                result.of_label[label].push_back({part, -1, solid.parents[e]});
              });
  for (std::size_t f = 0; f < lines.size(); ++f)
    for_parts(lines[f], line_chains[f], insides[lines[f][0]], [&](const auto& part, std::int32_t label) {
      if (label != in_outline) return;
      result.of_label[faults[f].below].push_back({part, faults[f].above, -1});
      result.of_label[faults[f].above].push_back({{part[1], part[0]}, faults[f].below, -1});
    });
  return result;
}

} // namespace recoil::pieces

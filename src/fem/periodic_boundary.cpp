#include "recoil/fem/periodic_boundary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/union_find.hpp"
#include "recoil/fem/pieces.hpp"
#include "recoil/geometry/point_table.hpp"

namespace recoil::fem {

namespace {

template <int dim>
std::string in_text(const Eigen::Matrix<double, dim, 1>& point) {
  std::string text = "(";
  for (int i = 0; i < dim; ++i) text += (i > 0 ? ", " : "") + fmt::format("{:.9g}", point[i]);
  return text + ")";
}

constexpr const char* component_names = "xyz";

} // namespace

/// A node on one side or more.
template <int dim>
struct PeriodicBoundary<dim>::SideNode {
  Point position;
  GlobalIndex canonical, global;
  unsigned minus, plus; ///< bit k: on that side of period k
  unsigned prescribed;  ///< bit i: component i is
  std::size_t piece;
  std::size_t leader = 0; ///< place of the node that it follows; its own place where it follows none
};

/// The nodes of all sides, on every rank in the order of their canonical numbers.
template <int dim>
struct PeriodicBoundary<dim>::Sides {
  std::vector<SideNode> nodes;
  double tolerance; ///< [m]
  Pieces pieces;
};

template <int dim>
void PeriodicBoundary<dim>::fail(const std::string& what) const {
  throw InputError("<periodic_boundary>", what);
}

template <int dim>
PeriodicBoundary<dim>::PeriodicBoundary(const FunctionSpace<dim>& space, PeriodicSpec<dim> spec,
                                        std::span<const char> prescribed)
    : space_(&space), spec_(std::move(spec)), prescribed_(prescribed.begin(), prescribed.end()) {
  const auto& mesh = space.mesh();
  const Point box = mesh.max_corner - mesh.min_corner;
  repeats_ = spec_.axes;
  if (spec_.periods) repeats_.fill(true);
  periods_ = spec_.periods.value_or(Matrix(box.asDiagonal()));
  for (int k = 0; k < dim; ++k)
    if (!repeats_[k]) periods_.col(k) = Point::Unit(k) * box[k];
  Sides sides = find_sides(prescribed);
  pair(sides);
  for (const SideNode& node : sides.nodes) {
    const GlobalIndex leader = sides.nodes[node.leader].canonical;
    on_sides_[node.canonical] = {leader, node.minus, node.plus};
    by_leader_[{leader, node.plus}] = node.canonical;
  }
  choose_spans(sides);
  volume_ = std::abs(periods_.determinant());
  pin(sides, prescribed);
  eliminate(sides);
}

template <int dim>
typename PeriodicBoundary<dim>::Sides
PeriodicBoundary<dim>::find_sides(std::span<const char> prescribed) const {
  const auto& space = *space_;
  const auto& comm = space.comm();
  Sides sides;
  sides.tolerance = spec_.tolerance * (space.mesh().max_corner - space.mesh().min_corner).norm();
  sides.pieces = find_pieces(space);
  const Matrix inverse = periods_.inverse();
  Point low = Point::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    const Point at = inverse * space.node_positions()[node];
    low = low.cwiseMin(at);
    high = high.cwiseMax(at);
  }
  for (int k = 0; k < dim; ++k) {
    low[k] = comm.min(low[k]);
    high[k] = comm.max(high[k]);
    const double length = periods_.col(k).norm();
    if (repeats_[k] && std::abs(high[k] - low[k] - 1) * length > sides.tolerance)
      fail(
          fmt::format("the cell is {:.9g} periods wide along period {} = {}; a cell is bounded by sides that "
                      "are one period apart",
                      high[k] - low[k], k + 1, in_text<dim>(periods_.col(k))));
  }

  std::vector<GlobalIndex> rows;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    const Point& x = space.node_positions()[node];
    const Point at = inverse * x;
    unsigned minus = 0, plus = 0, held = 0;
    for (int k = 0; k < dim; ++k) {
      if (prescribed[std::size_t(node) * dim + k] != 0) held |= 1u << k;
      if (!repeats_[k]) continue;
      const double slack = sides.tolerance / periods_.col(k).norm();
      if (at[k] - low[k] <= slack) minus |= 1u << k;
      if (high[k] - at[k] <= slack) plus |= 1u << k;
    }
    if (minus == 0 && plus == 0) continue;
    for (int i = 0; i < dim; ++i) rows.push_back(std::bit_cast<GlobalIndex>(x[i]));
    for (const GlobalIndex number :
         {space.canonical_ids()[node], space.layout()->global(node), GlobalIndex(minus), GlobalIndex(plus),
          GlobalIndex(held), GlobalIndex(sides.pieces.of_node[node])})
      rows.push_back(number);
  }
  rows = comm.all_gather_parts(rows);
  constexpr std::size_t width = dim + 6;
  for (std::size_t begin = 0; begin < rows.size(); begin += width) {
    const GlobalIndex* row = &rows[begin];
    SideNode& node = sides.nodes.emplace_back();
    for (int i = 0; i < dim; ++i) node.position[i] = std::bit_cast<double>(row[i]);
    row += dim;
    node.canonical = row[0];
    node.global = row[1];
    node.minus = unsigned(row[2]);
    node.plus = unsigned(row[3]);
    node.prescribed = unsigned(row[4]);
    node.piece = std::size_t(row[5]);
  }
  std::ranges::sort(sides.nodes, {}, &SideNode::canonical);
  return sides;
}

/// Finds the node across from each one on a side.
template <int dim>
void PeriodicBoundary<dim>::pair(Sides& sides) const {
  geometry::PointTable<dim> table(sides.tolerance);
  for (std::size_t k = 0; k < sides.nodes.size(); ++k) {
    const Point& x = sides.nodes[k].position;
    if (table.find(x))
      fail(fmt::format("two nodes lie at {} on the boundary that repeats, and which of them is meant by the "
                       "node across from there cannot be told; weld the meshes, or lower `tolerance`",
                       in_text<dim>(x)));
    table.add(x, k);
  }
  const auto across = [&](const SideNode& node, unsigned sides_of, double sign) {
    Point x = node.position;
    for (int k = 0; k < dim; ++k)
      if ((sides_of >> k & 1) != 0) x += sign * periods_.col(k);
    const auto found = table.find(x);
    if (found) return *found;
    double nearest = std::numeric_limits<double>::infinity();
    for (const SideNode& other : sides.nodes) nearest = std::min(nearest, (other.position - x).norm());
    fail(fmt::format("the sides do not match: across from the node at {} there has to be one at {}, and the "
                     "nearest on the boundary that repeats is {:.3g} away (`tolerance` {:.3g}, over the "
                     "diagonal of the bounding box); mesh opposite sides alike",
                     in_text<dim>(node.position), in_text<dim>(x), nearest, spec_.tolerance));
  };
  for (std::size_t s = 0; s < sides.nodes.size(); ++s) {
    SideNode& node = sides.nodes[s];
    node.leader = node.plus == 0 ? s : across(node, node.plus, -1);
    for (int k = 0; k < dim; ++k)
      if ((node.minus >> k & 1) != 0 && (node.plus >> k & 1) == 0) across(node, 1u << k, 1);
  }
  for (const SideNode& node : sides.nodes) {
    const SideNode& leader = sides.nodes[node.leader];
    for (int i = 0; i < dim; ++i)
      if (((node.prescribed ^ leader.prescribed) >> i & 1) != 0)
        fail(fmt::format("the {}-displacement is prescribed at one of the nodes at {} and {} alone, which "
                         "are across from each other; prescribe it at both, or at none",
                         component_names[i], in_text<dim>(leader.position), in_text<dim>(node.position)));
  }
}

template <int dim>
std::optional<GlobalIndex> PeriodicBoundary<dim>::moved_by(GlobalIndex node,
                                                           const std::array<int, dim>& n) const {
  const OnSides* at = on_sides(node);
  if (at == nullptr) return {};
  unsigned plus = 0;
  for (int k = 0; k < dim; ++k) {
    const int side = static_cast<int>(at->plus >> k & 1) + n[k];
    if (side < 0 || side > 1) return {};
    plus |= static_cast<unsigned>(side) << k;
  }
  const auto found = by_leader_.find({at->leader, plus});
  if (found == by_leader_.end()) return {};
  return found->second;
}

template <int dim>
bool PeriodicBoundary<dim>::has_free(int i, int axis) const {
  return repeats_[axis] && !is_prescribed(i, axis);
}

/// The entry whose value the free entry (i, j) has.
template <int dim>
std::pair<int, int> PeriodicBoundary<dim>::representative(int i, int j) const {
  return i > j && has_free(j, i) ? std::pair(j, i) : std::pair(i, j);
}

/// Finds two nodes a period apart for each period, free ones where there are.
template <int dim>
void PeriodicBoundary<dim>::choose_spans(const Sides& sides) {
  for (int k = 0; k < dim; ++k) {
    ends_[k] = {-1, -1};
    if (!repeats_[k]) continue;
    const SideNode* chosen = nullptr;
    for (const SideNode& node : sides.nodes)
      if (node.plus == 1u << k && (chosen == nullptr || (node.prescribed == 0 && chosen->prescribed != 0)))
        chosen = &node;
    if (chosen == nullptr)
      fail(fmt::format("no node lies on the far side along {} alone; refine the mesh", component_names[k]));
    const SideNode& leader = sides.nodes[chosen->leader];
    ends_[k] = {leader.global, chosen->global};
    for (int i = 0; i < dim; ++i) {
      if (!has_free(i, k)) continue;
      if (spec_.periods)
        fail("entries of the macro strain can be free where a cell is a box that repeats along the axes; "
             "prescribe all, or leave `correspondence` out");
      if ((chosen->prescribed >> i & 1) != 0)
        fail(fmt::format("entry ({}, {}) of the macro strain is free, and the {}-displacement is prescribed "
                         "at all nodes across from each other; prescribe the entry",
                         i, k, component_names[i]));
      if (i != k && !repeats_[i])
        fail(fmt::format("entry ({}, {}) of the macro strain is free, and the cell, which does not repeat "
                         "along {}, would turn; prescribe the entry",
                         i, k, component_names[i]));
    }
    if (spec_.periods) continue;
    const double length = chosen->position[k] - leader.position[k];
    spans_.push_back({leader.canonical, chosen->canonical, k, length});
    periods_(k, k) = length;
  }
}

/// Fixes the components that nothing prescribes at one node of what hangs together.
template <int dim>
void PeriodicBoundary<dim>::pin(const Sides& sides, std::span<const char> prescribed) {
  const std::size_t num_pieces = sides.pieces.body.size();
  std::vector<double> held(num_pieces * dim, 0);
  for (LocalIndex node = 0; node < space_->num_owned_nodes(); ++node)
    for (int i = 0; i < dim; ++i)
      if (prescribed[std::size_t(node) * dim + i] != 0) held[sides.pieces.of_node[node] * dim + i] = 1;
  space_->comm().sum(held);
  UnionFind<std::size_t> together(num_pieces);
  for (const SideNode& node : sides.nodes) together.unite(node.piece, sides.nodes[node.leader].piece);
  for (std::size_t piece = 0; piece < num_pieces; ++piece)
    if (const std::size_t root = together.root(piece); root != piece)
      for (int i = 0; i < dim; ++i) held[root * dim + i] += held[piece * dim + i];
  bool is_first = true;
  for (std::size_t piece = 0; piece < num_pieces; ++piece) {
    if (together.root(piece) != piece) continue;
    const auto node = std::ranges::find_if(
        sides.nodes, [&](const SideNode& one) { return together.root(one.piece) == piece && one.plus == 0; });
    // Contact decides where the other ones are.
    if (!spec_.pins_all_pieces && (!is_first || node == sides.nodes.end())) continue;
    for (int i = 0; i < dim; ++i) {
      if (held[piece * dim + i] > 0) continue;
      if (node == sides.nodes.end())
        fail("nothing holds a piece of '" + space_->mesh().body_names[sides.pieces.body[piece]] +
             "' that does not reach the boundary that repeats; prescribe its displacement, or connect it");
      terms_[node->global][i].emplace();
      if (is_first) origin_[i] = node->position[i];
    }
    is_first = false;
  }
}

/// Says by what every node of the sides + moves.
template <int dim>
void PeriodicBoundary<dim>::eliminate(const Sides& sides) {
  const linalg::VectorLayout& layout = *space_->layout();
  const auto is_pinned = [&](GlobalIndex node, int i) {
    const auto* terms = followers_at(node);
    return terms != nullptr && (*terms)[i] && (*terms)[i]->empty();
  };
  const auto is_owned = [&](GlobalIndex node) {
    return node >= layout.offset && node < layout.offset + layout.num_owned;
  };
  for (const SideNode& node : sides.nodes) {
    if (node.plus == 0) continue;
    const SideNode& leader = sides.nodes[node.leader];
    Point way = Point::Zero();
    for (int k = 0; k < dim; ++k)
      if ((node.plus >> k & 1) != 0) way += periods_.col(k);
    for (int i = 0; i < dim; ++i) {
      if ((node.prescribed >> i & 1) != 0) continue;
      Terms terms;
      bool is_end = false;
      const auto add = [&](GlobalIndex at, int component, double weight) {
        if (!is_pinned(at, component)) terms.push_back({at * dim + component, weight});
      };
      add(leader.global, i, 1);
      for (int j = 0; j < dim; ++j) {
        if ((node.plus >> j & 1) == 0 || !has_free(i, j)) continue;
        const auto [row, column] = representative(i, j);
        is_end |= row == i && node.global == ends_[column][1];
        const double weight = way[j] / periods_(column, column);
        add(ends_[column][1], row, weight);
        add(ends_[column][0], row, -weight);
      }
      if (is_end) continue;
      if (is_owned(node.global))
        followers_.push_back({LocalIndex(node.global - layout.offset), i, way, node.plus});
      terms_[node.global][i] = std::move(terms);
    }
  }
  std::vector<linalg::MultipointConstraints::Row> rows;
  coupled_.assign(std::size_t(layout.num_owned) * dim, 0);
  for (const auto& [node, components] : terms_)
    for (int i = 0; i < dim; ++i) {
      if (!components[i]) continue;
      for (const auto& term : *components[i])
        if (is_owned(term.entry / dim)) coupled_[term.entry - layout.offset * dim] = 1;
      if (!is_owned(node)) continue;
      const std::int64_t entry = (node - layout.offset) * dim + i;
      coupled_[entry] = 1;
      rows.push_back({entry, *components[i]});
    }
  constraints_ = std::make_unique<linalg::MultipointConstraints>(space_->layout(), rows);
  fixed_.assign(constraints_->flags().begin(), constraints_->flags().end());
  for (std::size_t k = 0; k < fixed_.size(); ++k) fixed_[k] |= prescribed_[k];
}

template <int dim>
typename PeriodicBoundary<dim>::Matrix PeriodicBoundary<dim>::displacement_gradient(double time,
                                                                                    double factor) const {
  Matrix H = factor * spec_.displacement_gradient(time);
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j)
      if (!is_prescribed(i, j) || !repeats_[j]) H(i, j) = 0;
  return H;
}

template <int dim>
typename PeriodicBoundary<dim>::Matrix PeriodicBoundary<dim>::measure(const linalg::Vector& u) const {
  const linalg::VectorLayout& layout = *space_->layout();
  std::array<double, dim * dim> ways{};
  for (int k = 0; k < dim; ++k)
    for (int end = 0; end < 2; ++end) {
      const GlobalIndex local = ends_[k][end] - layout.offset;
      if (ends_[k][end] < 0 || local < 0 || local >= layout.num_owned) continue;
      for (int i = 0; i < dim; ++i) ways[i * dim + k] += (end == 0 ? -1 : 1) * u.local()[local * dim + i];
    }
  space_->comm().sum(ways);
  Matrix W;
  for (int i = 0; i < dim; ++i)
    for (int k = 0; k < dim; ++k) W(i, k) = ways[i * dim + k];
  return W * periods_.inverse();
}

template <int dim>
void PeriodicBoundary<dim>::add_affine(const Matrix& H, linalg::Vector& u) const {
  auto values = u.write_local();
  const auto follows = constraints_->flags();
  for (LocalIndex node = 0; node < space_->num_nodes(); ++node) {
    const Point motion = H * (space_->node_positions()[node] - origin_);
    const auto* terms = followers_at(space_->layout()->global(node));
    for (int i = 0; i < dim; ++i) {
      const std::size_t entry = std::size_t(node) * dim + i;
      const bool is_pinned = follows[entry] != 0 && terms != nullptr && (*terms)[i] && (*terms)[i]->empty();
      if (prescribed_[entry] == 0 && !is_pinned) values[entry] += motion[i];
    }
  }
}

template <int dim>
void PeriodicBoundary<dim>::impose(const Matrix& H, linalg::Vector& u) const {
  constraints_->expand(u);
  auto values = u.write_owned();
  for (const Follower& follower : followers_)
    for (int j = 0; j < dim; ++j)
      if (is_prescribed(follower.component, j))
        values[std::size_t(follower.node) * dim + follower.component] +=
            H(follower.component, j) * follower.way[j];
  u.update_ghosts();
}

template <int dim>
std::array<LocalIndex, 2> PeriodicBoundary<dim>::owned_ends(const Span& span) const {
  const auto& mesh = space_->mesh();
  std::array<LocalIndex, 2> ends{-1, -1};
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex) {
    if (space_->node_of_vertex(vertex) >= space_->num_owned_nodes()) continue;
    if (mesh.vertex_ids[vertex] == span.minus) ends[0] = vertex;
    if (mesh.vertex_ids[vertex] == span.plus) ends[1] = vertex;
  }
  return ends;
}

/// How what follows (i, k) moves with the lengths of the spans, at constant unknowns: the way is a sum of
/// periods, and a free entry the difference of two nodes over the length of the column that stands for it.
template <int dim>
typename PeriodicBoundary<dim>::Point PeriodicBoundary<dim>::by_lengths(const Matrix& H, int i, int k) const {
  Point result = Point::Zero();
  result[k] = H(i, k);
  if (!has_free(i, k)) return result;
  const int column = representative(i, k).second;
  result[column] -= H(i, k) * periods_(k, k) / periods_(column, column);
  return result;
}

template <int dim>
void PeriodicBoundary<dim>::add_shape_products(const Matrix& H, const linalg::Vector& y,
                                               std::vector<Point>& positions) const {
  Point by_length = Point::Zero();
  for (const Follower& follower : followers_)
    for (int k = 0; k < dim; ++k)
      if ((follower.sides >> k & 1) != 0)
        by_length += y.local()[std::size_t(follower.node) * dim + follower.component] *
                     by_lengths(H, follower.component, k);
  space_->comm().sum({by_length.data(), dim});
  for (const Span& span : spans_) {
    const auto [minus, plus] = owned_ends(span);
    if (minus >= 0) positions[minus][span.axis] -= by_length[span.axis];
    if (plus >= 0) positions[plus][span.axis] += by_length[span.axis];
  }
}

template <int dim>
void PeriodicBoundary<dim>::add_shape_tangent(const Matrix& H, const std::vector<Point>& dX,
                                              linalg::Vector& y) const {
  Point lengths = Point::Zero();
  for (const Span& span : spans_) {
    const auto [minus, plus] = owned_ends(span);
    if (minus >= 0) lengths[span.axis] -= dX[minus][span.axis];
    if (plus >= 0) lengths[span.axis] += dX[plus][span.axis];
  }
  space_->comm().sum({lengths.data(), dim});
  const auto values = y.write_owned();
  for (const Follower& follower : followers_)
    for (int k = 0; k < dim; ++k)
      if ((follower.sides >> k & 1) != 0)
        values[std::size_t(follower.node) * dim + follower.component] +=
            by_lengths(H, follower.component, k).dot(lengths);
}

template class PeriodicBoundary<2>;
template class PeriodicBoundary<3>;

} // namespace recoil::fem

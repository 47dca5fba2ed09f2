#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "fem/boundary_parts.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/collision_surface.hpp"

namespace recoil::fem {

namespace {

/// The facets on the sides, of all ranks: where the material goes on in the next cell.
template <int dim>
class CutFacets {
public:
  /// Collective.
  CutFacets(const FunctionSpace<dim>& space, const PeriodicBoundary<dim>& periodic)
      : space_(space), periodic_(periodic) {
    std::vector<GlobalIndex> rows;
    for (const auto& facet : linear_facets<dim>(space))
      if (facet[0] < space.num_owned_nodes())
        for (const Key& key : keys(facet)) rows.insert(rows.end(), key.begin(), key.end());
    rows = space.comm().all_gather_parts(rows);
    for (std::size_t begin = 0; begin < rows.size(); begin += Key().size()) {
      Key key;
      std::copy_n(rows.begin() + std::ptrdiff_t(begin), key.size(), key.begin());
      all_.insert(key);
    }
    for (const Key& key : all_)
      if (!all_.contains(across(key)))
        throw InputError(
            "<periodic_boundary>",
            "the facets on opposite sides do not match, though their nodes do, so that it cannot "
            "be told where bodies touch those of the next cell; mesh opposite sides alike");
  }

  bool contains(const std::array<LocalIndex, dim>& facet) const { return !keys(facet).empty(); }

private:
  /// Period and side, 0 or 1, then the nodes in ascending order, those of the side + a period back.
  using Key = std::array<GlobalIndex, 2 + dim>;

  /// One for each side that a facet lies on.
  std::vector<Key> keys(const std::array<LocalIndex, dim>& facet) const {
    unsigned minus = ~0U, plus = ~0U;
    for (const LocalIndex node : facet) {
      const auto* at = periodic_.on_sides(space_.canonical_ids()[node]);
      if (at == nullptr) return {};
      minus &= at->minus;
      plus &= at->plus;
    }
    std::vector<Key> result;
    for (int k = 0; k < dim; ++k)
      for (const int side : {0, 1}) {
        if (((side == 0 ? minus : plus) >> k & 1) == 0) continue;
        std::array<int, dim> back{};
        back[k] = -side;
        Key key{k, side};
        for (int i = 0; i < dim; ++i)
          key[2 + i] = *periodic_.moved_by(space_.canonical_ids()[facet[i]], back);
        std::sort(key.begin() + 2, key.end());
        result.push_back(key);
      }
    return result;
  }
  static Key across(Key key) {
    key[1] = 1 - key[1];
    return key;
  }

  const FunctionSpace<dim>& space_;
  const PeriodicBoundary<dim>& periodic_;
  std::set<Key> all_;
};

/// The cell itself, then one of each two neighbours that lie opposite to each other.
template <int dim>
std::vector<std::array<int, dim>> cells_around(const PeriodicBoundary<dim>& periodic) {
  std::vector<std::array<int, dim>> cells{{}};
  const int count = dim == 2 ? 9 : 27;
  for (int number = 0; number < count; ++number) {
    std::array<int, dim> cell;
    bool is_there = true;
    for (int k = 0, rest = number; k < dim; ++k, rest /= 3) {
      cell[k] = rest % 3 - 1;
      is_there = is_there && (cell[k] == 0 || periodic.repeats_along(k));
    }
    const auto first = std::ranges::find_if(cell, [](int n) { return n != 0; });
    if (is_there && first != cell.end() && *first > 0) cells.push_back(cell);
  }
  return cells;
}

/// A surface and its copies in `cells`, cell after cell.
template <int dim>
class CopiedParts {
public:
  CopiedParts(const FunctionSpace<dim>& space, const PeriodicBoundary<dim>& periodic,
              surface::SurfaceParts<dim> parts)
      : space_(space), periodic_(periodic), parts_(std::move(parts)), cells_(cells_around(periodic)) {}

  /// Collective.
  surface::SurfaceParts<dim> make() {
    add_up_vertices();
    if (dim == 3) add_up_edges();
    surface::SurfaceParts<dim> all = parts_;
    all.num_owned = parts_.num_owned * num_cells();
    add_vertices(all);
    all.edges = of_all_cells(parts_.edges);
    all.faces = of_all_cells(parts_.faces);
    all.edge_areas = repeated(parts_.edge_areas);
    all.edge_faces = repeated(parts_.edge_faces);
    all.face_flat_edges = repeated(parts_.face_flat_edges);
    all.facet_sides = repeated(parts_.facet_sides);
    all.facet_orientations = repeated(parts_.facet_orientations);
    std::vector<char> repeats;
    for (const auto& edge : parts_.edges) repeats.push_back(dim == 3 && common_sides(edge).plus != 0 ? 1 : 0);
    all.edge_is_flat = repeated(repeats);
    for (std::size_t cell = 1; cell < cells_.size(); ++cell)
      for (const surface::Carrier& carrier : parts_.carriers)
        all.carriers.push_back({at(carrier.vertex, cell), carrier.carrier, carrier.share});
    for (surface::Carrier& carrier : std::span(all.carriers).first(parts_.carriers.size()))
      carrier.vertex = at(carrier.vertex, 0);
    for (const std::string& name : parts_.names) all.names.push_back(name + " of a cell beside");
    return all;
  }

private:
  LocalIndex num_cells() const { return static_cast<LocalIndex>(cells_.size()); }
  LocalIndex num_ghosts() const { return parts_.num_vertices() - parts_.num_owned; }
  /// Rows of `width` numbers of all ranks, in an order that no partition changes.
  template <std::size_t width>
  std::vector<std::array<GlobalIndex, width>>
  gathered(const std::vector<std::array<GlobalIndex, width>>& own) const {
    std::vector<GlobalIndex> numbers;
    for (const auto& row : own) numbers.insert(numbers.end(), row.begin(), row.end());
    numbers = space_.comm().all_gather_parts(numbers);
    std::vector<std::array<GlobalIndex, width>> rows(numbers.size() / width);
    for (std::size_t k = 0; k < rows.size(); ++k)
      std::copy_n(numbers.begin() + std::ptrdiff_t(width * k), width, rows[k].begin());
    std::ranges::sort(rows);
    return rows;
  }

  /// Of what is around a vertex, every side has a part: gives all of it to each. Collective.
  void add_up_vertices() {
    struct Sum {
      double area = 0;
      GlobalIndex edges = 0, faces = 0;
    };
    // Leader, node, area, edges, faces.
    std::vector<std::array<GlobalIndex, 5>> own;
    for (LocalIndex v = 0; v < parts_.num_owned; ++v)
      if (const auto& vertex = parts_.vertices[v]; periodic_.on_sides(vertex.id) != nullptr)
        own.push_back({periodic_.on_sides(vertex.id)->leader, vertex.id,
                       std::bit_cast<GlobalIndex>(vertex.area), vertex.degrees.edges, vertex.degrees.faces});
    for (const auto& edge : parts_.edges)
      if (common_sides(edge).plus != 0)
        for (const LocalIndex v : edge) // counted on the side - as well
          own.push_back({periodic_.on_sides(parts_.vertices[v].id)->leader, parts_.vertices[v].id, 0, -1, 0});
    std::map<GlobalIndex, Sum> sums;
    for (const auto& [leader, node, area, edges, faces] : gathered(own)) {
      Sum& sum = sums[leader];
      sum.area += std::bit_cast<double>(area);
      sum.edges += edges;
      sum.faces += faces;
    }
    for (surface::SurfaceVertex<dim>& vertex : parts_.vertices) {
      const auto* sides = periodic_.on_sides(vertex.id);
      if (sides == nullptr) continue;
      const Sum& sum = sums.at(sides->leader);
      vertex.area = sum.area;
      vertex.degrees.edges = vertex.degrees.creases = static_cast<std::int32_t>(sum.edges);
      vertex.degrees.faces = vertex.degrees.face_edges = static_cast<std::int32_t>(sum.faces);
    }
  }

  /// The same of the areas at edges. Collective.
  void add_up_edges() {
    // Where the edge is on the sides -, itself, its area.
    std::vector<std::array<GlobalIndex, 5>> own;
    std::vector<std::optional<std::array<GlobalIndex, 2>>> places;
    for (std::size_t e = 0; e < parts_.edges.size(); ++e) {
      places.push_back(place_on_sides(parts_.edges[e]));
      if (places[e])
        own.push_back({(*places[e])[0], (*places[e])[1], parts_.vertices[parts_.edges[e][0]].id,
                       parts_.vertices[parts_.edges[e][1]].id,
                       std::bit_cast<GlobalIndex>(parts_.edge_areas[e])});
    }
    std::map<std::array<GlobalIndex, 2>, double> sums;
    for (const auto& row : gathered(own)) sums[{row[0], row[1]}] += std::bit_cast<double>(row[4]);
    for (std::size_t e = 0; e < places.size(); ++e)
      if (places[e]) parts_.edge_areas[e] = sums.at(*places[e]);
  }

  /// Owned vertices of all cells, then ghosts of all cells.
  LocalIndex at(LocalIndex vertex, std::size_t cell) const {
    const auto number = static_cast<LocalIndex>(cell);
    return vertex < parts_.num_owned
               ? vertex + number * parts_.num_owned
               : num_cells() * parts_.num_owned + number * num_ghosts() + vertex - parts_.num_owned;
  }

  surface::SurfaceVertex<dim> copy(const surface::SurfaceVertex<dim>& vertex, std::size_t cell,
                                   const std::vector<GlobalIndex>& num_owned) const {
    surface::SurfaceVertex<dim> result = vertex;
    const auto* sides = periodic_.on_sides(vertex.id);
    if (sides != nullptr && sides->plus != 0) result.degrees.shape = mesh::VertexShape::repeated;
    if (cell == 0) return result;
    for (int i = 0; i < dim; ++i)
      for (int k = 0; k < dim; ++k) result.rest[i] += cells_[cell][k] * periodic_.periods()(i, k);
    // Where a copy meets the cell itself they are neighbours that do not collide.
    const auto same = periodic_.moved_by(vertex.id, cells_[cell]);
    result.id = same ? *same : vertex.id + static_cast<GlobalIndex>(cell) * parts_.num_nodes_global;
    result.block = surface::Copies<dim>::block_of_copy(vertex.block, cell, parts_.layout->num_global);
    result.body += parts_.num_bodies;
    result.address.index +=
        static_cast<LocalIndex>(static_cast<GlobalIndex>(cell) * num_owned[vertex.address.rank]);
    return result;
  }

  void add_vertices(surface::SurfaceParts<dim>& all) const {
    const auto num_owned = space_.comm().all_gather(GlobalIndex{parts_.num_owned});
    surface::Copies<dim>& copies = all.copies.emplace();
    copies.cells = cells_;
    for (int k = 0; k < dim; ++k) copies.ends[k] = periodic_.ends(k);
    copies.num_vertices_global =
        GlobalIndex(num_cells() - 1) * std::accumulate(num_owned.begin(), num_owned.end(), GlobalIndex(0));
    all.vertices.clear();
    all.nodes.clear();
    const auto add = [&](LocalIndex begin, LocalIndex end) {
      for (std::size_t cell = 0; cell < cells_.size(); ++cell)
        for (LocalIndex v = begin; v < end; ++v) {
          all.vertices.push_back(copy(parts_.vertices[v], cell, num_owned));
          all.nodes.push_back(parts_.nodes[v]);
          copies.cell_of_vertex.push_back(static_cast<std::int32_t>(cell));
        }
    };
    add(0, parts_.num_owned);
    add(parts_.num_owned, parts_.num_vertices());
    all.obstacle_vertices.assign(all.vertices.size(), -1);
  }

  template <std::size_t n>
  std::vector<std::array<LocalIndex, n>>
  of_all_cells(const std::vector<std::array<LocalIndex, n>>& primitives) const {
    std::vector<std::array<LocalIndex, n>> result;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell)
      for (std::array<LocalIndex, n> primitive : primitives) {
        for (LocalIndex& vertex : primitive) vertex = at(vertex, cell);
        result.push_back(primitive);
      }
    return result;
  }
  template <class T>
  std::vector<T> repeated(const std::vector<T>& values) const {
    std::vector<T> result;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell)
      result.insert(result.end(), values.begin(), values.end());
    return result;
  }

  struct Sides {
    unsigned minus = 0, plus = 0;
  };
  /// Those that an edge lies on.
  Sides common_sides(const std::array<LocalIndex, 2>& edge) const {
    Sides common{~0U, ~0U};
    for (const LocalIndex vertex : edge) {
      const auto* sides = periodic_.on_sides(parts_.vertices[vertex].id);
      if (sides == nullptr) return {};
      common.minus &= sides->minus;
      common.plus &= sides->plus;
    }
    return common;
  }
  /// The nodes, in ascending order, where an edge on the sides is after all periods back; empty for others.
  std::optional<std::array<GlobalIndex, 2>> place_on_sides(const std::array<LocalIndex, 2>& edge) const {
    const Sides common = common_sides(edge);
    if (common.minus == 0 && common.plus == 0) return {};
    std::array<int, dim> back{};
    for (int k = 0; k < dim; ++k) back[k] = -static_cast<int>(common.plus >> k & 1);
    std::array<GlobalIndex, 2> place;
    for (std::size_t i = 0; i < 2; ++i) place[i] = *periodic_.moved_by(parts_.vertices[edge[i]].id, back);
    std::ranges::sort(place);
    return place;
  }

  const FunctionSpace<dim>& space_;
  const PeriodicBoundary<dim>& periodic_;
  surface::SurfaceParts<dim> parts_;
  std::vector<std::array<int, dim>> cells_;
};

} // namespace

template <int dim>
std::unique_ptr<const surface::Surface<dim>> periodic_surface(const FunctionSpace<dim>& space,
                                                              const PeriodicBoundary<dim>& periodic,
                                                              std::span<const char> prescribed) {
  const CutFacets<dim> cut(space, periodic);
  surface::SurfaceParts<dim> parts = boundary_parts<dim>(
      space, prescribed, [&](const std::array<LocalIndex, dim>& facet) { return !cut.contains(facet); });
  return std::make_unique<const surface::Surface<dim>>(
      CopiedParts<dim>(space, periodic, std::move(parts)).make());
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<const surface::Surface<dim>> periodic_surface(                                    \
      const FunctionSpace<dim>&, const PeriodicBoundary<dim>&, std::span<const char>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::fem

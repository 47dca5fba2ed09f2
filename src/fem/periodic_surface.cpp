#include <algorithm>
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
    for (const auto& edge : parts_.edges) repeats.push_back(dim == 3 && lies_on_far_side(edge) ? 1 : 0);
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

  /// The edge is the same as one a period away.
  bool lies_on_far_side(const std::array<LocalIndex, 2>& edge) const {
    unsigned plus = ~0U;
    for (const LocalIndex vertex : edge) {
      const auto* sides = periodic_.on_sides(parts_.vertices[vertex].id);
      plus &= sides == nullptr ? 0U : sides->plus;
    }
    return plus != 0;
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

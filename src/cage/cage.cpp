#include "recoil/cage/cage.hpp"

#include <algorithm>

#include "cage/choose_lattice.hpp"
#include "cage/crossings.hpp"
#include "recoil/cage/cut_cells.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::cage {

namespace {

bool is_in(const Point<3>& x, const std::array<Point<3>, 4>& c) {
  using geometry::orientation;
  return orientation(c[0], c[1], c[2], x) >= 0 && orientation(c[0], c[3], c[1], x) >= 0 &&
         orientation(c[1], c[3], c[2], x) >= 0 && orientation(c[2], c[3], c[0], x) >= 0;
}

bool is_in(const Point<2>& x, const std::array<Point<2>, 3>& c) {
  using geometry::orientation;
  return orientation(c[0], c[1], x) >= 0 && orientation(c[1], c[2], x) >= 0 &&
         orientation(c[2], c[0], x) >= 0;
}

} // namespace

template <int dim>
Cage<dim> make_cage(const Solid<dim>& solid, const CageOptions& options, const std::string& where) {
  constexpr double accepted = 0.03;
  const FacetMesh<dim>* surfaces[] = {&solid.surface, &solid.input};
  const WindingTree<dim> tree(solid.surface);
  auto chosen = choose_lattice<dim>(std::span(surfaces).first(solid.repair.empty() ? 1 : 2), tree,
                                    options.cells, options.largest_lattice, true, accepted, where);
  make_boundary_manifold(chosen.lattice, chosen.flags);
  return {extract(chosen.lattice, chosen.flags).first, chosen.lattice.edge()};
}

template <int dim>
bool contains(const CellMesh<dim>& mesh, const FacetMesh<dim>& surface) {
  const std::vector<std::int32_t> one(mesh.cells.size(), 0);
  FacetMesh<dim> boundary{mesh.vertices, {}};
  for (const auto& facet : interfaces(mesh, one)) boundary.facets.push_back(facet.vertices);
  const auto of_boundary = facet_boxes(boundary),
             of_cells = box_tree<dim, dim + 1>(mesh.vertices, mesh.cells);
  for (const auto& x : surface.vertices) {
    const auto near = of_cells.meeting(box_around<dim>({x}));
    const auto holds = [&](std::int32_t cell) {
      std::array<Point<dim>, dim + 1> corners;
      for (int k = 0; k <= dim; ++k) corners[k] = mesh.vertices[mesh.cells[cell][k]];
      return is_in(x, corners);
    };
    if (std::none_of(near.begin(), near.end(), holds)) return false;
  }
  for (const auto& facet : surface.facets) {
    const auto corners = corners_of(surface, facet);
    for (const auto other : of_boundary.meeting(box_around<dim>(corners)))
      if (intersect(corners, corners_of(boundary, boundary.facets[other]))) return false;
  }
  return true;
}

#define RECOIL_CAGE(dim)                                                                                     \
  template Cage<dim> make_cage(const Solid<dim>&, const CageOptions&, const std::string&);                   \
  template bool contains(const CellMesh<dim>&, const FacetMesh<dim>&);
RECOIL_CAGE(2)
RECOIL_CAGE(3)
#undef RECOIL_CAGE

} // namespace recoil::cage

#pragma once

#include <span>

#include <Eigen/Geometry>

#include "recoil/cage/facet_mesh.hpp"
#include "recoil/cage/winding.hpp"

namespace recoil::cage {

/// The body-centred cubic lattice of simplices: between the centres of two cubes that share a face, and each
/// edge (in 2D each end) of that face. Four tetrahedra or two triangles per face, all congruent.
template <int dim>
class Lattice {
public:
  using Cell = std::int64_t;   ///< (cube * dim + axis) * parts + part
  using Vertex = std::int64_t; ///< corners of cubes, then their centres
  static constexpr int parts = dim == 3 ? 4 : 2;

  /// Cubes of edge h [m] around `box`, with two layers more on each side.
  Lattice(const Eigen::AlignedBox<double, dim>& box, double h);

  double edge() const { return h_; }
  Cell num_cells() const { return num_cubes() * dim * parts; }
  Vertex num_vertices() const { return num_corners_ + num_cubes(); }
  std::array<Vertex, dim + 1> vertices(Cell cell) const;
  Point<dim> position(Vertex vertex) const;
  /// Fills `cells` with those at a vertex.
  void find_around(Vertex vertex, std::vector<Cell>& cells) const;
  /// Calls what(first) for the first of the cells between each two cubes that may meet a box.
  template <class What>
  void for_cells_near(const Eigen::AlignedBox<double, dim>& box, const What& what) const;
  /// Whether a cell has both of its cubes.
  bool exists(Cell cell) const;

private:
  using Index = Eigen::Matrix<std::int64_t, dim, 1>;
  std::int64_t num_cubes() const { return cubes_.prod(); }
  static std::int64_t number(const Index& at, const Index& sizes);
  static Index place(std::int64_t number, const Index& sizes);

  Point<dim> origin_;
  double h_;
  Index cubes_, corners_;
  Vertex num_corners_;
};

/// Cells of a lattice, one flag each, that together contain a body: all that meet one of the surfaces, and
/// all with a vertex that the tree encloses. The surfaces lie in the union of the first by construction, for
/// the lattice covers space and the test for a common point errs to the safe side.
/// @param is_closed the surface of the tree has no boundary and is among the surfaces: of vertices that cells
/// connect which it does not meet, one is looked at.
template <int dim>
std::vector<char> cells_that_contain(const Lattice<dim>& lattice,
                                     std::span<const FacetMesh<dim>* const> surfaces,
                                     const WindingTree<dim>& tree, bool is_closed);

/// Adds cells until the boundary of the union is a manifold: at each vertex the cells with a flag, and those
/// without one, must be connected by facets that have this vertex.
template <int dim>
void make_boundary_manifold(const Lattice<dim>& lattice, std::vector<char>& flags);

/// The cells with a flag, with the lattice vertex of each of their vertices.
template <int dim>
std::pair<CellMesh<dim>, std::vector<std::int64_t>> extract(const Lattice<dim>& lattice,
                                                            const std::vector<char>& flags);

/// Box around the vertices of a surface.
template <int dim>
Eigen::AlignedBox<double, dim> box_of(const FacetMesh<dim>& surface) {
  Eigen::AlignedBox<double, dim> box;
  for (const auto& x : surface.vertices) box.extend(x);
  return box;
}

} // namespace recoil::cage

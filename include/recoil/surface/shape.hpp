#pragma once

#include <array>
#include <vector>

#include "recoil/surface/stencil_vertices.hpp"

/// The shape of a surface at given positions: areas, normals, and how its facets are folded.
namespace recoil::surface {

/// Normal of each owned facet, as long as its measure [m^(dim-1)], at the positions of all vertices known
/// here. It points out of a body, and to the side of a sheet or obstacle from which the vertices of the file
/// go round counterclockwise, in 2D to the right of the edge. Not collective.
template <int dim>
std::vector<typename Surface<dim>::Point>
area_vectors(const Surface<dim>& surface, const std::vector<typename Surface<dim>::Point>& positions);

/// Unit normals of the owned vertices: directions of the sums of the area vectors around them; zero where
/// these cancel or where there is no facet. Collective.
template <int dim>
std::vector<typename Surface<dim>::Point>
vertex_normals(const Surface<dim>& surface, const std::vector<typename Surface<dim>::Point>& positions);

/// Two facets that share an edge (3D) or vertex (2D): the vertices of this, ascending in id, then the other
/// one of each facet, ascending in id; numbers of StencilVertices.
template <int dim>
using Hinge = std::array<LocalIndex, dim + 1>;

/// The hinges of a surface, each on the rank that owns its first vertex, and the vertices that they refer to.
template <int dim>
struct Hinges {
  StencilVertices<dim> vertices;
  std::vector<Hinge<dim>> hinges;
};

/// Finds all pairs of facets that share an edge, or in 2D a vertex; where more than two facets meet each two
/// of them are a hinge. Over all ranks every hinge is there once; on each they ascend in the ids of their
/// vertices. Collective.
template <int dim>
Hinges<dim> find_hinges(const Surface<dim>& surface);

/// The angle by which the facets of a hinge are folded, in [-pi, pi], 0 where one continues the other in a
/// plane or line. In 3D positive where the facets come together on the side to which the normal (x1 - x0) x
/// (x2 - x0) of the first one points; in 2D positive where the way from x1 over x0 to x2 turns left.
/// @param x positions of the vertices of the hinge in its order
double fold_angle(const Eigen::Matrix<double, 2, 3>& x);
double fold_angle(const Eigen::Matrix<double, 3, 4>& x);

} // namespace recoil::surface

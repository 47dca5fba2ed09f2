#pragma once

#include <array>
#include <optional>
#include <vector>

#include "recoil/geometry/geometric_barrier.hpp"
#include "recoil/geometry/stencil.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::potentials {

// Geometric contact potential [Huang, Paik, Ferguson, Panozzo, Zorin 2025, "Geometric Contact Potential", ACM
// Trans. Graph. 44(4), section 5 (discretisation)], with the measures and constants of the IPC Toolkit:
//
//   B(x) = sum over pairs (P, Q) of primitives  F_P(-n) F_Q(n) M(P, Q) s(d/dhat) (dhat/d)^(dim-1)
//
// Pairs: in 3D vertex-vertex, vertex-edge, vertex-face and edge-edge, in 2D vertex-vertex and vertex-edge,
// each once, where the closest points lie inside of both primitives; d < dhat is their distance and n the
// unit vector from the point on Q to that on P. s is a cubic spline (geometry::power_barrier).
//
// F_P(m) = |P| T_P(m) N_P(m), m the direction to the other primitive:
//   |P|     measure of the positions now: area of a face; squared length of an edge in 3D, length in 2D; at a
//           vertex a third of the sum of the squared lengths of its edges in 3D, their mean length in 2D
//   T_P(m)  prod_t H(-m.t; alpha_t, beta_t), 1 for faces and edges in 2D: P is closest on its own surface. t:
//   at
//           a vertex the unit vectors along its edges, at an edge those in its faces, away from it and
//           perpendicular to it
//   N_P(m)  H(S - 1; a, 0), S = sum_f H(m.n_f; alpha_n, beta_n), n_f the outer normals around P, a = 1 in 3D
//           and alpha_n in 2D: the other primitive is outside. For a face and for an edge in 2D 1 on its
//           outer side and 0 on the inner one. Obstacles have two outer sides and no such factor.
// H(x; alpha, beta) rises from 0 at -alpha to 1 at beta (geometry::smooth_heaviside).
//
// M = prod_k m(q_k / (eps d^2)), eps = 1e-3, is 0 where a closest point reaches the border of its primitive,
// where the pair of another primitive takes over: q_k is the squared distance of the projection of the vertex
// to the k-th edge of a face or end of an edge, and of two edges the excess of the squared distance of an end
// from the line of the other edge over d^2. m is a C^2 step (geometry::quintic_step; the IPC Toolkit has x (2
// - x), whose second derivative jumps), so that B is C^2 at d > 0.
//
// A plane is a face without end, of the measure of the vertex.

/// alpha and beta of the tangential and the normal conditions.
struct GeometricAngles {
  double alpha_t = 0.5, beta_t = 0, alpha_n = 0.5, beta_n = 0;
};

/// A primitive and what its factor depends on, as columns of GeometricStencil::points.
struct GeometricPrimitive {
  int num_points = 0; ///< 1 vertex, 2 edge, 3 face (2D: 2 edge)
  std::array<int, 3> points{};
  /// Facets (v, a, b) of a vertex in 3D, edges (v, a) in 2D; faces (p0, p1, a) of an edge in 3D; outer
  /// normal side (a - v) x (b - v), side times a - v turned clockwise, side (p1 - p0) x (a - p0). Of a face
  /// and of an edge in 2D none.
  std::vector<surface::RingFacet<int>> facets;
  std::vector<int> neighbours; ///< ends of the edges of a vertex
  /// Outer side of a face, and of an edge in 2D: the outer normal is side (p1 - p0) x (p2 - p0), or side
  /// times p1 - p0 turned clockwise.
  int side = 0;
  bool oriented = false; ///< has an inside
};

/// A pair of primitives with their surroundings.
template <int dim>
struct GeometricStencil {
  using Point = Eigen::Matrix<double, dim, 1>;

  geometry::StencilKind kind;
  /// Numbers in StencilVertices, each once; first those of the pair, in the order of the kind.
  std::vector<LocalIndex> vertices;
  Eigen::Matrix<double, dim, Eigen::Dynamic> points; ///< positions [m], a column per vertex
  std::array<GeometricPrimitive, 2> primitives;
  std::optional<Point> plane_normal; ///< normal of the plane in a pair of a vertex and a plane
  Point plane_point = Point::Zero();
};

/// A function of the points of a stencil with derivatives by them, dim entries per column.
struct StencilFunction {
  double value = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// The weight F_P F_Q M of a pair, which is not closer than 0 and has its closest points inside. 0 where a
/// condition is not met at all. Not collective, as what follows.
template <int dim>
double geometric_weight(const GeometricStencil<dim>& stencil, const GeometricAngles& angles);
/// The whole term of B with derivatives where its weight is positive. `of_distance`: the barrier and its
/// derivatives by the distance d.
template <int dim>
StencilFunction geometric_term(const GeometricStencil<dim>& stencil, const GeometricAngles& angles,
                               const geometry::BarrierValue& of_distance);

/// The gradient of the term without its Hessian, and that of the weight.
template <int dim>
Eigen::VectorXd geometric_gradient(const GeometricStencil<dim>& stencil, const GeometricAngles& angles,
                                   const geometry::BarrierValue& of_distance);
template <int dim>
Eigen::VectorXd geometric_weight_gradient(const GeometricStencil<dim>& stencil,
                                          const GeometricAngles& angles);

/// Replaces negative eigenvalues of a symmetric matrix by 0.
void project_psd(Eigen::MatrixXd& A);

/// The pairs of this rank closer than `reach` with a positive weight, and those with planes. `vertices` has
/// rings.
template <int dim>
std::vector<ContactPair<dim>> geometric_pairs(const GeometricAngles& angles, double reach,
                                              const std::vector<Plane<dim>>& planes,
                                              const std::vector<ContactCandidate>& candidates,
                                              const surface::StencilVertices<dim>& vertices,
                                              const std::vector<Eigen::Matrix<double, dim, 1>>& positions);

/// The values of a field at the vertices of a stencil, one below the other.
template <int dim>
Eigen::VectorXd at_stencil(const GeometricStencil<dim>& stencil,
                           const std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  Eigen::VectorXd values(dim * std::ssize(stencil.vertices));
  for (std::size_t i = 0; i < stencil.vertices.size(); ++i)
    values.template segment<dim>(dim * i) = field[stencil.vertices[i]];
  return values;
}

/// Adds such values to a field.
template <int dim>
void add_at_stencil(const GeometricStencil<dim>& stencil, const Eigen::VectorXd& values,
                    std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  for (std::size_t i = 0; i < stencil.vertices.size(); ++i)
    field[stencil.vertices[i]] += values.template segment<dim>(dim * i);
}

} // namespace recoil::potentials

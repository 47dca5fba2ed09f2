#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "recoil/geometry/edge_edge_mollifier.hpp"

namespace recoil::potentials {

/// A half-space obstacle: solid on the side against `normal` (unit length), fixed.
template <int dim>
struct Plane {
  Eigen::Matrix<double, dim, 1> point, normal;
  std::int32_t body; ///< number after those of bodies and obstacles
};

template <int dim>
struct GeometricStencil;

/// One term of the barrier: two primitives closer than dhat in some configuration. With inclusion-exclusion,
/// terms of negative weight and distances to edges and vertices of the primitives follow the term of a pair.
template <int dim>
struct ContactPair {
  geometry::StencilKind kind;
  bool continues;                     ///< belongs to the same candidate as the term before
  int num_vertices;                   ///< 1 for a vertex against a plane
  std::array<LocalIndex, 4> vertices; ///< StencilVertices numbers
  std::array<std::int32_t, 2> bodies;
  geometry::StencilPoints<dim> points;  ///< positions [m]
  geometry::ClosestPoints<dim> closest; ///< zero weights and tangents at vertices outside the term
  double weight;                        ///< [m^(dim-1)] with area weights, else without a unit
  /// Derivatives of the weight by the areas of the first vertex or edge and of the second edge.
  std::array<double, 2> weight_by_area;
  geometry::MollifierScalars mollifier; ///< factor of edge-edge pairs; 1 else
  /// What the weight of the geometric contact potential depends on; null in other forms.
  std::shared_ptr<const GeometricStencil<dim>> geometric = nullptr;
};

/// The pairs with this body, obstacle or plane.
template <int dim>
std::shared_ptr<const std::vector<ContactPair<dim>>> pairs_with(const std::vector<ContactPair<dim>>& pairs,
                                                                std::int32_t body) {
  std::vector<ContactPair<dim>> selected;
  std::ranges::copy_if(pairs, std::back_inserter(selected), [body](const ContactPair<dim>& pair) {
    return pair.bodies[0] == body || pair.bodies[1] == body;
  });
  return std::make_shared<const std::vector<ContactPair<dim>>>(std::move(selected));
}

/// The values of a field at the vertices of a term; zero in columns without a vertex.
template <int dim>
geometry::StencilPoints<dim> at_stencil(const ContactPair<dim>& pair,
                                        const std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  geometry::StencilPoints<dim> values = geometry::StencilPoints<dim>::Zero();
  for (int i = 0; i < pair.num_vertices; ++i) values.col(i) = field[pair.vertices[i]];
  return values;
}

/// The values of at_stencil() in one column.
template <int dim>
geometry::StencilVector<dim> stencil_vector(const ContactPair<dim>& pair,
                                            const std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  const geometry::StencilPoints<dim> values = at_stencil<dim>(pair, field);
  return Eigen::Map<const geometry::StencilVector<dim>>(values.data());
}

/// Adds values at the vertices of a term to a field.
template <int dim>
void add_at_stencil(const ContactPair<dim>& pair, const geometry::StencilVector<dim>& values,
                    std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  for (int i = 0; i < pair.num_vertices; ++i)
    field[pair.vertices[i]] += values.template segment<dim>(dim * i);
}

} // namespace recoil::potentials

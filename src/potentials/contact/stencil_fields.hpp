#pragma once

#include <vector>

#include "recoil/potentials/contact/contact_pair.hpp"

namespace recoil::potentials {

/// The values of a field at the vertices of a term; zero in columns without a vertex.
template <int dim>
geometry::StencilPoints<dim> at_stencil(const ContactPair<dim>& pair,
                                        const std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  geometry::StencilPoints<dim> values = geometry::StencilPoints<dim>::Zero();
  for (int i = 0; i < pair.num_vertices; ++i) values.col(i) = field[pair.vertices[i]];
  return values;
}

/// The same in one column.
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

#pragma once

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/objectives/objective.hpp"
#include "recoil/surface/surface.hpp"
#include "support/derivatives.hpp"

namespace recoil::test {

/// Numbers without a pattern, the same for an id on any rank.
inline double rough_number(GlobalIndex id, int component) {
  return std::sin(3.17 * static_cast<double>(id) + 29.3 * component + 0.7);
}

/// Whether a quantity lives on cells or vertices; others are left out below.
inline bool is_on_mesh(const parameters::Quantity& quantity) {
  using parameters::Place;
  return quantity.place != Place::node && quantity.place != Place::facet &&
         quantity.place != Place::coefficient;
}

/// Changes of all quantities that live on cells and vertices.
template <int dim>
parameters::PhysicalDirection<dim> rough_direction(const fem::FunctionSpace<dim>& space,
                                                   const std::vector<parameters::Quantity>& quantities,
                                                   const surface::Surface<dim>* surface = nullptr) {
  using parameters::Place;
  std::vector<GlobalIndex> obstacle_ids;
  if (surface != nullptr) {
    obstacle_ids.resize(static_cast<std::size_t>(surface->num_obstacle_vertices()));
    for (LocalIndex v = 0; v < surface->num_vertices(); ++v)
      if (surface->node(v) < 0)
        obstacle_ids[static_cast<std::size_t>(surface->obstacle_vertex(v))] =
            surface->vertices()[static_cast<std::size_t>(v)].id - surface->num_nodes_global();
  }
  parameters::PhysicalDirection<dim> dq(space, quantities, surface != nullptr ? surface->num_owned() : 0,
                                        static_cast<LocalIndex>(obstacle_ids.size()));
  for (const parameters::Quantity& quantity : quantities) {
    if (!is_on_mesh(quantity)) continue;
    if (quantity.place == Place::surface_vertex) {
      for (LocalIndex v = 0; surface != nullptr && v < surface->num_owned(); ++v)
        if (surface->node(v) < 0)
          for (int k = 0; k < dim; ++k)
            dq.vectors(quantity)[v][k] = rough_number(obstacle_ids[surface->obstacle_vertex(v)], k + 5);
      continue;
    }
    const auto& ids = quantity.place == Place::cell              ? space.mesh().cell_ids
                      : quantity.place == Place::obstacle_vertex ? obstacle_ids
                                                                 : space.mesh().vertex_ids;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (quantity.place == Place::cell)
        dq.numbers(quantity)[i] = rough_number(ids[i], static_cast<int>(quantity.name.size()));
      else
        for (int k = 0; k < dim; ++k) dq.vectors(quantity)[i][k] = rough_number(ids[i], k);
  }
  return dq;
}

/// |y' dr - (products of y) . (du, dv, dq)| for rough y and directions, relative to sum |y| |dr|; `tangent`
/// and `add_products` as those of Objective. `surface`: of contact, where there is some. Collective.
template <int dim, class Tangent, class AddProducts>
double transposed_error(const fem::FunctionSpace<dim>& space,
                        const std::vector<parameters::Quantity>& quantities, const Tangent& tangent,
                        const AddProducts& add_products, const surface::Surface<dim>* surface = nullptr) {
  using parameters::Place;
  const linalg::Vector du = rough_field(space, 1, 31), dv = rough_field(space, 1, 32);
  const auto dq = rough_direction<dim>(space, quantities, surface);
  const std::vector<double> dr = tangent(du.local(), dv.local(), dq);
  std::vector<double> y(dr.size());
  double direct = 0, scale = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = rough_number(static_cast<GlobalIndex>(i), space.comm().rank());
    direct += y[i] * dr[i];
    scale += std::abs(y[i] * dr[i]);
  }
  linalg::Vector by_u(space.layout()), by_v(space.layout());
  parameters::PhysicalGradient<dim> g(space, quantities,
                                      surface != nullptr ? surface->num_obstacle_vertices() : LocalIndex{0});
  add_products(y, by_u.write_owned(), by_v.write_owned(), g);
  double transposed = 0;
  for (const parameters::Quantity& quantity : quantities)
    if (quantity.place == Place::cell)
      for (std::size_t i = 0; i < g.numbers(quantity).size(); ++i)
        transposed += g.numbers(quantity)[i] * dq.numbers(quantity)[i];
    else if (is_on_mesh(quantity))
      for (std::size_t i = 0; i < g.vectors(quantity).size(); ++i)
        transposed += g.vectors(quantity)[i].dot(dq.vectors(quantity)[i]);
  transposed = space.comm().sum(transposed) + by_u.dot(du) + by_v.dot(dv);
  scale = space.comm().sum(scale);
  EXPECT_GT(scale, 0) << "vacuous";
  return std::abs(space.comm().sum(direct) - transposed) / scale;
}

/// The same of one objective at a state.
template <int dim>
double transposed_error(const fem::FunctionSpace<dim>& space, objectives::Objective<dim>& objective,
                        const objectives::ObservedState& state,
                        const surface::Surface<dim>* surface = nullptr) {
  return transposed_error<dim>(
      space, objective.depends_on(),
      [&](auto... direction) { return objective.residual_tangent(state, direction...); },
      [&](std::span<const double> y, std::span<double> du, std::span<double> dv, auto& g) {
        objective.add_residual_products(state, y, du, dv, g);
      },
      surface);
}

} // namespace recoil::test

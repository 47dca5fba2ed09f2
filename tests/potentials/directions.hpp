#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/parameters/physical_gradient.hpp"

/// Rough changes of physical quantities, functions of ids that no partition changes, and what derivatives say
/// of them.
namespace recoil::potentials {

/// A number in [-1, 1] for the component of something with an id.
inline double rough(GlobalIndex id, std::size_t component, double seed) {
  return std::sin(12.9898 * static_cast<double>(id) + 78.233 * static_cast<double>(component) + seed);
}

template <int dim>
Eigen::Matrix<double, dim, 1> rough_vector(GlobalIndex id, double seed) {
  Eigen::Matrix<double, dim, 1> v;
  for (int i = 0; i < dim; ++i) v[i] = rough(id, static_cast<std::size_t>(i), seed);
  return v;
}

/// Ids of the entries of arrays.
using EntryIds = std::map<parameters::Place, std::vector<GlobalIndex>>;

/// A number of a boundary facet that does not depend on the partition.
template <int dim>
GlobalIndex facet_id(const fem::FunctionSpace<dim>& space, const fem::BoundaryFacet& facet) {
  return (dim + 1) * space.mesh().cell_ids[static_cast<std::size_t>(facet.cell)] + facet.facet;
}

template <int dim>
EntryIds entry_ids(const fem::FunctionSpace<dim>& space) {
  EntryIds ids{{parameters::Place::cell, space.mesh().cell_ids},
               {parameters::Place::vertex, space.mesh().vertex_ids}};
  for (const fem::BoundaryFacet& facet : space.boundary_facets())
    ids[parameters::Place::facet].push_back(facet_id(space, facet));
  return ids;
}

/// Gives every array of `quantities` in `dq` rough entries.
template <int dim>
void fill_roughly(parameters::PhysicalDirection<dim>& dq, const std::vector<parameters::Quantity>& quantities,
                  const EntryIds& ids) {
  double seed = 0.7;
  for (const parameters::Quantity& quantity : quantities) {
    const auto of = ids.find(quantity.place);
    const std::size_t count = of == ids.end() ? 0 : of->second.size();
    seed += 1.1;
    ASSERT_EQ(count, quantity.is_vector ? dq.vectors(quantity).size() : dq.numbers(quantity).size())
        << quantity.name;
    for (std::size_t i = 0; i < count; ++i)
      if (quantity.is_vector)
        dq.vectors(quantity)[i] = rough_vector<dim>(of->second[i], seed);
      else
        dq.numbers(quantity)[i] = rough(of->second[i], 0, seed);
  }
}

/// This rank's share of the derivative in the direction dq, by one quantity. Of the vertices of a collision
/// surface those of nodes, `num_surface_nodes`, do not count.
template <int dim>
double derivative_along(const parameters::PhysicalGradient<dim>& g,
                        const parameters::PhysicalDirection<dim>& dq, const parameters::Quantity& quantity,
                        std::size_t num_surface_nodes = 0) {
  double sum = 0;
  if (quantity.is_vector) {
    const auto& entries = g.vectors(quantity);
    const bool on_surface = quantity.place == parameters::Place::surface_vertex;
    for (std::size_t i = on_surface ? num_surface_nodes : 0; i < entries.size(); ++i)
      sum += entries[i].dot(dq.vectors(quantity)[i]);
  } else {
    const auto& entries = g.numbers(quantity);
    for (std::size_t i = 0; i < entries.size(); ++i) sum += entries[i] * dq.numbers(quantity)[i];
  }
  return sum;
}

/// Each quantity alone, then all together.
inline std::vector<std::vector<parameters::Quantity>>
alone_and_together(const std::vector<parameters::Quantity>& quantities) {
  std::vector<std::vector<parameters::Quantity>> result;
  for (const parameters::Quantity& quantity : quantities) result.push_back({quantity});
  result.push_back(quantities);
  return result;
}

inline std::string names(const std::vector<parameters::Quantity>& quantities) {
  std::string text;
  for (const parameters::Quantity& quantity : quantities) text += " " + quantity.name;
  return text;
}

/// Sizes of the difference from `expected` and of `expected`, over all ranks.
inline double relative_difference(const parallel::Communicator& comm, const std::vector<double>& values,
                                  const std::vector<double>& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference += (values[i] - expected[i]) * (values[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(comm.sum(difference) / comm.sum(size));
}

/// Owned entries.
inline std::vector<double> owned_entries(const linalg::Vector& v) {
  const auto owned = v.owned();
  return {owned.begin(), owned.end()};
}

} // namespace recoil::potentials

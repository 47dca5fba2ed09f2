#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/mass.hpp"
#include "support/box_mesh.hpp"
#include "support/derivatives.hpp"
#include "support/made_objectives.hpp"

namespace recoil::objectives {

/// What scenes are moved along.
enum class Along { displacement, velocity, law, density, vertices, obstacle_vertices };
inline constexpr std::array all_directions{Along::displacement, Along::velocity, Along::law,
                                           Along::density,      Along::vertices, Along::obstacle_vertices};
inline constexpr std::array direction_names{"u", "v", "law", "density", "vertices", "obstacles"};

/// Those that an objective may depend on, and some that none does.
inline std::vector<Quantity> all_quantities() {
  return {{"lambda", parameters::Place::cell},
          {"mu", parameters::Place::cell},
          quantities::density,
          quantities::vertices,
          quantities::obstacle_vertices,
          quantities::obstacle_positions,
          quantities::damping_shear,
          quantities::damping_bulk};
}

template <int dim>
bool depends_on(const Objective<dim>& objective, Along along) {
  const std::array<std::string, 6> names{"displacement", "velocity", "mu",
                                         "rho",          "vertices", "obstacle_vertices"};
  for (const Quantity& quantity : objective.depends_on())
    if (quantity.name == names[static_cast<std::size_t>(along)]) return true;
  return false;
}

/// How far a scene is moved along a fixed direction of one quantity.
struct Shift {
  Along along = Along::displacement;
  double by = 0;
  double of(Along other) const { return other == along ? by : 0; }
};

/// Directions of quantities that are the same on any partition, from input ids.
inline double direction(GlobalIndex id, int component) {
  return std::sin(7.13 * static_cast<double>(id) + 41.7 * component + 0.3);
}

/// Moves local vertices along their direction. The box that nodes are sorted in stays the same.
template <int dim>
mesh::DistributedMesh<dim> shifted(mesh::DistributedMesh<dim> mesh, double by) {
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    for (int i = 0; i < dim; ++i) mesh.vertices[v][i] += by * direction(mesh.vertex_ids[v], i);
  mesh.min_corner.array() -= 1;
  mesh.max_corner.array() += 1;
  return mesh;
}

template <int dim>
mesh::DistributedMesh<dim> two_boxes(const parallel::Communicator& comm, int n) {
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) {
    whole = test::box_mesh(dim, n, 2);
    test::shuffle_vertices(whole, 5);
  }
  return mesh::distribute<dim>(comm, whole);
}

/// Two boxes, the first of order 1, the second of order 2, with a law and a density that differ from cell to
/// cell, in a rough state.
template <int dim>
struct Scene {
  using Law = potentials::NeoHookean<dim>;
  using Point = Eigen::Matrix<double, dim, 1>;

  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  std::vector<std::array<double, 2>> constants; ///< of local cells
  std::vector<double> density;                  ///< of local cells
  std::vector<std::unique_ptr<potentials::ElasticPotential<dim>>> elastic;
  linalg::Vector u, v;

  explicit Scene(MPI_Comm ranks, Shift shift = {}, double variation = 0.3)
      : comm(ranks), mesh(shifted(two_boxes<dim>(comm, 2), shift.of(Along::vertices))), space(mesh, {1, 2}),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)), u(test::rough_field(space, 0.01, 1)),
        v(test::rough_field(space, 0.7, 2)) {
    for (const GlobalIndex id : mesh.cell_ids) {
      std::array<double, 2> values{};
      for (int k = 0; k < 2; ++k)
        values[static_cast<std::size_t>(k)] = 2.0 + k +
                                              variation * std::sin(static_cast<double>(id + 5 * k)) +
                                              shift.of(Along::law) * direction(id, k);
      constants.push_back(values);
      density.push_back(3 + variation * std::cos(static_cast<double>(id)) +
                        shift.of(Along::density) * direction(id, 5));
    }
    for (const int order : {1, 2}) {
      const auto& cells = space.cells_of_order(order);
      parameters::CellField field;
      for (const LocalIndex cell : cells) field.add(constants[static_cast<std::size_t>(cell)]);
      elastic.push_back(potentials::make_elastic<dim>(*potentials::find_law(Law::name), space, geometry,
                                                      order, cells, field));
    }
    u.add(shift.of(Along::displacement), test::rough_field(space, 1, 11));
    v.add(shift.of(Along::velocity), test::rough_field(space, 1, 12));
  }

  Region<dim> region(std::vector<std::int32_t> bodies = {}) const {
    return make_region<dim>(space, geometry, std::move(bodies));
  }
  std::vector<const potentials::ElasticPotential<dim>*> laws() const {
    return {elastic[0].get(), elastic[1].get()};
  }
  /// As one law everywhere.
  CellConstants cell_constants() const {
    CellConstants all{{"lambda", "mu"}, std::vector<int>(constants.size(), 0), {}};
    for (const auto& values : constants) all.values.insert(all.values.end(), values.begin(), values.end());
    return all;
  }
  potentials::Density density_field() const {
    return
        [this](LocalIndex cell, const ExpressionPoint&) { return density[static_cast<std::size_t>(cell)]; };
  }
  ObservedState state(double time = 0.4) const { return {u.local(), v.local(), time}; }

  /// u_a = offset + gradient X_a.
  linalg::Vector linear_field(const Point& offset, const Eigen::Matrix<double, dim, dim>& gradient) const {
    linalg::Vector field(space.layout());
    auto values = field.write_local();
    for (std::size_t a = 0; a < space.node_positions().size(); ++a)
      Eigen::Map<Point>(values.data() + a * dim) = offset + gradient * space.node_positions()[a];
    return field;
  }
};

/// dJ along the directions of all quantities.
template <int dim>
std::array<double, 6>
directional_derivatives(const fem::FunctionSpace<dim>& space, std::span<const GlobalIndex> obstacle_ids,
                        Objective<dim>& objective, const ObservedState& state, double factor) {
  linalg::Vector du(space.layout()), dv(space.layout());
  parameters::PhysicalGradient<dim> g(space, all_quantities(), static_cast<LocalIndex>(obstacle_ids.size()));
  objective.add_derivatives(state, factor, du.write_owned(), dv.write_owned(), g);
  const mesh::DistributedMesh<dim>& mesh = space.mesh();
  std::array<double, 6> slopes{};
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    slopes[2] += g.numbers("lambda")[cell] * direction(mesh.cell_ids[cell], 0) +
                 g.numbers("mu")[cell] * direction(mesh.cell_ids[cell], 1);
    slopes[3] += g.numbers("rho")[cell] * direction(mesh.cell_ids[cell], 5);
  }
  const auto along = [](const auto& by_point, const auto& ids) {
    double sum = 0;
    for (std::size_t v = 0; v < by_point.size(); ++v)
      for (int i = 0; i < dim; ++i) sum += by_point[v][i] * direction(ids[v], i);
    return sum;
  };
  slopes[4] = along(g.vectors(quantities::vertices), mesh.vertex_ids);
  slopes[5] = along(g.vectors(quantities::obstacle_vertices), obstacle_ids);
  space.comm().sum(slopes);
  slopes[0] = du.dot(test::rough_field(space, 1, 11));
  slopes[1] = dv.dot(test::rough_field(space, 1, 12));
  double rest = 0;
  for (const Quantity& other : {quantities::damping_shear, quantities::damping_bulk})
    for (const double entry : g.numbers(other)) rest += std::abs(entry);
  EXPECT_EQ(rest, 0) << objective.name() << " depends on quantities that it does not name";
  return slopes;
}

/// Slope of value(shift) by differences of fourth order.
inline double central_difference(Along quantity, double h, const std::function<double(Shift)>& value) {
  const auto difference = [&](double by) { return value({quantity, by}) - value({quantity, -by}); };
  return (8 * difference(h) - difference(2 * h)) / (12 * h);
}

/// The slopes of an objective against central differences along each quantity, best of some steps. Prints the
/// relative errors.
template <int dim>
void compare_with_differences(const Objective<dim>& objective, const std::string& what, int rank,
                              const std::array<double, 6>& slopes, double value, double tolerance,
                              const std::function<double(Shift)>& shifted_value) {
  std::string line = what;
  for (const Along quantity : all_directions) {
    const auto q = static_cast<std::size_t>(quantity);
    // Scenes are dear on many ranks: what a first step settles needs no other.
    const double enough = 0.1 * tolerance * std::abs(slopes[q]);
    double error = std::numeric_limits<double>::infinity();
    for (const double h : {1e-4, 1e-5, 1e-3, 3e-5, 3e-4, 3e-6, 1e-6}) {
      error = std::min(error, std::abs(central_difference(quantity, h, shifted_value) - slopes[q]));
      if (error <= enough || !depends_on(objective, quantity)) break;
    }
    if (depends_on(objective, quantity)) {
      EXPECT_GT(std::abs(slopes[q]), 1e-6 * std::abs(value))
          << what << " by " << direction_names[q] << ": vacuous";
      EXPECT_LT(error, tolerance * std::abs(slopes[q])) << what << " by " << direction_names[q];
      char figure[64];
      std::snprintf(figure, sizeof figure, " %s %.1e", direction_names[q], error / std::abs(slopes[q]));
      line += figure;
    } else {
      EXPECT_EQ(slopes[q], 0) << what << " by " << direction_names[q];
      EXPECT_LT(error, 1e-9 * std::abs(value)) << what << " depends on " << direction_names[q];
    }
  }
  if (rank == 0) std::printf("%dD %s\n", dim, line.c_str());
}

/// Checks all partials of what `make` gives for a scene, and that value and partials are the same on one
/// rank.
template <int dim>
void check_objective(const std::function<std::unique_ptr<Objective<dim>>(const Scene<dim>&)>& make,
                     const std::string& what, double tolerance = 1e-7) {
  const Scene<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const auto objective = make(scene), lonely = make(alone);
  const double value = objective->value(scene.state());
  EXPECT_NE(value, 0) << what << ": vacuous";
  EXPECT_NEAR(value, lonely->value(alone.state()), 1e-12 * std::abs(value)) << what;
  const auto slopes = directional_derivatives<dim>(scene.space, {}, *objective, scene.state(), 1);
  const auto once = directional_derivatives<dim>(alone.space, {}, *lonely, alone.state(), -2);
  for (std::size_t q = 0; q < slopes.size(); ++q)
    EXPECT_NEAR(slopes[q], -0.5 * once[q], 1e-10 * std::max(std::abs(slopes[q]), std::abs(value)))
        << what << " by " << direction_names[q] << " on one rank";
  compare_with_differences<dim>(*objective, what, scene.comm.rank(), slopes, value, tolerance,
                                [&](Shift shift) {
                                  const Scene<dim> other(MPI_COMM_WORLD, shift);
                                  return make(other)->value(other.state());
                                });
}

} // namespace recoil::objectives

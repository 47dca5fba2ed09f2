#pragma once

#include <random>

#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::test {

/// A body of some dozen elements: a shaken bar with or without a neck, a hole or a notch.
template <int dim>
mesh::SimplexMesh random_body(unsigned seed) {
  std::seed_seq sequence{seed, 17u};
  std::mt19937 random(sequence);
  const auto number = [&](double low, double high) { return low + (high - low) * double(random()) / 0x1p32; };
  std::vector<int> divisions{static_cast<int>(number(3, 7)), static_cast<int>(number(2, 4))};
  if (dim == 3) divisions = {static_cast<int>(number(2, 5)), 2, static_cast<int>(number(1, 3))};
  const bool necked = number(0, 1) < 0.5;
  mesh::SimplexMesh body = necked ? necked_bar(divisions, number(0, 0.06), seed) : bar_mesh(divisions);
  if (!necked) shake(body, number(0, 0.1), seed);
  if (number(0, 1) < 0.5) { // what is left may be in several parts
    const Eigen::Vector3d at(number(-1, 1), number(-0.5, 0.5), 0);
    const double radius = number(0.2, 0.4);
    body = carve(body, [&](const Eigen::Vector3d& centre) { return (centre - at).norm() > radius; });
  }
  return body;
}

/// Level sets of the eigenvectors, moved along axes and made orthogonal to the modes before, have no less
/// energy than modes; modes are orthonormal and come by ascending energy.
template <int dim>
void check_against_sweeps(const parallel::Communicator& comm, unsigned seed) {
  using namespace solvers::fracture_modes;
  SCOPED_TRACE(seed);
  constexpr int count = 3, thresholds = 20;
  const Broken<dim> broken(comm, random_body<dim>(seed), {.count = count, .least_piece = 0});
  const ElementGraph& graph = broken.graph;
  const auto starts = start_fields(VertexMatrices<dim>(broken.mesh), count + 2);
  std::mt19937 random(seed);
  Eigen::Matrix<double, dim, 1> sizes;
  for (int i = 0; i < dim; ++i) sizes[i] = 1 + 4 * double(random()) / 0x1p32;
  JumpTensors<dim> tensors;
  for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) {
    Eigen::Matrix<double, dim, 1> here = sizes;
    here[0] *= 1.5 + std::sin(3 * graph.centres[e].x());
    tensors.push_back(here.asDiagonal());
  }
  const VectorModes vector =
      find_vector_modes<dim>(graph, tensors, starts, broken.modes, {.count = count, .least_piece = 0});
  auto layout = std::make_shared<linalg::VectorLayout>(*graph.layout);
  layout->block_size = dim;
  const auto product = [&](const linalg::Vector& x, const linalg::Vector& y) {
    const std::size_t width = x.layout().block_size;
    double sum = 0;
    for (std::size_t k = 0; k < x.owned().size(); ++k)
      sum += graph.masses[k / width] * x.owned()[k] * y.owned()[k];
    return comm.sum(sum);
  };
  // One orthonormal list after the other: `energies` of modes, `fields` of constants and modes.
  const auto check = [&](const char* kind, const std::vector<const linalg::Vector*>& fields,
                         std::size_t constants, const std::vector<double>& energies, int axis,
                         const auto& energy_of) {
    SCOPED_TRACE(kind);
    for (const auto& start : starts) {
      const linalg::Vector values(graph.layout, start);
      double low = 1e300, high = -1e300;
      for (const double value : start) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
      low = comm.min(low);
      high = comm.max(high);
      if (!(high - low > 1e-9 * std::max(std::abs(high), std::abs(low)))) continue; // constant
      for (int k = 0; k < thresholds; ++k) {
        linalg::Vector set(fields.front()->shared_layout());
        const auto to = set.write_local();
        const std::size_t width = set.layout().block_size;
        for (std::size_t e = 0; e < to.size() / width; ++e)
          to[e * width + axis] = values.local()[e] > low + (high - low) * (k + 0.5) / thresholds ? 1 : 0;
        const double size = product(set, set);
        for (std::size_t i = 0; i < constants; ++i) set.add(-product(set, *fields[i]), *fields[i]);
        for (std::size_t i = 0; i < energies.size(); ++i) {
          const double rest = product(set, set);
          if (rest > 1e-6 * size) {
            EXPECT_LE(energies[i], energy_of(set) / std::sqrt(rest) * (1 + 1e-8))
                << "mode " << i << ", level set " << k << " along " << axis << ", rest " << rest / size;
          }
          set.add(-product(set, *fields[constants + i]), *fields[constants + i]);
        }
      }
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        EXPECT_NEAR(product(*fields[i], *fields[j]), i == j ? 1 : 0, 1e-10);
    for (std::size_t i = 1; i < energies.size(); ++i) EXPECT_GE(energies[i], energies[i - 1] * (1 - 1e-6));
  };
  std::vector<const linalg::Vector*> fields;
  std::vector<double> energies;
  for (const auto& constant : broken.modes.constants) fields.push_back(&constant);
  for (const auto& mode : broken.modes.modes) {
    fields.push_back(&mode.field);
    energies.push_back(mode.energy);
  }
  check("scalar", fields, broken.modes.constants.size(), energies, 0,
        [&](const linalg::Vector& set) { return discontinuity_energy(graph, set.local()); });
  fields.clear();
  energies.clear();
  for (const auto& constant : vector.constants) fields.push_back(&constant);
  for (const auto& mode : vector.modes) {
    fields.push_back(&mode.field);
    energies.push_back(mode.energy);
  }
  for (int axis = 0; axis < dim; ++axis)
    check("vector", fields, vector.constants.size(), energies, axis,
          [&](const linalg::Vector& set) { return vector_discontinuity_energy<dim>(graph, tensors, set); });
}

} // namespace recoil::test

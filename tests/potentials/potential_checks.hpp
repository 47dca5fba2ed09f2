#pragma once

#include <array>
#include <cmath>
#include <functional>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/element_assembler.hpp"
#include "recoil/potentials/potential.hpp"
#include "support/box_mesh.hpp"
#include "support/derivatives.hpp"

namespace recoil::potentials {

/// A shuffled box with nodes of one order, everything a potential needs.
template <int dim>
struct Body {
  parallel::Communicator comm{MPI_COMM_WORLD};
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;

  /// @param motion displacement of the rest vertices by their input ids.
  Body(int n, int order, const std::function<Eigen::Matrix<double, dim, 1>(GlobalIndex)>& motion = {},
       std::optional<int> stiffness_degree = {})
      : mesh(distribute(comm, n)), space(moved(mesh, motion), {order}, stiffness_degree),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)) {}

  static const mesh::DistributedMesh<dim>&
  moved(mesh::DistributedMesh<dim>& mesh,
        const std::function<Eigen::Matrix<double, dim, 1>(GlobalIndex)>& motion) {
    for (std::size_t i = 0; motion && i < mesh.vertices.size(); ++i)
      mesh.vertices[i] += motion(mesh.vertex_ids[i]);
    return mesh;
  }

  static mesh::DistributedMesh<dim> distribute(const parallel::Communicator& comm, int n) {
    mesh::SimplexMesh whole;
    whole.dim = dim;
    if (comm.rank() == 0) {
      whole = test::box_mesh(dim, n);
      test::shuffle_vertices(whole, 5);
    }
    return mesh::distribute<dim>(comm, whole);
  }

  linalg::Vector field(double amplitude, int seed) const { return test::rough_field(space, amplitude, seed); }
};

template <int dim>
double total_value(const Body<dim>& body, const Potential<dim>& potential, const linalg::Vector& u) {
  return body.comm.sum(potential.value(u.local()));
}

template <int dim>
linalg::Vector total_gradient(const Body<dim>& body, const Potential<dim>& potential,
                              const linalg::Vector& u) {
  linalg::Vector g(body.space.layout());
  potential.add_gradient(u.local(), 1, g.write_owned());
  return g;
}

/// Gradient against central differences of the value and Hessian against central differences of the gradient,
/// both along a direction that moves every node; best of four step sizes.
template <int dim>
void check_derivatives(const Body<dim>& body, const Potential<dim>& potential, const linalg::Vector& u,
                       double length, double tolerance = 1e-7) {
  const linalg::Vector d = body.field(length, 99);
  const double slope = total_gradient(body, potential, u).dot(d);
  linalg::BlockMatrix matrix(body.space.layout(), body.space.graph());
  fem::ElementAssembler<dim> assembler(body.space, matrix);
  assembler.begin();
  potential.add_hessian(u.local(), 1, Projection::none, {&assembler, nullptr});
  assembler.end();
  linalg::Vector curvature(body.space.layout());
  matrix.multiply(d, curvature);
  linalg::Vector without_matrix(body.space.layout());
  potential.add_hessian_product(u.local(), d.local(), 1, without_matrix.write_owned());
  without_matrix.add(-1, curvature);
  EXPECT_LE(without_matrix.norm(), 1e-13 * curvature.norm()) << potential.name();
  constexpr std::array steps{1e-3, 1e-4, 1e-5, 1e-6};
  const auto errors = test::derivative_errors(
      [&](const auto& x) { return total_value(body, potential, x); },
      [&](const auto& x) { return total_gradient(body, potential, x); }, slope, curvature, u, d, steps);
  EXPECT_GT(std::abs(slope), 0) << potential.name() << ": vacuous";
  EXPECT_LT(errors.slope, tolerance * std::max(std::abs(slope), std::abs(total_value(body, potential, u))))
      << potential.name();
  EXPECT_LE(errors.curvature, tolerance * std::max(curvature.norm(), 1e-30)) << potential.name();
}

/// x -> R x + t with x = X + u.
template <int dim>
linalg::Vector rigidly_moved(const Body<dim>& body, const linalg::Vector& u) {
  Eigen::Matrix<double, dim, dim> R;
  if constexpr (dim == 2)
    R = Eigen::Rotation2Dd(0.7).toRotationMatrix();
  else
    R = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  linalg::Vector moved = u;
  auto values = moved.write_local();
  for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
    Eigen::Map<Eigen::Matrix<double, dim, 1>> entry(values.data() + static_cast<std::ptrdiff_t>(dim) * node);
    const auto& X = body.space.node_positions()[static_cast<std::size_t>(node)];
    entry = (R * (X + entry)).array() + 0.4 - X.array();
  }
  return moved;
}

} // namespace recoil::potentials

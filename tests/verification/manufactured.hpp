#pragma once

#include <cmath>
#include <memory>
#include <type_traits>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/potentials/laws/fixed_corotational.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"
#include "recoil/potentials/laws/mooney_rivlin.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/laws/saint_venant.hpp"
#include "recoil/potentials/loads.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"
#include "support/box_mesh.hpp"

namespace recoil::verification {

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;
template <int dim>
using Matrix = Eigen::Matrix<double, dim, dim>;

/// u_i(X) = amplitude sin(k_i . X + phase_i): smooth, not in any Lagrange space, det F > 0.
template <int dim>
struct SmoothDisplacement {
  static constexpr double amplitude = 0.08;
  static Point<dim> wave(int i) {
    Point<dim> k;
    for (int j = 0; j < dim; ++j) k[j] = 1.1 + 0.7 * ((i + 2 * j) % 3);
    return k;
  }
  static double phase(int i) { return 0.3 + 0.9 * i; }

  static Point<dim> value(const Point<dim>& X) {
    Point<dim> u;
    for (int i = 0; i < dim; ++i) u[i] = amplitude * std::sin(wave(i).dot(X) + phase(i));
    return u;
  }
  static Matrix<dim> deformation_gradient(const Point<dim>& X) {
    Matrix<dim> F = Matrix<dim>::Identity();
    for (int i = 0; i < dim; ++i)
      F.row(i) += amplitude * std::cos(wave(i).dot(X) + phase(i)) * wave(i).transpose();
    return F;
  }
  /// d2u_i / dX_j dX_l.
  static double second(int i, int j, int l, const Point<dim>& X) {
    return -amplitude * std::sin(wave(i).dot(X) + phase(i)) * wave(i)[j] * wave(i)[l];
  }
};

template <int dim>
Point<dim> position_of(const ExpressionPoint& point) {
  Point<dim> X;
  X[0] = point.x;
  X[1] = point.y;
  if constexpr (dim == 3) X[2] = point.z;
  return X;
}

template <class Law>
typename Law::Parameters test_parameters() {
  typename Law::Parameters parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = 1.0 + 0.5 * static_cast<double>(i);
  return parameters;
}

/// Body force per volume that keeps SmoothDisplacement in equilibrium: -Div P = -A : grad grad u.
template <int dim, class Law>
Point<dim> equilibrium_force(const Point<dim>& X) {
  using Exact = SmoothDisplacement<dim>;
  potentials::Tangent<dim> A;
  Law::tangent(Exact::deformation_gradient(X), test_parameters<Law>(), A);
  Point<dim> force = Point<dim>::Zero();
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j)
      for (int k = 0; k < dim; ++k)
        for (int l = 0; l < dim; ++l) force[i] -= A(dim * i + j, dim * k + l) * Exact::second(k, l, j, X);
  return force;
}

/// L2 error against SmoothDisplacement by quadrature two degrees finer than the mass matrix needs.
template <int dim>
double l2_error(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                const linalg::Vector& u) {
  double sum = 0;
  const int order = space.max_order();
  const auto table = fem::tabulate(space.basis(order), fem::simplex_quadrature<dim>(2 * order + 2));
  for (LocalIndex cell = 0; cell < space.mesh().num_owned_cells; ++cell) {
    const auto nodes = space.cell_nodes(cell);
    for (int q = 0; q < table.num_points; ++q) {
      Point<dim> value = Point<dim>::Zero(), X = Point<dim>::Zero();
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        X += table.value(q)[a] * space.node_positions()[static_cast<std::size_t>(nodes[a])];
        value += table.value(q)[a] *
                 Eigen::Map<const Point<dim>>(u.local().data() + static_cast<std::ptrdiff_t>(dim) * nodes[a]);
      }
      sum += geometry.weight_factor(cell) * table.weights[static_cast<std::size_t>(q)] *
             (value - SmoothDisplacement<dim>::value(X)).squaredNorm();
    }
  }
  return std::sqrt(space.comm().sum(sum));
}

template <int dim>
mesh::DistributedMesh<dim> shuffled_box(const parallel::Communicator& comm, int n) {
  mesh::SimplexMesh mesh;
  mesh.dim = dim;
  if (comm.rank() == 0) {
    mesh = test::box_mesh(dim, n);
    test::shuffle_vertices(mesh, 11);
  }
  return mesh::distribute<dim>(comm, mesh);
}

template <int dim>
std::vector<LocalIndex> all_cells(const fem::FunctionSpace<dim>& space) {
  return space.cells_of_order(space.max_order());
}

/// Solves the manufactured problem statically: traction on the side +x (id 3), displacement elsewhere. L2
/// error.
template <int dim, class Law>
double static_error(int n, int order) {
  using Exact = SmoothDisplacement<dim>;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = shuffled_box<dim>(comm, n);
  const fem::FunctionSpace<dim> space(mesh, {order});
  solvers::ElastodynamicsProblem<dim> problem;
  problem.space = &space;
  problem.geometry = std::make_shared<const fem::CellGeometry<dim>>(mesh);
  const potentials::Density unit = [](LocalIndex, const ExpressionPoint&) { return 1.0; };
  problem.mass = std::make_unique<potentials::MassMatrix<dim>>(space, *problem.geometry, unit,
                                                               potentials::MassLumping::consistent);
  parameters::CellField parameters;
  for (std::size_t k = 0; k < all_cells(space).size(); ++k) parameters.add(test_parameters<Law>());
  problem.add_elastic(potentials::make_elastic<dim>(*potentials::find_law(Law::name), space, problem.geometry,
                                                    order, all_cells(space), parameters));
  problem.add_load(potentials::make_body_force<dim>(space, problem.geometry, unit,
                                                    {[](LocalIndex, const ExpressionPoint& point) {
                                                       return equilibrium_force<dim, Law>(
                                                           position_of<dim>(point));
                                                     },
                                                     false}));
  problem.add_load(potentials::make_traction<dim>(
      space, {false, {3}},
      {[](const ExpressionPoint& point) -> Point<dim> {
         return Law::first_piola(Exact::deformation_gradient(position_of<dim>(point)), test_parameters<Law>())
             .col(0);
       },
       false}));
  fem::DirichletCondition held;
  for (int side = 1; side <= 2 * dim; ++side)
    if (side != 3) held.ids.push_back(side);
  held.components = {true, true, dim == 3};
  held.value = [](int component, const ExpressionPoint& point) {
    return Exact::value(position_of<dim>(point))[component];
  };
  problem.dirichlet = std::make_unique<fem::DirichletDofs<dim>>(space, std::vector{held});

  solvers::ElastodynamicsOptions options;
  options.dynamics = solvers::Dynamics::statics;
  options.newton.gradient_tolerance = 1e-12;
  options.newton.relative_gradient_tolerance = 0;
  options.newton.length_scale = 1;
  solvers::ElastodynamicsSolver<dim> solver(std::move(problem), options);
  std::vector<stepping::State> start(1);
  start[0].u = linalg::Vector(space.layout());
  start[0].v = start[0].u;
  solver.start(0, std::move(start), {});
  const auto report = solver.advance([](const auto&...) {});
  EXPECT_TRUE(report.accepted) << report.failure;
  return l2_error(space, *solver.problem().geometry, solver.history().newest().u);
}

/// Meshes whose L2 errors must fall with order k + 1.
struct MeshPair {
  int coarse, fine;
};

template <int dim, class Law>
void check_orders(const std::array<MeshPair, 4>& meshes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 1 && !std::is_same_v<Law, potentials::NeoHookean<dim>>)
    GTEST_SKIP() << "one law shows that ranks do not matter";
  for (int order = 1; order <= 4; ++order) {
    const auto [coarse, fine] = meshes[static_cast<std::size_t>(order) - 1];
    const double e_coarse = static_error<dim, Law>(coarse, order),
                 e_fine = static_error<dim, Law>(fine, order);
    const double measured = std::log(e_coarse / e_fine) / std::log(static_cast<double>(fine) / coarse);
    EXPECT_NEAR(measured, order + 1, 0.15)
        << Law::name << " P" << order << " in " << dim << "D: errors " << e_coarse << " and " << e_fine;
    testing::Test::RecordProperty(std::string(Law::name) + "_P" + std::to_string(order),
                                  std::to_string(measured));
    if (comm.rank() == 0)
      std::printf("%-18s %dD P%d: error %.3e -> %.3e, order %.3f\n", std::string(Law::name).c_str(), dim,
                  order, e_coarse, e_fine, measured);
  }
}

} // namespace recoil::verification

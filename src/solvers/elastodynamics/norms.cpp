#include "recoil/solvers/elastodynamics/norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

#include "recoil/fem/reference/tabulation.hpp"

namespace recoil::solvers {

namespace {

/// For every owned cell and quadrature point of degree `degree(order)`: act(cell, weight, u, grad u).
template <int dim, class Degree, class Act>
void for_points(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                std::span<const double> u, Degree degree, Act act) {
  for (int order = 1; order <= space.max_order(); ++order) {
    if (space.cells_of_order(order).empty()) continue;
    const auto table = fem::tabulate(space.basis(order), fem::simplex_quadrature<dim>(degree(order)));
    for (const LocalIndex cell : space.cells_of_order(order)) {
      if (cell >= space.mesh().num_owned_cells) continue;
      const auto nodes = space.cell_nodes(cell);
      for (int q = 0; q < table.num_points; ++q) {
        Eigen::Matrix<double, dim, 1> value = Eigen::Matrix<double, dim, 1>::Zero();
        Eigen::Matrix<double, dim, dim> gradient = Eigen::Matrix<double, dim, dim>::Zero();
        for (std::size_t a = 0; a < nodes.size(); ++a) {
          const Eigen::Map<const Eigen::Matrix<double, dim, 1>> nodal(
              u.data() + static_cast<std::ptrdiff_t>(dim) * nodes[a]);
          const Eigen::Map<const Eigen::Matrix<double, 1, dim>> dphi(table.gradient(q) + a * dim);
          value += table.value(q)[a] * nodal;
          gradient += nodal * dphi;
        }
        act(cell, geometry.weight_factor(cell) * table.weights[static_cast<std::size_t>(q)], value,
            gradient * geometry.inverse_edges[static_cast<std::size_t>(cell)]);
      }
    }
  }
}

} // namespace

template <int dim>
DisplacementNorms displacement_norms(const fem::FunctionSpace<dim>& space,
                                     const fem::CellGeometry<dim>& geometry, const linalg::Vector& u) {
  std::array<double, 3> sums{};
  double largest = 0;
  for_points<dim>(space, geometry, u.local(), potentials::stiffness_degree,
                  [&](LocalIndex, double weight, const auto& value, const auto& gradient) {
                    const double square = value.squaredNorm();
                    sums[0] += weight * square;
                    sums[1] += weight * gradient.squaredNorm();
                    sums[2] += weight * std::pow(square, 4);
                    largest = std::max(largest, std::sqrt(square));
                  });
  space.comm().sum(sums);
  DisplacementNorms norms;
  norms.l2 = std::sqrt(sums[0]);
  norms.h1_semi = std::sqrt(sums[1]);
  norms.h1 = std::sqrt(sums[0] + sums[1]);
  norms.l8 = std::pow(sums[2], 1.0 / 8);
  norms.linf = space.comm().max(largest);
  return norms;
}

template <int dim>
WorstCell worst_cell(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                     const linalg::Vector& u) {
  double smallest = std::numeric_limits<double>::infinity();
  LocalIndex worst = -1;
  for_points<dim>(
      space, geometry, u.local(), [](int order) { return 2 * order; },
      [&](LocalIndex cell, double, const auto&, const auto& gradient) {
        Eigen::Matrix<double, dim, dim> F = gradient;
        F += Eigen::Matrix<double, dim, dim>::Identity();
        const double ratio = F.determinant();
        if (ratio < smallest || std::isnan(ratio)) {
          smallest = std::isnan(ratio) ? -std::numeric_limits<double>::infinity() : ratio;
          worst = cell;
        }
      });
  const auto& comm = space.comm();
  WorstCell result;
  result.ratio = comm.min(smallest);
  const GlobalIndex nobody = comm.size();
  const GlobalIndex owner =
      comm.min(smallest == result.ratio && worst >= 0 ? GlobalIndex{comm.rank()} : nobody);
  if (owner == nobody) return result;
  if (owner == comm.rank()) {
    const auto cell = static_cast<std::size_t>(worst);
    result.cell = space.mesh().cell_ids[cell];
    result.source = space.mesh().cell_source[cell];
    result.body = space.mesh().cell_body[cell];
    const auto& position = space.mesh().vertices[static_cast<std::size_t>(space.mesh().cells[cell][0])];
    for (int i = 0; i < dim; ++i) result.position[static_cast<std::size_t>(i)] = position[i];
  }
  comm.broadcast(std::as_writable_bytes(std::span(&result, 1)), static_cast<int>(owner));
  return result;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template DisplacementNorms displacement_norms(const fem::FunctionSpace<dim>&,                              \
                                                const fem::CellGeometry<dim>&, const linalg::Vector&);       \
  template WorstCell worst_cell(const fem::FunctionSpace<dim>&, const fem::CellGeometry<dim>&,               \
                                const linalg::Vector&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers

#include "recoil/solvers/elastodynamics/norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include <Eigen/LU>

#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/parallel/exchange.hpp"

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
          const auto nodal = fem::node_block<dim>(u, nodes[a]);
          const Eigen::Map<const Eigen::Matrix<double, 1, dim>> dphi(table.gradient(q) + a * dim);
          value += table.value(q)[a] * nodal;
          gradient += nodal * dphi;
        }
        act(cell, geometry.weight_factor(cell) * table.weights[q], value,
            gradient * geometry.inverse_edges[cell]);
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
  for_points<dim>(
      space, geometry, u.local(), [&](int order) { return space.stiffness_degree(order); },
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
std::vector<WorstCell> worst_cells(const fem::FunctionSpace<dim>& space,
                                   const fem::CellGeometry<dim>& geometry, const linalg::Vector& u,
                                   std::size_t count) {
  const auto& mesh = space.mesh();
  std::vector<WorstCell> cells(mesh.num_owned_cells);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto& position = mesh.vertices[mesh.cells[cell][0]];
    cells[cell] = {mesh.cell_ids[cell],
                   mesh.cell_source[cell],
                   mesh.cell_body[cell],
                   std::numeric_limits<double>::infinity(),
                   {}};
    for (int i = 0; i < dim; ++i) cells[cell].position[i] = position[i];
  }
  for_points<dim>(
      space, geometry, u.local(), [](int order) { return 2 * order; },
      [&](LocalIndex cell, double, const auto&, const auto& gradient) {
        Eigen::Matrix<double, dim, dim> F = gradient;
        F += Eigen::Matrix<double, dim, dim>::Identity();
        const double det = F.determinant();
        double& ratio = cells[cell].ratio;
        ratio = std::isnan(det) ? -std::numeric_limits<double>::infinity() : std::min(ratio, det);
      });
  const auto keep_worst = [&] {
    const std::size_t kept = std::min(count, cells.size());
    std::partial_sort(cells.begin(), cells.begin() + kept, cells.end(),
                      [](const WorstCell& a, const WorstCell& b) {
                        return std::pair(a.ratio, a.cell) < std::pair(b.ratio, b.cell);
                      });
    cells.resize(kept);
  };
  keep_worst();
  cells = parallel::gather(space.comm(), 0, std::move(cells));
  keep_worst();
  space.comm().broadcast(cells);
  return cells;
}

std::string describe(const WorstCell& worst, const std::vector<std::string>& body_names) {
  std::ostringstream text;
  text << "element " << worst.source << " of '" << body_names[worst.body] << "' near (" << worst.position[0]
       << ", " << worst.position[1] << ", " << worst.position[2] << ")";
  return text.str();
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template DisplacementNorms displacement_norms(const fem::FunctionSpace<dim>&,                              \
                                                const fem::CellGeometry<dim>&, const linalg::Vector&);       \
  template std::vector<WorstCell> worst_cells(const fem::FunctionSpace<dim>&, const fem::CellGeometry<dim>&, \
                                              const linalg::Vector&, std::size_t);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers

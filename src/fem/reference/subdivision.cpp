#include "recoil/fem/reference/subdivision.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/lagrange.hpp"

namespace recoil::fem {

template <int dim>
std::vector<std::array<int, dim + 1>> subdivide_cell(int order) {
  // Partial sums y_j = alpha_j + .. + alpha_dim map the lattice to k >= y_1 >= .. >= y_dim >= 0, which the
  // Kuhn simplices of the unit cubes fill: start at a lattice point and step once along each axis, in every
  // order.
  const LagrangeBasis<dim> basis(order);
  using Sums = std::array<int, dim>;
  const auto node = [&](const Sums& y) {
    typename LagrangeBasis<dim>::MultiIndex alpha;
    int previous = order;
    for (std::size_t i = 0; i < dim; ++i) {
      if (y[i] > previous || y[i] < 0) return -1;
      alpha[i] = previous - y[i];
      previous = y[i];
    }
    alpha[dim] = previous;
    return basis.lattice().index(alpha);
  };

  std::vector<std::array<int, dim + 1>> cells;
  for (int start = 0; start < basis.num_nodes(); ++start) {
    Sums origin{};
    int sum = 0;
    for (std::size_t i = dim; i > 0; --i) origin[i - 1] = sum += basis.multi_index(start)[i];
    std::array<std::size_t, dim> axes;
    for (std::size_t i = 0; i < dim; ++i) axes[i] = i;
    do {
      Sums y = origin;
      std::array<int, dim + 1> cell{start};
      bool inside = true;
      for (std::size_t step = 0; step < dim && inside; ++step) {
        ++y[axes[step]];
        cell[step + 1] = node(y);
        inside = cell[step + 1] >= 0;
      }
      if (!inside) continue;
      Eigen::Matrix<double, dim, dim> edges;
      for (int i = 0; i < dim; ++i) edges.col(i) = basis.node(cell[i + 1]) - basis.node(cell[0]);
      if (edges.determinant() < 0.0) std::swap(cell[dim - 1], cell[dim]);
      cells.push_back(cell);
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
  return cells;
}

template <int dim>
std::vector<std::array<int, dim>> subdivide_facet(int order, int facet) {
  const std::vector<int> nodes = LagrangeBasis<dim>(order).facet_nodes(facet);
  std::vector<std::array<int, dim>> facets = subdivide_cell<dim - 1>(order);
  for (auto& corners : facets)
    for (int& corner : corners) corner = nodes[corner];
  return facets;
}

std::vector<int> vtk_nodes(int dim, int order, bool mirrored) {
  if (dim < 2 || dim > 3 || order < 1 || order > 2)
    throw InputError("no VTK cell for order " + std::to_string(order) + " in " + std::to_string(dim) +
                     "D; subdivide cells of orders above 2");
  // VTK runs around the edges of a triangle; ours are in lexicographic order of their vertices.
  std::vector<int> nodes;
  if (dim == 2)
    nodes = mirrored ? std::vector{0, 2, 1, 4, 5, 3} : std::vector{0, 1, 2, 3, 5, 4};
  else
    nodes = mirrored ? std::vector{0, 1, 3, 2, 4, 8, 6, 5, 7, 9} : std::vector{0, 1, 2, 3, 4, 7, 5, 6, 8, 9};
  if (order == 1) nodes.resize(dim + 1);
  return nodes;
}

template std::vector<std::array<int, 2>> subdivide_cell<1>(int);
template std::vector<std::array<int, 3>> subdivide_cell<2>(int);
template std::vector<std::array<int, 4>> subdivide_cell<3>(int);
template std::vector<std::array<int, 2>> subdivide_facet<2>(int, int);
template std::vector<std::array<int, 3>> subdivide_facet<3>(int, int);

} // namespace recoil::fem

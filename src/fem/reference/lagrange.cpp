#include "recoil/fem/reference/lagrange.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <Eigen/LU>

#include "recoil/base/error.hpp"

namespace recoil::fem {

namespace {

int checked_order(int order) {
  if (order < 1 || order > LagrangeBasis<1>::max_order)
    throw InputError("no Lagrange basis of order " + std::to_string(order) + "; orders are 1..4");
  return order;
}

// P_m(l) = prod_{s < m} (k l - s)/(s + 1) and its derivative, for m = 0..k.
struct Factors {
  double value[5], derivative[5];
};

Factors factors(int order, double lambda) {
  Factors f;
  f.value[0] = 1.0;
  f.derivative[0] = 0.0;
  for (int m = 1; m <= order; ++m) {
    const double factor = (order * lambda - (m - 1)) / m;
    f.value[m] = f.value[m - 1] * factor;
    f.derivative[m] = f.derivative[m - 1] * factor + f.value[m - 1] * order / m;
  }
  return f;
}

template <int dim>
std::array<Factors, dim + 1> all_factors(int order, const Eigen::Matrix<double, dim, 1>& xi) {
  std::array<Factors, dim + 1> f;
  f[0] = factors(order, 1.0 - xi.sum());
  for (int i = 0; i < dim; ++i) f[i + 1] = factors(order, xi[i]);
  return f;
}

} // namespace

template <int dim>
LagrangeBasis<dim>::LagrangeBasis(int order) : lattice_(checked_order(order)) {}

template <int dim>
typename LagrangeBasis<dim>::Point LagrangeBasis<dim>::node(int node) const {
  Point xi;
  for (int i = 0; i < dim; ++i) xi[i] = multi_index(node)[i + 1] / double(order());
  return xi;
}

template <int dim>
void LagrangeBasis<dim>::values(const Point& xi, std::span<double> values) const {
  const auto f = all_factors<dim>(order(), xi);
  for (int a = 0; a < num_nodes(); ++a) {
    const MultiIndex& alpha = multi_index(a);
    double product = 1.0;
    for (std::size_t i = 0; i <= dim; ++i) product *= f[i].value[alpha[i]];
    values[a] = product;
  }
}

template <int dim>
void LagrangeBasis<dim>::gradients(const Point& xi, std::span<double> gradients) const {
  const auto f = all_factors<dim>(order(), xi);
  for (int a = 0; a < num_nodes(); ++a) {
    const MultiIndex& alpha = multi_index(a);
    std::array<double, dim + 1> by_lambda; // d phi_a / d lambda_i
    for (std::size_t i = 0; i <= dim; ++i) {
      by_lambda[i] = f[i].derivative[alpha[i]];
      for (std::size_t j = 0; j <= dim; ++j)
        if (j != i) by_lambda[i] *= f[j].value[alpha[j]];
    }
    for (std::size_t j = 0; j < dim; ++j) gradients[a * dim + j] = by_lambda[j + 1] - by_lambda[0];
  }
}

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

template class LagrangeBasis<1>;
template class LagrangeBasis<2>;
template class LagrangeBasis<3>;
template std::vector<std::array<int, 2>> subdivide_cell<1>(int);
template std::vector<std::array<int, 3>> subdivide_cell<2>(int);
template std::vector<std::array<int, 4>> subdivide_cell<3>(int);
template std::vector<std::array<int, 2>> subdivide_facet<2>(int, int);
template std::vector<std::array<int, 3>> subdivide_facet<3>(int, int);

} // namespace recoil::fem

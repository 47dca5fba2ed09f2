#include "recoil/fem/reference/lagrange.hpp"

#include <cstddef>
#include <string>

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
  for (int i = 0; i < dim; ++i) xi[i] = static_cast<double>(multi_index(node)[i + 1]) / order();
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

template class LagrangeBasis<1>;
template class LagrangeBasis<2>;
template class LagrangeBasis<3>;

} // namespace recoil::fem

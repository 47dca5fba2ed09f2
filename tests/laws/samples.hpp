#pragma once

#include <random>
#include <string>
#include <vector>

#include <Eigen/LU>
#include <Eigen/QR>

#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::testing {

template <int dim>
using Matrix = Eigen::Matrix<double, dim, dim>;

template <int dim>
Matrix<dim> random_matrix(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  Matrix<dim> M;
  for (auto& entry : M.reshaped()) entry = normal(generator);
  return M;
}

template <int dim>
Matrix<dim> random_rotation(std::mt19937& generator) {
  Matrix<dim> Q = random_matrix<dim>(generator).householderQr().householderQ();
  if (Q.determinant() < 0.0) Q.col(0) *= -1.0;
  return Q;
}

/// F = U diag(stretches) V^T with random rotations.
template <int dim>
Matrix<dim> with_stretches(const Eigen::Matrix<double, dim, 1>& stretches, std::mt19937& generator) {
  return random_rotation<dim>(generator) * stretches.asDiagonal() *
         random_rotation<dim>(generator).transpose();
}

template <int dim>
struct Sample {
  std::string kind;
  Matrix<dim> F;
  double scale; ///< length over which functions of F vary
};

/// Deformation gradients: small, moderate and large strain, nearly inverted; inverted ones on request.
template <int dim>
std::vector<Sample<dim>> samples(bool inverted, int repeats = 8) {
  using Stretches = Eigen::Matrix<double, dim, 1>;
  std::mt19937 generator(23);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<Sample<dim>> list;
  const auto add = [&](const char* kind, double low, double high, double last_factor) {
    for (int i = 0; i < repeats; ++i) {
      Stretches s;
      for (auto& value : s) value = low + (high - low) * uniform(generator);
      s[dim - 1] *= last_factor;
      list.push_back({kind, with_stretches<dim>(s, generator), std::min(1.0, std::abs(s[dim - 1]))});
    }
  };
  add("small strain", 0.99, 1.01, 1.0);
  add("moderate", 0.6, 1.6, 1.0);
  add("large stretch", 2.0, 6.0, 1.0);
  add("stretched and flat", 1.5, 4.0, 0.1);
  add("nearly inverted", 0.6, 1.6, 1e-2);
  // Smallest stretch well below the others, so that the polar rotation stays differentiable.
  if (inverted) add("inverted", 0.8, 1.8, -0.3);
  return list;
}

template <int dim>
Eigen::VectorXd flat(const Matrix<dim>& F) {
  return F.template reshaped<Eigen::RowMajor>();
}

template <int dim>
Matrix<dim> unflat(const Eigen::VectorXd& f) {
  return f.reshaped<Eigen::RowMajor>(dim, dim);
}

} // namespace recoil::testing

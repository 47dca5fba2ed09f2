#pragma once

#include <random>
#include <string>
#include <vector>

#include <Eigen/LU>
#include <Eigen/QR>

#include "recoil/potentials/laws/all.hpp"

namespace recoil::testing {

/// Parameters to test a law with.
template <class Law>
struct Example {
  static constexpr typename Law::Parameters parameters{1.7, 0.9};
  /// lambda and mu of the linear law that the law becomes at small strain.
  static constexpr std::array<double, 2> small_strain_lame = parameters;
  /// The energy is exact to the rounding of 1, not of the strain: the polar rotation is.
  static constexpr bool rounded = Law::name == "FixedCorotational";
};

template <int dim>
struct Example<potentials::MooneyRivlin<dim>> {
  static constexpr std::array<double, 3> parameters{0.7, 0.4, 3.0};
  static constexpr double mu = 2.0 * (0.7 + (dim == 3 ? 0.4 : 0.0));
  static constexpr std::array<double, 2> small_strain_lame{3.0 - 2.0 * mu / dim, mu};
  static constexpr bool rounded = true; ///< terms of first order cancel
};

template <int dim>
struct Example<potentials::UnconstrainedOgden<dim>> {
  static constexpr std::array<double, 18> parameters{0.5, 0.3, 0.1, 0.1, 0.1, 0.1, 1.8,  -2.4, 4,
                                                     -1,  0.5, 3,   0.9, 5e2, 1e6, 1e10, 1e14, 1e18};
  static constexpr double mu = 1.2;
  static constexpr std::array<double, 2> small_strain_lame{2.0 / 0.9 - 2.0 * mu / dim, mu};
  static constexpr bool rounded = false;
};

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

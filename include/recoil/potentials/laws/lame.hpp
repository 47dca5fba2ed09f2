#pragma once

#include <Eigen/Core>

namespace recoil::potentials {

/// Which Lame parameters stand for Young's modulus and Poisson's ratio.
enum class LameModel {
  solid,       ///< 3D, and plane strain in 2D: lambda = E nu/((1 + nu)(1 - 2 nu))
  plane_stress ///< 2D: lambda = E nu/(1 - nu^2)
};

/// A pair of elastic constants and its derivatives with respect to the pair it was computed from.
struct ElasticPair {
  Eigen::Vector2d values;
  Eigen::Matrix2d jacobian; ///< d values_i / d source_j
};

/// (lambda, mu) [Pa] from (E [Pa], nu), mu = E/(2(1 + nu)), and d(lambda, mu)/d(E, nu).
/// @pre nu in (-1, 0.5) for `solid`, (-1, 1) for `plane_stress`.
inline ElasticPair lame_from_young(double E, double nu, LameModel model) {
  const double mu = E / (2.0 * (1.0 + nu));
  const double mu_nu = -mu / (1.0 + nu);
  double factor, factor_nu; // lambda = E factor(nu)
  if (model == LameModel::solid) {
    const double denominator = (1.0 + nu) * (1.0 - 2.0 * nu);
    factor = nu / denominator;
    factor_nu = (1.0 + 2.0 * nu * nu) / (denominator * denominator);
  } else {
    const double denominator = 1.0 - nu * nu;
    factor = nu / denominator;
    factor_nu = (1.0 + nu * nu) / (denominator * denominator);
  }
  ElasticPair pair;
  pair.values << E * factor, mu;
  pair.jacobian << factor, E * factor_nu, 0.5 / (1.0 + nu), mu_nu;
  return pair;
}

/// (E [Pa], nu) from (lambda, mu) [Pa] and d(E, nu)/d(lambda, mu): the inverse of lame_from_young.
/// @pre lambda + mu != 0 (`solid`), lambda + 2 mu != 0 (`plane_stress`).
inline ElasticPair young_from_lame(double lambda, double mu, LameModel model) {
  ElasticPair pair;
  if (model == LameModel::solid) {
    const double sum = lambda + mu, square = sum * sum;
    pair.values << mu * (3.0 * lambda + 2.0 * mu) / sum, lambda / (2.0 * sum);
    pair.jacobian << mu * mu / square, (3.0 * lambda * lambda + 4.0 * lambda * mu + 2.0 * mu * mu) / square,
        mu / (2.0 * square), -lambda / (2.0 * square);
  } else {
    const double sum = lambda + 2.0 * mu, square = sum * sum;
    pair.values << 4.0 * mu * (lambda + mu) / sum, lambda / sum;
    pair.jacobian << 4.0 * mu * mu / square,
        4.0 * (lambda * lambda + 2.0 * lambda * mu + 2.0 * mu * mu) / square, 2.0 * mu / square,
        -2.0 * lambda / square;
  }
  return pair;
}

} // namespace recoil::potentials

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace recoil::inverse {

/// What is known of a parameter beforehand: a normal distribution in the variable that the optimiser sees.
struct Prior {
  std::size_t parameter = 0;
  double mean = 0, deviation = 1;
};

/// The rows of the weighted residual that priors add, (z - mean) / deviation; each is a datum.
std::vector<double> prior_residuals(std::span<const double> z, std::span<const Prior> priors);

/// The triangular factor of the Jacobian to which the rows of the priors are appended, from that without
/// them, by Givens rotations. @pre R is n x n and upper triangular.
Eigen::MatrixXd append_priors(Eigen::MatrixXd R, std::span<const Prior> priors);

} // namespace recoil::inverse

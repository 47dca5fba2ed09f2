#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/parallel/communicator.hpp"

namespace recoil::inverse {

/// The upper triangular R of the QR decomposition of [J r], with a diagonal that is not negative: J'J, J'r
/// and |r|^2 are blocks of R'R, and least-squares problems in J can be solved without ever forming J'J, whose
/// condition is the square of that of J. By decompositions of the rows of each rank and then of their factors
/// [Demmel et al. 2012, SIAM J. Sci. Comput. 34, A206, TSQR]. The same bits on all ranks; for columns that
/// are independent the same on any number of ranks up to rounding.
/// @param columns of J, n of them on every rank, `residuals` r: this rank's rows, any number.
/// @return (n + 1) x (n + 1). Collective; gathers size() of these on every rank.
Eigen::MatrixXd triangular_factor(const parallel::Communicator& comm,
                                  const std::vector<std::vector<double>>& columns,
                                  std::span<const double> residuals);

/// The triangular factor of the m rows of [J r] that this process holds, m x (n + 1). Not collective.
Eigen::MatrixXd triangular_factor(const Eigen::MatrixXd& rows);

/// From the (n + 1) x (n + 1) factor R of [J r]: of |r|^2 the gradient 2 J'r, n numbers, and
/// Gauss-Newton's model 2 J'J of the Hessian, n x n. Not collective.
Eigen::VectorXd least_squares_gradient(const Eigen::MatrixXd& R);
Eigen::MatrixXd gauss_newton_hessian(const Eigen::MatrixXd& R);

} // namespace recoil::inverse

#include "recoil/inverse/priors.hpp"

#include <Eigen/Jacobi>

namespace recoil::inverse {

namespace {

/// Rotates a row into the factor.
void append_row(Eigen::MatrixXd& R, Eigen::RowVectorXd row) {
  for (Eigen::Index k = 0; k < R.rows(); ++k) {
    if (row[k] == 0) continue;
    Eigen::JacobiRotation<double> rotation;
    rotation.makeGivens(R(k, k), row[k]);
    const Eigen::RowVectorXd upper = R.row(k);
    R.row(k) = rotation.c() * upper - rotation.s() * row;
    row = rotation.s() * upper + rotation.c() * row;
  }
}

} // namespace

std::vector<double> prior_residuals(std::span<const double> z, std::span<const Prior> priors) {
  std::vector<double> rows;
  for (const Prior& prior : priors) rows.push_back((z[prior.parameter] - prior.mean) / prior.deviation);
  return rows;
}

Eigen::MatrixXd append_priors(Eigen::MatrixXd R, std::span<const Prior> priors) {
  for (const Prior& prior : priors) {
    const auto column = static_cast<Eigen::Index>(prior.parameter);
    append_row(R, Eigen::RowVectorXd::Unit(R.cols(), column) / prior.deviation);
  }
  R.triangularView<Eigen::StrictlyLower>().setZero();
  return R;
}

} // namespace recoil::inverse

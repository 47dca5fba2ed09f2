#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <Eigen/Core>

namespace recoil::test {

/// The least cost' x with A x = b, x >= 0, by the two-phase tableau simplex method with Bland's rule [1977];
/// empty where nothing satisfies the conditions. Dense and slow: an oracle.
inline std::optional<double> least_cost(Eigen::MatrixXd A, Eigen::VectorXd b, const Eigen::VectorXd& cost) {
  constexpr double tiny = 1e-10;
  const Eigen::Index rows = A.rows(), columns = A.cols();
  for (Eigen::Index i = 0; i < rows; ++i)
    if (b[i] < 0) {
      A.row(i) *= -1;
      b[i] *= -1;
    }
  Eigen::MatrixXd tableau = Eigen::MatrixXd::Zero(rows + 1, columns + rows + 1);
  tableau.topLeftCorner(rows, columns) = A;
  tableau.block(0, columns, rows, rows).setIdentity();
  tableau.topRightCorner(rows, 1) = b;
  std::vector<Eigen::Index> basis(rows);
  for (Eigen::Index i = 0; i < rows; ++i) basis[i] = columns + i;
  const auto pivot = [&](Eigen::Index row, Eigen::Index column) {
    tableau.row(row) /= tableau(row, column);
    for (Eigen::Index i = 0; i <= rows; ++i)
      if (i != row && tableau(i, column) != 0) tableau.row(i) -= tableau(i, column) * tableau.row(row);
    basis[row] = column;
  };
  const auto minimise = [&](const Eigen::VectorXd& costs, Eigen::Index allowed) {
    tableau.row(rows).setZero();
    tableau.row(rows).head(costs.size()) = costs;
    for (Eigen::Index i = 0; i < rows; ++i)
      if (basis[i] < costs.size()) tableau.row(rows) -= costs[basis[i]] * tableau.row(i);
    for (;;) {
      Eigen::Index entering = -1, leaving = -1;
      for (Eigen::Index j = 0; j < allowed && entering < 0; ++j)
        if (tableau(rows, j) < -tiny) entering = j;
      if (entering < 0) return -tableau(rows, columns + rows);
      double least = std::numeric_limits<double>::infinity();
      for (Eigen::Index i = 0; i < rows; ++i) {
        if (tableau(i, entering) <= tiny) continue;
        const double ratio = tableau(i, columns + rows) / tableau(i, entering);
        if (ratio < least - 1e-13 || (ratio < least + 1e-13 && basis[i] < basis[leaving])) {
          least = ratio;
          leaving = i;
        }
      }
      if (leaving < 0) return -std::numeric_limits<double>::infinity();
      pivot(leaving, entering);
    }
  };
  Eigen::VectorXd of_artificial = Eigen::VectorXd::Zero(columns + rows);
  of_artificial.tail(rows).setOnes();
  if (minimise(of_artificial, columns + rows) > 1e-8) return std::nullopt;
  for (Eigen::Index i = 0; i < rows; ++i) { // artificial variables that are left, at zero
    if (basis[i] < columns) continue;
    for (Eigen::Index j = 0; j < columns; ++j)
      if (std::abs(tableau(i, j)) > 1e-8) {
        pivot(i, j);
        break;
      }
  }
  return minimise(cost, columns);
}

} // namespace recoil::test

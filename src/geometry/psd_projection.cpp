#include "recoil/geometry/psd_projection.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

namespace recoil::geometry {

namespace {

constexpr int max_size = 12;

// Whether the symmetric matrix has a Cholesky factorisation: most blocks of a solve do, at a fraction of the
// cost.
bool has_cholesky_factor(const double* A, int size, int stride) {
  double L[max_size][max_size];
  for (int j = 0; j < size; ++j) {
    double pivot = A[j * stride + j];
    for (int k = 0; k < j; ++k) pivot -= L[j][k] * L[j][k];
    if (!(pivot > 0.0)) return false;
    L[j][j] = std::sqrt(pivot);
    for (int i = j + 1; i < size; ++i) {
      double value = A[j * stride + i];
      for (int k = 0; k < j; ++k) value -= L[i][k] * L[j][k];
      L[i][j] = value / L[j][j];
    }
  }
  return true;
}

// One copy for all sizes: unrolled for each of them it would take a minute to compile and gain nothing.
[[gnu::noinline, gnu::noclone]] bool project(double* A, int size, int stride) {
  double largest = 0.0;
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) {
      if (!std::isfinite(A[j * stride + i])) return false;
      largest = std::max(largest, std::abs(A[j * stride + i]));
    }
  if (largest == 0.0 || has_cholesky_factor(A, size, stride)) return true;

  SmallMatrix<max_size> symmetric(size, size);
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) symmetric(i, j) = 0.5 * (A[j * stride + i] + A[i * stride + j]);
  const Eigen::SelfAdjointEigenSolver<SmallMatrix<max_size>> eigen(symmetric);
  if (eigen.info() != Eigen::Success) return false;
  const auto& values = eigen.eigenvalues();
  const auto& vectors = eigen.eigenvectors();
  int negative = 0;
  while (negative < size && values[negative] < 0.0) ++negative;
  if (negative == 0) return true;
  // Rebuild from the side with fewer eigenvalues.
  const bool subtract = 2 * negative <= size;
  if (!subtract)
    for (int j = 0; j < size; ++j) std::fill_n(A + j * stride, size, 0.0);
  for (int e = subtract ? 0 : negative; e < (subtract ? negative : size); ++e) {
    const double value = std::abs(values[e]);
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) A[j * stride + i] += value * vectors(i, e) * vectors(j, e);
  }
  return true;
}

} // namespace

template <int size>
bool is_positive_definite(const Eigen::Matrix<double, size, size>& A) {
  return has_cholesky_factor(A.data(), size, size);
}

template <int size>
bool project_psd(Eigen::Matrix<double, size, size>& A) {
  return project(A.data(), size, size);
}

bool project_psd(SmallMatrix<12>& A) { return project(A.data(), A.rows(), A.rows()); }

bool find_eigenvectors(SmallMatrix<12>& A, Eigen::Matrix<double, 12, 1>& values) {
  const Eigen::SelfAdjointEigenSolver<SmallMatrix<max_size>> eigen(A);
  if (eigen.info() != Eigen::Success) return false;
  values.head(A.rows()) = eigen.eigenvalues();
  A = eigen.eigenvectors();
  return true;
}

template bool is_positive_definite<4>(const Eigen::Matrix<double, 4, 4>&);
template bool is_positive_definite<9>(const Eigen::Matrix<double, 9, 9>&);

template bool project_psd<2>(Eigen::Matrix<double, 2, 2>&);
template bool project_psd<3>(Eigen::Matrix<double, 3, 3>&);
template bool project_psd<4>(Eigen::Matrix<double, 4, 4>&);
template bool project_psd<6>(Eigen::Matrix<double, 6, 6>&);
template bool project_psd<8>(Eigen::Matrix<double, 8, 8>&);
template bool project_psd<9>(Eigen::Matrix<double, 9, 9>&);
template bool project_psd<12>(Eigen::Matrix<double, 12, 12>&);

} // namespace recoil::geometry

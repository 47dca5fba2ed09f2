#include "recoil/geometry/psd_projection.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::geometry {

namespace {

constexpr int max_size = 12;

// Square storage of the working matrices; only the leading `size` rows and columns are used.
using Square = double[max_size][max_size];

// Whether the symmetric matrix has a Cholesky factorisation: most blocks of a solve do, at a fraction of the
// cost.
bool is_positive_definite(const double* A, int size, int stride) {
  Square L;
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

// Cyclic Jacobi rotations [Golub, Van Loan 2013, 8.5]: diagonalises A, rows of V become the eigenvectors.
bool diagonalise(Square& A, Square& V, int size) {
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) V[i][j] = i == j;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0.0, diagonal = 0.0;
    for (int i = 0; i < size; ++i) {
      diagonal += A[i][i] * A[i][i];
      for (int j = 0; j < i; ++j) off += A[i][j] * A[i][j];
    }
    if (off <= 1e-32 * diagonal || off == 0.0) return true;
    for (int p = 0; p + 1 < size; ++p)
      for (int q = p + 1; q < size; ++q) {
        if (A[p][q] == 0.0) continue;
        const double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c, shift = t * A[p][q];
        A[p][p] -= shift;
        A[q][q] += shift;
        A[p][q] = A[q][p] = 0.0;
        for (int k = 0; k < size; ++k) {
          if (k != p && k != q) {
            const double kp = A[p][k], kq = A[q][k];
            A[p][k] = A[k][p] = c * kp - s * kq;
            A[q][k] = A[k][q] = s * kp + c * kq;
          }
          const double vp = V[p][k], vq = V[q][k];
          V[p][k] = c * vp - s * vq;
          V[q][k] = s * vp + c * vq;
        }
      }
  }
  return false;
}

// One copy for all sizes: unrolled for each of them it would take a minute to compile and gain nothing.
[[gnu::noinline, gnu::noclone]] bool project(double* A, int size, int stride) {
  double largest = 0.0;
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) {
      if (!std::isfinite(A[j * stride + i])) return false;
      largest = std::max(largest, std::abs(A[j * stride + i]));
    }
  if (largest == 0.0 || is_positive_definite(A, size, stride)) return true;

  Square D, V;
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) D[j][i] = 0.5 * (A[j * stride + i] + A[i * stride + j]) / largest;
  if (!diagonalise(D, V, size)) return false;
  int negative = 0;
  for (int i = 0; i < size; ++i) negative += D[i][i] < 0.0;
  if (negative == 0) return true;
  // Rebuild from the side with fewer eigenvalues.
  const bool subtract = 2 * negative <= size;
  if (!subtract)
    for (int j = 0; j < size; ++j) std::fill_n(A + j * stride, size, 0.0);
  for (int e = 0; e < size; ++e) {
    if ((D[e][e] < 0.0) != subtract) continue;
    const double value = std::abs(D[e][e]) * largest;
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) A[j * stride + i] += value * V[e][i] * V[e][j];
  }
  return true;
}

} // namespace

template <int size>
bool project_psd(Eigen::Matrix<double, size, size>& A) {
  return project(A.data(), size, size);
}

bool project_psd(SmallMatrix<12>& A) {
  return project(A.data(), static_cast<int>(A.rows()), static_cast<int>(A.rows()));
}

template bool project_psd<2>(Eigen::Matrix<double, 2, 2>&);
template bool project_psd<3>(Eigen::Matrix<double, 3, 3>&);
template bool project_psd<4>(Eigen::Matrix<double, 4, 4>&);
template bool project_psd<6>(Eigen::Matrix<double, 6, 6>&);
template bool project_psd<8>(Eigen::Matrix<double, 8, 8>&);
template bool project_psd<9>(Eigen::Matrix<double, 9, 9>&);
template bool project_psd<12>(Eigen::Matrix<double, 12, 12>&);

} // namespace recoil::geometry

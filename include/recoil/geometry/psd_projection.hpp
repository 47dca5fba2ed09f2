#pragma once

#include <Eigen/Core>

namespace recoil::geometry {

/// Symmetric matrix of run-time size up to `max_size` without heap use.
template <int max_size>
using SmallMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, max_size, max_size>;

/// Replaces a symmetric matrix by the nearest positive semi-definite one in the Frobenius norm: eigenvalues
/// are clamped at 0 [Teran et al. 2005]. A matrix that is positive definite already is left untouched, bit
/// for bit.
/// @param A symmetric; both triangles are read. Instantiated for sizes 2, 3, 4, 6, 8, 9, 12.
/// @return false if A is not finite or its eigenvalues were not found; A is then unchanged.
template <int size>
bool project_psd(Eigen::Matrix<double, size, size>& A);

/// Whether A has a Cholesky factorisation; false if it is not finite. The lower triangle is read.
template <int size>
bool is_positive_definite(const Eigen::Matrix<double, size, size>& A);

/// Projection for run-time sizes 1..12 (contact stencils).
bool project_psd(SmallMatrix<12>& A);

/// Replaces a symmetric matrix by its orthonormal eigenvectors, one a column; `values` takes the eigenvalues
/// in rising order. False if they were not found.
bool find_eigenvectors(SmallMatrix<12>& A, Eigen::Matrix<double, 12, 1>& values);

} // namespace recoil::geometry

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/petsc.hpp"

namespace recoil::bench {

/// The least that assembling P1 Neo-Hookean Hessians costs on this machine: a flat loop over tetrahedra with
/// constant material, stored basis gradients, the closed form of the element Hessian, and 16 stored positions
/// per cell for adding its blocks straight into the array of a sequential AIJ matrix. No partition, no laws,
/// no orders; what recoil's general element loop is measured against.
class ReferenceAssembly {
public:
  ReferenceAssembly(const std::vector<Eigen::Vector3d>& vertices,
                    std::vector<std::array<std::int32_t, 4>> cells);

  /// Fills the matrix at the displacement `u` (3 entries per vertex).
  void assemble(const std::vector<double>& u, double lambda, double mu);
  /// Element Hessians alone, without any matrix; returns a sum that depends on all of them.
  double kernels_only(const std::vector<double>& u, double lambda, double mu) const;

  std::size_t num_cells() const { return cells_.size(); }
  Mat matrix() const { return matrix_.get(); }

private:
  using Gradients = Eigen::Matrix<double, 4, 3>;
  using Hessian = Eigen::Matrix<double, 12, 12, Eigen::RowMajor>;
  void element_hessian(std::size_t cell, const std::vector<double>& u, double lambda, double mu,
                       Hessian& K) const;

  std::vector<std::array<std::int32_t, 4>> cells_;
  std::vector<Gradients> gradients_;
  std::vector<double> volumes_;
  std::vector<std::int32_t> row_begin_;                 ///< first block of each block row
  std::vector<std::array<std::int32_t, 16>> positions_; ///< of the block (a, b) inside its block row
  linalg::MatHandle matrix_;
};

} // namespace recoil::bench

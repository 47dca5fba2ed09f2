#pragma once

#include <span>
#include <vector>

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Products with a symmetric AIJ matrix of full blocks that read the blocks on and
/// above its diagonal alone, 0.4 of the bytes of the matrix: products are as fast as memory. Columns that
/// other ranks own are left to PETSc.
class SymmetricBlocks {
public:
  /// Whether blocks of `size` rows can be taken.
  static bool can_take(int size);

  SymmetricBlocks() = default;
  SymmetricBlocks(const SymmetricBlocks&) = delete;
  SymmetricBlocks& operator=(const SymmetricBlocks&) = delete;

  /// Multiplies with `matrix` from now on, whose pattern must not change. What a product needs is copied at
  /// the first one after a change, when the parts of triple products of multigrid are gone that its memory
  /// would otherwise be added to. Collective.
  void take(Mat matrix);
  /// A shell that multiplies with the matrix; another one for every matrix.
  Mat get() const { return shell_.get(); }

private:
  void make_shell();
  template <int size>
  void take_what_changed();
  void take_pattern();
  template <int size>
  void take_values();
  template <int size>
  void multiply_own(std::span<const double> x, std::span<double> y) const;
  template <int size>
  static PetscErrorCode multiply(Mat shell, Vec x, Vec y);

  MatHandle matrix_;
  int size_ = 0;                                    ///< of blocks
  bool has_pattern_ = false;                        ///< of matrix_
  PetscObjectState state_ = 0;                      ///< of matrix_ when its values were taken
  Mat diagonal_ = nullptr, off_diagonal_ = nullptr; ///< parts of matrix_; no second one on one rank
  const PetscInt* rows_ = nullptr;                  ///< of diagonal_
  std::vector<PetscInt> starts_;  ///< of block rows among columns_; the first block is the diagonal one
  std::vector<PetscInt> columns_; ///< block columns
  std::vector<PetscInt> places_;  ///< of the diagonal block among all blocks of its row
  std::vector<double> blocks_;    ///< column-major
  VecHandle ghosts_;              ///< what off_diagonal_ multiplies
  ScatterHandle scatter_;
  MatHandle shell_;
};

} // namespace recoil::linalg

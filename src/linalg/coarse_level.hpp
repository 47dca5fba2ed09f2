#pragma once

#include <memory>

#include "recoil/linalg/coarse_space.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::linalg {

/// The first level below the finest one of a PCMG with two levels: the Galerkin product P'A P in a
/// CoarseSpace, which the preconditioner of the coarse solver (GAMG) goes on from.
class CoarseLevel {
public:
  /// Builds the interpolation P. Collective.
  CoarseLevel(const VectorLayout& layout, const CoarseSpace& space);

  /// Gives `multigrid`, a PCMG, its two levels. To be called before its options are read. Collective.
  static PetscErrorCode make_levels(PC multigrid);
  /// Renews the values of P'A P; for a preconditioner or a matrix that is another one than the last time,
  /// makes it anew, with the `modes` of A (null: none) in the coarse space, and hands it to `multigrid`.
  /// Returns PETSc's error code. Collective.
  PetscErrorCode take(PC multigrid, Mat matrix, const NearNullSpace* modes);

private:
  PetscErrorCode restrict_modes(const NearNullSpace& modes);

  std::shared_ptr<const VectorLayout> layout_;
  std::vector<LocalIndex> fine_nodes_; ///< of the coarse ones that are owned
  MatHandle interpolation_, product_, matrix_;
  PetscObjectState state_ = 0; ///< of matrix_ when product_ was formed
  PcHandle multigrid_;
  std::unique_ptr<NearNullSpace> modes_;
};

} // namespace recoil::linalg

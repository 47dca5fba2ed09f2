#include "linalg/product_data.hpp"

#include <petsc/private/pcgamgimpl.h>

namespace recoil::linalg {

namespace {

using CreateLevel = decltype(_PCGAMGOps::createlevel);

/// PETSc's own, which has no public name; the same in all preconditioners.
CreateLevel create_level = nullptr;

/// All levels are alive at the end of a set-up, so data freed then would still have been in its peak.
PetscErrorCode create_level_alone(PC pc, Mat fine, PetscInt block_size, Mat* interpolation, Mat* coarse,
                                  PetscMPIInt* num_ranks, IS* permutation, PetscBool is_last) {
  PetscCall(create_level(pc, fine, block_size, interpolation, coarse, num_ranks, permutation, is_last));
  return MatProductClear(*coarse);
}

} // namespace

PetscErrorCode keep_no_product_data(PC preconditioner) {
  PetscBool is_gamg = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCGAMG, &is_gamg));
  if (is_gamg == PETSC_FALSE) return 0;
  const auto* const multigrid = static_cast<const PC_MG*>(preconditioner->data);
  CreateLevel& present = static_cast<const PC_GAMG*>(multigrid->innerctx)->ops->createlevel;
  if (present != &create_level_alone) create_level = present;
  present = &create_level_alone;
  return 0;
}

} // namespace recoil::linalg

#include "linalg/collective_set_up.hpp"

namespace recoil::linalg {

PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code) {
  return static_cast<PetscErrorCode>(comm.max(static_cast<GlobalIndex>(code)));
}

PetscErrorCode set_up_factorization(KSP ksp) {
  if (const PetscErrorCode code = KSPSetUp(ksp); code != 0) return code;
  PC preconditioner = nullptr;
  PetscBool telescope = PETSC_FALSE;
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCTELESCOPE, &telescope));
  if (telescope == PETSC_FALSE) return KSPSetUpOnBlocks(ksp);
  KSP inner = nullptr;
  PetscCall(PCTelescopeGetKSP(preconditioner, &inner));
  return inner == nullptr ? 0 : KSPSetUp(inner);
}

} // namespace recoil::linalg

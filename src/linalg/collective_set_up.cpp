#include "linalg/collective_set_up.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::linalg {

PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code) {
  return static_cast<PetscErrorCode>(comm.max(static_cast<GlobalIndex>(code)));
}

PetscErrorCode get_factoring_solver(KSP ksp, KSP& inner) {
  PC preconditioner = nullptr;
  PetscBool telescope = PETSC_FALSE;
  inner = ksp;
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCTELESCOPE, &telescope));
  return telescope == PETSC_TRUE ? PCTelescopeGetKSP(preconditioner, &inner) : 0;
}

PetscErrorCode set_up_factorization(KSP ksp) {
  const DeferredSignals deferred;
  if (const PetscErrorCode code = KSPSetUp(ksp); code != 0) return code;
  KSP inner = nullptr;
  PetscCall(get_factoring_solver(ksp, inner));
  if (inner == ksp) return KSPSetUpOnBlocks(ksp);
  return inner == nullptr ? 0 : KSPSetUp(inner);
}

} // namespace recoil::linalg

#include "linalg/collective_set_up.hpp"
#include "recoil/base/signals.hpp"

#include <new>

#include "recoil/base/memory.hpp"

namespace recoil::linalg {

PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code) {
  return static_cast<PetscErrorCode>(comm.max(GlobalIndex{code}));
}

PetscErrorCode alone_without_memory(PetscObject object, PetscErrorCode code) {
  if (code == 0 || (code != PETSC_ERR_MEM && !memory_is_short())) return code;
  int ranks = 1;
  MPI_Comm_size(PetscObjectComm(object), &ranks);
  if (ranks > 1) throw std::bad_alloc();
  return code;
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
  const PetscErrorCode code = alone_without_memory(reinterpret_cast<PetscObject>(ksp), KSPSetUp(ksp));
  if (code != 0) return code;
  KSP inner = nullptr;
  PetscCall(get_factoring_solver(ksp, inner));
  if (inner == ksp) return KSPSetUpOnBlocks(ksp);
  return inner == nullptr ? 0 : KSPSetUp(inner);
}

} // namespace recoil::linalg

#include "linalg/indefinite_solve.hpp"

#include "linalg/collective_set_up.hpp"
#include "linalg/solver_options.hpp"

namespace recoil::linalg {

namespace {
/// More would mean that the factorisation is of no use.
constexpr int max_iterations = 30;
} // namespace

PetscErrorCode solve_indefinite(const parallel::Communicator& comm, Mat A, const std::string& prefix,
                                double relative_tolerance, Vec b, Vec x, KSPConvergedReason& reason,
                                int& iterations) {
  const ScopedOptions options(indefinite_options(prefix, comm.size()));
  const QuietErrors quiet;
  KspHandle ksp;
  PetscCall(KSPCreate(comm.get(), ksp.put()));
  PetscCall(KSPSetOptionsPrefix(ksp.get(), prefix.c_str()));
  PetscCall(KSPSetType(ksp.get(), KSPGMRES));
  PetscCall(KSPSetPCSide(ksp.get(), PC_RIGHT));
  PetscCall(KSPSetFromOptions(ksp.get()));
  PetscCall(KSPSetOperators(ksp.get(), A, A));
  PetscCall(KSPSetTolerances(ksp.get(), relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
  if (const PetscErrorCode code = agree(comm, set_up_factorization(ksp.get())); code != 0) return code;
  PetscCall(KSPSolve(ksp.get(), b, x));
  PetscInt count = 0;
  PetscCall(KSPGetConvergedReason(ksp.get(), &reason));
  PetscCall(KSPGetIterationNumber(ksp.get(), &count));
  iterations = static_cast<int>(count);
  return 0;
}

} // namespace recoil::linalg

#include "linalg/direct_solver.hpp"

#include <cmath>

#include "linalg/collective_set_up.hpp"

namespace recoil::linalg {

namespace {
/// More would mean that the factorisation is of no use.
constexpr int max_indefinite_iterations = 30;
} // namespace

LinearResult DirectSolver::solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) {
  LinearResult result;
  result.outcome = LinearOutcome::indefinite;
  x.fill(0);
  if (set_up_outcome() != LinearOutcome::indefinite) return result;
  const PetscErrorCode code =
      agree(*layout().comm, run_indefinite(b.get(), x.get(), relative_tolerance, result));
  if (code != 0) {
    x.fill(0);
    result.outcome = outcome_of_error(code, "solving an indefinite system");
    return result;
  }
  const double size = b.norm(), residual = residual_norm(operator_.get(), b, x);
  result.relative_residual = size > 0 ? residual / size : 0;
  if (result.outcome == LinearOutcome::converged && std::isfinite(x.norm()))
    x.update_ghosts();
  else
    x.fill(0);
  return result;
}

PetscErrorCode DirectSolver::run_indefinite(Vec b, Vec x, double relative_tolerance,
                                            LinearResult& result) const {
  const parallel::Communicator& comm = *layout().comm;
  const std::string prefix = settings().prefix + "indefinite_";
  const ScopedOptions options(indefinite_options(prefix, comm.size()));
  const QuietErrors quiet;
  KspHandle ksp;
  PetscCall(KSPCreate(comm.get(), ksp.put()));
  PetscCall(KSPSetOptionsPrefix(ksp.get(), prefix.c_str()));
  PetscCall(KSPSetType(ksp.get(), KSPGMRES));
  PetscCall(KSPSetPCSide(ksp.get(), PC_RIGHT));
  PetscCall(KSPSetFromOptions(ksp.get()));
  PetscCall(KSPSetOperators(ksp.get(), operator_.get(), operator_.get()));
  PetscCall(KSPSetTolerances(ksp.get(), relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT,
                             max_indefinite_iterations));
  if (const PetscErrorCode code = agree(comm, set_up_factorization(ksp.get())); code != 0) return code;
  PetscCall(KSPSolve(ksp.get(), b, x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscCall(KSPGetConvergedReason(ksp.get(), &reason));
  PetscCall(KSPGetIterationNumber(ksp.get(), &iterations));
  result.outcome = outcome_of(reason);
  result.iterations = static_cast<int>(iterations);
  return 0;
}

} // namespace recoil::linalg

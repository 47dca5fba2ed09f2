#include "recoil/linalg/largest_eigenpairs.hpp"

#include <algorithm>

#include "linalg/solver_options.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

namespace {

/// Vectors that are added between two restarts.
constexpr PetscInt vectors_between_restarts = 40;

/// What SLEPc's callbacks see.
struct Search {
  const std::function<void(std::span<const double>, std::span<double>)>& multiply;
  double threshold;
  bool has_reached_threshold = false;
  CallbackGuard guard = {};

  double tolerance() const { return 1e-4 * threshold; }
};

PetscErrorCode multiply_for_search(Mat shell, Vec x, Vec y) {
  Search* search = nullptr;
  if (const PetscErrorCode code = MatShellGetContext(shell, static_cast<void*>(&search))) return code;
  return search->guard.run([&] { map_entries(x, y, search->multiply); });
}

/// Asked for the largest eigenvalues that have not converged, one after the other. Of those below the
/// threshold it is enough to know that they are: the residual bounds the error.
PetscErrorCode measure_error(EPS, PetscScalar value, PetscScalar, PetscReal residual, PetscReal* error,
                             void* context) {
  auto& search = *static_cast<Search*>(context);
  const bool is_below = value + residual < search.threshold;
  *error = is_below ? 0 : residual;
  search.has_reached_threshold = search.has_reached_threshold || is_below;
  return 0;
}

PetscErrorCode test_end(EPS eps, PetscInt iteration, PetscInt most_iterations, PetscInt converged,
                        PetscInt wanted, EPSConvergedReason* reason, void* context) {
  const PetscErrorCode code =
      EPSStoppingBasic(eps, iteration, most_iterations, converged, wanted, reason, nullptr);
  if (*reason == EPS_CONVERGED_ITERATING && static_cast<Search*>(context)->has_reached_threshold)
    *reason = EPS_CONVERGED_USER;
  return code;
}

EpsHandle make_solver(Mat A, PetscInt n, PetscInt wanted, Search& search) {
  EpsHandle eps;
  RECOIL_PETSC(EPSCreate(PETSC_COMM_SELF, eps.put()));
  RECOIL_PETSC(EPSSetOptionsPrefix(eps.get(), "recoil_eig_"));
  RECOIL_PETSC(EPSSetOperators(eps.get(), A, nullptr));
  RECOIL_PETSC(EPSSetProblemType(eps.get(), EPS_HEP));
  RECOIL_PETSC(EPSSetType(eps.get(), EPSKRYLOVSCHUR));
  RECOIL_PETSC(EPSSetWhichEigenpairs(eps.get(), EPS_LARGEST_REAL));
  RECOIL_PETSC(EPSSetDimensions(eps.get(), wanted, std::min(n, wanted + vectors_between_restarts),
                                std::min(n, vectors_between_restarts)));
  RECOIL_PETSC(EPSSetTolerances(eps.get(), search.tolerance(), 1000));
  RECOIL_PETSC(EPSSetConvergenceTestFunction(eps.get(), measure_error, &search, nullptr));
  RECOIL_PETSC(EPSSetStoppingTestFunction(eps.get(), test_end, &search, nullptr));
  RECOIL_PETSC(EPSSetFromOptions(eps.get()));
  return eps;
}

} // namespace

Eigenpairs largest_eigenpairs(std::size_t n,
                              const std::function<void(std::span<const double>, std::span<double>)>& multiply,
                              double threshold, std::size_t most) {
  Search search{multiply, threshold};
  const auto size = petsc_int(n), wanted = petsc_int(std::min(most, n));
  MatHandle A;
  RECOIL_PETSC(MatCreateShell(PETSC_COMM_SELF, size, size, size, size, &search, A.put()));
  RECOIL_PETSC(MatShellSetOperation(A.get(), MATOP_MULT, reinterpret_cast<void (*)()>(multiply_for_search)));
  RECOIL_PETSC(MatSetOption(A.get(), MAT_SYMMETRIC, PETSC_TRUE));
  const EpsHandle eps = make_solver(A.get(), size, wanted, search);
  const PetscErrorCode code = EPSSolve(eps.get());
  search.guard.rethrow();
  RECOIL_PETSC(code);
  PetscInt converged = 0;
  RECOIL_PETSC(EPSGetConverged(eps.get(), &converged));
  VecHandle vector;
  RECOIL_PETSC(MatCreateVecs(A.get(), vector.put(), nullptr));
  Eigenpairs found;
  for (PetscInt k = 0; k < converged; ++k) {
    double value = 0;
    RECOIL_PETSC(EPSGetEigenpair(eps.get(), k, &value, nullptr, vector.get(), nullptr));
    if (value < threshold) break;
    found.values.push_back(value);
    with_entries(vector.get(),
                 [&](auto entries) { found.vectors.emplace_back(entries.begin(), entries.end()); });
  }
  const bool are_all = search.has_reached_threshold || found.values.size() == n;
  found.is_complete = are_all && found.values.size() <= most;
  found.values.resize(std::min(most, found.values.size()));
  found.vectors.resize(found.values.size());
  return found;
}

} // namespace recoil::linalg

#include "recoil/linalg/generalized_eigenpairs.hpp"

#include <algorithm>

#include "linalg/factorization.hpp"
#include "linalg/solver_options.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::linalg {

namespace {

/// Rows from which on multigrid takes less memory and time than a factor on one rank.
constexpr GlobalIndex rows_of_multigrid = 200000;

OptionList inner_solver_options(GlobalIndex rows, int num_ranks) {
  const std::string prefix = "recoil_modes_st_";
  const bool direct = rows <= rows_of_multigrid;
  OptionList options = default_options(direct ? LinearMethod::direct : LinearMethod::amg, prefix, num_ranks,
                                       user_options(prefix), false);
  options.emplace_back(prefix + "ksp_type", direct ? "preonly" : "cg");
  options.emplace_back(prefix + "ksp_rtol", "1e-11");
  return options;
}

EpsHandle make_eigen_solver(const BlockMatrix& A, const BlockMatrix& B, int count, double shift) {
  EpsHandle eps;
  RECOIL_PETSC(EPSCreate(A.layout().comm->get(), eps.put()));
  RECOIL_PETSC(EPSSetOptionsPrefix(eps.get(), "recoil_modes_"));
  RECOIL_PETSC(EPSSetOperators(eps.get(), A.get(), B.get()));
  RECOIL_PETSC(EPSSetProblemType(eps.get(), EPS_GHEP));
  RECOIL_PETSC(EPSSetType(eps.get(), EPSKRYLOVSCHUR));
  RECOIL_PETSC(EPSSetWhichEigenpairs(eps.get(), EPS_TARGET_MAGNITUDE));
  RECOIL_PETSC(EPSSetTarget(eps.get(), -shift));
  RECOIL_PETSC(EPSSetDimensions(eps.get(), count, PETSC_DEFAULT, PETSC_DEFAULT));
  RECOIL_PETSC(EPSSetTolerances(eps.get(), 1e-9, 1000));
  ST transformation = nullptr;
  RECOIL_PETSC(EPSGetST(eps.get(), &transformation));
  RECOIL_PETSC(STSetType(transformation, STSINVERT));
  return eps;
}

/// @throws LibraryError, std::bad_alloc on every rank if A + shift B could not be factored. Collective.
void check_factorization(EPS eps, const parallel::Communicator& comm) {
  ST transformation = nullptr;
  KSP solver = nullptr;
  RECOIL_PETSC(EPSGetST(eps, &transformation));
  RECOIL_PETSC(STGetKSP(transformation, &solver));
  RECOIL_PETSC(agree(comm, set_up_factorization(solver)));
  if (comm.any(is_indefinite(solver)))
    throw LibraryError("the matrix of an eigenvalue problem, shifted, is not positive definite");
}

} // namespace

GeneralizedEigenpairs smallest_eigenpairs(const BlockMatrix& A, const BlockMatrix& B, int count,
                                          double shift) {
  const VectorLayout& layout = A.layout();
  const GlobalIndex rows = layout.num_global * layout.block_size;
  const int wanted = static_cast<int>(std::min<GlobalIndex>(count, rows));
  GeneralizedEigenpairs found;
  if (wanted == 0) return found;
  register_upper_cholesky();
  const EpsHandle eps = make_eigen_solver(A, B, wanted, shift);
  {
    const ScopedOptions options(inner_solver_options(rows, layout.comm->size()));
    const DeferredSignals deferred;
    RECOIL_PETSC(EPSSetFromOptions(eps.get()));
    RECOIL_PETSC(EPSSetUp(eps.get()));
    check_factorization(eps.get(), *layout.comm);
  }
  RECOIL_PETSC(EPSSolve(eps.get()));
  PetscInt converged = 0;
  RECOIL_PETSC(EPSGetConverged(eps.get(), &converged));
  for (PetscInt k = 0; k < std::min<PetscInt>(converged, wanted); ++k) {
    double value = 0;
    Vector vector(A.shared_layout());
    RECOIL_PETSC(EPSGetEigenpair(eps.get(), k, &value, nullptr, vector.get(), nullptr));
    vector.update_ghosts();
    found.values.push_back(value);
    found.vectors.push_back(std::move(vector));
  }
  return found;
}

} // namespace recoil::linalg

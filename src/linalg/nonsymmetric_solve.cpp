#include "recoil/linalg/nonsymmetric_solve.hpp"

#include <algorithm>

#include "linalg/solver_options.hpp"

namespace recoil::linalg {

namespace {

/// Between PETSc's vectors and ours.
class Bridge {
public:
  Bridge(const NonsymmetricSystem& system, std::shared_ptr<const VectorLayout> layout)
      : system_(system), in_(layout), out_(std::move(layout)) {}

  static PetscErrorCode multiply(Mat shell, Vec x, Vec y) {
    Bridge* self = nullptr;
    PetscCall(MatShellGetContext(shell, &self));
    return self->call(self->system_.multiply, x, y);
  }
  static PetscErrorCode precondition(PC shell, Vec x, Vec y) {
    Bridge* self = nullptr;
    PetscCall(PCShellGetContext(shell, &self));
    return self->call(self->system_.precondition, x, y);
  }
  void rethrow() const { guard_.rethrow(); }

private:
  PetscErrorCode call(const std::function<void(const Vector&, Vector&)>& function, Vec x, Vec y) {
    const PetscScalar* from = nullptr;
    PetscCall(VecGetArrayRead(x, &from));
    auto entries = in_.write_owned();
    std::copy_n(from, entries.size(), entries.begin());
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscCall(guard_.run([&] {
      in_.update_ghosts();
      function(in_, out_);
    }));
    PetscScalar* to = nullptr;
    PetscCall(VecGetArrayWrite(y, &to));
    std::copy(out_.owned().begin(), out_.owned().end(), to);
    return VecRestoreArrayWrite(y, &to);
  }

  const NonsymmetricSystem& system_;
  Vector in_, out_;
  CallbackGuard guard_;
};

/// Krylov vectors kept before a restart.
constexpr PetscInt restart = 100;

} // namespace

LinearResult solve_nonsymmetric(const NonsymmetricSystem& system, const Vector& b, Vector& x,
                                double relative_tolerance, int max_iterations) {
  x.fill(0);
  const double size = b.norm();
  if (const auto known = result_without_solve(size)) return *known;
  const VectorLayout& layout = b.layout();
  MPI_Comm comm = layout.comm->get();
  const auto entries = layout.num_owned * layout.block_size;
  Bridge bridge(system, b.shared_layout());
  MatHandle matrix;
  RECOIL_PETSC(
      MatCreateShell(comm, entries, entries, PETSC_DETERMINE, PETSC_DETERMINE, &bridge, matrix.put()));
  RECOIL_PETSC(
      MatShellSetOperation(matrix.get(), MATOP_MULT, reinterpret_cast<void (*)(void)>(&Bridge::multiply)));
  KspHandle ksp;
  RECOIL_PETSC(KSPCreate(comm, ksp.put()));
  RECOIL_PETSC(KSPSetType(ksp.get(), KSPFGMRES));
  RECOIL_PETSC(KSPGMRESSetRestart(ksp.get(), restart));
  RECOIL_PETSC(KSPSetOperators(ksp.get(), matrix.get(), matrix.get()));
  RECOIL_PETSC(KSPSetTolerances(ksp.get(), relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
  PC preconditioner = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp.get(), &preconditioner));
  RECOIL_PETSC(PCSetType(preconditioner, PCSHELL));
  RECOIL_PETSC(PCShellSetContext(preconditioner, &bridge));
  RECOIL_PETSC(PCShellSetApply(preconditioner, &Bridge::precondition));
  const QuietErrors quiet;
  const PetscErrorCode code = KSPSolve(ksp.get(), b.get(), x.get());
  bridge.rethrow();
  RECOIL_PETSC(code);
  const auto [reason, iterations] = end_of(ksp.get());
  PetscReal residual = 0;
  RECOIL_PETSC(KSPGetResidualNorm(ksp.get(), &residual));
  x.update_ghosts();
  return {reason > 0 ? LinearOutcome::converged : LinearOutcome::not_converged, iterations, residual / size};
}

} // namespace recoil::linalg

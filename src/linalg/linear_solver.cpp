#include "recoil/linalg/linear_solver.hpp"

#include <cmath>

#include "linalg/scoped_options.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::linalg {

class LinearSolver::Implementation {
public:
  Implementation(std::shared_ptr<const VectorLayout> layout, LinearMethod method, std::string prefix)
      : layout_(std::move(layout)), prefix_(std::move(prefix)) {
    method_ = method;
    const std::string & p = prefix_;
    if (method_ == LinearMethod::amg)
      { defaults_ = {{p + "pc_type", "gamg"}}; if (layout_->comm->size()>1) defaults_.push_back({"matptap_via","allatonce"});}
    else if (layout_->comm->size() == 1)
      defaults_ = {{p + "pc_type", "cholesky"}, {p + "pc_factor_mat_solver_type", "cholmod"}, {"mat_cholmod_factor","supernodal"}};
    else
      defaults_ = {{p + "pc_type", "redundant"}, {p + "redundant_pc_type", "cholesky"},{p + "redundant_ksp_type", "preonly"}, {p + "redundant_pc_factor_mat_solver_type", "cholmod"}, {"mat_cholmod_factor","supernodal"}};
  }
  void create() {
    RECOIL_PETSC(KSPCreate(layout_->comm->get(), ksp_.put()));
    RECOIL_PETSC(KSPSetOptionsPrefix(ksp_.get(), prefix_.c_str()));
    RECOIL_PETSC(KSPSetType(ksp_.get(), KSPCG));
    RECOIL_PETSC(KSPSetNormType(ksp_.get(), KSP_NORM_UNPRECONDITIONED));
    const ScopedOptions o(defaults_);
    RECOIL_PETSC(KSPSetFromOptions(ksp_.get()));
  }
  std::shared_ptr<const VectorLayout> layout_;
  std::string prefix_;
  LinearMethod method_;
  OptionList defaults_;
  KspHandle ksp_;
  PetscErrorCode code_=0;
};

LinearSolver::LinearSolver(std::shared_ptr<const VectorLayout> layout, LinearMethod method, std::string options_prefix) 
   : implementation_(std::make_unique<Implementation>(layout, method, options_prefix)) {implementation_->create(); }
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;
LinearSolver::~LinearSolver() = default;

void LinearSolver::rebuild(const BlockMatrix& matrix, const Vector& positions, std::span<const char> constrained) {
  auto& i = *implementation_;
  const NearNullSpace modes(positions, constrained);
  if (i.method_ == LinearMethod::amg) i.create();
  MatSetNearNullSpace(matrix.get(), modes.get());
  RECOIL_PETSC(KSPSetOperators(i.ksp_.get(), matrix.get(), matrix.get()));
  refresh();
}
void LinearSolver::refresh() {
  auto& i = *implementation_;
  const ScopedOptions o(i.defaults_);
  Mat A; KSPGetOperators(i.ksp_.get(),&A,nullptr); KSPSetOperators(i.ksp_.get(),A,A);
  i.code_=KSPSetUp(i.ksp_.get());
  KSPSetUpOnBlocks(i.ksp_.get());
}
LinearResult LinearSolver::solve(const Vector& b, Vector& x, double relative_tolerance, int max_iterations) {
  auto& i = *implementation_;
  const ScopedOptions o(i.defaults_);
  LinearResult r;
  KSPSetTolerances(i.ksp_.get(), relative_tolerance, 1e-300, 1e30, max_iterations);
  PetscErrorCode e = i.code_ ? i.code_ : KSPSolve(i.ksp_.get(), b.get(), x.get());
  KSPConvergedReason why; PetscInt its;
  KSPGetConvergedReason(i.ksp_.get(), &why);
  KSPGetIterationNumber(i.ksp_.get(), &its);
  r.iterations=its;
  Vector y=b;
  Mat A; KSPGetOperators(i.ksp_.get(),&A,nullptr); MatResidual(A,b.get(),x.get(),y.get());
  r.relative_residual=y.norm()/b.norm();
  r.outcome= e? LinearOutcome::failed: why>0? LinearOutcome::converged:LinearOutcome::not_converged;
  if(r.outcome!=LinearOutcome::converged) PetscPrintf(PETSC_COMM_WORLD,"code %d reason %d\n",(int)e,(int)why);
  return r;
}
LinearMethod LinearSolver::method() const {return implementation_->method_;}
std::string LinearSolver::description() const {return "";}
bool LinearSolver::repeatable() const {return true;}
LinearMethod automatic_method(int , GlobalIndex , int ) {return LinearMethod::amg;}
} // namespace recoil::linalg

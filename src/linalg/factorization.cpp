#include "linalg/factorization.hpp"

#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "recoil/base/memory.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::linalg {

namespace {

/// The solver whose preconditioner factors: `ksp`, or the one in its telescope, null on ranks outside that.
/// Not collective.
PetscErrorCode get_factoring_solver(KSP ksp, KSP& inner) {
  PC preconditioner = nullptr;
  PetscBool telescope = PETSC_FALSE;
  inner = ksp;
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCTELESCOPE, &telescope));
  return telescope == PETSC_TRUE ? PCTelescopeGetKSP(preconditioner, &inner) : 0;
}

constexpr const char* shown_name = "CHOLMOD's Cholesky factorisation";

/// The arrays of a compressed-row matrix.
struct Rows {
  PetscInt size = 0;
  const PetscInt *starts = nullptr, *columns = nullptr;
  const PetscScalar* values = nullptr;
};

/// What stands behind one preconditioner.
class UpperCholesky {
public:
  PetscErrorCode factor(Mat matrix, const char* prefix);
  PetscErrorCode solve(Vec right, Vec solution) const { return MatSolve(factor_.get(), right, solution); }
  bool is_indefinite() const { return indefinite_; }

private:
  bool take_values(const Rows& rows);
  void take_pattern(const Rows& rows);
  PetscErrorCode analyse(const char* prefix);

  std::vector<PetscInt> starts_, columns_;
  std::vector<PetscScalar> values_;
  MatHandle upper_, factor_;
  bool indefinite_ = false;
};

PetscErrorCode UpperCholesky::factor(Mat matrix, const char* prefix) {
  Rows rows;
  PetscBool done = PETSC_FALSE;
  PetscCall(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &rows.size, &rows.starts, &rows.columns, &done));
  if (done == PETSC_FALSE) return PETSC_ERR_SUP;
  PetscCall(MatSeqAIJGetArrayRead(matrix, &rows.values));
  const bool analysed = factor_ && take_values(rows);
  if (!analysed) take_pattern(rows);
  if (!analysed) take_values(rows);
  PetscCall(MatSeqAIJRestoreArrayRead(matrix, &rows.values));
  PetscCall(
      MatRestoreRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &rows.size, &rows.starts, &rows.columns, &done));

  if (!analysed) PetscCall(analyse(prefix));
  mark_changed(reinterpret_cast<PetscObject>(upper_.get()));
  MatFactorInfo info;
  PetscCall(MatFactorInfoInitialize(&info));
  const PetscErrorCode code = MatCholeskyFactorNumeric(factor_.get(), upper_.get(), &info);
  indefinite_ = code == PETSC_ERR_MAT_CH_ZRPVT;
  return indefinite_ ? 0 : code;
}

/// False where the pattern is another one.
bool UpperCholesky::take_values(const Rows& rows) {
  if (std::ssize(starts_) != rows.size + 1) return false;
  std::size_t next = 0;
  for (PetscInt row = 0; row < rows.size; ++row) {
    const std::size_t end = starts_[row + 1];
    for (PetscInt k = rows.starts[row]; k < rows.starts[row + 1]; ++k) {
      if (rows.columns[k] < row) continue;
      if (next == end || columns_[next] != rows.columns[k]) return false;
      values_[next++] = rows.values[k];
    }
    if (next != end) return false;
  }
  return true;
}

void UpperCholesky::take_pattern(const Rows& rows) {
  factor_.reset();
  upper_.reset();
  starts_.assign(1, 0);
  columns_.clear();
  for (PetscInt row = 0; row < rows.size; ++row) {
    for (PetscInt k = rows.starts[row]; k < rows.starts[row + 1]; ++k)
      if (rows.columns[k] >= row) columns_.push_back(rows.columns[k]);
    starts_.push_back(static_cast<PetscInt>(columns_.size())); // no more than PETSc's own matrix has
  }
  values_.assign(columns_.size(), 0);
}

PetscErrorCode UpperCholesky::analyse(const char* prefix) {
  const auto size = static_cast<PetscInt>(starts_.size() - 1);
  PetscCall(MatCreateSeqSBAIJWithArrays(PETSC_COMM_SELF, 1, size, size, starts_.data(), columns_.data(),
                                        values_.data(), upper_.put()));
  PetscCall(MatSetOptionsPrefix(upper_.get(), prefix));
  MatHandle factor;
  PetscCall(MatGetFactor(upper_.get(), MATSOLVERCHOLMOD, MAT_FACTOR_CHOLESKY, factor.put()));
  // The options of CHOLMOD are looked up with the prefix of the factor.
  PetscCall(MatSetOptionsPrefix(factor.get(), prefix));
  MatFactorInfo info;
  PetscCall(MatFactorInfoInitialize(&info));
  const DeferredSignals deferred;
  PetscCall(MatCholeskyFactorSymbolic(factor.get(), upper_.get(), nullptr, &info));
  factor_ = std::move(factor);
  return 0;
}

UpperCholesky* behind(PC pc) {
  UpperCholesky* self = nullptr;
  return PCShellGetContext(pc, &self) == 0 ? self : nullptr;
}

/// PETSc's frames in between know no exceptions.
PetscErrorCode set_up(PC pc) try {
  Mat matrix = nullptr;
  const char* prefix = nullptr;
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  return behind(pc)->factor(matrix, prefix);
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
}

PetscErrorCode apply(PC pc, Vec right, Vec solution) { return behind(pc)->solve(right, solution); }

PetscErrorCode destroy(PC pc) {
  delete behind(pc);
  return 0;
}

PetscErrorCode create(PC pc) try {
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, shown_name));
  PetscCall(PCShellSetContext(pc, std::make_unique<UpperCholesky>().release()));
  PetscCall(PCShellSetSetUp(pc, &set_up));
  PetscCall(PCShellSetApply(pc, &apply));
  return PCShellSetDestroy(pc, &destroy);
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
}

} // namespace

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

PetscErrorCode set_up_factorization(KSP ksp) {
  const DeferredSignals deferred;
  const PetscErrorCode code = alone_without_memory(reinterpret_cast<PetscObject>(ksp), KSPSetUp(ksp));
  if (code != 0) return code;
  KSP inner = nullptr;
  PetscCall(get_factoring_solver(ksp, inner));
  if (inner == ksp) return KSPSetUpOnBlocks(ksp);
  return inner == nullptr ? 0 : KSPSetUp(inner);
}

void register_upper_cholesky() { RECOIL_PETSC(PCRegister(upper_cholesky, &create)); }

bool is_indefinite(KSP ksp) {
  KSP inner = nullptr;
  PC pc = nullptr;
  const char* name = nullptr;
  RECOIL_PETSC(get_factoring_solver(ksp, inner));
  if (inner == nullptr) return false;
  RECOIL_PETSC(KSPGetPC(inner, &pc));
  PetscBool shell = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &shell));
  if (shell == PETSC_FALSE) return false;
  RECOIL_PETSC(PCShellGetName(pc, &name));
  return name != nullptr && std::string_view(name) == shown_name && behind(pc)->is_indefinite();
}

} // namespace recoil::linalg

#include "linalg/factorization.hpp"

#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/exchange.hpp"

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

/// The upper triangle of this rank's rows of an AIJ matrix.
class UpperRows {
public:
  explicit UpperRows(Mat matrix) : parts_(read_parts(matrix)), ghosts_(aij_parts(matrix).ghost_columns) {
    RECOIL_PETSC(MatGetOwnershipRange(matrix, &first_, &end_));
  }
  PetscInt count() const { return end_ - first_; }

  /// Calls act(column, value) for the entries of row `row` of this rank from the diagonal on, by ascending
  /// columns of the whole matrix, until it is false. False if it was.
  template <class Act>
  bool visit(PetscInt row, Act act) const {
    for (PetscInt k = parts_.diagonal_rows[row]; k < parts_.diagonal_rows[row + 1]; ++k)
      if (const PetscInt column = parts_.diagonal_columns[k];
          column >= row && !act(first_ + column, parts_.diagonal[k]))
        return false;
    if (ghosts_ == nullptr) return true;
    for (PetscInt k = parts_.off_diagonal_rows[row]; k < parts_.off_diagonal_rows[row + 1]; ++k)
      if (const PetscInt column = ghosts_[parts_.off_diagonal_columns[k]];
          column >= end_ && !act(column, parts_.off_diagonal[k]))
        return false;
    return true;
  }

private:
  MatrixParts parts_;
  const PetscInt* ghosts_;
  PetscInt first_ = 0, end_ = 0;
};

/// Rows of an upper triangle.
struct Triangle {
  std::vector<PetscInt> starts{0}, columns;
  std::vector<PetscScalar> values;

  /// False where `rows` have another pattern.
  bool take_values(const UpperRows& rows);
  void take_pattern(const UpperRows& rows);
};

bool Triangle::take_values(const UpperRows& rows) {
  if (std::ssize(starts) != rows.count() + 1) return false;
  std::size_t next = 0;
  for (PetscInt row = 0; row < rows.count(); ++row) {
    const std::size_t end = starts[row + 1];
    const bool is_same = rows.visit(row, [&](PetscInt column, PetscScalar value) {
      if (next == end || columns[next] != column) return false;
      values[next++] = value;
      return true;
    });
    if (!is_same || next != end) return false;
  }
  return true;
}

void Triangle::take_pattern(const UpperRows& rows) {
  starts.assign(1, 0);
  columns.clear();
  for (PetscInt row = 0; row < rows.count(); ++row) {
    rows.visit(row, [&](PetscInt column, PetscScalar) {
      columns.push_back(column);
      return true;
    });
    starts.push_back(static_cast<PetscInt>(columns.size())); // no more than PETSc's own matrix has
  }
  values.assign(columns.size(), 0);
}

/// The rows of all ranks on rank 0, without values; no rows elsewhere. Collective.
Triangle gather_pattern(const parallel::Communicator& comm, const Triangle& own) {
  std::vector<PetscInt> lengths(own.starts.size());
  std::adjacent_difference(own.starts.begin(), own.starts.end(), lengths.begin());
  lengths.erase(lengths.begin());
  petsc_int(comm.sum(static_cast<GlobalIndex>(own.columns.size()))); // which the sums below reach
  Triangle whole;
  const std::vector<PetscInt> all_lengths = parallel::gather(comm, 0, std::move(lengths));
  whole.columns = parallel::gather(comm, 0, own.columns);
  for (const PetscInt length : all_lengths) whole.starts.push_back(whole.starts.back() + length);
  whole.values.assign(whole.columns.size(), 0);
  return whole;
}

/// What stands behind one preconditioner: a factor on rank 0.
class UpperCholesky {
public:
  explicit UpperCholesky(MPI_Comm comm) : comm_(comm) {}
  /// Takes the values of a matrix, and its pattern where that is another one, and factors. What the
  /// factorisation ends with is kept and, where there are other ranks, not returned, so that none leaves
  /// PETSc's calls before the others do. Collective.
  PetscErrorCode factor(Mat matrix, const char* prefix);
  /// Collective.
  PetscErrorCode solve(Vec right, Vec solution) const;
  PetscErrorCode code() const { return code_; }
  bool is_indefinite() const { return indefinite_; }

private:
  bool is_alone() const { return comm_.size() == 1; }
  bool factors() const { return comm_.rank() == 0; }
  Triangle& whole() { return is_alone() ? own_ : gathered_; }
  PetscErrorCode take(Mat matrix);
  PetscErrorCode connect(Mat matrix);
  PetscErrorCode analyse(const char* prefix);
  PetscErrorCode factor_whole(const char* prefix);

  parallel::Communicator comm_;
  Triangle own_, gathered_; ///< of this rank's rows; of all on rank 0 if there are several
  bool has_pattern_ = false;
  MatHandle upper_, factor_;      ///< on rank 0
  VecHandle values_, all_values_; ///< on the arrays of own_ and gathered_; null on one rank
  VecHandle right_, solution_;    ///< all entries on rank 0, none elsewhere
  ScatterHandle gather_values_, gather_entries_;
  PetscErrorCode code_ = 0;
  bool indefinite_ = false;
};

PetscErrorCode UpperCholesky::factor(Mat matrix, const char* prefix) {
  PetscCall(take(matrix));
  code_ = factors() ? factor_whole(prefix) : 0;
  return is_alone() ? code_ : 0;
}

PetscErrorCode UpperCholesky::take(Mat matrix) {
  const UpperRows rows(matrix);
  const bool is_known = comm_.all(has_pattern_ && own_.take_values(rows));
  if (!is_known) {
    has_pattern_ = false;
    factor_.reset();
    upper_.reset();
    own_.take_pattern(rows);
    own_.take_values(rows);
    if (!is_alone()) PetscCall(connect(matrix));
    has_pattern_ = true;
  }
  if (is_alone()) return 0;
  mark_changed(reinterpret_cast<PetscObject>(values_.get()));
  PetscCall(VecScatterBegin(gather_values_.get(), values_.get(), all_values_.get(), INSERT_VALUES,
                            SCATTER_FORWARD));
  return VecScatterEnd(gather_values_.get(), values_.get(), all_values_.get(), INSERT_VALUES,
                       SCATTER_FORWARD);
}

/// The ways of values and of entries of vectors to rank 0.
PetscErrorCode UpperCholesky::connect(Mat matrix) {
  gathered_ = gather_pattern(comm_, own_);
  const auto size = [](const auto& numbers) { return static_cast<PetscInt>(numbers.size()); };
  PetscCall(VecCreateMPIWithArray(comm_.get(), 1, size(own_.values), PETSC_DETERMINE, own_.values.data(),
                                  values_.put()));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, size(gathered_.values), gathered_.values.data(),
                                  all_values_.put()));
  const PetscInt num_rows = size(gathered_.starts) - 1;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, num_rows, right_.put()));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, num_rows, solution_.put()));
  VecHandle entries;
  PetscCall(MatCreateVecs(matrix, entries.put(), nullptr));
  const auto scatter = [&](Vec from, Vec to, PetscInt count, ScatterHandle& way) -> PetscErrorCode {
    IsHandle all;
    PetscCall(ISCreateStride(PETSC_COMM_SELF, count, 0, 1, all.put()));
    return VecScatterCreate(from, all.get(), to, nullptr, way.put());
  };
  PetscCall(scatter(values_.get(), all_values_.get(), size(gathered_.values), gather_values_));
  return scatter(entries.get(), right_.get(), num_rows, gather_entries_);
}

PetscErrorCode UpperCholesky::analyse(const char* prefix) {
  Triangle& triangle = whole();
  const auto size = static_cast<PetscInt>(triangle.starts.size() - 1);
  PetscCall(MatCreateSeqSBAIJWithArrays(PETSC_COMM_SELF, 1, size, size, triangle.starts.data(),
                                        triangle.columns.data(), triangle.values.data(), upper_.put()));
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

PetscErrorCode UpperCholesky::factor_whole(const char* prefix) {
  if (!factor_) PetscCall(analyse(prefix));
  mark_changed(reinterpret_cast<PetscObject>(upper_.get()));
  MatFactorInfo info;
  PetscCall(MatFactorInfoInitialize(&info));
  const PetscErrorCode code = MatCholeskyFactorNumeric(factor_.get(), upper_.get(), &info);
  indefinite_ = code == PETSC_ERR_MAT_CH_ZRPVT;
  return indefinite_ ? 0 : code;
}

PetscErrorCode UpperCholesky::solve(Vec right, Vec solution) const {
  if (is_alone()) return MatSolve(factor_.get(), right, solution);
  PetscCall(VecScatterBegin(gather_entries_.get(), right, right_.get(), INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(gather_entries_.get(), right, right_.get(), INSERT_VALUES, SCATTER_FORWARD));
  // The others wait for an answer: an error travels to them as numbers that end the iteration everywhere.
  if (factors() && (code_ != 0 || MatSolve(factor_.get(), right_.get(), solution_.get()) != 0))
    PetscCall(VecSet(solution_.get(), std::numeric_limits<double>::quiet_NaN()));
  PetscCall(
      VecScatterBegin(gather_entries_.get(), solution_.get(), solution, INSERT_VALUES, SCATTER_REVERSE));
  return VecScatterEnd(gather_entries_.get(), solution_.get(), solution, INSERT_VALUES, SCATTER_REVERSE);
}

UpperCholesky* behind(PC pc) {
  UpperCholesky* self = nullptr;
  return PCShellGetContext(pc, &self) == 0 ? self : nullptr;
}

PetscErrorCode set_up(PC pc) {
  Mat matrix = nullptr;
  const char* prefix = nullptr;
  PetscCall(PCGetOperators(pc, nullptr, &matrix));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  return without_exceptions([&] { return behind(pc)->factor(matrix, prefix); });
}

PetscErrorCode apply(PC pc, Vec right, Vec solution) { return behind(pc)->solve(right, solution); }

PetscErrorCode destroy(PC pc) {
  delete behind(pc);
  return 0;
}

PetscErrorCode create(PC pc) {
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, shown_name));
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  PetscCall(without_exceptions(
      [&] { return PCShellSetContext(pc, std::make_unique<UpperCholesky>(comm).release()); }));
  PetscCall(PCShellSetSetUp(pc, &set_up));
  PetscCall(PCShellSetApply(pc, &apply));
  return PCShellSetDestroy(pc, &destroy);
}

/// The one behind the preconditioner of `ksp`; null where that is another one. Not collective.
const UpperCholesky* find_upper_cholesky(KSP ksp) {
  PC pc = nullptr;
  PetscBool shell = PETSC_FALSE;
  const char* name = nullptr;
  RECOIL_PETSC(KSPGetPC(ksp, &pc));
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &shell));
  if (shell == PETSC_FALSE) return nullptr;
  RECOIL_PETSC(PCShellGetName(pc, &name));
  return name != nullptr && std::string_view(name) == shown_name ? behind(pc) : nullptr;
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
  if (inner == nullptr) return 0;
  if (inner != ksp) PetscCall(KSPSetUp(inner));
  if (const UpperCholesky* cholesky = find_upper_cholesky(inner)) return cholesky->code();
  return inner == ksp ? KSPSetUpOnBlocks(ksp) : 0;
}

void register_upper_cholesky() { RECOIL_PETSC(PCRegister(upper_cholesky, &create)); }

bool is_indefinite(KSP ksp) {
  KSP inner = nullptr;
  RECOIL_PETSC(get_factoring_solver(ksp, inner));
  const UpperCholesky* cholesky = inner == nullptr ? nullptr : find_upper_cholesky(inner);
  return cholesky != nullptr && cholesky->is_indefinite();
}

} // namespace recoil::linalg

#include "linalg/stiff_subset.hpp"

#include <algorithm>
#include <limits>

#include "linalg/collective_set_up.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

StiffSubset::StiffSubset(std::shared_ptr<const VectorLayout> layout, std::string prefix)
    : layout_(std::move(layout)), prefix_(std::move(prefix)), rows_(layout_) {}

PetscErrorCode StiffSubset::set_up(const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                                   const StencilMatrix& stencils) {
  if (rows_.assemble(graph, matrix, stencils)) build();
  gather_values();
  return agree(*layout_->comm, is_host() ? factor() : 0);
}

void StiffSubset::build() {
  const parallel::Communicator& comm = *layout_->comm;
  const std::vector<GlobalIndex> counts = comm.all_gather(static_cast<GlobalIndex>(rows_.num_nodes()));
  host_ = static_cast<int>(std::ranges::max_element(counts) - counts.begin());
  build_matrix();

  const PetscInt dim = layout_->block_size;
  const PetscInt num_whole = is_host() ? dim * static_cast<PetscInt>(rows_.num_global()) : 0;
  RECOIL_PETSC(VecCreate(comm.get(), local_.put()));
  RECOIL_PETSC(VecSetSizes(local_.get(), dim * rows_.num_nodes(), PETSC_DETERMINE));
  RECOIL_PETSC(VecSetType(local_.get(), VECSTANDARD));
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, num_whole, right_.put()));
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, num_whole, solution_.put()));
  gather_.reset();
  if (comm.size() == 1) return;
  IsHandle all;
  RECOIL_PETSC(ISCreateStride(PETSC_COMM_SELF, num_whole, 0, 1, all.put()));
  RECOIL_PETSC(VecScatterCreate(local_.get(), all.get(), right_.get(), nullptr, gather_.put()));
}

void StiffSubset::build_matrix() {
  std::vector<PetscInt> lengths, columns;
  rows_.upper_pattern(lengths, columns);
  starts_ = parallel::gather(*layout_->comm, host_, std::move(lengths));
  columns_ = parallel::gather(*layout_->comm, host_, std::move(columns));
  solver_.reset();
  matrix_.reset();
  if (!is_host()) return;
  starts_.insert(starts_.begin(), 0);
  for (std::size_t row = 1; row < starts_.size(); ++row) starts_[row] += starts_[row - 1];
  values_.assign(columns_.size(), 0);
  const auto size = static_cast<PetscInt>(starts_.size()) - 1;
  RECOIL_PETSC(MatCreateSeqSBAIJWithArrays(PETSC_COMM_SELF, 1, size, size, starts_.data(), columns_.data(),
                                           values_.data(), matrix_.put()));
}

void StiffSubset::gather_values() {
  const std::vector<double> values = parallel::gather(*layout_->comm, host_, rows_.upper_values());
  if (!is_host()) return;
  std::ranges::copy(values, values_.begin());
  mark_changed(reinterpret_cast<PetscObject>(matrix_.get()));
}

PetscErrorCode StiffSubset::factor() {
  if (!solver_) {
    RECOIL_PETSC(PCCreate(PETSC_COMM_SELF, solver_.put()));
    RECOIL_PETSC(PCSetOptionsPrefix(solver_.get(), prefix_.c_str()));
    RECOIL_PETSC(MatSetOptionsPrefix(matrix_.get(), prefix_.c_str()));
    RECOIL_PETSC(PCSetOperators(solver_.get(), matrix_.get(), matrix_.get()));
  }
  const ScopedOptions defaults(factorization_options(prefix_));
  const QuietErrors quiet;
  const DeferredSignals deferred;
  PCType type = nullptr;
  RECOIL_PETSC(PCGetType(solver_.get(), &type));
  PetscErrorCode code = type == nullptr ? PCSetFromOptions(solver_.get()) : 0;
  if (code == 0) code = PCSetUp(solver_.get());
  // An error may leave PETSc's objects half set up.
  if (code != 0) solver_.reset();
  return code;
}

/// local_ = (R A R')^-1 local_.
PetscErrorCode StiffSubset::solve() const {
  Vec right = gather_ ? right_.get() : local_.get();
  if (gather_) {
    PetscCall(VecScatterBegin(gather_.get(), local_.get(), right, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(gather_.get(), local_.get(), right, INSERT_VALUES, SCATTER_FORWARD));
  }
  // The others wait for an answer: an error travels to them as numbers that end the iteration everywhere.
  if (is_host() && PCApply(solver_.get(), right, solution_.get()) != 0)
    PetscCall(VecSet(solution_.get(), std::numeric_limits<double>::quiet_NaN()));
  if (!gather_) return VecCopy(solution_.get(), local_.get());
  PetscCall(VecScatterBegin(gather_.get(), solution_.get(), local_.get(), INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(gather_.get(), solution_.get(), local_.get(), INSERT_VALUES, SCATTER_REVERSE));
  return 0;
}

PetscErrorCode StiffSubset::start(Vec b, Vec x) const {
  PetscCall(VecSet(x, 0));
  PetscCall(rows_.restrict_to(b, local_.get()));
  PetscCall(solve());
  return rows_.prolong_add(local_.get(), x);
}

PetscErrorCode StiffSubset::apply(PC inner, Vec r, Vec z) const {
  PetscCall(PCApply(inner, r, z));
  PetscCall(rows_.residual(r, z, local_.get()));
  PetscCall(solve());
  return rows_.prolong_add(local_.get(), z);
}

} // namespace recoil::linalg

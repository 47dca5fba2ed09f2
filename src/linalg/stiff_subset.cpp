#include "linalg/stiff_subset.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "linalg/factorization.hpp"
#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

/// One number per component of a node, in registers where their count is known.
template <int size>
std::array<double, size> make_sums(std::integral_constant<int, size>) {
  return {};
}
std::vector<double> make_sums(int size) { return std::vector<double>(size); }

} // namespace

StiffRows::StiffRows(std::shared_ptr<const VectorLayout> layout) : layout_(std::move(layout)) {
  const auto num_rows = layout_->num_owned * layout_->block_size;
  RECOIL_PETSC(VecCreate(layout_->comm->get(), global_.put()));
  RECOIL_PETSC(VecSetSizes(global_.get(), num_rows, PETSC_DETERMINE));
  RECOIL_PETSC(VecSetType(global_.get(), VECSTANDARD));
}

bool StiffRows::assemble(const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                         const StencilMatrix& stencils) {
  // A reference to the matrix keeps its address from being taken by another one.
  const bool changed = graph != graph_ || stencils.get() != pattern_.get();
  if (changed) {
    graph_ = graph;
    pattern_ = share<MatHandle>(stencils.get());
    build(*graph, stencils.rows());
  }
  take_values(matrix, stencils.rows());
  return changed;
}

void StiffRows::build(const NodeGraph& graph, const StencilMatrix::Rows& rows) {
  nodes_ = rows.nodes;
  const auto count = std::ssize(nodes_);
  first_ = layout_->comm->exclusive_scan(count);
  num_global_ = layout_->comm->sum(count);
  number_columns(merge(graph, rows));
}

/// Fills offsets_ and sources_; returns the global columns.
std::vector<GlobalIndex> StiffRows::merge(const NodeGraph& graph, const StencilMatrix::Rows& rows) {
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  std::vector<GlobalIndex> columns;
  offsets_.assign(1, 0);
  sources_.clear();
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const std::size_t node = nodes_[k];
    std::size_t a = graph.offsets[node];
    const std::size_t a_end = graph.offsets[node + 1];
    std::size_t b = rows.offsets[k];
    std::int32_t inside = 0, outside = 0;
    while (a < a_end || b < rows.offsets[k + 1]) {
      GlobalIndex first = none;
      if (a < a_end) first = layout_->global(graph.neighbours[a]);
      const GlobalIndex second = b < rows.offsets[k + 1] ? rows.columns[b] : none;
      Source source;
      if (first <= second) source.place = graph.neighbours[a++] < layout_->num_owned ? inside++ : ~outside++;
      if (second <= first) source.stencil = b++;
      columns.push_back(std::min(first, second));
      sources_.push_back(source);
    }
    offsets_.push_back(columns.size());
  }
  return columns;
}

/// Fills columns_ and numbers_, and prepares the exchange of ghost values.
void StiffRows::number_columns(const std::vector<GlobalIndex>& columns) {
  const GlobalIndex end = layout_->offset + layout_->num_owned;
  const auto is_owned = [&](GlobalIndex node) { return node >= layout_->offset && node < end; };
  std::vector<PetscInt> ghosts;
  for (const GlobalIndex column : columns)
    if (!is_owned(column)) ghosts.push_back(petsc_int(column));
  std::ranges::sort(ghosts);
  ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());

  const PetscInt dim = layout_->block_size, num_ghosts = petsc_int(ghosts.size());
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, dim * num_ghosts, ghosts_.put()));
  scatter_.reset();
  if (layout_->comm->size() > 1) {
    IsHandle from;
    RECOIL_PETSC(
        ISCreateBlock(PETSC_COMM_SELF, dim, num_ghosts, ghosts.data(), PETSC_COPY_VALUES, from.put()));
    RECOIL_PETSC(VecScatterCreate(global_.get(), from.get(), ghosts_.get(), nullptr, scatter_.put()));
  }

  // The numbers travel as a vector: one more than the number, 0 for nodes outside the subset.
  PetscScalar* owned = nullptr;
  RECOIL_PETSC(VecSet(global_.get(), 0));
  RECOIL_PETSC(VecGetArray(global_.get(), &owned));
  for (std::size_t k = 0; k < nodes_.size(); ++k) owned[dim * nodes_[k]] = first_ + k + 1;
  RECOIL_PETSC(VecRestoreArray(global_.get(), &owned));
  if (scatter_) {
    RECOIL_PETSC(
        VecScatterBegin(scatter_.get(), global_.get(), ghosts_.get(), INSERT_VALUES, SCATTER_FORWARD));
    RECOIL_PETSC(VecScatterEnd(scatter_.get(), global_.get(), ghosts_.get(), INSERT_VALUES, SCATTER_FORWARD));
  }
  const PetscScalar *inner = nullptr, *outer = nullptr;
  RECOIL_PETSC(VecGetArrayRead(global_.get(), &inner));
  RECOIL_PETSC(VecGetArrayRead(ghosts_.get(), &outer));
  columns_.resize(columns.size());
  numbers_.resize(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (is_owned(columns[k])) {
      columns_[k] = static_cast<LocalIndex>(columns[k] - layout_->offset);
      numbers_[k] = static_cast<PetscInt>(inner[dim * columns_[k]]) - 1;
    } else {
      const auto found = std::ranges::lower_bound(ghosts, columns[k]);
      const LocalIndex place = found - ghosts.begin();
      columns_[k] = layout_->num_owned + place;
      numbers_[k] = static_cast<PetscInt>(outer[dim * place]) - 1;
    }
  }
  RECOIL_PETSC(VecRestoreArrayRead(global_.get(), &inner));
  RECOIL_PETSC(VecRestoreArrayRead(ghosts_.get(), &outer));
}

void StiffRows::take_values(Mat matrix, const StencilMatrix::Rows& rows) {
  const MatrixParts parts = read_parts(matrix);
  with_block_size(layout_->block_size, [&](auto size) {
    const std::size_t entries = size * size;
    blocks_.assign(columns_.size() * entries, 0);
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      for (std::size_t entry = offsets_[k]; entry < offsets_[k + 1]; ++entry) {
        double* block = blocks_.data() + entry * entries;
        const Source& source = sources_[entry];
        if (source.place != Source::none) {
          const bool inside = source.place >= 0;
          const PetscInt* starts = inside ? parts.diagonal_rows : parts.off_diagonal_rows;
          const PetscScalar* values = inside ? parts.diagonal : parts.off_diagonal;
          const PetscInt skipped = size * (inside ? source.place : ~source.place);
          for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j)
              block[i * size + j] = values[starts[size * nodes_[k] + i] + skipped + j];
        }
        if (source.stencil >= 0) {
          const double* added = rows.blocks.data() + source.stencil * entries;
          for (std::size_t i = 0; i < entries; ++i) block[i] += added[i];
        }
      }
  });
}

template <class Act>
void StiffRows::for_each_upper(Act act) const {
  const PetscInt dim = layout_->block_size;
  PetscInt own = petsc_int(first_);
  for (PetscInt k = 0; k < num_nodes(); ++k, ++own)
    for (PetscInt i = 0; i < dim; ++i)
      for (std::size_t entry = offsets_[k]; entry < offsets_[k + 1]; ++entry) {
        if (numbers_[entry] < own) continue;
        const double* row = blocks_.data() + (entry * dim + i) * dim;
        for (PetscInt j = numbers_[entry] == own ? i : 0; j < dim; ++j)
          act(dim * k + i, numbers_[entry] * dim + j, row[j]);
      }
}

template <class Act>
void StiffRows::for_each_upper_block(Act act) const {
  const std::size_t entries = std::size_t(layout_->block_size) * layout_->block_size;
  PetscInt own = petsc_int(first_);
  for (std::size_t k = 0; k < nodes_.size(); ++k, ++own)
    for (std::size_t entry = offsets_[k]; entry < offsets_[k + 1]; ++entry)
      if (numbers_[entry] >= own) act(own, numbers_[entry], blocks_.data() + entry * entries);
}

PetscErrorCode StiffRows::restrict_to(Vec b, Vec y) const {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  const int dim = layout_->block_size;
  for (const LocalIndex node : nodes_)
    for (int i = 0; i < dim; ++i) *to++ = from[dim * node + i];
  to -= std::ssize(nodes_) * dim;
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  return 0;
}

PetscErrorCode StiffRows::prolong_add(Vec y, Vec x) const {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscCall(VecGetArrayRead(y, &from));
  PetscCall(VecGetArray(x, &to));
  const int dim = layout_->block_size;
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    for (int i = 0; i < dim; ++i) to[dim * nodes_[k] + i] += from[dim * k + i];
  PetscCall(VecRestoreArray(x, &to));
  PetscCall(VecRestoreArrayRead(y, &from));
  return 0;
}

PetscErrorCode StiffRows::residual(Vec b, Vec z, Vec y) const {
  if (scatter_) {
    PetscCall(VecScatterBegin(scatter_.get(), z, ghosts_.get(), INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter_.get(), z, ghosts_.get(), INSERT_VALUES, SCATTER_FORWARD));
  }
  const PetscScalar *right = nullptr, *inner = nullptr, *outer = nullptr;
  PetscScalar* result = nullptr;
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArrayRead(z, &inner));
  PetscCall(VecGetArrayRead(ghosts_.get(), &outer));
  PetscCall(VecGetArrayWrite(y, &result));
  with_block_size(layout_->block_size, [&](auto size) {
    const LocalIndex num_owned = layout_->num_owned;
    const std::size_t components = size;
    auto sum = make_sums(size);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      for (std::size_t i = 0; i < components; ++i) sum[i] = right[size * nodes_[k] + i];
      for (std::size_t entry = offsets_[k]; entry < offsets_[k + 1]; ++entry) {
        const double* block = blocks_.data() + entry * components * components;
        const LocalIndex column = columns_[entry];
        const double* value =
            column < num_owned ? inner + size * column : outer + size * (column - num_owned);
        for (std::size_t i = 0; i < components; ++i)
          for (std::size_t j = 0; j < components; ++j) sum[i] -= block[i * components + j] * value[j];
      }
      std::copy_n(sum.begin(), components, result + components * k);
    }
  });
  PetscCall(VecRestoreArrayWrite(y, &result));
  PetscCall(VecRestoreArrayRead(ghosts_.get(), &outer));
  PetscCall(VecRestoreArrayRead(z, &inner));
  PetscCall(VecRestoreArrayRead(b, &right));
  return 0;
}

StiffSubset::StiffSubset(std::shared_ptr<const VectorLayout> layout, std::string prefix,
                         GlobalIndex unknowns_per_part)
    : layout_(std::move(layout)), prefix_(std::move(prefix)), unknowns_per_part_(unknowns_per_part),
      has_options_(std::ranges::any_of(
          user_options(prefix_), [&](const auto& option) { return option.first.starts_with(prefix_); })),
      rows_(layout_) {}

PetscErrorCode StiffSubset::set_up(const std::shared_ptr<const NodeGraph>& graph, Mat matrix,
                                   const StencilMatrix& stencils) {
  if (rows_.assemble(graph, matrix, stencils)) build();
  return agree(*layout_->comm, parts_ ? factor_parts() : factor_alone());
}

int StiffSubset::num_parts() const {
  if (has_options_) return 1;
  const GlobalIndex num_unknowns = rows_.num_global() * layout_->block_size;
  const GlobalIndex wanted = std::min(GlobalIndex{layout_->comm->size()}, num_unknowns / unknowns_per_part_);
  int result = 1;
  while (2 * result <= wanted) result *= 2;
  return result;
}

void StiffSubset::build() {
  RECOIL_PETSC(VecCreate(layout_->comm->get(), local_.put()));
  RECOIL_PETSC(VecSetSizes(local_.get(), layout_->block_size * rows_.num_nodes(), PETSC_DETERMINE));
  RECOIL_PETSC(VecSetType(local_.get(), VECSTANDARD));
  parts_.reset();
  if (num_parts() > 1)
    build_parts();
  else
    build_alone();
}

void StiffSubset::build_parts() {
  solver_.reset();
  matrix_.reset();
  starts_ = columns_ = {};
  values_ = {};
  std::vector<Coupling> couplings;
  rows_.for_each_upper_block([&](PetscInt row, PetscInt column, const double*) {
    couplings.push_back({static_cast<idx_t>(row), static_cast<idx_t>(column)});
  });
  parts_ = std::make_unique<DissectedCholesky>(*layout_->comm, layout_->block_size, rows_.num_nodes(),
                                               couplings, num_parts());
}

PetscErrorCode StiffSubset::factor_parts() {
  const std::size_t entries = std::size_t(layout_->block_size) * layout_->block_size;
  std::vector<double> blocks;
  rows_.for_each_upper_block(
      [&](PetscInt, PetscInt, const double* block) { blocks.insert(blocks.end(), block, block + entries); });
  return parts_->factor(blocks);
}

void StiffSubset::build_alone() {
  const parallel::Communicator& comm = *layout_->comm;
  const std::vector<GlobalIndex> counts = comm.all_gather(GlobalIndex{rows_.num_nodes()});
  host_ = std::ranges::max_element(counts) - counts.begin();
  build_matrix();

  const PetscInt num_whole = is_host() ? petsc_int(layout_->block_size * rows_.num_global()) : 0;
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, num_whole, right_.put()));
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, num_whole, solution_.put()));
  gather_.reset();
  if (comm.size() == 1) return;
  IsHandle all;
  RECOIL_PETSC(ISCreateStride(PETSC_COMM_SELF, num_whole, 0, 1, all.put()));
  RECOIL_PETSC(VecScatterCreate(local_.get(), all.get(), right_.get(), nullptr, gather_.put()));
}

void StiffSubset::build_matrix() {
  const PetscInt dim = layout_->block_size;
  std::vector<PetscInt> lengths(dim * rows_.num_nodes()), columns;
  rows_.for_each_upper([&](PetscInt row, PetscInt column, double) {
    ++lengths[row];
    columns.push_back(column);
  });
  starts_ = parallel::gather(*layout_->comm, host_, std::move(lengths));
  columns_ = parallel::gather(*layout_->comm, host_, std::move(columns));
  solver_.reset();
  matrix_.reset();
  if (!is_host()) return;
  petsc_int(columns_.size()); // the entries of all ranks, which the sums below reach
  starts_.insert(starts_.begin(), 0);
  for (std::size_t row = 1; row < starts_.size(); ++row) starts_[row] += starts_[row - 1];
  values_.assign(columns_.size(), 0);
  const PetscInt size = petsc_int(starts_.size()) - 1;
  RECOIL_PETSC(MatCreateSeqSBAIJWithArrays(PETSC_COMM_SELF, 1, size, size, starts_.data(), columns_.data(),
                                           values_.data(), matrix_.put()));
}

void StiffSubset::gather_values() {
  std::vector<double> own;
  rows_.for_each_upper([&](PetscInt, PetscInt, double value) { own.push_back(value); });
  const std::vector<double> values = parallel::gather(*layout_->comm, host_, std::move(own));
  if (!is_host()) return;
  std::ranges::copy(values, values_.begin());
  mark_changed(reinterpret_cast<PetscObject>(matrix_.get()));
}

PetscErrorCode StiffSubset::factor_alone() {
  gather_values();
  return is_host() ? factor() : 0;
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
  if (parts_) return parts_->solve(local_.get());
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

#include "linalg/dissected_cholesky.hpp"

#include <algorithm>
#include <ranges>

#include <Eigen/Dense>
#include <petscblaslapack.h>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/message.hpp"

namespace recoil::linalg {

namespace {

using Columns = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using Entries = Eigen::Map<Eigen::VectorXd>;

/// Of `num_own` columns of `height` entries, eliminates the upper square and subtracts what that leaves from
/// the lower triangle of `update`, a square. False if the upper square is not positive definite.
bool eliminate_columns(double* columns, std::size_t num_own, std::size_t height, double* update) {
  const auto own = static_cast<PetscBLASInt>(num_own), rest = static_cast<PetscBLASInt>(height - num_own),
             stride = static_cast<PetscBLASInt>(height);
  PetscBLASInt info = 0;
  LAPACKpotrf_("L", &own, columns, &stride, &info);
  if (info != 0) return false;
  if (rest == 0) return true;
  const double one = 1, minus_one = -1;
  BLAStrsm_("R", "L", "T", "N", &rest, &own, &one, columns, &stride, columns + own, &stride);
  BLASsyrk_("L", "N", &rest, &own, &minus_one, columns + own, &stride, &one, update, &rest);
  return true;
}

} // namespace

DissectedCholesky::DissectedCholesky(const parallel::Communicator& comm, int block_size, LocalIndex num_owned,
                                     std::span<const Coupling> couplings, int num_parts)
    : comm_(comm), block_size_(block_size),
      tree_(dissect(comm, static_cast<idx_t>(comm.sum(GlobalIndex{num_owned})), couplings, num_parts)) {
  place_fronts();
  place_couplings();
  create_vectors(num_owned);
}

void DissectedCholesky::place_fronts() {
  std::size_t size = 0;
  std::array<std::size_t, 2> largest{};
  for (const Front& front : tree_.fronts) {
    starts_.push_back(size);
    size += num_own(front) * height(front);
    // The walk that eliminate() makes.
    const auto square = [&](const Front& of) { return num_border(of.border) * num_border(of.border); };
    Stack &own = updates_[front.depth % 2], &below = updates_[(front.depth + 1) % 2];
    own.top += square(front);
    largest[front.depth % 2] = std::max(largest[front.depth % 2], own.top);
    for (const int child : front.children)
      if (child >= 0) below.top -= square(tree_.fronts[child]);
  }
  factor_.resize(size);
  for (std::size_t k = 0; k < 2; ++k) updates_[k].numbers.resize(largest[k]);
}

void DissectedCholesky::place_couplings() {
  std::vector<std::size_t> front_of(tree_.nodes.size());
  for (std::size_t k = 0; k < tree_.fronts.size(); ++k)
    std::fill_n(front_of.begin() + tree_.fronts[k].begin, tree_.fronts[k].size, k);
  const std::size_t dim = block_size_;
  for (auto& part : tree_.couplings) {
    std::vector<Target>& targets = targets_.emplace_back();
    for (const auto& [row, column] : part) {
      const auto [first, second] = std::minmax(row, column);
      const std::size_t k = front_of[first];
      const Front& front = tree_.fronts[k];
      const std::size_t across = first - front.begin;
      std::size_t down = second - front.begin;
      if (second >= front.end())
        down = front.size + (std::ranges::lower_bound(front.border, second) - front.border.begin());
      const std::size_t stride = height(front), place = starts_[k] + dim * (across * stride + down);
      // A block whose row is eliminated first is transposed.
      targets.push_back(row < column ? Target{place, stride, 1} : Target{place, 1, stride});
    }
    part = {}; // no longer needed
  }
}

void DissectedCholesky::create_vectors(LocalIndex num_owned) {
  const PetscInt dim = block_size_, num_eliminated = petsc_int(tree_.nodes.size());
  RECOIL_PETSC(VecCreateSeq(PETSC_COMM_SELF, dim * tree_.num_local(), work_.put()));
  VecHandle whole;
  RECOIL_PETSC(VecCreateMPIWithArray(comm_.get(), 1, dim * num_owned, PETSC_DETERMINE, nullptr, whole.put()));
  const std::vector<PetscInt> nodes(tree_.nodes.begin(), tree_.nodes.end());
  IsHandle from, to;
  RECOIL_PETSC(
      ISCreateBlock(PETSC_COMM_SELF, dim, num_eliminated, nodes.data(), PETSC_COPY_VALUES, from.put()));
  RECOIL_PETSC(ISCreateStride(PETSC_COMM_SELF, dim * num_eliminated, 0, 1, to.put()));
  RECOIL_PETSC(VecScatterCreate(whole.get(), from.get(), work_.get(), to.get(), scatter_.put()));
}

PetscErrorCode DissectedCholesky::factor(std::span<const double> blocks) {
  take_values(blocks);
  for (Stack& stack : updates_) stack.top = 0;
  bool definite = true;
  for (std::size_t k = 0; k < tree_.fronts.size(); ++k) definite = eliminate(k) && definite;
  // Others wait for what is sent, whatever it is worth.
  if (tree_.receiver >= 0 && !tree_.fronts.empty()) {
    const Front& last = tree_.fronts.back();
    const std::size_t size = num_border(last.border);
    const Stack& stack = updates_[last.depth % 2];
    parallel::send(comm_, tree_.receiver, std::span(stack.numbers).first(size * size));
  }
  return definite ? 0 : PETSC_ERR_MAT_CH_ZRPVT;
}

void DissectedCholesky::take_values(std::span<const double> blocks) {
  const std::size_t dim = block_size_, entries = dim * dim;
  std::vector<std::vector<double>> outgoing(comm_.size());
  for (std::size_t k = 0; k < tree_.hosts.size(); ++k) {
    const auto block = blocks.subspan(k * entries, entries);
    outgoing[tree_.hosts[k]].insert(outgoing[tree_.hosts[k]].end(), block.begin(), block.end());
  }
  const std::vector<std::vector<double>> incoming = parallel::exchange(comm_, outgoing);
  std::ranges::fill(factor_, 0);
  for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
    const double* entry = incoming[rank].data();
    for (const Target& target : targets_[rank])
      for (std::size_t i = 0; i < dim; ++i)
        for (std::size_t j = 0; j < dim; ++j)
          factor_[target.place + i * target.row_stride + j * target.column_stride] = *entry++;
  }
}

/// Makes the columns of the factor, and the update that the parent waits for. False if the matrix is not
/// positive definite.
bool DissectedCholesky::eliminate(std::size_t k) {
  const Front& front = tree_.fronts[k];
  const std::size_t size = num_border(front.border);
  Stack& stack = updates_[front.depth % 2];
  double* update = stack.numbers.data() + stack.top;
  stack.top += size * size;
  std::fill_n(update, size * size, 0);
  double* columns = factor_.data() + starts_[k];
  add_updates(front, columns, update);
  return front.size == 0 || eliminate_columns(columns, num_own(front), height(front), update);
}

void DissectedCholesky::add_updates(const Front& front, double* columns, double* update) {
  Stack& stack = updates_[(front.depth + 1) % 2];
  std::array<std::size_t, 2> squares{};
  for (std::size_t c = 0; c < 2; ++c)
    if (front.children[c] >= 0) {
      const std::size_t size = num_border(tree_.fronts[front.children[c]].border);
      squares[c] = size * size;
    }
  stack.top -= squares[0] + squares[1];
  const double* from = stack.numbers.data() + stack.top;
  for (std::size_t c = 0; c < 2; ++c) {
    if (front.children[c] >= 0)
      add_update(front, tree_.fronts[front.children[c]].border, from, columns, update);
    from += squares[c];
  }
  if (front.sender < 0 || front.received.empty()) return;
  const std::size_t size = num_border(front.received);
  std::vector<double> received(size * size);
  parallel::receive(comm_, front.sender, received);
  add_update(front, front.received, received.data(), columns, update);
}

/// Adds the lower triangle of the update `from` on the nodes of `border`.
void DissectedCholesky::add_update(const Front& front, std::span<const LocalIndex> border, const double* from,
                                   double* columns, double* update) {
  const std::size_t dim = block_size_, own = num_own(front), stride = height(front), rest = stride - own;
  places_.clear();
  std::size_t at = 0;
  for (const LocalIndex node : border) {
    std::size_t place = node - front.begin;
    if (node >= front.end()) {
      while (front.border[at] != node) ++at;
      place = front.size + at;
    }
    for (std::size_t i = 0; i < dim; ++i) places_.push_back(dim * place + i);
  }
  const std::size_t size = places_.size();
  for (std::size_t j = 0; j < size; ++j) {
    const bool inside = places_[j] < own;
    double* column = inside ? columns + places_[j] * stride : update + (places_[j] - own) * rest;
    const std::size_t skipped = inside ? 0 : own;
    for (std::size_t i = j; i < size; ++i) column[places_[i] - skipped] += from[j * size + i];
  }
}

/// Calls act(k, entry) for the entries of `nodes` by local numbers.
template <class Act>
void DissectedCholesky::for_entries(std::span<const LocalIndex> nodes, Act act) const {
  std::size_t k = 0;
  for (const LocalIndex node : nodes)
    for (int i = 0; i < block_size_; ++i) act(k++, std::size_t(node) * block_size_ + i);
}

PetscErrorCode DissectedCholesky::solve(Vec x) const {
  PetscCall(VecScatterBegin(scatter_.get(), x, work_.get(), INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter_.get(), x, work_.get(), INSERT_VALUES, SCATTER_FORWARD));
  PetscScalar* entries = nullptr;
  PetscCall(VecGetArray(work_.get(), &entries));
  if (!tree_.fronts.empty()) {
    solve_forward(entries);
    solve_backward(entries);
  }
  PetscCall(VecRestoreArray(work_.get(), &entries));
  PetscCall(VecScatterBegin(scatter_.get(), work_.get(), x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter_.get(), work_.get(), x, INSERT_VALUES, SCATTER_REVERSE));
  return 0;
}

/// x = L^-1 x; what that leaves on the border of the last front goes to the rank that goes on.
void DissectedCholesky::solve_forward(double* x) const {
  const std::size_t num_eliminated = tree_.nodes.size() * block_size_;
  const std::span outside(x + num_eliminated, num_border(tree_.fronts.back().border));
  std::ranges::fill(outside, 0);
  for (std::size_t k = 0; k < tree_.fronts.size(); ++k) {
    const Front& front = tree_.fronts[k];
    if (!front.received.empty()) {
      message_.resize(num_border(front.received));
      parallel::receive(comm_, front.sender, message_);
      for_entries(front.received, [&](std::size_t i, std::size_t entry) { x[entry] += message_[i]; });
    }
    if (front.size == 0) continue;
    const auto own = static_cast<Eigen::Index>(num_own(front));
    const auto all = static_cast<Eigen::Index>(height(front));
    const Columns columns(factor_.data() + starts_[k], all, own, Eigen::OuterStride<>(all));
    Entries mine(x + std::size_t(front.begin) * block_size_, own);
    columns.topRows(own).triangularView<Eigen::Lower>().solveInPlace(mine);
    if (all == own) continue;
    message_.resize(static_cast<std::size_t>(all - own));
    Entries(message_.data(), all - own).noalias() = columns.bottomRows(all - own) * mine;
    for_entries(front.border, [&](std::size_t i, std::size_t entry) { x[entry] -= message_[i]; });
  }
  if (tree_.receiver >= 0 && !outside.empty()) parallel::send(comm_, tree_.receiver, outside);
}

/// x = L^-T x, with the border of the last front from the rank that has it.
void DissectedCholesky::solve_backward(double* x) const {
  const std::size_t num_eliminated = tree_.nodes.size() * block_size_;
  const std::span outside(x + num_eliminated, num_border(tree_.fronts.back().border));
  if (tree_.receiver >= 0 && !outside.empty()) parallel::receive(comm_, tree_.receiver, outside);
  for (std::size_t k = tree_.fronts.size(); k-- > 0;) {
    const Front& front = tree_.fronts[k];
    if (front.size > 0) {
      const auto own = static_cast<Eigen::Index>(num_own(front));
      const auto all = static_cast<Eigen::Index>(height(front));
      const Columns columns(factor_.data() + starts_[k], all, own, Eigen::OuterStride<>(all));
      Entries mine(x + std::size_t(front.begin) * block_size_, own);
      if (all > own) {
        message_.resize(static_cast<std::size_t>(all - own));
        for_entries(front.border, [&](std::size_t i, std::size_t entry) { message_[i] = x[entry]; });
        mine.noalias() -= columns.bottomRows(all - own).transpose() * Entries(message_.data(), all - own);
      }
      columns.topRows(own).triangularView<Eigen::Lower>().transpose().solveInPlace(mine);
    }
    if (front.received.empty()) continue;
    message_.resize(num_border(front.received));
    for_entries(front.received, [&](std::size_t i, std::size_t entry) { message_[i] = x[entry]; });
    parallel::send(comm_, front.sender, message_);
  }
}

} // namespace recoil::linalg

#include "linalg/block_triple_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <type_traits>

#include <Eigen/Core>
#include <petsc/private/petscimpl.h>

#include "linalg/sum_matrix.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

/// act(height, width), of std::integral_constant, for blocks whose loops are unrolled, false for others.
template <class Act>
bool with_block_sizes(int height, int width, Act act) {
  return with_block_size(height, [&](auto rows) {
    return with_block_size(width, [&]<class Columns>(Columns columns) {
      using Rows = std::remove_const_t<decltype(rows)>;
      if constexpr (std::is_same_v<Rows, int> || std::is_same_v<Columns, int>)
        return false;
      else if constexpr (Rows::value == 1 || Columns::value < Rows::value)
        return false;
      else {
        act(rows, columns);
        return true;
      }
    });
  });
}

bool is_whole_block(const PetscInt* columns, int width) {
  return columns[0] % width == 0 && columns[width - 1] == columns[0] + width - 1;
}

/// The blocks of a part; nothing where one is not full.
std::optional<BlockPattern> block_pattern(Mat part, int height, int width) {
  PetscInt num_rows = 0;
  const PetscInt *rows = nullptr, *columns = nullptr;
  PetscBool done = PETSC_FALSE;
  RECOIL_PETSC(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &num_rows, &rows, &columns, &done));
  if (done == PETSC_FALSE || num_rows % height != 0) return {};
  BlockPattern pattern;
  pattern.starts.reserve(num_rows / height + 1);
  pattern.columns.reserve(rows[num_rows] / (height * width));
  for (PetscInt row = 0; row < num_rows; row += height) {
    const std::span first(columns + rows[row], columns + rows[row + 1]);
    if (std::ssize(first) % width != 0) return {};
    for (PetscInt other = row + 1; other < row + height; ++other)
      if (!std::ranges::equal(first, std::span(columns + rows[other], columns + rows[other + 1]))) return {};
    for (std::size_t k = 0; k < first.size(); k += width) {
      if (!is_whole_block(&first[k], width)) return {};
      pattern.columns.push_back(first[k] / width);
    }
    pattern.starts.push_back(petsc_int(pattern.columns.size()));
  }
  return pattern;
}

std::optional<BlockRows> block_rows(Mat matrix, int height, int width) {
  const AijParts parts = aij_parts(matrix);
  BlockRows rows;
  std::optional<BlockPattern> pattern = block_pattern(parts.own, height, width);
  if (!pattern) return {};
  rows.own = std::move(*pattern);
  if (parts.other == nullptr) {
    rows.other.starts.assign(rows.own.starts.size(), 0);
    return rows;
  }
  pattern = block_pattern(parts.other, height, width);
  if (!pattern) return {};
  rows.other = std::move(*pattern);
  PetscInt num_columns = 0;
  RECOIL_PETSC(MatGetSize(parts.other, nullptr, &num_columns));
  if (num_columns % width != 0) return {};
  for (PetscInt k = 0; k < num_columns; k += width) {
    if (!is_whole_block(parts.ghost_columns + k, width)) return {};
    rows.ghosts.push_back(parts.ghost_columns[k] / width);
  }
  return rows;
}

/// Whether a matrix has as many entries as these blocks of so many each.
bool has_entries(Mat matrix, const BlockRows& rows, int per_block) {
  MatInfo info;
  RECOIL_PETSC(MatGetInfo(matrix, MAT_LOCAL, &info));
  const std::size_t num_blocks = rows.own.columns.size() + rows.other.columns.size();
  return info.nz_used == 1.0 * per_block * static_cast<double>(num_blocks);
}

std::vector<GlobalIndex> ranges_by_blocks(const PetscInt* ranges, int num_ranks, int size) {
  std::vector<GlobalIndex> result(ranges, ranges + num_ranks + 1);
  for (GlobalIndex& first : result) first /= size;
  return result;
}

int owner_in(const std::vector<GlobalIndex>& ranges, GlobalIndex node) {
  return static_cast<int>(std::ranges::upper_bound(ranges, node) - ranges.begin()) - 1;
}

/// Takes ascending `more` into the ascending `row`, by way of `buffer`.
void unite_columns(std::vector<PetscInt>& row, std::span<const PetscInt> more,
                   std::vector<PetscInt>& buffer) {
  if (std::ranges::includes(row, more)) return;
  buffer.clear();
  std::ranges::set_union(row, more, std::back_inserter(buffer));
  std::swap(row, buffer);
}

void sort_nodes(std::vector<GlobalIndex>& nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
}

/// act(row, columns) for the rows of a message of exchange_rows().
template <class Act>
void for_rows(std::span<const GlobalIndex> message, Act act) {
  for (std::size_t k = 0; k < message.size(); k += 2 + message[k + 1])
    act(message[k], message.subspan(k + 2, message[k + 1]));
}

/// The values of a SeqAIJ matrix, for reading; those of none are null.
class ValuesForReading {
public:
  explicit ValuesForReading(Mat part) : part_(part) {
    if (part_ != nullptr) RECOIL_PETSC(MatSeqAIJGetArrayRead(part_, &values_));
  }
  ~ValuesForReading() {
    if (part_ != nullptr) MatSeqAIJRestoreArrayRead(part_, &values_);
  }
  ValuesForReading(const ValuesForReading&) = delete;
  ValuesForReading& operator=(const ValuesForReading&) = delete;
  const PetscScalar* get() const { return values_; }

private:
  Mat part_;
  const PetscScalar* values_ = nullptr;
};

/// A block that stands in rows of `stride` entries.
template <int height, int width>
using BlockInRows = Eigen::Map<const Eigen::Matrix<double, height, width, Eigen::RowMajor>, Eigen::Unaligned,
                               Eigen::OuterStride<>>;

/// act(column, block) for the blocks of a row.
template <int height, int width, class Act>
void for_blocks(const BlockPattern& pattern, const double* values, std::size_t row, Act act) {
  const PetscInt first = pattern.starts[row], count = pattern.count(row);
  const double* block = values + std::ptrdiff_t{height * width} * first;
  for (PetscInt k = 0; k < count; ++k)
    act(pattern.columns[first + k],
        BlockInRows<height, width>(block + width * std::ptrdiff_t{k}, Eigen::OuterStride<>(width * count)));
}

/// One block row of A P.
template <int height, int width>
class RowOfAP {
public:
  using Values = Eigen::Matrix<double, height, width, Eigen::RowMajor>;

  explicit RowOfAP(std::size_t num_columns) : place_(num_columns, none) {}
  void clear() {
    for (const PetscInt column : columns_) place_[column] = none;
    columns_.clear();
    values_.clear();
  }
  template <class Factor, class Other>
  void add(PetscInt column, const Factor& a, const Other& p) {
    std::size_t& place = place_[column];
    if (place == none) {
      place = columns_.size();
      columns_.push_back(column);
      values_.push_back(Values::Zero());
    }
    values_[place].noalias() += a.lazyProduct(p);
  }
  const std::vector<PetscInt>& columns() const { return columns_; }
  const Values& operator[](std::size_t k) const { return values_[k]; }

private:
  static constexpr std::size_t none = -1;
  std::vector<std::size_t> place_;
  std::vector<PetscInt> columns_;
  std::vector<Values> values_;
};

/// Puts blocks into a part of an AIJ matrix: of every row those in the range that `chosen` gives.
template <int size, class Chosen>
void write_rows(PetscInt num_rows, std::span<const double> blocks, Chosen chosen, PetscScalar* target) {
  for (PetscInt row = 0; row < num_rows; ++row) {
    const auto [begin, end] = chosen(row);
    for (int i = 0; i < size; ++i)
      for (PetscInt k = begin; k < end; ++k)
        target = std::copy_n(blocks.data() + size * (size * std::ptrdiff_t{k} + i), size, target);
  }
}

} // namespace

std::unique_ptr<BlockTripleProduct> BlockTripleProduct::make(Mat A, Mat P) {
  PetscInt height = 0, width = 0;
  RECOIL_PETSC(MatGetBlockSizes(P, &height, &width));
  if (!with_block_sizes(static_cast<int>(height), static_cast<int>(width), [](auto, auto) {})) return nullptr;
  MPI_Comm comm = nullptr;
  RECOIL_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(A), &comm));
  std::unique_ptr<BlockTripleProduct> self(new BlockTripleProduct(comm));
  self->fine_size_ = static_cast<int>(height);
  self->coarse_size_ = static_cast<int>(width);
  auto [of_A, of_P] = parallel::collectively(self->comm_, [&] {
    return std::pair(block_rows(A, self->fine_size_, self->fine_size_),
                     block_rows(P, self->fine_size_, self->coarse_size_));
  });
  if (!self->comm_.all(of_A && of_P)) return nullptr;
  self->A_ = std::move(*of_A);
  self->P_ = std::move(*of_P);
  const PetscInt *rows = nullptr, *columns = nullptr;
  RECOIL_PETSC(MatGetOwnershipRanges(P, &rows));
  RECOIL_PETSC(MatGetOwnershipRangesColumn(P, &columns));
  self->row_ranges_ = ranges_by_blocks(rows, self->comm_.size(), self->fine_size_);
  self->column_ranges_ = ranges_by_blocks(columns, self->comm_.size(), self->coarse_size_);
  const int rank = self->comm_.rank();
  self->num_own_ = petsc_int(self->column_ranges_[rank + 1] - self->column_ranges_[rank]);
  return self;
}

int BlockTripleProduct::owner_of_row(GlobalIndex node) const { return owner_in(row_ranges_, node); }
int BlockTripleProduct::owner_of_column(GlobalIndex node) const { return owner_in(column_ranges_, node); }

bool BlockTripleProduct::owns_column(GlobalIndex node) const {
  return node >= column_ranges_[comm_.rank()] && node < column_ranges_[comm_.rank() + 1];
}

PetscInt BlockTripleProduct::local_column(GlobalIndex node) const {
  if (owns_column(node)) return petsc_int(node - column_ranges_[comm_.rank()]);
  return num_own_ + petsc_int(std::ranges::lower_bound(ghosts_, node) - ghosts_.begin());
}

GlobalIndex BlockTripleProduct::global_column(PetscInt local) const {
  return local < num_own_ ? column_ranges_[comm_.rank()] + local : ghosts_[local - num_own_];
}

/// Sets fetched_, with global columns, and rows_to_send_.
void BlockTripleProduct::fetch_rows_of_others() {
  std::vector<std::vector<GlobalIndex>> requests(comm_.size()), answers(comm_.size());
  for (const GlobalIndex node : A_.ghosts) requests[owner_of_row(node)].push_back(node);
  const std::vector<std::vector<GlobalIndex>> asked = parallel::exchange(comm_, requests);
  rows_to_send_.assign(comm_.size(), {});
  for (int rank = 0; rank < comm_.size(); ++rank)
    for (const GlobalIndex node : asked[rank]) {
      const PetscInt row = petsc_int(node - row_ranges_[comm_.rank()]);
      rows_to_send_[rank].push_back(row);
      std::vector<GlobalIndex>& answer = answers[rank];
      answer.push_back(P_.own.count(row) + P_.other.count(row));
      for (const PetscInt column : P_.own.row(row)) answer.push_back(column_ranges_[comm_.rank()] + column);
      for (const PetscInt column : P_.other.row(row)) answer.push_back(P_.ghosts[column]);
    }
  // Ghosts ascend, and so do their owners.
  for (const std::vector<GlobalIndex>& rows : parallel::exchange(comm_, answers))
    for (std::size_t k = 0; k < rows.size();) {
      for (GlobalIndex count = rows[k++]; count > 0; --count)
        fetched_.columns.push_back(petsc_int(rows[k++]));
      fetched_.starts.push_back(petsc_int(fetched_.columns.size()));
    }
}

/// Sets ghosts_, and turns the columns of P_ and fetched_ into local ones.
void BlockTripleProduct::number_columns() {
  ghosts_ = P_.ghosts;
  for (const PetscInt column : fetched_.columns)
    if (!owns_column(column)) ghosts_.push_back(column);
  sort_nodes(ghosts_);
  for (PetscInt& column : P_.other.columns) column = local_column(P_.ghosts[column]);
  for (PetscInt& column : fetched_.columns) column = local_column(column);
}

/// Columns of the rows of C, ascending, to which own rows of A contribute.
BlockTripleProduct::Rows BlockTripleProduct::local_rows() const {
  Rows rows(num_own_ + ghosts_.size());
  std::vector<char> seen(rows.size(), 0);
  std::vector<PetscInt> columns, buffer;
  const auto take = [&](std::span<const PetscInt> more) {
    for (const PetscInt column : more)
      if (std::exchange(seen[column], 1) == 0) columns.push_back(column);
  };
  for (std::size_t node = 0; node + 1 < A_.own.starts.size(); ++node) {
    columns.clear();
    for (const PetscInt other : A_.own.row(node)) {
      take(P_.own.row(other));
      take(P_.other.row(other));
    }
    for (const PetscInt other : A_.other.row(node)) take(fetched_.row(other));
    std::ranges::sort(columns);
    for (const PetscInt column : columns) seen[column] = 0;
    for (const PetscInt row : P_.own.row(node)) unite_columns(rows[row], columns, buffer);
    for (const PetscInt row : P_.other.row(node)) unite_columns(rows[row], columns, buffer);
  }
  return rows;
}

/// What other ranks bring about in own rows of C, by rank: a row, its number of columns, and these, all
/// global.
BlockTripleProduct::Messages BlockTripleProduct::exchange_rows(const Rows& rows) const {
  Messages outgoing(comm_.size());
  for (std::size_t ghost = 0; ghost < ghosts_.size(); ++ghost) {
    const std::vector<PetscInt>& row = rows[num_own_ + ghost];
    if (row.empty()) continue;
    std::vector<GlobalIndex>& message = outgoing[owner_of_column(ghosts_[ghost])];
    message.insert(message.end(), {ghosts_[ghost], std::ssize(row)});
    for (const PetscInt column : row) message.push_back(global_column(column));
  }
  return parallel::exchange(comm_, outgoing);
}

/// Adds the columns of `incoming` to ghosts_, and numbers anew what counts them.
void BlockTripleProduct::add_ghosts(const Messages& incoming, Rows& rows) {
  const std::vector<GlobalIndex> before = ghosts_;
  for (const std::vector<GlobalIndex>& message : incoming)
    for_rows(message, [&](GlobalIndex, std::span<const GlobalIndex> columns) {
      std::ranges::copy_if(columns, std::back_inserter(ghosts_),
                           [&](GlobalIndex column) { return !owns_column(column); });
    });
  sort_nodes(ghosts_);
  const auto renumbered = [&](PetscInt local) {
    return local < num_own_ ? local : local_column(before[local - num_own_]);
  };
  std::ranges::transform(P_.other.columns, P_.other.columns.begin(), renumbered);
  std::ranges::transform(fetched_.columns, fetched_.columns.begin(), renumbered);
  Rows moved(num_own_ + ghosts_.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::ranges::transform(rows[k], rows[k].begin(), renumbered);
    moved[renumbered(petsc_int(k))] = std::move(rows[k]);
  }
  rows = std::move(moved);
}

/// Adds the columns of `incoming` to own rows, and sets product_.
void BlockTripleProduct::unite_rows(const Messages& incoming, Rows& rows) {
  std::vector<PetscInt> columns, buffer;
  for (const std::vector<GlobalIndex>& message : incoming)
    for_rows(message, [&](GlobalIndex row, std::span<const GlobalIndex> global) {
      columns.clear();
      for (const GlobalIndex column : global) columns.push_back(local_column(column));
      std::ranges::sort(columns);
      unite_columns(rows[local_column(row)], columns, buffer);
    });
  for (const std::vector<PetscInt>& row : rows) {
    product_.columns.insert(product_.columns.end(), row.begin(), row.end());
    product_.starts.push_back(petsc_int(product_.columns.size()));
  }
}

/// Sets places_of_received_.
void BlockTripleProduct::find_places(const Messages& incoming) {
  places_of_received_.assign(comm_.size(), {});
  for (int rank = 0; rank < comm_.size(); ++rank)
    for_rows(incoming[rank], [&](GlobalIndex global_row, std::span<const GlobalIndex> global) {
      const PetscInt row = local_column(global_row);
      const std::span<const PetscInt> present = product_.row(row);
      for (const GlobalIndex column : global)
        places_of_received_[rank].push_back(
            product_.starts[row] +
            petsc_int(std::ranges::lower_bound(present, local_column(column)) - present.begin()));
    });
}

PetscErrorCode BlockTripleProduct::create(Mat product) {
  fetch_rows_of_others();
  number_columns();
  Rows rows = local_rows();
  const Messages incoming = exchange_rows(rows);
  const auto [starts, columns] = parallel::collectively(comm_, [&] {
    add_ghosts(incoming, rows);
    unite_rows(incoming, rows);
    find_places(incoming);
    return scalar_rows();
  });
  const PetscInt size = num_own_ * coarse_size_;
  PetscCall(MatSetSizes(product, size, size, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(product, MATAIJ));
  PetscCall(MatSetBlockSizes(product, coarse_size_, coarse_size_));
  PetscCall(MatSeqAIJSetPreallocationCSR(product, starts.data(), columns.data(), nullptr));
  return MatMPIAIJSetPreallocationCSR(product, starts.data(), columns.data(), nullptr);
}

/// Starts and global columns of the own rows of C, entry by entry.
std::pair<std::vector<PetscInt>, std::vector<PetscInt>> BlockTripleProduct::scalar_rows() const {
  std::vector<PetscInt> starts{0}, columns;
  columns.reserve(std::size_t(product_.starts[num_own_]) * (coarse_size_ * coarse_size_));
  std::vector<GlobalIndex> sorted;
  for (PetscInt row = 0; row < num_own_; ++row) {
    sorted.clear();
    for (const PetscInt column : product_.row(row)) sorted.push_back(global_column(column));
    std::ranges::sort(sorted);
    for (int i = 0; i < coarse_size_; ++i) {
      for (const GlobalIndex column : sorted)
        for (int j = 0; j < coarse_size_; ++j) columns.push_back(petsc_int(coarse_size_ * column + j));
      starts.push_back(petsc_int(columns.size()));
    }
  }
  return {std::move(starts), std::move(columns)};
}

PetscErrorCode BlockTripleProduct::fill(Mat A, Mat P, Mat product) {
  const bool fits =
      has_entries(A, A_, fine_size_ * fine_size_) && has_entries(P, P_, fine_size_ * coarse_size_);
  PetscObjectId id = 0;
  PetscObjectState state = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(P), &id));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(P), &state));
  const bool is_new = id != fetched_id_ || state != fetched_state_;
  std::array<double, 2> ranks{fits ? 0.0 : 1.0, is_new ? 1.0 : 0.0};
  comm_.sum(ranks);
  if (ranks[0] > 0) return PETSC_ERR_ARG_SIZ;
  fetched_id_ = id;
  fetched_state_ = state;
  PetscErrorCode code = 0;
  with_block_sizes(fine_size_, coarse_size_, [&]<class Height, class Width>(Height, Width) {
    code = fill_by<Height::value, Width::value>(A, P, ranks[1] > 0, product);
  });
  return code;
}

template <int height, int width>
PetscErrorCode BlockTripleProduct::fill_by(Mat A, Mat P, bool fetches, Mat product) {
  std::vector<double> blocks;
  {
    const AijParts of_A = aij_parts(A), of_P = aij_parts(P);
    const ValuesForReading A_own(of_A.own), A_other(of_A.other), P_own(of_P.own), P_other(of_P.other);
    if (fetches) fetched_values_ = fetch_values<height, width>(P_own.get(), P_other.get());
    blocks = multiply<height, width>({A_own.get(), A_other.get(), P_own.get(), P_other.get()});
  }
  add_blocks_of_others<width>(blocks);
  clear_rounding<width>(blocks);
  return write<width>(blocks, product);
}

/// Of the rows that fetch_rows_of_others() has the pattern of.
template <int height, int width>
std::vector<double> BlockTripleProduct::fetch_values(const double* own, const double* other) const {
  std::vector<std::vector<double>> outgoing(comm_.size());
  for (int rank = 0; rank < comm_.size(); ++rank)
    for (const PetscInt row : rows_to_send_[rank])
      for (int i = 0; i < height; ++i) {
        const auto append = [&](const BlockPattern& pattern, const double* values) {
          const std::ptrdiff_t length = std::ptrdiff_t{width} * pattern.count(row);
          if (length == 0) return;
          const double* first = values + height * width * std::ptrdiff_t{pattern.starts[row]} + i * length;
          outgoing[rank].insert(outgoing[rank].end(), first, first + length);
        };
        append(P_.own, own);
        append(P_.other, other);
      }
  std::vector<double> fetched;
  for (const std::vector<double>& rows : parallel::exchange(comm_, outgoing))
    fetched.insert(fetched.end(), rows.begin(), rows.end());
  return fetched;
}

/// The blocks of product_, as far as own rows of A contribute to them.
template <int height, int width>
std::vector<double> BlockTripleProduct::multiply(const Values& values) const {
  using Coarse = Eigen::Matrix<double, width, width, Eigen::RowMajor>;
  std::vector<double> blocks(product_.columns.size() * (width * width), 0.0);
  RowOfAP<height, width> products(num_own_ + ghosts_.size());
  double num_products = 0; // of height x height with height x width
  const auto add = [&](PetscInt row, const auto& p) {
    const std::span<const PetscInt> columns = product_.row(row);
    double* const first = blocks.data() + width * width * std::ptrdiff_t{product_.starts[row]};
    for (std::size_t k = 0; k < products.columns().size(); ++k) {
      const auto place = std::ranges::lower_bound(columns, products.columns()[k]) - columns.begin();
      Eigen::Map<Coarse>(first + width * width * place).noalias() += p.transpose().lazyProduct(products[k]);
    }
    num_products += static_cast<double>(products.columns().size()) * width / height;
  };
  for (std::size_t node = 0; node + 1 < A_.own.starts.size(); ++node) {
    products.clear();
    const auto times = [&](const auto& a) {
      return [&](PetscInt column, const auto& p) {
        products.add(column, a, p);
        ++num_products;
      };
    };
    for_blocks<height, height>(A_.own, values.A_own, node, [&](PetscInt other, const auto& a) {
      for_blocks<height, width>(P_.own, values.P_own, other, times(a));
      for_blocks<height, width>(P_.other, values.P_other, other, times(a));
    });
    for_blocks<height, height>(A_.other, values.A_other, node, [&](PetscInt other, const auto& a) {
      for_blocks<height, width>(fetched_, fetched_values_.data(), other, times(a));
    });
    for_blocks<height, width>(P_.own, values.P_own, node, add);
    for_blocks<height, width>(P_.other, values.P_other, node, add);
  }
  RECOIL_PETSC(PetscLogFlops(2.0 * height * height * width * num_products));
  return blocks;
}

/// What other ranks have of own rows of C, in the order of the ranks.
template <int width>
void BlockTripleProduct::add_blocks_of_others(std::vector<double>& blocks) const {
  constexpr std::ptrdiff_t size = width * width;
  std::vector<std::vector<double>> outgoing(comm_.size());
  for (std::size_t ghost = 0; ghost < ghosts_.size(); ++ghost) {
    const auto row = blocks.begin() + size * product_.starts[num_own_ + ghost];
    std::vector<double>& message = outgoing[owner_of_column(ghosts_[ghost])];
    message.insert(message.end(), row, row + size * product_.count(num_own_ + ghost));
  }
  const std::vector<std::vector<double>> incoming = parallel::exchange(comm_, outgoing);
  for (int rank = 0; rank < comm_.size(); ++rank)
    for (std::size_t k = 0; k < places_of_received_[rank].size(); ++k)
      for (std::ptrdiff_t i = 0; i < size; ++i)
        blocks[size * places_of_received_[rank][k] + i] += incoming[rank][size * k + i];
}

/// Aggregates of fewer unknowns than modes have columns in P that are zero but for rounding, the square of
/// which they leave on the diagonal of C. Its inverse would dominate the smoother and may have the wrong
/// sign; for a zero Jacobi's smoother takes one.
template <int width>
void BlockTripleProduct::clear_rounding(std::vector<double>& blocks) const {
  constexpr double negligible = 1e-24; // of rounding squared there are 1e-28 to 1e-32
  std::vector<double*> diagonal;
  double most = 0;
  for (PetscInt row = 0; row < num_own_; ++row) {
    const std::span<const PetscInt> columns = product_.row(row);
    const auto found = std::ranges::lower_bound(columns, row);
    if (found == columns.end() || *found != row) continue;
    const std::ptrdiff_t place = product_.starts[row] + (found - columns.begin());
    for (int i = 0; i < width; ++i) {
      diagonal.push_back(&blocks[width * width * place + (width + 1) * i]);
      most = std::max(most, std::abs(*diagonal.back()));
    }
  }
  most = comm_.max(most);
  for (double* entry : diagonal)
    if (std::abs(*entry) <= negligible * most) *entry = 0;
}

/// The own rows into the arrays of PETSc's matrix.
template <int width>
PetscErrorCode BlockTripleProduct::write(std::span<const double> blocks, Mat product) const {
  const AijParts parts = aij_parts(product);
  const auto first_ghost = [&](PetscInt row) {
    const std::span<const PetscInt> columns = product_.row(row);
    return product_.starts[row] + petsc_int(std::ranges::lower_bound(columns, num_own_) - columns.begin());
  };
  PetscScalar* target = nullptr;
  PetscCall(MatSeqAIJGetArray(parts.own, &target));
  write_rows<width>(
      num_own_, blocks, [&](PetscInt row) { return std::pair(product_.starts[row], first_ghost(row)); },
      target);
  PetscCall(MatSeqAIJRestoreArray(parts.own, &target));
  if (parts.other == nullptr) return 0;
  PetscCall(MatSeqAIJGetArray(parts.other, &target));
  write_rows<width>(
      num_own_, blocks, [&](PetscInt row) { return std::pair(first_ghost(row), product_.starts[row + 1]); },
      target);
  return MatSeqAIJRestoreArray(parts.other, &target);
}

} // namespace recoil::linalg

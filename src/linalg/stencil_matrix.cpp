#include "recoil/linalg/stencil_matrix.hpp"

#include <algorithm>
#include <limits>

#include "linalg/sum_matrix.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

StencilMatrix::StencilMatrix(std::shared_ptr<const VectorLayout> layout)
    : layout_(std::move(layout)), rank_offsets_(layout_->comm->all_gather(layout_->offset)),
      block_entries_(layout_->block_size * layout_->block_size), outgoing_(rank_offsets_.size()),
      outgoing_blocks_(outgoing_.size()), origins_(outgoing_.size()), incoming_(outgoing_.size()),
      incoming_blocks_(outgoing_.size()) {
  rows_.offsets.assign(1, 0);
  create_matrix();
}

void StencilMatrix::begin() {
  // Own entries do not travel; their memory goes round.
  const std::size_t self = layout_->comm->rank();
  if (outgoing_[self].capacity() == 0) {
    outgoing_[self].swap(incoming_[self]);
    outgoing_blocks_[self].swap(incoming_blocks_[self]);
  }
  const auto clear = [](auto& parts) {
    for (auto& part : parts) part.clear();
  };
  clear(outgoing_);
  clear(outgoing_blocks_);
  clear(incoming_);
  clear(incoming_blocks_);
  for (auto& origins : origins_) origins.clear();
  stencils_.clear();
  stencil_nodes_.clear();
}

std::size_t StencilMatrix::owner(GlobalIndex node) const {
  RECOIL_ASSERT(node < layout_->num_global);
  if (node >= layout_->offset && node < layout_->offset + layout_->num_owned) return layout_->comm->rank();
  // Ranks without nodes share their offset with the next one; the last of equal offsets owns the node.
  const auto above = std::ranges::upper_bound(rank_offsets_, node);
  return (above - rank_offsets_.begin()) - 1;
}

void StencilMatrix::add(std::span<const GlobalIndex> nodes, const double* block, int stride) {
  const std::size_t dim = layout_->block_size;
  Stencil stencil{0, stencil_nodes_.size()};
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (nodes[a] < 0) continue;
    stencil_nodes_.push_back(nodes[a]);
    for (std::size_t row = a * dim; row < (a + 1) * dim; ++row)
      stencil.largest = std::max(stencil.largest, block[row * stride + row]);
  }
  stencils_.push_back(stencil);
  for (std::size_t a = 0; a < nodes.size(); ++a)
    if (nodes[a] >= 0) add_row(nodes, a, block, stride);
}

void StencilMatrix::add_row(std::span<const GlobalIndex> nodes, std::size_t a, const double* block,
                            int stride) {
  const std::size_t size = layout_->block_size, leading = stride;
  const std::size_t rank = owner(nodes[a]);
  std::vector<double>& blocks = outgoing_blocks_[rank];
  for (std::size_t b = 0; b < nodes.size(); ++b) {
    if (nodes[b] < 0) continue;
    const std::size_t first = blocks.size();
    blocks.resize(first + block_entries_);
    double* target = blocks.data() + first;
    bool zero = true;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const double value = block[(b * size + j) * leading + a * size + i];
        *target++ = value;
        zero = zero && value == 0;
      }
    if (zero) {
      blocks.resize(first);
      continue;
    }
    outgoing_[rank].push_back({nodes[a], nodes[b]});
    origins_[rank].push_back(static_cast<std::uint32_t>(stencils_.size() - 1));
  }
}

/// What every rank has for this one.
template <class T>
StencilMatrix::PerRank<T> StencilMatrix::send(const PerRank<T>& outgoing) const {
  return outgoing.size() > 1 ? parallel::exchange(*layout_->comm, outgoing) : outgoing;
}

void StencilMatrix::finish() {
  const std::size_t self = layout_->comm->rank();
  std::vector<Entry> own;
  std::vector<double> own_blocks;
  own.swap(outgoing_[self]);
  own_blocks.swap(outgoing_blocks_[self]);
  if (outgoing_.size() > 1) {
    incoming_ = send(outgoing_);
    incoming_blocks_ = send(outgoing_blocks_);
  }
  incoming_[self] = std::move(own);
  incoming_blocks_[self] = std::move(own_blocks);
  Rows rows = merge(nullptr);
  bool same_pattern = rows.same_pattern(rows_);
  rows_ = std::move(rows);
  std::array<double, 2> sums{1.0 * rows_.nodes.size(), same_pattern ? 0.0 : 1.0};
  if (layout_->comm->size() > 1) layout_->comm->sum(sums);
  num_nodes_ = sums[0];
  same_pattern = sums[1] == 0;
  if (!same_pattern) create_matrix();
  fill_matrix();
}

/// The limits of stencil_nodes_, by owner and in the order in which its nodes appear there.
StencilMatrix::PerRank<double> StencilMatrix::limits_of_nodes(std::span<const double> limits) const {
  PerRank<GlobalIndex> asked(outgoing_.size());
  for (const GlobalIndex node : stencil_nodes_) asked[owner(node)].push_back(node);
  const PerRank<GlobalIndex> wanted = send(asked);
  PerRank<double> answers(wanted.size());
  for (std::size_t rank = 0; rank < wanted.size(); ++rank)
    for (const GlobalIndex node : wanted[rank]) answers[rank].push_back(limits[node - layout_->offset]);
  return send(answers);
}

StencilMatrix::Rows StencilMatrix::softened(std::span<const double> limits) const {
  const PerRank<double> found = limits_of_nodes(limits);
  std::vector<std::size_t> next(found.size(), 0);
  std::vector<double> factor_of_stencil;
  for (std::size_t k = 0; k < stencils_.size(); ++k) {
    const std::size_t end = k + 1 < stencils_.size() ? stencils_[k + 1].begin : stencil_nodes_.size();
    double limit = std::numeric_limits<double>::infinity();
    for (std::size_t place = stencils_[k].begin; place < end; ++place) {
      const std::size_t rank = owner(stencil_nodes_[place]);
      limit = std::min(limit, found[rank][next[rank]++]);
    }
    factor_of_stencil.push_back(stencils_[k].largest > limit ? limit / stencils_[k].largest : 1);
  }
  PerRank<double> factors(origins_.size());
  for (std::size_t rank = 0; rank < origins_.size(); ++rank)
    for (const std::uint32_t stencil : origins_[rank]) factors[rank].push_back(factor_of_stencil[stencil]);
  factors = send(factors);
  return merge(&factors);
}

/// Sums the entries that have come, each scaled by its factor (null: 1).
StencilMatrix::Rows StencilMatrix::merge(const PerRank<double>* factors) const {
  // Buckets by row, in the order of arrival from rank 0, 1, ..: a counting sort.
  std::vector<std::uint32_t> row_begin(layout_->num_owned + 1, 0);
  const auto bucket = [&](const Entry& entry) -> std::uint32_t& {
    return row_begin[entry.row - layout_->offset];
  };
  std::uint32_t count = 0;
  for (const auto& entries : incoming_) {
    count += static_cast<std::uint32_t>(entries.size());
    for (const Entry& entry : entries) ++bucket(entry);
  }
  std::uint32_t end = 0;
  for (std::uint32_t& begin : row_begin) begin = end += begin;
  std::vector<Item> items(count);
  for (std::size_t rank = incoming_.size(); rank-- > 0;)
    for (std::size_t k = incoming_[rank].size(); k-- > 0;) {
      const Entry& entry = incoming_[rank][k];
      items[--bucket(entry)] = {entry.column, --count, factors == nullptr ? 1 : (*factors)[rank][k],
                                incoming_blocks_[rank].data() + k * block_entries_};
    }
  Rows rows;
  rows.offsets.assign(1, 0);
  for (LocalIndex node = 0; node < layout_->num_owned; ++node) {
    const std::size_t size = row_begin[node + 1] - row_begin[node];
    if (size == 0) continue;
    merge_row(std::span(items).subspan(row_begin[node], size), rows);
    rows.nodes.push_back(node);
    rows.offsets.push_back(rows.columns.size());
  }
  return rows;
}

void StencilMatrix::merge_row(std::span<Item> items, Rows& rows) const {
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return a.column != b.column ? a.column < b.column : a.order < b.order;
  });
  const std::size_t first = rows.columns.size();
  for (const Item& item : items) {
    if (rows.columns.size() == first || rows.columns.back() != item.column) {
      rows.columns.push_back(item.column);
      rows.blocks.resize(rows.blocks.size() + block_entries_, 0);
    }
    double* sum = rows.blocks.data() + rows.blocks.size() - block_entries_;
    for (std::size_t i = 0; i < block_entries_; ++i) sum[i] += item.factor * item.block[i];
  }
}

void StencilMatrix::create_matrix() {
  NodeGraph none;
  none.offsets.assign(layout_->num_owned + 1, 0);
  CoupledGraph coupled = couple(*layout_, none, rows_);
  matrix_ = BlockMatrix(std::move(coupled.layout), std::move(coupled.graph));
}

void StencilMatrix::fill_matrix() {
  matrix_.set_zero();
  add_rows(rows_, matrix_);
}

void StencilMatrix::multiply(const Vector& x, Vector& y) const { matrix_.multiply(x, y); }

} // namespace recoil::linalg

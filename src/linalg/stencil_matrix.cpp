#include "recoil/linalg/stencil_matrix.hpp"

#include <algorithm>

#include "linalg/coupled_graph.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

StencilMatrix::StencilMatrix(std::shared_ptr<const VectorLayout> layout)
    : layout_(std::move(layout)), rank_offsets_(layout_->comm->all_gather(layout_->offset)),
      entries_(static_cast<std::size_t>(layout_->comm->size())) {
  rows_.offsets.assign(1, 0);
  create_matrix();
}

void StencilMatrix::begin() {
  for (auto& entries : entries_) entries.clear();
}

int StencilMatrix::owner(GlobalIndex node) const {
  RECOIL_ASSERT(node < layout_->num_global);
  if (node >= layout_->offset && node < layout_->offset + layout_->num_owned) return layout_->comm->rank();
  // Ranks without nodes share their offset with the next one; the last of equal offsets owns the node.
  const auto above = std::ranges::upper_bound(rank_offsets_, node);
  return static_cast<int>(above - rank_offsets_.begin()) - 1;
}

void StencilMatrix::add(std::span<const GlobalIndex> nodes, const double* block, int stride) {
  const int dim = layout_->block_size;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (nodes[a] < 0) continue;
    auto& entries = entries_[static_cast<std::size_t>(owner(nodes[a]))];
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      if (nodes[b] < 0) continue;
      Entry entry{nodes[a], nodes[b], {}};
      bool zero = true;
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j) {
          const std::size_t row = a * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i);
          const std::size_t column = b * static_cast<std::size_t>(dim) + static_cast<std::size_t>(j);
          const double value = block[column * static_cast<std::size_t>(stride) + row];
          entry.values[static_cast<std::size_t>(i * dim + j)] = value;
          zero = zero && value == 0;
        }
      if (!zero) entries.push_back(entry);
    }
  }
}

std::vector<std::vector<StencilMatrix::Entry>> StencilMatrix::send_entries() {
  const auto self = static_cast<std::size_t>(layout_->comm->rank());
  std::vector<Entry> own;
  own.swap(entries_[self]);
  std::vector<std::vector<Entry>> incoming(entries_.size());
  if (entries_.size() > 1) incoming = parallel::exchange(*layout_->comm, entries_);
  incoming[self] = std::move(own);
  return incoming;
}

void StencilMatrix::finish() {
  auto incoming = send_entries();
  Rows rows = merge(incoming);
  begin();
  // The memory of the own entries serves the next assembly.
  std::swap(entries_[static_cast<std::size_t>(layout_->comm->rank())],
            incoming[static_cast<std::size_t>(layout_->comm->rank())]);
  begin();
  bool same_pattern = rows.same_pattern(rows_);
  rows_ = std::move(rows);
  std::array<double, 2> sums{static_cast<double>(rows_.nodes.size()), same_pattern ? 0.0 : 1.0};
  if (layout_->comm->size() > 1) layout_->comm->sum(sums);
  num_nodes_ = static_cast<GlobalIndex>(sums[0]);
  same_pattern = sums[1] == 0;
  if (!same_pattern) create_matrix();
  fill_matrix();
}

StencilMatrix::Rows StencilMatrix::merge(const std::vector<std::vector<Entry>>& incoming) {
  // Buckets by row, in the order of arrival from rank 0, 1, ..: a counting sort.
  row_begin_.assign(static_cast<std::size_t>(layout_->num_owned) + 1, 0);
  std::size_t count = 0;
  for (const auto& entries : incoming) {
    count += entries.size();
    for (const Entry& entry : entries) ++row_begin_[static_cast<std::size_t>(entry.row - layout_->offset)];
  }
  std::uint32_t end = 0;
  for (std::uint32_t& begin : row_begin_) begin = end += begin;
  items_.resize(count);
  auto order = static_cast<std::uint32_t>(count);
  for (std::size_t rank = incoming.size(); rank-- > 0;)
    for (std::size_t k = incoming[rank].size(); k-- > 0;) {
      const Entry& entry = incoming[rank][k];
      items_[--row_begin_[static_cast<std::size_t>(entry.row - layout_->offset)]] = {entry.column, --order,
                                                                                     &entry};
    }
  Rows rows;
  rows.offsets.assign(1, 0);
  for (std::size_t node = 0; node + 1 < row_begin_.size(); ++node) {
    const std::size_t size = row_begin_[node + 1] - row_begin_[node];
    if (size == 0) continue;
    merge_row(std::span(items_).subspan(row_begin_[node], size), rows);
    rows.nodes.push_back(static_cast<LocalIndex>(node));
    rows.offsets.push_back(rows.columns.size());
  }
  return rows;
}

void StencilMatrix::merge_row(std::span<Item> items, Rows& rows) const {
  const auto size = static_cast<std::size_t>(layout_->block_size * layout_->block_size);
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return a.column != b.column ? a.column < b.column : a.order < b.order;
  });
  const std::size_t first = rows.columns.size();
  for (const Item& item : items) {
    const auto values = std::span(item.entry->values).first(size);
    if (rows.columns.size() == first || rows.columns.back() != item.column) {
      rows.columns.push_back(item.column);
      rows.blocks.insert(rows.blocks.end(), values.begin(), values.end());
    } else {
      double* sum = rows.blocks.data() + rows.blocks.size() - size;
      for (std::size_t i = 0; i < size; ++i) sum[i] += values[i];
    }
  }
}

void StencilMatrix::create_matrix() {
  NodeGraph none;
  none.offsets.assign(static_cast<std::size_t>(layout_->num_owned) + 1, 0);
  CoupledGraph coupled = couple(*layout_, none, rows_);
  matrix_ = BlockMatrix(std::move(coupled.layout), std::move(coupled.graph));
}

void StencilMatrix::fill_matrix() {
  matrix_.set_zero();
  add_rows(rows_, matrix_);
}

void StencilMatrix::multiply(const Vector& x, Vector& y) const { matrix_.multiply(x, y); }

} // namespace recoil::linalg

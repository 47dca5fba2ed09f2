#include "linalg/coupled_graph.hpp"

#include <algorithm>

namespace recoil::linalg {

namespace {

/// The layout with the columns of `rows` that it lacks as further ghosts.
std::shared_ptr<VectorLayout> with_columns(const VectorLayout& layout, const StencilMatrix::Rows& rows) {
  auto result = std::make_shared<VectorLayout>(layout);
  if (layout.comm->size() == 1) return result;
  const LocalNumbers local(layout);
  std::vector<GlobalIndex> missing;
  for (const GlobalIndex column : rows.columns)
    if (local(column) < 0) missing.push_back(column);
  std::ranges::sort(missing);
  missing.erase(std::ranges::unique(missing).begin(), missing.end());
  result->ghosts.insert(result->ghosts.end(), missing.begin(), missing.end());
  return result;
}

/// Neighbours of one row of the sum, by global number.
void unite(const VectorLayout& layout, std::span<const LocalIndex> neighbours,
           std::span<const GlobalIndex> columns, const LocalNumbers& local, std::vector<LocalIndex>& united) {
  std::size_t a = 0, b = 0;
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  while (a < neighbours.size() || b < columns.size()) {
    const GlobalIndex first = a < neighbours.size() ? layout.global(neighbours[a]) : none;
    const GlobalIndex second = b < columns.size() ? columns[b] : none;
    united.push_back(first <= second ? neighbours[a] : local(second));
    a += first <= second;
    b += second <= first;
  }
}

} // namespace

LocalNumbers::LocalNumbers(const VectorLayout& layout)
    : offset_(layout.offset), end_(layout.offset + layout.num_owned) {
  ghosts_.reserve(layout.ghosts.size());
  for (LocalIndex local = layout.num_owned; local < layout.num_local(); ++local)
    ghosts_.emplace_back(layout.global(local), local);
  std::ranges::sort(ghosts_);
}

LocalIndex LocalNumbers::operator()(GlobalIndex global) const {
  if (global >= offset_ && global < end_) return static_cast<LocalIndex>(global - offset_);
  const auto found = std::ranges::lower_bound(ghosts_, global, {}, &decltype(ghosts_)::value_type::first);
  return found != ghosts_.end() && found->first == global ? found->second : -1;
}

CoupledGraph couple(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows) {
  CoupledGraph result;
  auto extended = with_columns(layout, rows);
  auto united = std::make_shared<NodeGraph>();
  const LocalNumbers local(*extended);
  united->offsets.reserve(graph.offsets.size());
  united->offsets.push_back(0);
  united->neighbours.reserve(graph.neighbours.size() + rows.columns.size());
  std::size_t k = 0;
  for (LocalIndex node = 0; node < layout.num_owned; ++node) {
    const std::size_t begin = graph.offsets[node];
    const std::size_t end = graph.offsets[node + 1];
    const auto neighbours = std::span(graph.neighbours).subspan(begin, end - begin);
    const bool coupled = k < rows.nodes.size() && rows.nodes[k] == node;
    if (!coupled) {
      united->neighbours.insert(united->neighbours.end(), neighbours.begin(), neighbours.end());
    } else {
      const auto columns =
          std::span(rows.columns).subspan(rows.offsets[k], rows.offsets[k + 1] - rows.offsets[k]);
      unite(*extended, neighbours, columns, local, united->neighbours);
      ++k;
    }
    united->offsets.push_back(std::ssize(united->neighbours));
  }
  result.layout = std::move(extended);
  result.graph = std::move(united);
  return result;
}

void add_rows(const StencilMatrix::Rows& rows, BlockMatrix& matrix) {
  const LocalNumbers local(matrix.layout());
  const BlockMatrix::Values values = matrix.begin_filling();
  with_block_size(matrix.layout().block_size, [&](auto size) {
    const std::size_t entries = size * size;
    for (std::size_t k = 0; k < rows.nodes.size(); ++k)
      for (std::size_t entry = rows.offsets[k]; entry < rows.offsets[k + 1]; ++entry) {
        const std::int32_t place = matrix.position(rows.nodes[k], local(rows.columns[entry]));
        values.add(size, rows.nodes[k], place, rows.blocks.data() + entry * entries, size);
      }
  });
  matrix.finish_filling();
}

} // namespace recoil::linalg

#include "linalg/sum_matrix.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace recoil::linalg {

namespace {

/// Local numbers of ghosts by their global ones.
class LocalNumbers {
public:
  explicit LocalNumbers(const VectorLayout& layout)
      : offset_(layout.offset), end_(layout.offset + layout.num_owned) {
    ghosts_.reserve(layout.ghosts.size());
    for (LocalIndex local = layout.num_owned; local < layout.num_local(); ++local)
      ghosts_.emplace_back(layout.global(local), local);
    std::ranges::sort(ghosts_);
  }
  /// Local number of the owned or ghost node `global`, -1 of any other.
  LocalIndex operator()(GlobalIndex global) const {
    if (global >= offset_ && global < end_) return static_cast<LocalIndex>(global - offset_);
    const auto found = std::ranges::lower_bound(ghosts_, global, {}, &decltype(ghosts_)::value_type::first);
    return found != ghosts_.end() && found->first == global ? found->second : -1;
  }

private:
  GlobalIndex offset_, end_;
  std::vector<std::pair<GlobalIndex, LocalIndex>> ghosts_; ///< by global number
};

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

AijParts aij_parts(Mat matrix) {
  AijParts parts{matrix};
  PetscBool parallel = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &parallel));
  if (parallel == PETSC_TRUE)
    RECOIL_PETSC(MatMPIAIJGetSeqAIJ(matrix, &parts.own, &parts.other, &parts.ghost_columns));
  return parts;
}

MatrixParts read_parts(Mat matrix) {
  MatrixParts parts;
  const AijParts matrices = aij_parts(matrix);
  const auto read = [](Mat part, const PetscInt*& rows, const PetscInt*& columns,
                       const PetscScalar*& values) {
    PetscInt num_rows = 0;
    PetscBool done = PETSC_FALSE;
    RECOIL_PETSC(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &num_rows, &rows, &columns, &done));
    RECOIL_ASSERT(done == PETSC_TRUE);
    // The array stays where it is; what is restored is only the right to read it.
    RECOIL_PETSC(MatSeqAIJGetArrayRead(part, &values));
    const PetscScalar* restored = values;
    RECOIL_PETSC(MatSeqAIJRestoreArrayRead(part, &restored));
  };
  read(matrices.own, parts.diagonal_rows, parts.diagonal_columns, parts.diagonal);
  if (matrices.other != nullptr)
    read(matrices.other, parts.off_diagonal_rows, parts.off_diagonal_columns, parts.off_diagonal);
  return parts;
}

std::vector<ExtraEntry> find_extras(const VectorLayout& layout, const NodeGraph& graph,
                                    const StencilMatrix::Rows& rows) {
  std::vector<ExtraEntry> extras;
  for (std::size_t k = 0; k < rows.nodes.size(); ++k) {
    const std::size_t node = rows.nodes[k];
    std::size_t at = graph.offsets[node];
    const std::size_t end = graph.offsets[node + 1];
    for (std::size_t entry = rows.offsets[k]; entry < rows.offsets[k + 1]; ++entry) {
      while (at < end && layout.global(graph.neighbours[at]) < rows.columns[entry]) ++at;
      if (at == end || layout.global(graph.neighbours[at]) != rows.columns[entry])
        extras.push_back({rows.nodes[k], rows.columns[entry]});
    }
  }
  return extras;
}

bool SumMatrix::assemble(const VectorLayout& layout, const std::shared_ptr<const NodeGraph>& graph,
                         Mat matrix, const StencilMatrix::Rows& rows, Pattern pattern) {
  std::vector<ExtraEntry> extras = find_extras(layout, *graph, rows);
  const bool fits = graph == graph_ && (pattern == Pattern::minimal ? extras == extras_
                                                                    : std::ranges::includes(extras_, extras));
  const bool changed = layout.comm->size() == 1 ? !fits : layout.comm->any(!fits);
  if (changed) {
    graph_ = graph;
    extras_ = std::move(extras);
    create(layout, *graph, rows);
  }
  sum_.set_zero();
  copy(matrix);
  add_rows(rows, sum_);
  return changed;
}

void SumMatrix::create(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows) {
  CoupledGraph coupled = couple(layout, graph, rows);
  sum_ = BlockMatrix(std::move(coupled.layout), std::move(coupled.graph));
  positions_.clear();
  positions_.reserve(graph.neighbours.size());
  for (LocalIndex row = 0; row < layout.num_owned; ++row)
    for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      positions_.push_back(sum_.position(row, graph.neighbours[k]));
}

void SumMatrix::copy(Mat matrix) {
  const MatrixParts parts = read_parts(matrix);
  const BlockMatrix::Values values = sum_.begin_filling();
  with_block_size(sum_.layout().block_size, [&](auto size) {
    std::int64_t k = 0;
    for (LocalIndex row = 0; row < sum_.layout().num_owned; ++row) {
      PetscInt inside = 0, outside = 0;
      for (; k < graph_->offsets[row + 1]; ++k) {
        const bool owned = positions_[k] >= 0;
        const PetscInt* rows = owned ? parts.diagonal_rows : parts.off_diagonal_rows;
        const PetscScalar* block = (owned ? parts.diagonal : parts.off_diagonal) + rows[size * row] +
                                   size * (owned ? inside++ : outside++);
        const int stride = rows[size * row + 1] - rows[size * row];
        values.add(size, row, positions_[k], block, stride);
      }
    }
  });
  sum_.finish_filling();
}

} // namespace recoil::linalg

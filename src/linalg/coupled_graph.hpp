#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::linalg {

/// Local numbers of ghosts by their global ones.
class LocalNumbers {
public:
  explicit LocalNumbers(const VectorLayout& layout);
  /// Local number of the owned or ghost node `global`, -1 of any other.
  LocalIndex operator()(GlobalIndex global) const;

private:
  GlobalIndex offset_, end_;
  std::vector<std::pair<GlobalIndex, LocalIndex>> ghosts_; ///< by global number
};

/// Graph of a sum of matrices over a layout with the ghosts of both: local numbers of the first stay.
struct CoupledGraph {
  std::shared_ptr<const VectorLayout> layout;
  std::shared_ptr<const NodeGraph> graph;
};

/// The pattern of `graph` united with that of `rows`. Not collective. Cost O(entries).
CoupledGraph couple(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix::Rows& rows);

/// Adds the blocks of `rows` to `matrix`, whose pattern must hold them. To be called on every rank.
void add_rows(const StencilMatrix::Rows& rows, BlockMatrix& matrix);

/// Calls act(std::integral_constant<int, dim>) with the `dim` that is known at run time: 1, 2 or 3.
template <class Act>
auto with_dimension(int dim, Act act) {
  RECOIL_ASSERT(dim >= 1 && dim <= 3);
  if (dim == 3) return act(std::integral_constant<int, 3>{});
  if (dim == 2) return act(std::integral_constant<int, 2>{});
  return act(std::integral_constant<int, 1>{});
}

} // namespace recoil::linalg

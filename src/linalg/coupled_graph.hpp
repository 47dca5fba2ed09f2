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

/// Calls act(size) with the number of components of a node: std::integral_constant<int, n> for the sizes that
/// loops are unrolled for, an int for any other. Both convert to int.
template <class Act>
auto with_block_size(int size, Act act) {
  switch (size) {
  case 1:
    return act(std::integral_constant<int, 1>{});
  case 2:
    return act(std::integral_constant<int, 2>{});
  case 3:
    return act(std::integral_constant<int, 3>{});
  case 6:
    return act(std::integral_constant<int, 6>{});
  default:
    return act(size);
  }
}

} // namespace recoil::linalg

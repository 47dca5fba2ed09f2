#pragma once

#include <vector>

#include "recoil/fem/function_space.hpp"

namespace recoil::fem {

/// Sets of cells that are connected by nodes.
struct Pieces {
  std::vector<int> body;            ///< body of each piece, ordered by their smallest canonical node numbers
  std::vector<std::size_t> of_node; ///< piece of every local node
};

/// Finds the pieces of all bodies, the same on any number of ranks. Collective.
template <int dim>
Pieces find_pieces(const FunctionSpace<dim>& space);

} // namespace recoil::fem

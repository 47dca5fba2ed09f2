#pragma once

#include <cstdint>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::linalg {

/// A coarser space of functions that lives on some nodes of a finer one, as that of linear functions on the
/// vertices of quadratic cells: every value of the finer one is a mean of values at coarse nodes. A coarse
/// node is one that is its own mean, with weight 1.
struct CoarseSpace {
  std::vector<std::int64_t> offsets; ///< of every owned node in `nodes`; num_owned + 1
  std::vector<LocalIndex> nodes;     ///< coarse ones, owned or ghosts
  std::vector<double> weights;
  /// Per local entry (node-major with components, ghosts current): those that are prescribed take no part in
  /// means.
  std::vector<char> constrained;
};

} // namespace recoil::linalg

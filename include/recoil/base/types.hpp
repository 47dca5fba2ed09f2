#pragma once

#include <cstdint>

namespace recoil {

/// Index of something on this rank (node, cell, facet).
using LocalIndex = std::int32_t;
/// Index or count over all ranks.
using GlobalIndex = std::int64_t;

} // namespace recoil

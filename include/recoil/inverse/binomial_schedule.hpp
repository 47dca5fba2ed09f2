#pragma once

#include "recoil/base/types.hpp"

namespace recoil::inverse {

/// Where the next snapshot belongs when the `steps` >= 2 states after a given one are needed newest first and
/// `snapshots` >= 1 further ones can be held: after how many steps (1 .. steps - 1), such that the number of
/// steps repeated in all is the least [Griewank, Walther, ACM TOMS 26 (2000), algorithm 799]: with c
/// snapshots r (steps + 1) - binomial(c + 1 + r, r - 1), r the least number with binomial(c + 1 + r, r) >
/// steps.
GlobalIndex binomial_split(GlobalIndex steps, GlobalIndex snapshots);

} // namespace recoil::inverse

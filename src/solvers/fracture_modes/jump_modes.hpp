#pragma once

#include <vector>

#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"
#include "solvers/fracture_modes/jump_problem.hpp"

namespace recoil::solvers::fracture_modes {

/// Modes of a distributed JumpProblem by JumpSearch, on all nodes on every rank or distributed.
/// @param starts by owned node, `dim` numbers each; @param cut_sources one number per owned node.
/// Collective.
VectorModes find_jump_modes(const JumpProblem& problem, bool replicated,
                            const std::vector<std::vector<double>>& starts,
                            const std::vector<std::vector<double>>& cut_sources,
                            const VectorModeOptions& options, const SearchObserver& observe,
                            const SearchState* from);

} // namespace recoil::solvers::fracture_modes

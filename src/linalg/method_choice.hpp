#pragma once

#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// What LinearMethod::automatic stands for without contact: `direct` up to a number of unknowns measured for
/// dimension and ranks.
LinearMethod automatic_method(int dimension, GlobalIndex num_unknowns, int num_ranks);

/// What LinearMethod::automatic stands for with K on `graph` and `contact` (null: none). Where much of all is
/// in contact, as in a pile, the factorisation in ContactSandwich costs as much as that of K + C: symbolic
/// elimination tells whether multigrid around it would still pay. Collective.
LinearMethod choose_method(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix* contact);

} // namespace recoil::linalg

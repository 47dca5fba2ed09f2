#pragma once

#include <span>
#include <vector>

#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "recoil/solvers/fracture_modes/piece_graph.hpp"
#include "solvers/fracture_modes/mode_search.hpp"

/// Between fields on pieces, which all ranks hold, and fields on elements, which are distributed.
namespace recoil::solvers::fracture_modes {

/// The value of its piece on each element.
linalg::Vector on_elements(const ElementGraph& graph, const GatheredPieces& pieces,
                           std::span<const double> field);
/// Means over pieces by mass. Collective.
std::vector<double> on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                              std::span<const double> of_owned);
/// The values of a field that is constant on pieces, without rounding. Collective.
std::vector<double> value_on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                                    std::span<const double> of_owned);

/// A mode on pieces as it is kept in a state, and the other way; the latter is collective.
SearchState::Field stored(const ElementGraph& graph, const GatheredPieces& pieces, const FoundMode& mode);
FoundMode restored(const ElementGraph& graph, const GatheredPieces& pieces, const SearchState::Field& field);

/// Faces along which elements stay together: those that must, and those with a flag in `joined`, if given.
std::vector<char> closed_faces(const ElementGraph& graph, std::span<const char> joined = {});

} // namespace recoil::solvers::fracture_modes

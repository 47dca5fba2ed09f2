#pragma once

#include <string>

#include "cage/lattice.hpp"

namespace recoil::cage {

template <int dim>
struct ChosenLattice {
  Lattice<dim> lattice;
  std::vector<char> flags; ///< of the cells that contain the surfaces and what the tree encloses
};

/// The lattice of which about `cells` cells contain a body, with the tree of its surface. Up to eight edges
/// are tried, until the logarithm of their number is `accepted` from that of `cells`.
/// @param is_closed as of cells_that_contain().
/// @throws InputError as make_cage().
template <int dim>
ChosenLattice<dim> choose_lattice(std::span<const FacetMesh<dim>* const> surfaces,
                                  const WindingTree<dim>& tree, std::int64_t cells,
                                  std::int64_t largest_lattice, bool is_closed, double accepted,
                                  const std::string& where);

} // namespace recoil::cage

#pragma once

#include <span>

#include "recoil/fem/function_space.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

/// How the nodes of `space` lie in files: one row per node by canonical id, the same for every number of
/// ranks. Collective.
template <int dim>
io::BlockLayout node_layout(const fem::FunctionSpace<dim>& space) {
  return {space.comm(), std::span(space.canonical_ids()).first(space.num_owned_nodes())};
}

} // namespace recoil::app

#pragma once

#include <span>

#include "recoil/base/types.hpp"

namespace recoil::linalg {

/// Takes element matrices: symmetric blocks on the nodes of elements that are numbered once and for all.
/// Ranks give the elements that they hold, ghosts included; rows of nodes that another rank owns are skipped,
/// as that rank holds the element too. Nothing is collective.
class ElementSink {
public:
  virtual ~ElementSink() = default;
  /// Adds the matrix of `element`, of which the blocks (a, b) with a <= b are given: entry (dim a + i, dim b
  /// + j) at K[(dim b + j) * dim * nodes + dim a + i] (column-major), dim the number of components of a node.
  virtual void add_element(LocalIndex element, const double* K) = 0;
  /// Adds a row-major dim x dim block at the `a`-th and `b`-th node of `element`.
  virtual void add_element_block(LocalIndex element, int a, int b, const double* block) = 0;
  /// Adds factor * scalars[k] times the identity at every entry k of the node graph.
  virtual void add_identities(std::span<const double> scalars, double factor) = 0;
};

/// Takes small symmetric blocks on nodes that change from one assembly to the next: contact pairs, springs.
/// Nothing is collective.
class StencilSink {
public:
  virtual ~StencilSink() = default;
  /// Adds the (num_nodes * block_size)^2 column-major symmetric `block` (leading dimension `stride`) on the
  /// nodes with these global block numbers; entries of nodes < 0 are skipped (they do not move). Any rank may
  /// give any nodes, each block once over all ranks. Cost a copy of the block.
  virtual void add(std::span<const GlobalIndex> nodes, const double* block, int stride) = 0;
};

/// Where a potential puts the blocks of its Hessian. A sink may be missing where nothing uses it.
struct HessianSink {
  ElementSink* elements = nullptr;
  StencilSink* stencils = nullptr;
};

} // namespace recoil::linalg

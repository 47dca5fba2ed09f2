#pragma once

#include <span>
#include <vector>

#include "collide/item_tree.hpp"

namespace recoil::collide {

/// A box around some items of a rank and the number of these.
template <int dim>
struct Region {
  Bounds<double, dim> bounds;
  double count;
};

/// Regions of one rank: at most max_regions boxes that together contain all its items.
template <int dim>
using Regions = std::vector<Region<dim>>;

constexpr int max_regions = 8;

/// Regions around all items of `trees`, with little empty space: L-shaped or scattered parts get several
/// tight boxes. Cost independent of the number of items.
template <int dim>
Regions<dim> regions_of(std::span<const ItemTree<dim>> trees);

/// The regions of every rank. Collective.
template <int dim>
std::vector<Regions<dim>> gather_regions(const parallel::Communicator& comm, const Regions<dim>& mine);

/// The ranks that search items of rank `me`. Of two ranks whose regions overlap, the one with far fewer items
/// there sends them; between equals the parity of the ranks decides, so that a rank sends to half of its
/// neighbours. Both ranks come to the same answer. Not collective.
template <int dim>
std::vector<int> receivers_of(const std::vector<Regions<dim>>& regions, int me);

} // namespace recoil::collide

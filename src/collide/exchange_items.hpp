#pragma once

#include <span>
#include <vector>

#include "collide/item_tree.hpp"
#include "collide/regions.hpp"

namespace recoil::collide {

/// Items that other ranks sent, per set and sorted by (rank, index), and where they came from.
template <int dim>
struct ReceivedItems {
  std::vector<ItemSet<dim>> sets;
  std::vector<std::vector<RemoteItem>> origin;
};

/// Sends every receiver the items of `sets` that overlap its regions, found through `trees`. Collective.
template <int dim>
ReceivedItems<dim> exchange_items(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets,
                                  std::span<const ItemTree<dim>> trees,
                                  const std::vector<Regions<dim>>& regions, const std::vector<int>& receivers,
                                  Traffic& traffic);

} // namespace recoil::collide

#include "collide/exchange_items.hpp"

#include <cstring>
#include <type_traits>

#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::collide {

namespace {

template <int dim>
struct PackedItem {
  Bounds<double, dim> bounds;
  std::array<GlobalIndex, 3> labels;
  std::int32_t group;
  LocalIndex index;
};

template <int dim>
PackedItem<dim> pack(const ItemSet<dim>& set, LocalIndex index) {
  const std::size_t i = index;
  PackedItem<dim> item{{}, set.labels[i], set.groups[i], index};
  for (int k = 0; k < dim; ++k) {
    item.bounds[k] = set.boxes[i].min()[k];
    item.bounds[k + dim] = set.boxes[i].max()[k];
  }
  return item;
}

template <int dim>
void unpack(const PackedItem<dim>& item, ItemSet<dim>& set) {
  using Corner = Eigen::Map<const Eigen::Vector<double, dim>>;
  set.boxes.emplace_back(Corner(item.bounds.data()), Corner(item.bounds.data() + dim));
  set.labels.push_back(item.labels);
  set.groups.push_back(item.group);
}

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto more = std::as_bytes(values);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

// Numbers of items per set, then the items of all sets; empty where there is no item at all.
template <int dim>
std::vector<std::byte> pack_all(std::span<const ItemSet<dim>> sets, std::span<const ItemTree<dim>> trees,
                                const Regions<dim>& regions, Traffic& traffic) {
  std::vector<Bounds<double, dim>> boxes;
  for (const auto& region : regions) boxes.push_back(region.bounds);
  std::vector<GlobalIndex> counts;
  std::vector<PackedItem<dim>> items;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto indices = trees[s].overlapping(boxes, traffic.tests);
    counts.push_back(std::ssize(indices));
    for (const LocalIndex i : indices) items.push_back(pack(sets[s], i));
  }
  std::vector<std::byte> bytes;
  if (items.empty()) return bytes;
  append<GlobalIndex>(bytes, counts);
  append<PackedItem<dim>>(bytes, items);
  traffic.boxes_sent += std::ssize(items);
  traffic.bytes_sent += std::ssize(bytes);
  ++traffic.ranks_met;
  return bytes;
}

template <int dim>
void unpack_all(const parallel::Message& message, ReceivedItems<dim>& received) {
  const std::byte* from = message.bytes.data();
  std::vector<GlobalIndex> counts(received.sets.size());
  std::memcpy(counts.data(), from, counts.size() * sizeof(GlobalIndex));
  from += counts.size() * sizeof(GlobalIndex);
  for (std::size_t s = 0; s < counts.size(); ++s)
    for (GlobalIndex k = 0; k < counts[s]; ++k, from += sizeof(PackedItem<dim>)) {
      PackedItem<dim> item;
      std::memcpy(&item, from, sizeof(item));
      unpack(item, received.sets[s]);
      received.origin[s].push_back({message.rank, item.index});
    }
  RECOIL_ASSERT(from == message.bytes.data() + message.bytes.size());
}

} // namespace

template <int dim>
ReceivedItems<dim> exchange_items(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets,
                                  std::span<const ItemTree<dim>> trees,
                                  const std::vector<Regions<dim>>& regions, const std::vector<int>& receivers,
                                  Traffic& traffic) {
  std::vector<parallel::Message> outgoing;
  for (const int rank : receivers) {
    auto bytes = pack_all<dim>(sets, trees, regions[rank], traffic);
    if (!bytes.empty()) outgoing.push_back({rank, std::move(bytes)});
  }
  ReceivedItems<dim> received{std::vector<ItemSet<dim>>(sets.size()),
                              std::vector<std::vector<RemoteItem>>(sets.size())};
  for (const auto& message : parallel::exchange_bytes(comm, std::move(outgoing))) {
    unpack_all(message, received);
    ++traffic.ranks_met;
  }
  for (const auto& origin : received.origin) traffic.boxes_received += std::ssize(origin);
  return received;
}

template ReceivedItems<2> exchange_items<2>(const parallel::Communicator&, std::span<const ItemSet<2>>,
                                            std::span<const ItemTree<2>>, const std::vector<Regions<2>>&,
                                            const std::vector<int>&, Traffic&);
template ReceivedItems<3> exchange_items<3>(const parallel::Communicator&, std::span<const ItemSet<3>>,
                                            std::span<const ItemTree<3>>, const std::vector<Regions<3>>&,
                                            const std::vector<int>&, Traffic&);

} // namespace recoil::collide

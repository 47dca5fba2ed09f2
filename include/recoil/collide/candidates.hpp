#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/base/types.hpp"
#include "recoil/parallel/communicator.hpp"

/// Distributed broad phase: boxes in, pairs that may touch out. Knows neither meshes nor physics.
namespace recoil::collide {

template <int dim>
using Box = Eigen::AlignedBox<double, dim>;

/// Boxes of one kind of primitive (vertices, edges, facets) owned by this rank; three arrays of one length.
template <int dim>
struct ItemSet {
  /// Usually swept: around the primitive at both ends of a step, inflated. Empty boxes are never found,
  /// infinite ones are; NaN is a bug of the caller (asserted).
  std::vector<Box<dim>> boxes;
  /// Global vertex ids: items that share a label (>= 0; -1 is unused) are no candidates.
  std::vector<std::array<GlobalIndex, 3>> labels;
  /// Handed to the filter.
  std::vector<std::int32_t> groups;
};

/// Which sets meet: first == second means unordered pairs within one set.
struct SetPair {
  int first, second;
};

/// True if items of these groups may pair up. Symmetric, without state, and the same on all ranks. An empty
/// one admits all.
using GroupFilter = std::function<bool(std::int32_t, std::int32_t)>;

/// An item of another rank: its owner and its index in the owner's set.
struct RemoteItem {
  int rank;
  LocalIndex index;
};

/// What one call of find_candidates cost this rank.
struct Traffic {
  int ranks_met = 0;              // ranks that boxes went to or came from
  GlobalIndex boxes_sent = 0;     //
  GlobalIndex bytes_sent = 0;     // in messages to single ranks
  GlobalIndex boxes_received = 0; //
  GlobalIndex tests = 0;          // pairs of boxes compared, those of the hierarchies included
};

/// Pairs whose boxes overlap, as far as this rank reports them.
struct Candidates {
  /// Per SetPair, in lexicographic order: an entry below the size of its own set is an item of this rank,
  /// entry size + k is remote[set][k]. The first entry is of set `first`, the second of set `second`; within
  /// one set the first is the smaller one. At least one of the two is an item of this rank.
  std::vector<std::vector<std::array<std::int32_t, 2>>> pairs;
  /// Per set: the items of other ranks that take part in a pair, sorted by (rank, index), each once.
  std::vector<std::vector<RemoteItem>> remote;
  Traffic traffic;
  /// True on all ranks if one of them found more pairs than it may; then there are no pairs on any rank.
  bool over_budget = false;
};

/// Finds every pair of items of the sets, over all ranks, whose closed boxes overlap, that share no label and
/// that the filter admits. Each pair is reported by exactly one rank, which owns one of its items.
///
/// Every rank learns a few boxes around the items of every other (an all-gather of 57 doubles per rank in
/// 3D). Of two ranks whose boxes overlap one sends the items concerned, 80 bytes each, and the other searches
/// them in a bounding-volume hierarchy over its own: O(n log n + pairs) unless boxes overlap that labels
/// exclude. The result repeats exactly for the same input on the same number of ranks.
///
/// `sets` (number, not sizes), `which` and `max_pairs_per_rank` are the same on all ranks. A rank that finds
/// more than `max_pairs_per_rank` pairs stops at once, see Candidates::over_budget. Collective.
template <int dim>
Candidates find_candidates(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets,
                           std::span<const SetPair> which, const GroupFilter& filter,
                           GlobalIndex max_pairs_per_rank = std::numeric_limits<GlobalIndex>::max());

/// A few boxes that hold all items of the sets, over all ranks: at most eight of each rank, rounded outwards.
/// What meets none of them meets no item. Collective.
template <int dim>
std::vector<Box<dim>> boxes_around(const parallel::Communicator& comm, std::span<const ItemSet<dim>> sets);

extern template std::vector<Box<2>> boxes_around<2>(const parallel::Communicator&,
                                                    std::span<const ItemSet<2>>);
extern template std::vector<Box<3>> boxes_around<3>(const parallel::Communicator&,
                                                    std::span<const ItemSet<3>>);
extern template Candidates find_candidates<2>(const parallel::Communicator&, std::span<const ItemSet<2>>,
                                              std::span<const SetPair>, const GroupFilter&, GlobalIndex);
extern template Candidates find_candidates<3>(const parallel::Communicator&, std::span<const ItemSet<3>>,
                                              std::span<const SetPair>, const GroupFilter&, GlobalIndex);

} // namespace recoil::collide

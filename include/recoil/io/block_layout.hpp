#pragma once

#include <span>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::io {

/// The two ways in which the rows of a global array 0..N-1 lie on the ranks: as the solver owns them (any ids
/// on any rank) and as files hold them (rank r has rows r*N/size to (r+1)*N/size - 1). Files written through
/// it do not depend on the partition. The plan is built once, with one sparse exchange; nothing is ever
/// gathered on one rank.
class BlockLayout {
public:
  /// `ids` are the global ids of the rows owned here, in the local order; over all ranks each of 0..N-1
  /// occurs once (asserted). `comm` must outlive the layout. Collective.
  BlockLayout(const parallel::Communicator& comm, std::span<const GlobalIndex> ids);

  const parallel::Communicator& communicator() const { return *comm_; }
  /// Number N of rows on all ranks.
  GlobalIndex global_size() const { return global_size_; }
  /// Number of rows that this rank owns.
  LocalIndex owned_size() const { return static_cast<LocalIndex>(slot_of_owned_.size()); }
  /// First row of this rank's block, and one past its last.
  GlobalIndex block_begin() const { return block_begin_; }
  GlobalIndex block_end() const { return block_end_; }

  /// Owned rows, shape (owned_size, components), to this rank's block in id order, shape (block size,
  /// components). T is double, std::int32_t or std::int64_t. Collective.
  template <class T>
  std::vector<T> to_blocks(std::span<const T> owned, int components) const;
  /// Values in the order of the caller from those of blocks, the inverse of to_blocks. Collective.
  template <class T>
  std::vector<T> from_blocks(std::span<const T> block, int components) const;

private:
  const parallel::Communicator* comm_;
  GlobalIndex global_size_ = 0, block_begin_ = 0, block_end_ = 0;
  struct Neighbour {
    int rank;
    LocalIndex rows;
  };
  std::vector<Neighbour> sent_;           // rows sent to the holders of blocks, by rank
  std::vector<LocalIndex> slot_of_owned_; // position of an owned row among the rows sent
  std::vector<Neighbour> received_;       // rows received from owners, by rank
  std::vector<LocalIndex> block_row_;     // row of the block of each row received
};

/// First row of the block of `rank` when `rows` rows lie in equal blocks on `size` ranks.
GlobalIndex block_begin(GlobalIndex rows, int rank, int size);
/// The rank whose block holds `row`, 0 <= row < rows.
int rank_of_row(GlobalIndex row, GlobalIndex rows, int size);

} // namespace recoil::io

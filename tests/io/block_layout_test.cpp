#include <gtest/gtest.h>

#include "io/distribution.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::io {
namespace {

using testing::random_ids;

template <class T>
std::vector<T> rows_of(std::span<const GlobalIndex> ids, int components) {
  std::vector<T> rows;
  for (const GlobalIndex id : ids)
    for (int c = 0; c < components; ++c) rows.push_back(static_cast<T>(id * 10 + c));
  return rows;
}

template <class T>
void check_both_ways(const parallel::Communicator& comm, const std::vector<GlobalIndex>& ids,
                     GlobalIndex count) {
  const BlockLayout layout(comm, ids);
  ASSERT_EQ(layout.global_size(), count);
  ASSERT_EQ(layout.owned_size(), static_cast<LocalIndex>(ids.size()));
  EXPECT_EQ(layout.block_begin(), count * comm.rank() / comm.size());
  EXPECT_EQ(layout.block_end(), count * (comm.rank() + 1) / comm.size());
  for (const int components : {1, 2, 3}) {
    const std::vector<T> owned = rows_of<T>(ids, components);
    const std::vector<T> block = layout.to_blocks<T>(owned, components);
    std::vector<GlobalIndex> block_ids;
    for (GlobalIndex id = layout.block_begin(); id < layout.block_end(); ++id) block_ids.push_back(id);
    EXPECT_EQ(block, rows_of<T>(block_ids, components));
    EXPECT_EQ(layout.from_blocks<T>(block, components), owned);
  }
}

TEST(BlockLayout, MovesRandomOwnersToBlocksAndBack) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 4; ++seed)
    for (const GlobalIndex count : {0, 1, 7, 1001}) {
      const auto ids = random_ids(count, comm.rank(), comm.size(), seed);
      check_both_ways<double>(comm, ids, count);
      check_both_ways<std::int32_t>(comm, ids, count);
      check_both_ways<std::int64_t>(comm, ids, count);
    }
}

TEST(BlockLayout, TakesRanksWithoutRows) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (int empty = 0; empty < comm.size() && comm.size() > 1; ++empty)
    check_both_ways<double>(comm, random_ids(57, comm.rank(), comm.size(), 3, {empty}), 57);
}

TEST(BlockLayout, BlocksCoverHugeCounts) {
  const GlobalIndex count = 9'000'000'000'000'000'001;
  EXPECT_EQ(block_begin(count, 0, 1000), 0);
  EXPECT_EQ(block_begin(count, 1000, 1000), count);
  for (int rank = 0; rank < 1000; ++rank)
    EXPECT_LT(block_begin(count, rank, 1000), block_begin(count, rank + 1, 1000));
}

} // namespace
} // namespace recoil::io

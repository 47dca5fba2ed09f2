#include "recoil/parallel/communicator.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

using namespace recoil;
using namespace recoil::parallel;

namespace {

// Destroyed after main, when MPI is finalised: that must do nothing.
std::optional<Communicator> survivor;

class CommunicatorTest : public ::testing::Test {
protected:
  Communicator comm{MPI_COMM_WORLD};
  GlobalIndex size = comm.size(), rank = comm.rank();
};

} // namespace

TEST_F(CommunicatorTest, is_a_duplicate) {
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(comm.get(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  EXPECT_THROW(Communicator(MPI_COMM_NULL), LibraryError);
  survivor.emplace(MPI_COMM_WORLD);
  const MPI_Comm raw = comm.get();
  Communicator moved(std::move(comm));
  EXPECT_EQ(moved.get(), raw);
  EXPECT_EQ(moved.size(), size);
  comm = std::move(moved);
  EXPECT_EQ(comm.get(), raw);
}

TEST_F(CommunicatorTest, many_live_and_die) {
  for (int i = 0; i < 100; ++i) {
    const Communicator other(comm.get());
    ASSERT_EQ(other.rank(), comm.rank());
  }
}

TEST_F(CommunicatorTest, reductions) {
  const GlobalIndex big = GlobalIndex(1) << 52;
  EXPECT_EQ(comm.sum(big + rank), size * big + size * (size - 1) / 2);
  EXPECT_EQ(comm.sum(0.5 + double(rank)), 0.5 * double(size) + double(size * (size - 1) / 2));
  EXPECT_EQ(comm.min(big + rank), big);
  EXPECT_EQ(comm.max(big + rank), big + size - 1);
  EXPECT_EQ(comm.min(-double(rank)), -double(size - 1));
  EXPECT_EQ(comm.max(-double(rank)), 0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(comm.max(rank == 0 ? infinity : 1.0), infinity);
  EXPECT_EQ(comm.exclusive_scan(rank + 1), rank * (rank + 1) / 2);
  std::vector<double> values{double(rank), 1, -2};
  comm.sum(values);
  EXPECT_EQ(values, (std::vector<double>{double(size * (size - 1) / 2), double(size), -2.0 * double(size)}));
  std::vector<double> nothing;
  comm.sum(nothing);
}

TEST_F(CommunicatorTest, sums_repeat_bitwise_and_agree_between_ranks) {
  const double mine = std::sin(1.0 + double(rank)) * std::pow(10.0, double(rank % 5));
  const double first = comm.sum(mine);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(comm.sum(mine), first);
  for (const double other : comm.all_gather(first)) EXPECT_EQ(other, first);
}

TEST_F(CommunicatorTest, logic) {
  EXPECT_TRUE(comm.all(true));
  EXPECT_FALSE(comm.any(false));
  EXPECT_EQ(comm.all(rank != size - 1), false);
  EXPECT_EQ(comm.any(rank == size - 1), true);
  comm.barrier();
}

TEST_F(CommunicatorTest, broadcast) {
  for (int root = 0; root < comm.size(); ++root) {
    std::string text =
        rank == root ? "from " + std::to_string(root) : std::string(static_cast<std::size_t>(rank), '?');
    comm.broadcast(text, root);
    EXPECT_EQ(text, "from " + std::to_string(root));
    text.assign(rank == root ? "" : "something");
    comm.broadcast(text, root);
    EXPECT_EQ(text, "");
    std::vector<double> numbers(static_cast<std::size_t>(rank), -1.0);
    if (rank == root) numbers = {1, 2, 3};
    comm.broadcast(numbers, root);
    EXPECT_EQ(numbers, (std::vector<double>{1, 2, 3}));
  }
}

TEST_F(CommunicatorTest, gathers) {
  const auto indices = comm.all_gather(10 * rank);
  const auto reals = comm.all_gather(0.5 * double(rank));
  const auto pairs = comm.all_gather(std::vector<double>{double(rank), 7});
  ASSERT_EQ(pairs.size(), static_cast<std::size_t>(2 * size));
  const auto texts = comm.all_gather(std::string(static_cast<std::size_t>(rank), char('a' + rank)));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size));
  for (std::size_t r = 0; r < texts.size(); ++r) {
    EXPECT_EQ(indices[r], 10 * GlobalIndex(r));
    EXPECT_EQ(reals[r], 0.5 * double(r));
    EXPECT_EQ(pairs[2 * r], double(r));
    EXPECT_EQ(pairs[2 * r + 1], 7);
    EXPECT_EQ(texts[r], std::string(r, char('a' + r)));
  }
}

TEST_F(CommunicatorTest, split) {
  const Communicator parity = comm.split(comm.rank() % 2);
  EXPECT_EQ(parity.size(), (size + (rank % 2 == 0 ? 1 : 0)) / 2);
  EXPECT_EQ(parity.rank(), rank / 2);
  EXPECT_EQ(parity.sum(rank % 2), parity.size() * (rank % 2));
  const Communicator reversed = comm.split(0, -comm.rank());
  EXPECT_EQ(reversed.rank(), size - 1 - rank);
  const Communicator alone = comm.split(comm.rank());
  EXPECT_EQ(alone.size(), 1);
}

TEST_F(CommunicatorTest, errors_of_mpi_become_exceptions) {
  std::string text = "x";
  try {
    comm.broadcast(text, comm.size() + 5);
    FAIL() << "a root that does not exist must be refused";
  } catch (const LibraryError& error) {
    EXPECT_NE(std::string(error.what()).find("MPI_Bcast"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("MPI_ERR_ROOT"), std::string::npos) << error.what();
  }
  const Communicator part = comm.split(0);
  EXPECT_THROW(part.broadcast(text, -7), LibraryError) << "sub-communicators must not abort either";
}

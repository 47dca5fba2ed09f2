#include "recoil/parallel/exchange.hpp"

#include <random>
#include <thread>

#include <gtest/gtest.h>

using namespace recoil;
using namespace recoil::parallel;

namespace {

// The bytes that `from` sends to `to` as its `index`th message of `round`: reproducible by the receiver.
std::vector<std::byte> payload(int round, int from, int to, int index, std::size_t size) {
  std::mt19937 random(static_cast<unsigned>(((round * 31 + from) * 31 + to) * 31 + index));
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

class Exchange : public ::testing::Test {
protected:
  Communicator comm{MPI_COMM_WORLD};

  // Number and sizes of messages of one round, the same on all ranks; about `density` of the pairs talk.
  using Plan = std::vector<std::vector<std::vector<std::size_t>>>;
  Plan plan(int round, double density, std::size_t part) const {
    std::mt19937 random(static_cast<unsigned>(1000 + round));
    std::uniform_real_distribution<double> uniform(0, 1);
    const auto n = static_cast<std::size_t>(comm.size());
    Plan result(n, std::vector<std::vector<std::size_t>>(n));
    for (auto& row : result)
      for (auto& sizes : row)
        if (uniform(random) < density)
          for (unsigned count = random() % 3 + 1; count > 0; --count)
            sizes.push_back(random() % 4 == 0 ? part * (random() % 4) : random() % (4 * part));
    return result;
  }

  void run(int round, double density, std::size_t part) {
    const Plan sizes = plan(round, density, part);
    const auto me = static_cast<std::size_t>(comm.rank());
    std::vector<Message> outgoing;
    for (int to = comm.size() - 1; to >= 0; --to) {
      int index = 0;
      for (const std::size_t size : sizes[me][static_cast<std::size_t>(to)]) {
        outgoing.push_back({to, payload(round, comm.rank(), to, index, size)});
        ++index;
      }
    }
    const auto incoming = exchange_bytes(comm, std::move(outgoing), part);
    std::size_t next = 0;
    for (int from = 0; from < comm.size(); ++from) {
      int index = 0;
      for (const std::size_t size : sizes[static_cast<std::size_t>(from)][me]) {
        ASSERT_LT(next, incoming.size());
        EXPECT_EQ(incoming[next].rank, from);
        EXPECT_TRUE(incoming[next].bytes == payload(round, from, comm.rank(), index, size))
            << "round " << round << ", message " << index << " of " << size << " bytes from rank " << from;
        ++next;
        ++index;
      }
    }
    EXPECT_EQ(next, incoming.size());
  }
};

} // namespace

TEST_F(Exchange, nothing_at_all) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(exchange_bytes(comm, {}).empty());
}

TEST_F(Exchange, random_rounds_in_parts) {
  for (int round = 0; round < 150; ++round) {
    run(round, round % 3 == 0 ? 1.0 : 0.3, round % 2 == 0 ? 1 : 64);
    if (HasFatalFailure()) return;
  }
}

// Ranks that run ahead into the next exchange, at changing places.
TEST_F(Exchange, successive_rounds_do_not_mix) {
  for (int round = 0; round < 60; ++round) {
    if (round % comm.size() == comm.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    run(round, 0.6, 1000);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Exchange, only_to_itself) {
  std::vector<Message> outgoing{{comm.rank(), payload(0, 0, 0, 0, 10)}, {comm.rank(), {}}};
  const auto incoming = exchange_bytes(comm, std::move(outgoing));
  ASSERT_EQ(incoming.size(), 2u);
  EXPECT_EQ(incoming[0].rank, comm.rank());
  EXPECT_TRUE(incoming[0].bytes == payload(0, 0, 0, 0, 10));
  EXPECT_TRUE(incoming[1].bytes.empty());
}

TEST_F(Exchange, one_rank_speaks_the_others_are_empty) {
  const int speaker = comm.size() - 1;
  std::vector<Message> outgoing;
  if (comm.rank() == speaker)
    for (int to = 0; to < comm.size(); ++to) outgoing.push_back({to, payload(0, speaker, to, 0, 33)});
  const auto incoming = exchange_bytes(comm, std::move(outgoing));
  ASSERT_EQ(incoming.size(), 1u);
  EXPECT_EQ(incoming[0].rank, speaker);
  EXPECT_TRUE(incoming[0].bytes == payload(0, speaker, comm.rank(), 0, 33));
}

TEST_F(Exchange, many_small_and_few_large_messages) {
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<Message> outgoing;
  for (int i = 0; i < 5'000; ++i) outgoing.push_back({next, payload(i, comm.rank(), next, 0, 8)});
  const auto incoming = exchange_bytes(comm, std::move(outgoing));
  ASSERT_EQ(incoming.size(), 5'000u);
  for (int i = 0; i < 5'000; ++i)
    ASSERT_TRUE(incoming[static_cast<std::size_t>(i)].bytes == payload(i, previous, comm.rank(), 0, 8)) << i;

  const std::size_t large = 20'000'000;
  std::vector<Message> one;
  one.push_back({next, payload(1, comm.rank(), next, 0, large)});
  const auto received = exchange_bytes(comm, std::move(one), 1 << 20);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_TRUE(received[0].bytes == payload(1, previous, comm.rank(), 0, large));
}

TEST_F(Exchange, typed) {
  struct Pair {
    GlobalIndex a;
    double b;
  };
  std::vector<std::vector<Pair>> outgoing(static_cast<std::size_t>(comm.size()));
  for (int to = 0; to < comm.size(); ++to)
    for (int k = 0; k < to; ++k) outgoing[static_cast<std::size_t>(to)].push_back({comm.rank(), 0.5 * k});
  const auto incoming = parallel::exchange(comm, outgoing);
  ASSERT_EQ(incoming.size(), static_cast<std::size_t>(comm.size()));
  for (std::size_t from = 0; from < incoming.size(); ++from) {
    ASSERT_EQ(incoming[from].size(), static_cast<std::size_t>(comm.rank()));
    for (std::size_t k = 0; k < incoming[from].size(); ++k) {
      EXPECT_EQ(incoming[from][k].a, GlobalIndex(from));
      EXPECT_EQ(incoming[from][k].b, 0.5 * double(k));
    }
  }
}

TEST_F(Exchange, in_a_part_of_the_ranks) {
  const Communicator half = comm.split(comm.rank() % 2);
  std::vector<std::vector<int>> outgoing(static_cast<std::size_t>(half.size()));
  outgoing[0].push_back(comm.rank());
  const auto incoming = parallel::exchange(half, outgoing);
  if (half.rank() != 0) return;
  for (int from = 0; from < half.size(); ++from)
    EXPECT_EQ(incoming[static_cast<std::size_t>(from)], std::vector<int>{2 * from + comm.rank() % 2});
}

TEST_F(Exchange, gathers_in_the_order_of_ranks) {
  for (int host = 0; host < comm.size(); ++host) {
    // Rank r has r values; rank 0 has nothing to send.
    const std::vector<int> found =
        gather(comm, host, std::vector<int>(static_cast<std::size_t>(comm.rank()), comm.rank()));
    std::vector<int> expected;
    for (int rank = 0; rank < comm.size() && comm.rank() == host; ++rank)
      expected.insert(expected.end(), static_cast<std::size_t>(rank), rank);
    EXPECT_EQ(found, expected);
  }
}

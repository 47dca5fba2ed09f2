#include "recoil/parallel/halo.hpp"

#include <cmath>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "recoil/parallel/exchange.hpp"

using namespace recoil;
using namespace recoil::parallel;

namespace {

using Wanted = std::vector<std::vector<LocalIndex>>;

// What entry `index` of `rank` holds in component `k`: receivers know what must come.
double value_of(std::size_t rank, LocalIndex index, int k) {
  return std::sin(1.0 + double(rank) + 0.37 * index + 0.011 * k);
}

class HaloTest : public ::testing::Test {
protected:
  Communicator comm{MPI_COMM_WORLD};
  std::size_t size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  static constexpr LocalIndex num_owned = 50;

  // The lists of all ranks, the same everywhere; about `density` of the pairs of ranks talk.
  std::vector<Wanted> plan(unsigned seed, double density) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Wanted> plans(size, Wanted(size));
    for (std::size_t to = 0; to < size; ++to)
      for (std::size_t from = 0; from < size; ++from)
        if (to != from && uniform(random) < density)
          for (unsigned count = random() % 40; count > 0; --count)
            plans[to][from].push_back(static_cast<LocalIndex>(random() % num_owned));
    return plans;
  }

  std::vector<double> owned_values(int width) const {
    std::vector<double> values;
    for (LocalIndex i = 0; i < num_owned; ++i)
      for (int k = 0; k < width; ++k) values.push_back(value_of(rank, i, k));
    return values;
  }

  void expect_forward(const Halo& halo, const Wanted& wanted, int width) const {
    std::vector<double> ghosts(static_cast<std::size_t>(halo.num_ghosts() * width), -9);
    halo.forward(owned_values(width), width, ghosts);
    std::size_t next = 0;
    for (std::size_t from = 0; from < size; ++from)
      for (const LocalIndex index : wanted[from])
        for (int k = 0; k < width; ++k, ++next) ASSERT_EQ(ghosts[next], value_of(from, index, k));
    EXPECT_EQ(next, ghosts.size());
  }
};

} // namespace

TEST_F(HaloTest, brings_what_was_wanted) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto plans = plan(seed, seed % 2 == 0 ? 1.0 : 0.4);
    const Halo halo(comm, plans[rank]);
    for (const int width : {1, 3, 7}) expect_forward(halo, plans[rank], width);
    std::size_t sent = 0;
    int neighbours = 0;
    for (std::size_t other = 0; other < size; ++other) {
      sent += plans[other][rank].size();
      neighbours += !plans[other][rank].empty() || !plans[rank][other].empty();
    }
    EXPECT_EQ(halo.bytes_per_forward(3), 24 * sent);
    EXPECT_EQ(halo.sent_indices().size(), sent);
    EXPECT_EQ(halo.num_neighbours(), neighbours);
  }
}

TEST_F(HaloTest, adds_back_in_the_order_of_ranks) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto plans = plan(100 + seed, 1.0);
    const Halo halo(comm, plans[rank]);
    const int width = 2;
    // Sums of numbers of very different size: another order gives another last bit.
    const auto contribution = [&](std::size_t from, std::size_t position, int k) {
      return value_of(from, static_cast<LocalIndex>(position), k) *
             std::pow(10.0, double((position + from) % 9));
    };
    std::vector<double> ghosts;
    for (std::size_t i = 0; i < static_cast<std::size_t>(halo.num_ghosts()); ++i)
      for (int k = 0; k < width; ++k) ghosts.push_back(contribution(rank, i, k));
    if (seed % 2 == 0 && rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::vector<double> owned = owned_values(width), expected = owned;
    halo.add_back(ghosts, width, owned);

    for (std::size_t from = 0; from < size; ++from) {
      std::size_t position = 0;
      for (std::size_t owner = 0; owner < size; ++owner)
        for (const LocalIndex index : plans[from][owner]) {
          for (int k = 0; k < width && owner == rank; ++k)
            expected[static_cast<std::size_t>(index * width + k)] += contribution(from, position, k);
          ++position;
        }
    }
    EXPECT_EQ(owned, expected);
  }
}

TEST_F(HaloTest, add_back_is_the_transpose_of_forward) {
  const auto plans = plan(7, 1.0);
  const Halo halo(comm, plans[rank]);
  const std::vector<double> x = owned_values(1);
  std::vector<double> gx(static_cast<std::size_t>(halo.num_ghosts())), y, gty(x.size(), 0.0);
  for (std::size_t i = 0; i < gx.size(); ++i) y.push_back(value_of(rank + 5, static_cast<LocalIndex>(i), 0));
  halo.forward(x, 1, gx);
  halo.add_back(y, 1, gty);
  double left = 0, right = 0;
  for (std::size_t i = 0; i < y.size(); ++i) left += gx[i] * y[i];
  for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * gty[i];
  EXPECT_NEAR(comm.sum(left), comm.sum(right), 1e-12);
}

TEST_F(HaloTest, empty_ones) {
  const Halo none, empty(comm, Wanted(size));
  for (const Halo* halo : {&none, &empty}) {
    EXPECT_EQ(halo->num_ghosts(), 0);
    EXPECT_EQ(halo->num_neighbours(), 0);
    EXPECT_EQ(halo->bytes_per_forward(3), 0u);
    std::vector<double> nothing, owned{1, 2};
    halo->forward(owned, 2, nothing);
    halo->add_back(nothing, 2, owned);
    EXPECT_EQ(owned, (std::vector<double>{1, 2}));
    EXPECT_TRUE(halo->forward(std::span<const int>()).empty());
  }
}

TEST_F(HaloTest, typed) {
  struct Entry {
    GlobalIndex id;
    char letter;
  };
  const auto plans = plan(3, 1.0);
  const Halo halo(comm, plans[rank]);
  std::vector<Entry> owned;
  for (LocalIndex i = 0; i < num_owned; ++i)
    owned.push_back({GlobalIndex(rank) * num_owned + i, char('a' + i % 26)});
  const auto ghosts = halo.forward(std::span<const Entry>(owned));
  std::size_t next = 0;
  for (std::size_t from = 0; from < size; ++from)
    for (const LocalIndex index : plans[rank][from]) {
      EXPECT_EQ(ghosts[next].id, GlobalIndex(from) * num_owned + index);
      EXPECT_EQ(ghosts[next++].letter, char('a' + index % 26));
    }
  EXPECT_EQ(next, ghosts.size());
}

// Ranks that run ahead, two halos and sparse exchanges on one communicator.
TEST_F(HaloTest, does_not_mix_with_other_messages) {
  const auto first = plan(11, 0.7), second = plan(12, 0.7);
  const Halo a(comm, first[rank]), b(comm, second[rank]), copy = a;
  const std::size_t next = (rank + 1) % size;
  for (std::size_t round = 0; round < 30; ++round) {
    if (round % size == rank) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    expect_forward(a, first[rank], 3);
    std::vector<std::vector<int>> outgoing(size);
    outgoing[next].assign(5, int(round));
    const auto incoming = parallel::exchange(comm, outgoing);
    EXPECT_EQ(incoming[(rank + size - 1) % size], std::vector<int>(5, int(round)));
    expect_forward(b, second[rank], 1);
    expect_forward(copy, first[rank], 2);
  }
}

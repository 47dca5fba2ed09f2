#include "recoil/collide/candidates.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::collide::testing {
namespace {

const std::vector<SetPair> all_pairs{{0, 1}, {0, 0}, {1, 1}};

// How the items of a scene are dealt out to ranks.
enum class Deal { in_turn, in_space, all_on_the_last, nothing_on_the_first };

const std::vector<Deal> deals{Deal::in_turn, Deal::in_space, Deal::all_on_the_last,
                              Deal::nothing_on_the_first};

template <class Dim>
class FindCandidates : public ::testing::Test {
protected:
  static constexpr int dim = Dim::value;
  parallel::Communicator comm{MPI_COMM_WORLD};

  // The sets of every rank, and for each the global index of its items.
  struct Dealt {
    std::vector<std::vector<ItemSet<dim>>> sets;                 // [rank][set]
    std::vector<std::vector<std::vector<std::int32_t>>> numbers; // [rank][set][local index]
  };

  std::size_t owner(Deal deal, std::size_t i, const Box<dim>& box) const {
    const auto size = static_cast<std::size_t>(comm.size());
    switch (deal) {
    case Deal::in_turn:
      return i % size;
    case Deal::in_space:
      return static_cast<std::size_t>(std::clamp(box.min()[0] * double(size), 0.0, double(size - 1)));
    case Deal::all_on_the_last:
      return size - 1;
    case Deal::nothing_on_the_first:
      return size == 1 ? 0 : 1 + i % (size - 1);
    }
    return 0;
  }

  Dealt deal_out(const std::vector<ItemSet<dim>>& sets, Deal deal) const {
    const auto size = static_cast<std::size_t>(comm.size());
    Dealt dealt{{size, std::vector<ItemSet<dim>>(sets.size())},
                {size, std::vector<std::vector<std::int32_t>>(sets.size())}};
    for (std::size_t s = 0; s < sets.size(); ++s)
      for (std::size_t i = 0; i < sets[s].boxes.size(); ++i) {
        const std::size_t rank = owner(deal, i, sets[s].boxes[i]);
        append<dim>(dealt.sets[rank][s], sets[s].boxes[i], sets[s].labels[i], sets[s].groups[i]);
        dealt.numbers[rank][s].push_back(static_cast<std::int32_t>(i));
      }
    return dealt;
  }

  Candidates find(const Dealt& dealt, const std::vector<SetPair>& which, const GroupFilter& filter,
                  GlobalIndex budget = std::numeric_limits<GlobalIndex>::max()) const {
    return find_candidates<dim>(comm, dealt.sets[static_cast<std::size_t>(comm.rank())], which, filter,
                                budget);
  }

  // The pairs of this rank in global indices; checks their form on the way.
  std::vector<Found> in_global_indices(const Candidates& candidates, const Dealt& dealt,
                                       const std::vector<SetPair>& which) const {
    const auto me = static_cast<std::size_t>(comm.rank());
    const auto global = [&](int set, std::int32_t entry) {
      const auto s = static_cast<std::size_t>(set), i = static_cast<std::size_t>(entry);
      const auto& mine = dealt.numbers[me][s];
      if (i < mine.size()) return mine[i];
      const RemoteItem& item = candidates.remote[s].at(i - mine.size());
      EXPECT_NE(item.rank, comm.rank());
      return dealt.numbers.at(static_cast<std::size_t>(item.rank))[s].at(
          static_cast<std::size_t>(item.index));
    };
    std::vector<Found> result;
    EXPECT_EQ(candidates.pairs.size(), which.size());
    for (std::size_t k = 0; k < which.size(); ++k) {
      EXPECT_TRUE(std::is_sorted(candidates.pairs[k].begin(), candidates.pairs[k].end()));
      const auto [first, second] = which[k];
      for (const auto& [a, b] : candidates.pairs[k]) {
        EXPECT_TRUE(a < int(dealt.numbers[me][static_cast<std::size_t>(first)].size()) ||
                    b < int(dealt.numbers[me][static_cast<std::size_t>(second)].size()));
        std::int32_t i = global(first, a), j = global(second, b);
        if (first == second) {
          EXPECT_LT(a, b);
          if (i > j) std::swap(i, j);
        }
        result.emplace_back(k, i, j);
      }
    }
    return result;
  }

  // The pairs of all ranks on every rank, sorted; one that two ranks report stands twice.
  std::vector<Found> gathered(const std::vector<Found>& mine) const {
    std::vector<std::array<std::int32_t, 3>> flat;
    for (const auto& [k, i, j] : mine) flat.push_back({static_cast<std::int32_t>(k), i, j});
    const std::vector<std::vector<std::array<std::int32_t, 3>>> outgoing(
        static_cast<std::size_t>(comm.size()), flat);
    std::vector<Found> result;
    for (const auto& part : parallel::exchange(comm, outgoing))
      for (const auto& [k, i, j] : part) result.emplace_back(k, i, j);
    std::sort(result.begin(), result.end());
    return result;
  }

  void expect_remote_in_use(const Candidates& candidates, const Dealt& dealt,
                            const std::vector<SetPair>& which) const {
    const auto me = static_cast<std::size_t>(comm.rank());
    for (std::size_t s = 0; s < candidates.remote.size(); ++s) {
      const auto& remote = candidates.remote[s];
      std::vector<int> used(remote.size(), 0);
      for (std::size_t k = 0; k < which.size(); ++k)
        for (const auto& pair : candidates.pairs[k])
          for (int side = 0; side < 2; ++side) {
            const int set = side == 0 ? which[k].first : which[k].second;
            const auto entry = static_cast<std::size_t>(pair[static_cast<std::size_t>(side)]);
            const std::size_t size = dealt.numbers[me][s].size();
            if (set == int(s) && entry >= size) used[entry - size] = 1;
          }
      EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0) << "remote items without a pair";
      for (std::size_t i = 0; i + 1 < remote.size(); ++i)
        EXPECT_LT(std::pair(remote[i].rank, remote[i].index),
                  std::pair(remote[i + 1].rank, remote[i + 1].index));
    }
  }

  void expect_brute_force(const Scene<dim>& scene, Deal deal, const std::vector<SetPair>& which,
                          const GroupFilter& filter) const {
    const auto dealt = deal_out(scene.sets, deal);
    const Candidates candidates = find(dealt, which, filter);
    EXPECT_FALSE(candidates.over_budget);
    EXPECT_EQ(gathered(in_global_indices(candidates, dealt, which)),
              brute_force<dim>(scene.sets, which, filter))
        << scene.name << ", deal " << int(deal);
    expect_remote_in_use(candidates, dealt, which);
  }
};

using Dims = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(FindCandidates, Dims);

bool other_group(std::int32_t a, std::int32_t b) { return a != b; }

} // namespace

TYPED_TEST(FindCandidates, is_brute_force) {
  for (const auto& scene : scenes<TypeParam::value>())
    for (const Deal deal : deals) this->expect_brute_force(scene, deal, all_pairs, {});
}

TYPED_TEST(FindCandidates, is_brute_force_with_a_filter) {
  for (const auto& scene : scenes<TypeParam::value>())
    for (const Deal deal : deals) this->expect_brute_force(scene, deal, all_pairs, other_group);
}

TYPED_TEST(FindCandidates, one_pair_of_sets_alone) {
  for (const auto& scene : scenes<TypeParam::value>())
    for (const SetPair pair : {SetPair{1, 0}, SetPair{1, 1}})
      this->expect_brute_force(scene, Deal::in_turn, {pair}, other_group);
}

TYPED_TEST(FindCandidates, many_groups) {
  constexpr int dim = TypeParam::value;
  const Scene<dim> scene{"many groups", {random_boxes<dim>(21, 700, 0.2, 1000, 600), {}}};
  this->expect_brute_force(scene, Deal::in_space, {{0, 0}},
                           [](std::int32_t a, std::int32_t b) { return (a + b) % 3 != 0; });
}

TYPED_TEST(FindCandidates, a_filter_that_refuses_all_leaves_nothing) {
  constexpr int dim = TypeParam::value;
  const auto dealt = this->deal_out({random_boxes<dim>(22, 500, 0.5)}, Deal::in_turn);
  const auto candidates = this->find(dealt, {{0, 0}}, [](std::int32_t, std::int32_t) { return false; });
  EXPECT_TRUE(candidates.pairs[0].empty());
  EXPECT_TRUE(candidates.remote[0].empty());
}

TYPED_TEST(FindCandidates, repeats) {
  for (const auto& scene : scenes<TypeParam::value>()) {
    const auto dealt = this->deal_out(scene.sets, Deal::in_turn);
    const Candidates first = this->find(dealt, all_pairs, {});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(this->find(dealt, all_pairs, {}).pairs, first.pairs);
  }
}

TYPED_TEST(FindCandidates, stops_on_all_ranks_when_one_is_over_budget) {
  constexpr int dim = TypeParam::value;
  const auto dealt = this->deal_out({random_boxes<dim>(23, 200, 0.6)}, Deal::in_turn);
  const auto free = this->find(dealt, {{0, 0}}, {});
  const GlobalIndex most = this->comm.max(static_cast<GlobalIndex>(free.pairs[0].size()));
  ASSERT_GT(most, 100);

  const auto enough = this->find(dealt, {{0, 0}}, {}, most);
  EXPECT_FALSE(enough.over_budget);
  EXPECT_EQ(enough.pairs, free.pairs);
  for (const GlobalIndex budget : {most - 1, most / 7, GlobalIndex(0)}) {
    const auto candidates = this->find(dealt, {{0, 0}}, {}, budget);
    EXPECT_TRUE(candidates.over_budget);
    ASSERT_EQ(candidates.pairs.size(), 1u);
    EXPECT_TRUE(candidates.pairs[0].empty());
    ASSERT_EQ(candidates.remote.size(), 1u);
    EXPECT_TRUE(candidates.remote[0].empty());
  }
  // It gives up long before it has seen everything.
  EXPECT_LT(this->find(dealt, {{0, 0}}, {}, 0).traffic.tests, free.traffic.tests);
}

// All of one group and all in one place: the filter must prune, not be asked about every pair.
TYPED_TEST(FindCandidates, refused_groups_cost_nothing_even_in_one_place) {
  constexpr int dim = TypeParam::value;
  const GlobalIndex n = 20000;
  ItemSet<dim> set;
  const Box<dim> box(Eigen::Vector<double, dim>::Zero(), Eigen::Vector<double, dim>::Ones());
  for (GlobalIndex i = 0; i < n; ++i) append<dim>(set, box, {-1, -1, -1}, static_cast<std::int32_t>(i % 2));
  const auto dealt = this->deal_out({set}, Deal::in_space);
  const auto candidates = this->find(dealt, {{0, 0}}, [](std::int32_t, std::int32_t) { return false; });
  EXPECT_TRUE(candidates.pairs[0].empty());
  EXPECT_LT(candidates.traffic.tests, 40 * n);
}

TYPED_TEST(FindCandidates, boxes_that_meet_nobody_do_not_travel) {
  constexpr int dim = TypeParam::value;
  using Point = Eigen::Vector<double, dim>;
  auto set = random_boxes<dim>(30u + unsigned(this->comm.rank()), 200, 0.1);
  for (auto& box : set.boxes) box.translate(Point::Constant(10.0 * this->comm.rank()));
  // One item of every rank reaches its left neighbour.
  append<dim>(set, Box<dim>(Point::Constant(10.0 * this->comm.rank() - 9.5),
                            Point::Constant(10.0 * this->comm.rank() - 9.4)));
  const auto candidates =
      find_candidates<dim>(this->comm, std::vector<ItemSet<dim>>{set}, std::vector<SetPair>{{0, 0}}, {});
  const auto& traffic = candidates.traffic;
  EXPECT_LE(traffic.ranks_met, 2);
  EXPECT_LT(traffic.boxes_sent, 100);
  const auto sum = [&](GlobalIndex value) { return this->comm.sum(value); };
  EXPECT_EQ(sum(traffic.boxes_sent), sum(traffic.boxes_received));
  EXPECT_EQ(sum(traffic.bytes_sent) > 0, sum(traffic.boxes_sent) > 0);
  if (this->comm.size() == 1) {
    EXPECT_EQ(traffic.bytes_sent, 0);
  }
}

} // namespace recoil::collide::testing

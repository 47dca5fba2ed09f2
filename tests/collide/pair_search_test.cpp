#include "collide/pair_search.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace recoil::collide::testing {

TEST(SortPairs, is_lexicographic) {
  std::mt19937 random(1);
  for (const int count : {0, 1, 2, 1000}) {
    Pairs pairs;
    for (int i = 0; i < count; ++i) pairs.push_back({int(random() % 40), int(random() % 40)});
    Pairs expected = pairs;
    std::sort(expected.begin(), expected.end());
    sort_pairs(pairs, 40);
    EXPECT_EQ(pairs, expected);
  }
}

// Small boxes with a few large ones among them must cost about as many tests as small ones alone.
TEST(PairSearch, a_few_large_boxes_do_not_spoil_the_small_ones) {
  const int n = 20000;
  const auto tests_with = [&](int large) {
    auto set = random_boxes<3>(3, n, 0.01);
    for (int i = 0; i < large; ++i)
      set.boxes[std::size_t(i * (n / large))].extend(Eigen::Vector3d::Constant(0.5));
    const GroupFilter none;
    GroupTable groups(none);
    const ItemTree<3> tree(set, groups);
    PairSearch<3> search(groups, std::numeric_limits<GlobalIndex>::max());
    Pairs pairs;
    search.within({tree, 0}, pairs);
    return double(search.tests()) - double(pairs.size());
  };
  EXPECT_LT(tests_with(1), 1.5 * tests_with(0));
  EXPECT_LT(tests_with(20), 2.5 * tests_with(0));
}

TEST(GroupTable, asks_once_about_each_pair_of_groups) {
  int calls = 0;
  const GroupFilter filter = [&](std::int32_t a, std::int32_t b) {
    ++calls;
    return a * b == -15;
  };
  GroupTable table(filter);
  const std::int32_t a = table.number(-3), b = table.number(5);
  EXPECT_EQ(table.number(-3), a);
  EXPECT_NE(a, b);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(table.admits(a, b));
    EXPECT_FALSE(table.admits(a, a));
  }
  EXPECT_EQ(calls, 2);
}

} // namespace recoil::collide::testing

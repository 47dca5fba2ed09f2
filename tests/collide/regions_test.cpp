#include "collide/regions.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace recoil::collide::testing {
namespace {

template <int dim>
Regions<dim> regions_of_set(const ItemSet<dim>& set) {
  const GroupFilter none;
  GroupTable groups(none);
  const std::vector<ItemTree<dim>> trees{ItemTree<dim>(set, groups)};
  return regions_of<dim>(trees);
}

Box<2> square(double x, double y, double size) {
  return {Eigen::Vector2d(x, y), Eigen::Vector2d(x + size, y + size)};
}

} // namespace

TEST(Regions, contain_every_item_once) {
  for (const auto& scene : scenes<3>()) {
    const auto regions = regions_of_set<3>(scene.sets[0]);
    EXPECT_LE(regions.size(), std::size_t(max_regions));
    double count = 0, items = 0;
    for (const auto& region : regions) count += region.count;
    for (const auto& box : scene.sets[0].boxes) {
      if (box.isEmpty()) continue;
      ++items;
      EXPECT_TRUE(std::any_of(regions.begin(), regions.end(), [&](const auto& region) {
        for (int k = 0; k < 3; ++k)
          if (!(region.bounds[std::size_t(k)] <= box.min()[k] &&
                box.max()[k] <= region.bounds[std::size_t(k + 3)]))
            return false;
        return true;
      })) << scene.name;
    }
    EXPECT_EQ(count, items);
  }
}

TEST(Regions, leave_out_the_inside_of_an_angle) {
  ItemSet<2> angle, inside;
  for (int i = 0; i < 200; ++i) {
    append<2>(angle, square(0.005 * i, 0, 0.01));
    append<2>(angle, square(0, 0.005 * i, 0.01));
  }
  append<2>(inside, square(0.3, 0.3, 0.5));
  const std::vector<Regions<2>> all{regions_of_set<2>(angle), regions_of_set<2>(inside)};
  EXPECT_TRUE(receivers_of<2>(all, 0).empty());
  EXPECT_TRUE(receivers_of<2>(all, 1).empty());
}

// Every pair of ranks that meet has one sender, and the work is spread.
TEST(Regions, one_of_two_sends) {
  std::vector<Regions<2>> all;
  for (int rank = 0; rank < 30; ++rank) all.push_back({{{double(rank % 6), 0, rank % 6 + 1.5, 1}, 100}});
  all[7].clear();
  std::map<std::pair<int, int>, int> senders;
  for (int rank = 0; rank < 30; ++rank) {
    const auto receivers = receivers_of<2>(all, rank);
    EXPECT_LE(receivers.size(), 12u);
    for (const int other : receivers) ++senders[{std::min(rank, other), std::max(rank, other)}];
  }
  for (int a = 0; a < 30; ++a)
    for (int b = a + 1; b < 30; ++b)
      EXPECT_EQ((senders[{a, b}]), std::abs(a % 6 - b % 6) <= 1 && a != 7 && b != 7 ? 1 : 0) << a << " " << b;
}

TEST(Regions, the_rank_with_few_items_sends) {
  const std::vector<Regions<2>> all{{{{0, 0, 1, 1}, 10}}, {{{0, 0, 1, 1}, 1000}}, {{{0, 0, 1, 1}, 100}}};
  EXPECT_EQ(receivers_of<2>(all, 0), (std::vector<int>{1, 2}));
  EXPECT_EQ(receivers_of<2>(all, 1), (std::vector<int>{}));
  EXPECT_EQ(receivers_of<2>(all, 2), (std::vector<int>{1}));
}

} // namespace recoil::collide::testing

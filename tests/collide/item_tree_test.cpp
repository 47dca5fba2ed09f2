#include "collide/item_tree.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace recoil::collide::testing {
namespace {

template <class Dim>
class ItemTreeTest : public ::testing::Test {};

using Dims = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(ItemTreeTest, Dims);

template <int dim>
bool contains(const Bounds<float, dim>& outer, const Bounds<double, dim>& inner) {
  for (std::size_t k = 0; k < dim; ++k)
    if (!(outer[k] <= inner[k]) || !(inner[k + dim] <= outer[k + dim])) return false;
  return true;
}

} // namespace

TYPED_TEST(ItemTreeTest, nodes_hold_their_items) {
  constexpr int dim = TypeParam::value;
  for (const auto& scene : scenes<dim>())
    for (const auto& set : scene.sets) {
      const GroupFilter none;
      GroupTable groups(none);
      const ItemTree<dim> tree(set, groups);
      std::vector<int> in_leaves(set.boxes.size(), 0);
      for (std::size_t i = 0; i < std::size_t(tree.num_nodes()); ++i) {
        const auto& node = tree.nodes()[i];
        ASSERT_GT(node.skip, std::int32_t(i));
        const std::int32_t end = tree.nodes()[std::size_t(node.skip)].first;
        ASSERT_GT(end, node.first);
        for (std::int32_t item = node.first; item < end; ++item) {
          EXPECT_TRUE((contains<dim>(node.bounds, tree.bounds(item)))) << scene.name;
          EXPECT_TRUE(node.group == ItemTree<dim>::mixed || node.group == tree.group(item));
          in_leaves[std::size_t(tree.index(item))] += node.skip == std::int32_t(i) + 1;
        }
      }
      for (std::size_t i = 0; i < set.boxes.size(); ++i)
        EXPECT_EQ(in_leaves[i], set.boxes[i].isEmpty() ? 0 : 1) << scene.name;
    }
}

TYPED_TEST(ItemTreeTest, overlapping_is_brute_force) {
  constexpr int dim = TypeParam::value;
  for (const auto& scene : scenes<dim>())
    for (const auto& set : scene.sets) {
      const GroupFilter none;
      GroupTable groups(none);
      const ItemTree<dim> tree(set, groups);
      std::vector<Bounds<double, dim>> regions;
      std::vector<LocalIndex> expected;
      const auto boxes = random_boxes<dim>(5, 3, 0.4).boxes;
      for (const auto& box : boxes) {
        auto& bounds = regions.emplace_back();
        for (int k = 0; k < dim; ++k) {
          bounds[std::size_t(k)] = box.min()[k];
          bounds[std::size_t(k + dim)] = box.max()[k];
        }
      }
      for (std::size_t i = 0; i < set.boxes.size(); ++i)
        if (!set.boxes[i].isEmpty() && std::any_of(boxes.begin(), boxes.end(), [&](const auto& box) {
              return box.intersects(set.boxes[i]);
            }))
          expected.push_back(LocalIndex(i));
      GlobalIndex tests = 0;
      EXPECT_EQ(tree.overlapping(regions, tests), expected) << scene.name;
      EXPECT_TRUE(tree.overlapping({}, tests).empty());
    }
}

TEST(ItemTreeDeath, not_a_number_is_a_bug_of_the_caller) {
  ItemSet<2> set;
  append<2>(set, Box<2>(Eigen::Vector2d(0, 0), Eigen::Vector2d(1, NAN)));
  const GroupFilter none;
  GroupTable groups(none);
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_DEATH(ItemTree<2>(set, groups), "empty");
}

} // namespace recoil::collide::testing

#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "recoil/collide/candidates.hpp"

namespace recoil::collide::testing {

/// Items of all ranks, the same on each: what brute force works on.
template <int dim>
struct Scene {
  std::string name;
  std::vector<ItemSet<dim>> sets;
};

/// Random and degenerate scenes of two sets.
template <int dim>
std::vector<Scene<dim>> scenes();

/// `count` boxes with centres in the unit cube and edges up to `size`; labels below `num_labels`, groups
/// below `num_groups`.
template <int dim>
ItemSet<dim> random_boxes(unsigned seed, int count, double size, int num_labels = 1000000,
                          int num_groups = 3);

template <int dim>
void append(ItemSet<dim>& set, const Box<dim>& box, std::array<GlobalIndex, 3> labels = {-1, -1, -1},
            std::int32_t group = 0);

/// SetPair number and the indices of the two items in the global sets.
using Found = std::tuple<std::size_t, std::int32_t, std::int32_t>;

/// Every pair, by comparing all with all. Within one set the smaller index comes first.
template <int dim>
std::vector<Found> brute_force(const std::vector<ItemSet<dim>>& sets, const std::vector<SetPair>& which,
                               const GroupFilter& filter);

} // namespace recoil::collide::testing

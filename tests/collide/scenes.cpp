#include "collide/scenes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace recoil::collide::testing {

namespace {

template <int dim>
Eigen::Vector<double, dim> random_point(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Eigen::Vector<double, dim> point;
  for (int k = 0; k < dim; ++k) point[k] = uniform(random);
  return point;
}

template <int dim>
Box<dim> unit_box() {
  return Box<dim>(Eigen::Vector<double, dim>::Zero(), Eigen::Vector<double, dim>::Ones());
}

// Cells of a grid: neighbours touch in a face, edge or corner and nowhere else.
template <int dim>
ItemSet<dim> touching_cells() {
  ItemSet<dim> set;
  const int n = 5, count = dim == 2 ? n * n : n * n * n;
  for (int i = 0; i < count; ++i) {
    Eigen::Vector<double, dim> corner;
    for (int k = 0, rest = i; k < dim; ++k, rest /= n) corner[k] = 0.1 * (rest % n);
    append<dim>(set, Box<dim>(corner, corner + Eigen::Vector<double, dim>::Constant(0.1)));
  }
  return set;
}

template <int dim>
ItemSet<dim> many_sizes() {
  std::mt19937 random(17);
  ItemSet<dim> set;
  for (int i = 0; i < 150; ++i) {
    const auto centre = random_point<dim>(random);
    const auto half = (std::pow(10.0, -double(i % 7)) * random_point<dim>(random)).eval();
    append<dim>(set, Box<dim>(centre - half, centre + half));
  }
  return set;
}

} // namespace

template <int dim>
void append(ItemSet<dim>& set, const Box<dim>& box, std::array<GlobalIndex, 3> labels, std::int32_t group) {
  set.boxes.push_back(box);
  set.labels.push_back(labels);
  set.groups.push_back(group);
}

template <int dim>
ItemSet<dim> random_boxes(unsigned seed, int count, double size, int num_labels, int num_groups) {
  std::mt19937 random(seed);
  ItemSet<dim> set;
  for (int i = 0; i < count; ++i) {
    const auto corner = random_point<dim>(random);
    const Box<dim> box(corner, corner + size * random_point<dim>(random));
    const auto label = [&] { return static_cast<GlobalIndex>(random() % static_cast<unsigned>(num_labels)); };
    append<dim>(set, box, {label(), label(), i % 3 == 0 ? -1 : label()},
                static_cast<std::int32_t>(random() % static_cast<unsigned>(num_groups)));
  }
  return set;
}

template <int dim>
std::vector<Scene<dim>> scenes() {
  using Point = Eigen::Vector<double, dim>;
  std::vector<Scene<dim>> result;
  result.push_back({"sparse", {random_boxes<dim>(1, 300, 0.05), random_boxes<dim>(2, 100, 0.1)}});
  result.push_back({"dense", {random_boxes<dim>(3, 120, 0.7), random_boxes<dim>(4, 80, 0.7)}});
  result.push_back({"few labels", {random_boxes<dim>(5, 150, 0.4, 20), random_boxes<dim>(6, 150, 0.4, 20)}});
  result.push_back({"touching", {touching_cells<dim>(), touching_cells<dim>()}});
  result.push_back({"many sizes", {many_sizes<dim>(), random_boxes<dim>(7, 50, 0.01)}});

  Scene<dim> identical{"identical", {{}, {}}};
  for (int i = 0; i < 60; ++i)
    for (auto& set : identical.sets) append<dim>(set, unit_box<dim>(), {i / 2, -1, -1}, i % 4);
  result.push_back(identical);

  Scene<dim> giant{"giants", {random_boxes<dim>(8, 200, 0.02), random_boxes<dim>(9, 40, 0.02)}};
  append<dim>(giant.sets[0], Box<dim>(Point::Constant(-100), Point::Constant(100)));
  append<dim>(giant.sets[0], Box<dim>(Point::Constant(-std::numeric_limits<double>::infinity()),
                                      Point::Constant(std::numeric_limits<double>::infinity())));
  append<dim>(giant.sets[1], Box<dim>(Point::Constant(0.2), Point::Constant(1e300)));
  result.push_back(giant);

  Scene<dim> points{"points and empty boxes", {{}, random_boxes<dim>(10, 60, 0.3)}};
  for (int i = 0; i < 90; ++i) {
    const Point point = Point::Constant(0.05 * (i % 20));
    append<dim>(points.sets[0], i % 3 == 0 ? Box<dim>() : Box<dim>(point, point));
    if (i % 9 == 0) { // empty in one direction only
      Box<dim> box = unit_box<dim>();
      box.max()[dim - 1] = -1;
      append<dim>(points.sets[1], box);
    }
  }
  result.push_back(points);

  // Far from the origin single precision cannot tell neighbours apart.
  Scene<dim> far{"far away", {touching_cells<dim>(), random_boxes<dim>(11, 60, 0.1)}};
  for (auto& set : far.sets)
    for (auto& box : set.boxes) box.translate(Point::Constant(1e7));
  result.push_back(far);

  result.push_back({"one empty set", {random_boxes<dim>(12, 100, 0.3), {}}});
  result.push_back({"nothing", {{}, {}}});
  Scene<dim> single{"one item", {{}, {}}};
  append<dim>(single.sets[0], unit_box<dim>());
  result.push_back(single);
  return result;
}

template <int dim>
std::vector<Found> brute_force(const std::vector<ItemSet<dim>>& sets, const std::vector<SetPair>& which,
                               const GroupFilter& filter) {
  const auto is_pair = [&](const ItemSet<dim>& a, std::size_t i, const ItemSet<dim>& b, std::size_t j) {
    if (a.boxes[i].isEmpty() || b.boxes[j].isEmpty() || !a.boxes[i].intersects(b.boxes[j])) return false;
    if (filter && !filter(a.groups[i], b.groups[j])) return false;
    return std::none_of(a.labels[i].begin(), a.labels[i].end(), [&](GlobalIndex label) {
      return label >= 0 && std::count(b.labels[j].begin(), b.labels[j].end(), label) > 0;
    });
  };
  std::vector<Found> result;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const auto& a = sets[static_cast<std::size_t>(which[k].first)];
    const auto& b = sets[static_cast<std::size_t>(which[k].second)];
    for (std::size_t i = 0; i < a.boxes.size(); ++i)
      for (std::size_t j = which[k].first == which[k].second ? i + 1 : 0; j < b.boxes.size(); ++j)
        if (is_pair(a, i, b, j)) result.emplace_back(k, i, j);
  }
  return result;
}

template std::vector<Scene<2>> scenes<2>();
template std::vector<Scene<3>> scenes<3>();
template ItemSet<2> random_boxes<2>(unsigned, int, double, int, int);
template ItemSet<3> random_boxes<3>(unsigned, int, double, int, int);
template void append<2>(ItemSet<2>&, const Box<2>&, std::array<GlobalIndex, 3>, std::int32_t);
template void append<3>(ItemSet<3>&, const Box<3>&, std::array<GlobalIndex, 3>, std::int32_t);
template std::vector<Found> brute_force<2>(const std::vector<ItemSet<2>>&, const std::vector<SetPair>&,
                                           const GroupFilter&);
template std::vector<Found> brute_force<3>(const std::vector<ItemSet<3>>&, const std::vector<SetPair>&,
                                           const GroupFilter&);

} // namespace recoil::collide::testing

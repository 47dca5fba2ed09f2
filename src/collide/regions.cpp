#include "collide/regions.hpp"

#include <algorithm>
#include <limits>

namespace recoil::collide {

namespace {

// Parts that regions are put together from.
constexpr std::size_t parts_per_tree = 64;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <int dim>
Bounds<double, dim> nothing() {
  Bounds<double, dim> bounds;
  std::fill_n(bounds.begin(), dim, infinity);
  std::fill_n(bounds.begin() + dim, dim, -infinity);
  return bounds;
}

template <int dim>
Region<dim> merged(std::span<const Region<dim>> parts) {
  Region<dim> result{nothing<dim>(), 0};
  for (const auto& part : parts) {
    extend(result.bounds, part.bounds);
    result.count += part.count;
  }
  return result;
}

// The nodes of an upper level of the tree.
template <int dim>
void append_parts(const ItemTree<dim>& tree, std::vector<Region<dim>>& parts) {
  if (tree.num_nodes() == 0) return;
  const auto& nodes = tree.nodes();
  std::vector<std::int32_t> level{0}, next;
  while (level.size() < parts_per_tree) {
    next.clear();
    for (const std::int32_t i : level) {
      next.push_back(i);
      if (nodes[i].skip == i + 1) continue;
      next.back() = i + 1;
      next.push_back(nodes[i + 1].skip);
    }
    if (next.size() == level.size()) break;
    level.swap(next);
  }
  for (const std::size_t i : level) {
    Region<dim>& part = parts.emplace_back();
    std::copy(nodes[i].bounds.begin(), nodes[i].bounds.end(), part.bounds.begin());
    part.count = nodes[nodes[i].skip].first - nodes[i].first;
  }
}

// Volume of the box inflated by `margin`, so that flat boxes count too.
template <int dim>
double size_of(const Bounds<double, dim>& bounds, double margin) {
  double volume = 1;
  for (std::size_t k = 0; k < dim; ++k) volume *= bounds[k + dim] - bounds[k] + margin;
  return volume;
}

// Parts that make one region, and the best way to cut them in two.
template <int dim>
struct Cluster {
  std::vector<Region<dim>> parts; // sorted for the cut
  std::size_t cut = 0;            // the first parts go to one side
  double gain = 0;                // volume that the cut saves

  Cluster(std::vector<Region<dim>> all, double margin) : parts(std::move(all)) {
    const double whole = size_of<dim>(merged<dim>(parts).bounds, margin);
    std::vector<Region<dim>> sorted = parts;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      std::stable_sort(sorted.begin(), sorted.end(), [axis](const auto& a, const auto& b) {
        return a.bounds[axis] + a.bounds[axis + dim] < b.bounds[axis] + b.bounds[axis + dim];
      });
      try_cuts(sorted, whole, margin);
    }
  }

private:
  void try_cuts(const std::vector<Region<dim>>& sorted, double whole, double margin) {
    std::vector<double> right(sorted.size());
    Bounds<double, dim> side = nothing<dim>();
    for (std::size_t i = sorted.size(); i-- > 1;) {
      extend(side, sorted[i].bounds);
      right[i] = size_of<dim>(side, margin);
    }
    side = nothing<dim>();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      extend(side, sorted[i - 1].bounds);
      const double saved = whole - size_of<dim>(side, margin) - right[i];
      if (!(saved > gain)) continue;
      gain = saved;
      cut = i;
      parts = sorted;
    }
  }
};

template <int dim>
bool touches(const Bounds<double, dim>& bounds, const Regions<dim>& regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [&](const Region<dim>& region) { return overlap(bounds, region.bounds); });
}

// Estimated number of items of `mine` that overlap `theirs`.
template <int dim>
double items_concerned(const Regions<dim>& mine, const Regions<dim>& theirs) {
  double count = 0;
  for (const Region<dim>& region : mine)
    if (touches<dim>(region.bounds, theirs)) count += region.count;
  return count;
}

// Whether `rank` sends to `other`, given the items of each that are concerned.
bool sends(int rank, double items, int other, double other_items) {
  if (2 * items < other_items) return true;
  if (2 * other_items < items) return false;
  return ((rank + other) % 2 == 0) == (rank > other);
}

} // namespace

template <int dim>
Regions<dim> regions_of(std::span<const ItemTree<dim>> trees) {
  std::vector<Region<dim>> parts;
  for (const auto& tree : trees) append_parts(tree, parts);
  if (parts.empty()) return {};
  const Bounds<double, dim> all = merged<dim>(parts).bounds;
  double width = 0;
  for (std::size_t k = 0; k < dim; ++k) width = std::max(width, all[k + dim] - all[k]);

  std::vector<Cluster<dim>> clusters{{std::move(parts), 0.01 * width}};
  while (clusters.size() < max_regions) {
    const auto best = std::max_element(clusters.begin(), clusters.end(),
                                       [](const auto& a, const auto& b) { return a.gain < b.gain; });
    if (best->cut == 0) break;
    const auto middle = best->parts.begin() + best->cut;
    Cluster<dim> left({best->parts.begin(), middle}, 0.01 * width);
    Cluster<dim> right({middle, best->parts.end()}, 0.01 * width);
    *best = std::move(left);
    clusters.push_back(std::move(right));
  }
  Regions<dim> result;
  for (const auto& cluster : clusters) result.push_back(merged<dim>(cluster.parts));
  return result;
}

template <int dim>
std::vector<Regions<dim>> gather_regions(const parallel::Communicator& comm, const Regions<dim>& mine) {
  constexpr std::size_t record = 2 * dim + 1, length = 1 + max_regions * record;
  std::vector<double> packed(length, 0.0);
  packed[0] = mine.size();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto end = std::copy(mine[i].bounds.begin(), mine[i].bounds.end(), packed.begin() + 1 + i * record);
    *end = mine[i].count;
  }
  const std::vector<double> gathered = comm.all_gather(packed);
  std::vector<Regions<dim>> all(comm.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const double* from = gathered.data() + rank * length;
    all[rank].resize(*from++);
    for (Region<dim>& region : all[rank]) {
      std::copy_n(from, 2 * dim, region.bounds.begin());
      region.count = from[2 * dim];
      from += record;
    }
  }
  return all;
}

template <int dim>
std::vector<int> receivers_of(const std::vector<Regions<dim>>& regions, int me) {
  std::vector<int> result;
  const Regions<dim>& mine = regions[me];
  if (mine.empty()) return result;
  const Bounds<double, dim> around_me = merged<dim>(mine).bounds;
  for (int other = 0; other < std::ssize(regions); ++other) {
    const Regions<dim>& theirs = regions[other];
    if (other == me || !touches<dim>(around_me, theirs)) continue;
    const double items = items_concerned<dim>(mine, theirs);
    if (items == 0) continue;
    if (sends(me, items, other, items_concerned<dim>(theirs, mine))) result.push_back(other);
  }
  return result;
}

template Regions<2> regions_of<2>(std::span<const ItemTree<2>>);
template Regions<3> regions_of<3>(std::span<const ItemTree<3>>);
template std::vector<Regions<2>> gather_regions<2>(const parallel::Communicator&, const Regions<2>&);
template std::vector<Regions<3>> gather_regions<3>(const parallel::Communicator&, const Regions<3>&);
template std::vector<int> receivers_of<2>(const std::vector<Regions<2>>&, int);
template std::vector<int> receivers_of<3>(const std::vector<Regions<3>>&, int);

} // namespace recoil::collide

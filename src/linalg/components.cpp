#include "recoil/linalg/components.hpp"

#include <algorithm>

#include "recoil/base/union_find.hpp"

namespace recoil::linalg {

std::vector<GlobalIndex> smallest_ids_of_components(const std::shared_ptr<const VectorLayout>& layout,
                                                    std::span<const GlobalIndex> ids,
                                                    std::span<const std::array<LocalIndex, 2>> edges) {
  const auto size = static_cast<LocalIndex>(ids.size());
  UnionFind<LocalIndex> sets(size);
  for (const auto& [a, b] : edges) sets.unite(a, b);
  std::vector<double> smallest(ids.begin(), ids.end()); // of roots
  for (LocalIndex k = 0; k < size; ++k) {
    double& of_root = smallest[sets.root(k)];
    of_root = std::min(of_root, double(ids[k]));
  }
  Vector labels(layout);
  for (bool changed = true; layout->comm->any(changed);) {
    changed = false;
    const auto owned = labels.write_owned();
    for (LocalIndex k = 0; k < std::ssize(owned); ++k) owned[k] = smallest[sets.root(k)];
    labels.update_ghosts();
    for (LocalIndex k = std::ssize(owned); k < size; ++k) {
      double& of_root = smallest[sets.root(k)];
      if (labels.local()[k] >= of_root) continue;
      of_root = labels.local()[k];
      changed = true;
    }
  }
  std::vector<GlobalIndex> result(ids.size());
  for (LocalIndex k = 0; k < size; ++k) result[k] = static_cast<GlobalIndex>(smallest[sets.root(k)]);
  return result;
}

namespace {
std::vector<GlobalIndex> sorted_unique(std::vector<GlobalIndex> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}
} // namespace

Components numbered_components(const VectorLayout& layout, std::span<const GlobalIndex> ids,
                               std::span<const std::array<LocalIndex, 2>> edges) {
  Components result;
  if (layout.comm->size() == 1 && std::ranges::is_sorted(ids)) {
    UnionFind<LocalIndex> sets(static_cast<LocalIndex>(ids.size()));
    for (const auto& [a, b] : edges) sets.unite(a, b);
    const auto numbers = sets.numbers();
    result.of_local.assign(numbers.begin(), numbers.end());
    result.count = numbers.empty() ? 0 : *std::ranges::max_element(numbers) + 1;
    return result;
  }
  const auto scalar = std::make_shared<VectorLayout>(layout);
  scalar->block_size = 1;
  const auto first = smallest_ids_of_components(scalar, ids, edges);
  const auto firsts = sorted_unique(
      layout.comm->all_gather_parts(sorted_unique({first.begin(), first.begin() + layout.num_owned})));
  result.count = static_cast<int>(firsts.size());
  for (const GlobalIndex id : first)
    result.of_local.push_back(static_cast<int>(std::ranges::lower_bound(firsts, id) - firsts.begin()));
  return result;
}

} // namespace recoil::linalg

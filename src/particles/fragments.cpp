#include "recoil/particles/fragments.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "recoil/linalg/vector.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::particles {

namespace {

/// Root of the tree of each particle of this rank, over its own bonds alone.
std::vector<LocalIndex> local_components(const DistributedParticles& particles,
                                         std::span<const char> broken) {
  std::vector<LocalIndex> parent(particles.ids.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](LocalIndex k) {
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
  };
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond)
    if (broken[bond] == 0) parent[root(particles.bonds[bond].a)] = root(particles.bonds[bond].b);
  for (LocalIndex k = 0; k < std::ssize(parent); ++k) parent[k] = root(k);
  return parent;
}

/// The smallest id of the fragment of each particle of this rank. Ids are exact in double precision.
std::vector<double> smallest_ids(const DistributedParticles& particles, std::span<const char> broken) {
  auto layout = std::make_shared<linalg::VectorLayout>(*particles.points);
  layout->block_size = 1;
  const std::vector<LocalIndex> root = local_components(particles, broken);
  std::vector<double> of_root(particles.ids.begin(), particles.ids.end());
  for (std::size_t k = 0; k < root.size(); ++k)
    of_root[root[k]] = std::min(of_root[root[k]], double(particles.ids[k]));
  linalg::Vector labels(layout);
  for (bool changed = true; layout->comm->any(changed);) {
    changed = false;
    const auto owned = labels.write_owned();
    for (std::size_t k = 0; k < owned.size(); ++k) owned[k] = of_root[root[k]];
    labels.update_ghosts();
    for (std::size_t k = owned.size(); k < root.size(); ++k) {
      double& smallest = of_root[root[k]];
      if (labels.local()[k] >= smallest) continue;
      smallest = labels.local()[k];
      changed = true;
    }
  }
  return {labels.owned().begin(), labels.owned().end()};
}

} // namespace

Fragments find_fragments(const DistributedParticles& particles, std::span<const char> broken) {
  const parallel::Communicator& comm = *particles.points->comm;
  const std::vector<double> labels = smallest_ids(particles, broken);
  std::map<GlobalIndex, GlobalIndex> counts;
  for (const double label : labels) ++counts[GlobalIndex(label)];
  std::vector<Fragment> own;
  for (const auto& [first, count] : counts) own.push_back({first, count});
  std::map<GlobalIndex, GlobalIndex> sums;
  for (const auto& [first, count] : parallel::gather(comm, 0, std::move(own))) sums[first] += count;
  Fragments result;
  for (const auto& [first, count] : sums) result.all.push_back({first, count});
  std::ranges::stable_sort(result.all, std::greater<>(), &Fragment::particles);
  comm.broadcast(result.all);
  std::map<GlobalIndex, std::int32_t> number;
  for (std::size_t i = 0; i < result.all.size(); ++i) number[result.all[i].first] = std::int32_t(i);
  for (const double label : labels) result.of_owned.push_back(number.at(GlobalIndex(label)));
  return result;
}

} // namespace recoil::particles

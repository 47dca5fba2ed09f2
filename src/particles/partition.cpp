#include "particles/partition.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <metis.h>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/geometry/morton.hpp"

namespace recoil::particles {

namespace {

/// Cutting a bond costs messages in every product, cutting between two bodies only where they touch.
constexpr idx_t bond_weight = 8, link_weight = 1;

using Pair = std::array<std::int64_t, 2>;

/// The first particle of the component of each particle in the graph of the bonds.
std::vector<std::int64_t> components(const ParticleSet& set) {
  std::vector<std::int64_t> parent(set.positions.size());
  std::iota(parent.begin(), parent.end(), std::int64_t{0});
  const auto root = [&](std::int64_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const auto& [i, j] : set.bonds) {
    const std::int64_t a = root(i), b = root(j);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (std::int64_t i = 0; i < std::ssize(parent); ++i) parent[i] = root(i);
  return parent;
}

/// Particles of different components that follow each other on a space-filling curve: METIS deals out
/// components without regard to where they lie.
std::vector<Pair> links(const ParticleSet& set) {
  const std::vector<std::int64_t> component = components(set);
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& position : set.positions) box.extend(position);
  std::vector<std::pair<std::uint64_t, std::int64_t>> curve;
  for (std::int64_t i = 0; i < std::ssize(set.positions); ++i)
    curve.emplace_back(geometry::morton_code<3>(set.positions[i], box.min(), box.max()), i);
  std::sort(curve.begin(), curve.end());
  std::vector<Pair> result;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    const auto [i, j] = std::minmax(curve[k - 1].second, curve[k].second);
    if (component[i] != component[j]) result.push_back({i, j});
  }
  return result;
}

struct Graph {
  std::vector<idx_t> offsets, neighbours, weights;
};

Graph build_graph(const ParticleSet& set) {
  const std::vector<Pair> added = links(set);
  Graph graph;
  graph.offsets.assign(set.positions.size() + 1, 0);
  const auto for_each = [&](auto act) {
    for (const Pair& bond : set.bonds) act(bond, bond_weight);
    for (const Pair& link : added) act(link, link_weight);
  };
  for_each([&](const Pair& pair, idx_t) {
    for (const std::int64_t end : pair) ++graph.offsets[end + 1];
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  std::vector<idx_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  graph.neighbours.resize(graph.offsets.back());
  graph.weights.resize(graph.offsets.back());
  for_each([&](const Pair& pair, idx_t weight) {
    for (const int side : {0, 1}) {
      const idx_t place = next[pair[side]]++;
      graph.neighbours[place] = static_cast<idx_t>(pair[1 - side]);
      graph.weights[place] = weight;
    }
  });
  return graph;
}

} // namespace

std::vector<int> partition_particles(const ParticleSet& set, int num_parts) {
  const std::size_t size = set.positions.size();
  if (num_parts == 1) return std::vector<int>(size, 0);
  std::vector<int> parts(size);
  std::iota(parts.begin(), parts.end(), 0);
  if (std::cmp_less_equal(size, num_parts)) return parts;
  // Both directions of the bonds, and of at most as many links as there are particles.
  if (std::cmp_greater(2 * (set.bonds.size() + size), std::numeric_limits<idx_t>::max()))
    throw InputError("particles",
                     "too many particles and bonds for the integers of this METIS; build METIS with "
                     "IDXTYPEWIDTH 64");
  Graph graph = build_graph(set);
  idx_t vertices = static_cast<idx_t>(size), constraints = 1, metis_parts = num_parts, cut = 0;
  std::vector<idx_t> found(size);
  const DeferredSignals deferred;
  const int status = METIS_PartGraphKway(&vertices, &constraints, graph.offsets.data(),
                                         graph.neighbours.data(), nullptr, nullptr, graph.weights.data(),
                                         &metis_parts, nullptr, nullptr, nullptr, &cut, found.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError("METIS: METIS_PartGraphKway failed with status " + std::to_string(status));
  return {found.begin(), found.end()};
}

} // namespace recoil::particles

#include "recoil/particles/partition.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <metis.h>

#include "particles/end_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/base/union_find.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/mesh/partition_items.hpp"
#include "recoil/particles/particle_slices.hpp"

namespace recoil::particles {

namespace {

/// Cutting a bond costs messages in every product, a contact while it lasts, cutting between two bodies only
/// where they touch.
constexpr idx_t bond_weight = 8, contact_weight = 2, link_weight = 1;

using Pair = std::array<std::int64_t, 2>;

/// The first particle of the component of each particle in the graph of the bonds.
std::vector<std::int64_t> components(const PartitionGraph& graph) {
  UnionFind<std::int64_t> sets(std::ssize(graph.positions));
  for (const auto& [i, j] : graph.bonds) sets.unite(i, j);
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; i < std::ssize(graph.positions); ++i) first.push_back(sets.root(i));
  return first;
}

/// Particles of different components that follow each other on a space-filling curve: METIS distributes
/// components without regard to where they lie.
std::vector<Pair> links(const PartitionGraph& graph) {
  const std::vector<std::int64_t> component = components(graph);
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& position : graph.positions) box.extend(position);
  std::vector<std::pair<std::uint64_t, std::int64_t>> curve;
  for (std::int64_t i = 0; i < std::ssize(graph.positions); ++i)
    curve.emplace_back(geometry::morton_code<3>(graph.positions[i], box.min(), box.max()), i);
  std::sort(curve.begin(), curve.end());
  std::vector<Pair> result;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    const auto [i, j] = std::minmax(curve[k - 1].second, curve[k].second);
    if (component[i] != component[j]) result.push_back({i, j});
  }
  return result;
}

/// Links between particles that are not in contact; METIS wants every pair once.
std::vector<Pair> further_links(const PartitionGraph& graph) {
  std::vector<Pair> contacts = graph.contacts, near = links(graph), result;
  std::ranges::sort(contacts);
  std::ranges::sort(near);
  std::ranges::set_difference(near, contacts, std::back_inserter(result));
  return result;
}

struct Adjacency {
  std::vector<idx_t> offsets, neighbours, weights;
};

Adjacency adjacency_of(const PartitionGraph& of) {
  const std::vector<Pair> added = further_links(of);
  Adjacency graph;
  graph.offsets.assign(of.positions.size() + 1, 0);
  const auto for_each = [&](auto act) {
    for (const Pair& bond : of.bonds) act(bond, bond_weight);
    for (const Pair& contact : of.contacts) act(contact, contact_weight);
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

std::vector<int> partition(const PartitionGraph& of, int num_parts) {
  const std::size_t size = of.positions.size();
  if (num_parts == 1) return std::vector<int>(size, 0);
  std::vector<int> parts(size);
  std::iota(parts.begin(), parts.end(), 0);
  if (std::cmp_less_equal(size, num_parts)) return parts;
  // Both directions of all pairs, and of at most as many links as there are particles.
  if (std::cmp_greater(2 * (of.bonds.size() + of.contacts.size() + size), std::numeric_limits<idx_t>::max()))
    throw InputError(
        "particles",
        "too many particles, bonds and contacts for the integers of this METIS; build METIS with "
        "IDXTYPEWIDTH 64");
  Adjacency graph = adjacency_of(of);
  std::vector<idx_t> work(of.work.begin(), of.work.end());
  idx_t vertices = static_cast<idx_t>(size), constraints = 1, metis_parts = num_parts, cut = 0;
  std::vector<idx_t> found(size);
  const DeferredSignals deferred;
  const int status =
      METIS_PartGraphKway(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(),
                          work.empty() ? nullptr : work.data(), nullptr, graph.weights.data(), &metis_parts,
                          nullptr, nullptr, nullptr, &cut, found.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError("METIS: METIS_PartGraphKway failed with status " + std::to_string(status));
  return {found.begin(), found.end()};
}

std::vector<int> partition(const ParticleSet& set, int num_parts) {
  return partition(PartitionGraph{set.positions, {}, set.bonds, {}}, num_parts);
}

std::vector<int> partition(const parallel::Communicator& comm, const ParticleSlices& slices) {
  const ParticleSet& share = slices.share;
  mesh::ItemShare items;
  items.size = share.positions.size();
  items.num_groups = std::int32_t(share.body_names.size());
  items.place = [&](std::size_t k) { return share.positions[k]; };
  items.box = [&](std::size_t k) -> Eigen::AlignedBox3d {
    const Eigen::Vector3d radius = Eigen::Vector3d::Constant(share.radii[k]);
    return {share.positions[k] - radius, share.positions[k] + radius};
  };
  items.group = [&](std::size_t k) { return share.body[k]; };
  return mesh::partition_items(comm, items, [&](const std::vector<std::int32_t>& cluster) {
    const EndValues<std::int32_t> cluster_of(comm, slices, cluster);
    std::vector<mesh::ClusterEdge> edges;
    for (const auto& [i, j] : share.bonds)
      if (const auto [a, b] = std::minmax({cluster_of[i], cluster_of[j]}); a != b) edges.push_back({a, b, 1});
    return edges;
  });
}

double imbalance(std::span<const std::int64_t> work_of_parts) {
  std::int64_t sum = 0, most = 0;
  for (const std::int64_t work : work_of_parts) {
    sum += work;
    most = std::max(most, work);
  }
  return sum == 0 ? 1 : double(most) * double(work_of_parts.size()) / double(sum);
}

} // namespace recoil::particles

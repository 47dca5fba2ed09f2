#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// What partition_items() divides, as one rank holds its share of it: cells, or particles.
struct ItemShare {
  int dim = 3;
  std::size_t size = 0;
  std::int32_t num_groups = 1;                         ///< the same on every rank
  std::function<Eigen::Vector3d(std::size_t)> place;   ///< of an item [m]
  std::function<Eigen::AlignedBox3d(std::size_t)> box; ///< around an item, its place included
  std::function<double(std::size_t)> work = [](auto) { return 1.0; };
  std::function<std::int32_t(std::size_t)> group = [](auto) { return 0; }; ///< 0 .. num_groups - 1
};

/// How many connections there are between items of two clusters.
struct ClusterEdge {
  std::int32_t a, b; ///< a < b
  std::int64_t connections;
};

/// The connections that this rank knows of, given the cluster of each of its items; a pair of clusters may
/// come several times. Called collectively.
using FindClusterEdges = std::function<std::vector<ClusterEdge>(const std::vector<std::int32_t>&)>;

/// Part of each item of the share: items are put into clusters, the cubes of an octree that hold about as
/// much work each, one for each group in the cube, and METIS cuts the graph of clusters on one rank. Depends
/// on the items of all ranks and on the number of ranks, not on who has which. Collective.
std::vector<int> partition_items(const parallel::Communicator& comm, const ItemShare& share,
                                 const FindClusterEdges& find_edges);

} // namespace recoil::mesh

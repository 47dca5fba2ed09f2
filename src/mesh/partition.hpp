#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/base/types.hpp"
#include "recoil/mesh/partition_items.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Part of each cell, by METIS k-way partitioning of the dual graph (cells that share a facet), in which
/// bodies apart from each other are linked weakly to those next to them: a part holds neighbours, and cuts a
/// body only where the balance asks for it. Serial; same input, same parts. `weights` holds the work of each
/// cell, empty = all equal.
std::vector<int> partition_cells(const SimplexMesh& mesh, int num_parts, std::span<const int> weights);

/// Clusters of items as the vertices of a graph.
struct ClusterGraph {
  std::vector<Eigen::AlignedBox3d> boxes; ///< of each
  std::vector<double> work;               ///< of each
  std::vector<ClusterEdge> edges;         ///< each once
};

/// Part of each cluster, by METIS as in partition_cells(). Serial; same input, same parts.
std::vector<int> partition_clusters(const ClusterGraph& clusters, int num_parts);

/// Part of each vertex of a surface, by METIS k-way partitioning of the graph of its edges, with pieces apart
/// from each other linked as in partition_cells(). Serial; same input, same parts.
/// @param edges each once. @throws InputError for more edges than the integers of METIS count.
std::vector<int> partition_vertices(const std::vector<Eigen::Vector3d>& points,
                                    std::span<const std::array<GlobalIndex, 2>> edges, int num_parts);

} // namespace recoil::mesh

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "mesh/input/gmsh_layout.hpp"
#include "mesh/meet_keys.hpp"

/// A Gmsh file of which every rank reads a part, and what ranks do with their parts together.
namespace recoil::mesh {

/// Simplices of one dimension, or points, by the tags and then by the numbers of their corners.
struct ReadSimplices {
  std::vector<std::array<std::int64_t, 4>> corners;
  std::vector<std::int32_t> groups, entities;
};

/// What one rank reads of a Gmsh file.
struct ReadPart {
  std::vector<std::int64_t> node_tags;
  std::vector<Eigen::Vector3d> positions;
  std::array<ReadSimplices, 4> simplices;           ///< by dimension
  std::vector<std::array<std::int64_t, 3>> middles; ///< node in the middle of an edge, ends of the edge
  std::array<bool, 4> refused{};                    ///< whether elements of a dimension are no simplices
  GmshGroups groups;
};

/// Nodes and elements of a file that belong to this rank, by equal shares of each. Not collective.
/// @throws InputError for anything wrong.
ReadPart read_gmsh_part(const std::filesystem::path& path, const GmshLayout& layout, int rank, int ranks);

/// Numbers the vertices: by tags if these are 1 .. n, else as they are read. Leaves each rank the positions
/// of its block of vertices, and puts numbers in the place of tags. False on every rank if tags are wrong.
/// Collective.
bool number_nodes(const parallel::Communicator& comm, ReadPart& part);

/// Puts the middle nodes of edges of second order in the middle, as GmshMesh does element by element, and
/// warns where they were not. False on every rank for a node in the middle of two edges, or of one and at the
/// end of another. @param blocks of vertices. Collective.
bool straighten_edges(const parallel::Communicator& comm, const Blocks& blocks, ReadPart& part,
                      const std::string& file);

/// GmshGroups::merge_repeats() of the elements of dimension `dim` of all ranks. @param blocks of vertices.
/// Collective.
void merge_repeats(const parallel::Communicator& comm, const Blocks& blocks, int dim, ReadPart& part);

} // namespace recoil::mesh

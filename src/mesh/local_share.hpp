#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::mesh {

/// Plain, so that it can travel as bytes.
struct VertexData {
  std::array<double, 3> position;
  std::int32_t point_id;
};

struct CellData {
  std::array<std::int32_t, 4> vertices, facet_ids; ///< vertices by input id, as the input has them
  std::int32_t body, volume_id;
  GlobalIndex source;
};

/// What a rank holds of a distributed mesh, in any order: its cells and the others around its vertices, with
/// all vertices of these, each once.
struct LocalShare {
  std::vector<GlobalIndex> cell_ids;
  std::vector<int> cell_owner;
  std::vector<CellData> cells;
  std::vector<GlobalIndex> vertex_ids;
  std::vector<int> vertex_owner;
  std::vector<VertexData> vertices;
};

/// Puts vertices and cells into the order of a DistributedMesh: what this rank owns first, then along the
/// Morton curve, then by input id. @pre `result` has its communicator and its corners.
template <int dim>
void add_share(const LocalShare& share, DistributedMesh<dim>& result);

} // namespace recoil::mesh

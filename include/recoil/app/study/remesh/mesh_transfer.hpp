#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The transfer of fields to new meshes of bodies from the old ones, which fill the same space:
/// values per element from the element that a centroid lies in, values per vertex and per node between those
/// of the element that they lie in.
struct MeshTransfer {
  /// value = sum of weights * values of old rows.
  struct Row {
    std::vector<std::int64_t> from;
    std::vector<double> weights;
  };
  /// The rows of one place: per new row, in file order, and how many old ones there are.
  struct Rows {
    std::vector<Row> rows;
    std::int64_t num_old = 0;

    /// The new array, `columns` numbers a row; NaN where a row that counts is NaN. @throws InputError where
    /// the old one has another number of rows.
    std::vector<double> carry(std::span<const double> old, std::size_t columns) const;
  };
  Rows cells, vertices, nodes;
};

/// @param alone a communicator of this process.
/// @param scene says which order bodies have. @pre both meshes have the same bodies.
template <int dim>
MeshTransfer make_mesh_transfer(const parallel::Communicator& alone, const Scene& scene,
                                const mesh::SimplexMesh& old, const mesh::SimplexMesh& renewed);

} // namespace recoil::app

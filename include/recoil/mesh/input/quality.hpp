#pragma once

#include <array>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/mesh/sliced_mesh.hpp"

namespace recoil::mesh {

/// Shape and size of the cells of one body.
struct BodyQuality {
  std::string name;
  std::int64_t cells = 0;
  double volume = 0; ///< [m^3]; area [m^2] in 2D
  double min_scaled_jacobian = 0, mean_scaled_jacobian = 0;
  std::int64_t worst_cell = -1; ///< where the minimum is reached, index in the mesh
  Eigen::AlignedBox3d box;
  double min_edge = 0, mean_edge = 0, max_edge = 0; ///< over all edges of all cells [m]
};

/// Smallest over the corners of sqrt(2) det(e1, e2, e3) / (|e1| |e2| |e3|), or 2 / sqrt(3) |e1 x e2| / (|e1|
/// |e2|) in 2D (signed): 1 for the regular simplex, negative when inverted.
double scaled_jacobian(const std::array<Eigen::Vector3d, 4>& corners, int dim);

/// Signed volume, or area when dim = 2.
double signed_volume(const std::array<Eigen::Vector3d, 4>& corners, int dim);

/// One entry per body of `mesh`, in the order of body_names.
std::vector<BodyQuality> body_quality(const SimplexMesh& mesh);

/// That of the whole of a mesh in slices. Collective.
std::vector<BodyQuality> body_quality(const parallel::Communicator& comm, const SlicedMesh& mesh);

} // namespace recoil::mesh

#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "recoil/app/scene/geometry.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/sliced_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The meshes of a geometry, held by the first rank only, or of which every rank holds a slice.
struct LoadedGeometry {
  int dim = 3; ///< of all ranks
  mesh::AssembledGeometry geometry;
  std::optional<mesh::SlicedMesh> slices; ///< in place of AssembledGeometry::deformable
};

/// Cells from which on several ranks share the making of a mesh. Below, one rank is as fast, and the
/// partition by METIS of the whole graph cuts a little less.
inline constexpr double least_cells_in_slices = 250'000;
/// For those that need the whole mesh on the first rank.
inline constexpr double never_in_slices = std::numeric_limits<double>::infinity();

/// What a body is made of.
enum class BodyShape {
  cells,   ///< of the triangles or tetrahedra of its mesh
  surface, ///< of what its mesh encloses: those of surfaces are in AssembledGeometry::body_surfaces
  sheet    ///< of the triangles on the surface of its mesh, which is in body_surfaces
};

/// Reads and assembles the meshes on the first rank; `shape` says what each body is made of. Entries without
/// mesh and generator are left out; where no body has a mesh the dimension is 3. Collective. @throws
/// InputError on every rank.
/// @param in_slices_from on several ranks, deformable bodies with at least so many cells together are made in
/// slices; their shapes must be BodyShape::cells.
LoadedGeometry load_geometry(const parallel::Communicator& comm,
                             const std::vector<mesh::GeometrySpec>& entries,
                             const std::function<BodyShape(const mesh::GeometrySpec&)>& shape,
                             double in_slices_from = never_in_slices);

} // namespace recoil::app

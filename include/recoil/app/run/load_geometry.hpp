#pragma once

#include <functional>

#include "recoil/app/scene/geometry.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The meshes of a geometry, held by the first rank only.
struct LoadedGeometry {
  int dim = 3; ///< of all ranks
  mesh::AssembledGeometry geometry;
};

/// What a body is made of.
enum class BodyShape {
  cells,   ///< of the triangles or tetrahedra of its mesh
  surface, ///< of what its mesh encloses: those of surfaces are in AssembledGeometry::body_surfaces
  sheet    ///< of the triangles on the surface of its mesh, which is in body_surfaces
};

/// Reads and assembles the meshes on the first rank; `shape` says what each body is made of. Entries without
/// mesh and generator are left out; where no body has a mesh the dimension is 3. Collective. @throws
/// InputError on every rank.
LoadedGeometry load_geometry(const parallel::Communicator& comm,
                             const std::vector<mesh::GeometrySpec>& entries,
                             const std::function<BodyShape(const mesh::GeometrySpec&)>& shape);

} // namespace recoil::app

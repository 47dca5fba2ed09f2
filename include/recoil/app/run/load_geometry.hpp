#pragma once

#include "recoil/app/scene/geometry.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The meshes of a geometry, held by the first rank only.
struct LoadedGeometry {
  int dim = 3; ///< of all ranks
  mesh::AssembledGeometry geometry;
};

/// What bodies are made of.
enum class BodyShape {
  cells,   ///< of the triangles or tetrahedra of their meshes
  surface, ///< of what their meshes enclose: those of surfaces are in AssembledGeometry::body_surfaces
  sheet    ///< of the triangles on the surface of their meshes, all of which are in body_surfaces
};

/// Reads and assembles the meshes on the first rank. Entries without mesh and generator are left out; where
/// no body has a mesh the dimension is 3. Collective. @throws InputError on every rank.
LoadedGeometry load_geometry(const parallel::Communicator& comm,
                             const std::vector<mesh::GeometrySpec>& entries,
                             BodyShape bodies = BodyShape::cells);

} // namespace recoil::app

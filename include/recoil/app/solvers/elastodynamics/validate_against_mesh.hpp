#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Checks what needs the geometry: that lists of d components have d entries (a zero third entry in 2D is cut
/// off), that every element has a material, that ids of boundary and initial conditions exist, that bodies
/// sharing a vertex have one order. Selections that select nothing are refused where a condition, load or
/// material uses their id and nothing else gives it; otherwise they become warnings. `mesh` is the whole
/// mesh, as it is before distribution; not collective.
/// @throws InputError naming the entry of the scene and the body.
void validate_against_mesh(Scene& scene, const mesh::SimplexMesh& mesh,
                           std::span<const mesh::SurfaceMesh> obstacles,
                           std::span<const mesh::EmptySelection> empty_selections);

/// Ids found on the deformable meshes of a scene.
struct MeshIds {
  std::vector<std::string> bodies;
  std::vector<std::set<int>> surface, volume; ///< of each body
  std::set<int> point;
};
/// Those of all ranks, of which each holds a share of the meshes. Collective.
MeshIds collect_ids(const parallel::Communicator& comm, const mesh::SimplexMesh& share);

/// validate_against_mesh() where no rank holds the whole mesh: the orders of bodies that share a vertex are
/// not compared, which bodies of a scene never do. Not collective.
void validate_against_ids(Scene& scene, int dim, const MeshIds& ids,
                          std::span<const mesh::SurfaceMesh> obstacles,
                          std::span<const mesh::EmptySelection> empty_selections);

} // namespace recoil::app

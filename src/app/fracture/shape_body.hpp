#pragma once

#include <string>
#include <vector>

#include "app/fracture/shape_file.hpp"
#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/pieces/files.hpp"
#include "recoil/solvers/fracture_modes/element_graph.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::app {

/// The elements of a shape and, where they are a cage, the surface inside, held by the first rank only.
struct ShapeBody {
  int dim = 3; ///< of all ranks
  mesh::SimplexMesh mesh;
  pieces::InputSurface surface; ///< of a cage in 3D, as its file has it, transformed
  pieces::FacetMesh<2> outline; ///< of a cage in 2D
  std::vector<std::string> notes, warnings;
};

/// Reads or makes the elements on the first rank and looks whether the materials fit them. Collective.
/// @throws InputError on every rank, with place and cure.
ShapeBody load_body(const parallel::Communicator& comm, const Shape& shape);

/// What the cells of `mesh` are made of. Both arguments must outlive it.
template <int dim>
solvers::fracture_modes::FractureMaterial<dim> material_of(const Shape& shape,
                                                           const mesh::DistributedMesh<dim>& mesh);

/// What the cells of `mesh` resist strains with, but for omega. Both arguments must outlive it.
template <int dim>
solvers::fracture_modes::StrainMaterial strain_material_of(const Shape& shape,
                                                           const mesh::DistributedMesh<dim>& mesh);

/// The tensors on jumps of owned cells; empty where no material has one.
template <int dim>
solvers::fracture_modes::JumpTensors<dim> jump_tensors_of(const Shape& shape,
                                                          const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app

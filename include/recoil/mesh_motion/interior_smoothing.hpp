#pragma once

#include <span>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::mesh_motion {

struct SmoothingResult {
  int iterations = 0;
  double energy_before = 0, energy_after = 0; ///< per unit of volume; 2 dim where all cells are ideal
};

/// Moves the vertices inside bodies so that cells come near regular simplices: minimises
///
///     sum over cells of V (|J|^2 + |J^-1|^2),
///
/// the symmetric Dirichlet energy, with J the deformation gradient of a cell from the regular simplex of
/// volume V, which is that of the cell in `sizes`, times the same factor for all. Scalable locally injective
/// mappings [Rabinovich, Poranne, Panozzo, Sorkine-Hornung 2017]: each iteration minimises the quadratic
/// proxy sum V |W (J - R)|^2, with R the rotation nearest to J and the weights W that give the proxy the
/// gradient of the energy, and searches along the step to its minimum no further than where a first cell
/// would invert. It ends where an iteration takes less than 1e-5 of the energy, or after 100.
///
/// @param sizes the same mesh with other vertices. @param keep flags of the local vertices that stay, ghosts
/// as on their owners. @pre no cell of `mesh` is inverted relative to `sizes`. Collective. @throws Error on
/// every rank where a linear solve fails.
template <int dim>
SmoothingResult smooth_interior(const mesh::DistributedMesh<dim>& sizes, std::span<const char> keep,
                                mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::mesh_motion

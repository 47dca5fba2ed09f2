#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/block_matrix.hpp"

namespace recoil::solvers::fracture_modes {

/// Matrices of the hat functions phi_i of the vertices of a mesh that is not exploded: L_ij =
/// int grad phi_i . grad phi_j, positive semidefinite, and the lumped masses M_ii = int phi_i. One number per
/// node of linear elements.
template <int dim>
struct VertexMatrices {
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const linalg::VectorLayout> layout; ///< that of `space` with one number per node
  linalg::BlockMatrix stiffness, mass;

  /// Collective. The mesh must outlive it.
  explicit VertexMatrices(const mesh::DistributedMesh<dim>& mesh);

  /// a L + b M. Collective.
  linalg::BlockMatrix combination(double a, double b) const;
  /// Volumes of the owned cells [m^dim].
  std::vector<double> cell_volumes() const;
  /// Mean over the corners of each owned cell of a field on the nodes whose ghosts are current.
  std::vector<double> cell_means(const linalg::Vector& field) const;
};

/// Fields from which the search for fracture modes starts: the `count` eigenvectors of L x = lambda M x of
/// the least lambda, averaged to the owned cells of the mesh. Their signs depend on the shape alone. Up to
/// `serial_cells` the first rank solves alone for all, so that they are bitwise the same on any number of
/// ranks. Collective.
/// @throws LibraryError where the eigenvalue solver fails.
template <int dim>
std::vector<std::vector<double>> start_fields(const VertexMatrices<dim>& matrices, int count,
                                              GlobalIndex serial_cells = 200000);

} // namespace recoil::solvers::fracture_modes

#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::fem {

/// The affine map X = X_0 + D xi of every local cell, D = [X_1 - X_0, ..]: what gradients and integrals on
/// the rest mesh need. D may have either orientation (cells list their vertices by input id).
template <int dim>
struct CellGeometry {
  std::vector<Eigen::Matrix<double, dim, dim>> inverse_edges; ///< D^-1 [1/m]
  std::vector<double> edge_determinant; ///< det D [m^dim], signed; dim! times the cell's measure

  explicit CellGeometry(const mesh::DistributedMesh<dim>& mesh) {
    inverse_edges.reserve(mesh.cells.size());
    edge_determinant.reserve(mesh.cells.size());
    for (const auto& cell : mesh.cells) {
      const auto& origin = mesh.vertices[cell[0]];
      Eigen::Matrix<double, dim, dim> edges;
      for (int i = 0; i < dim; ++i) edges.col(i) = mesh.vertices[cell[i + 1]] - origin;
      inverse_edges.push_back(edges.inverse());
      edge_determinant.push_back(edges.determinant());
    }
  }
  /// Factor that turns reference quadrature weights into those on the rest cell.
  double weight_factor(LocalIndex cell) const { return std::abs(edge_determinant[cell]); }
};

} // namespace recoil::fem

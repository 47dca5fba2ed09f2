#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/element_assembler.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::mesh_motion {

template <int dim>
fem::FunctionSpace<dim> linear_space(const mesh::DistributedMesh<dim>& mesh) {
  return fem::FunctionSpace<dim>(mesh, std::vector<int>(mesh.body_names.size(), 1));
}

/// Gradients of the hat functions of a cell, one per column, from the inverse of its edges [X1 - X0, ..].
template <int dim>
Eigen::Matrix<double, dim, dim + 1> hat_gradients(const Eigen::Matrix<double, dim, dim>& inverse_edges) {
  Eigen::Matrix<double, dim, dim + 1> gradients;
  gradients.template rightCols<dim>() = inverse_edges.transpose();
  gradients.col(0) = -gradients.template rightCols<dim>().rowwise().sum();
  return gradients;
}

/// A symmetric positive definite matrix over the displacements of the vertices of a mesh, some of which are
/// held: the sum of matrices of linear elements. All members are collective.
template <int dim>
class VertexSystem {
public:
  static constexpr int element_size = dim * (dim + 1);
  using ElementMatrix = Eigen::Matrix<double, element_size, element_size>;

  /// @param held flags of the local vertices, ghosts as on their owners. The mesh must outlive it.
  VertexSystem(const mesh::DistributedMesh<dim>& mesh, std::span<const char> held);
  VertexSystem(const VertexSystem&) = delete;
  VertexSystem& operator=(const VertexSystem&) = delete;

  const fem::FunctionSpace<dim>& space() const { return space_; }
  /// Zero vector.
  linalg::Vector make_vector() const { return linalg::Vector(space_.layout()); }
  /// Flags of the local entries of its vectors.
  std::span<const char> held() const { return held_; }

  /// element(cell) is the matrix of a cell, in the order of its vertices.
  template <class Element>
  void assemble(Element element) {
    for (Part* part : {&whole_, &free_}) {
      part->matrix.set_zero();
      part->assembler.begin();
    }
    for (LocalIndex cell = 0; cell < space_.mesh().num_cells(); ++cell) {
      const ElementMatrix K = element(cell);
      for (Part* part : {&whole_, &free_}) part->assembler.add_element(cell, K.data());
    }
    for (Part* part : {&whole_, &free_}) part->assembler.end();
    free_.matrix.set_identity_rows(1);
    solver_.begin_sequence();
  }

  /// y = A x on owned entries, held ones included.
  void multiply(const linalg::Vector& x, linalg::Vector& y) const { whole_.matrix.multiply(x, y); }
  /// Solves A x = b for the entries that are not held; those of x that are held are zero. @throws Error where
  /// that fails.
  void solve(linalg::Vector b, linalg::Vector& x, double relative_tolerance);

private:
  struct Part {
    explicit Part(const fem::FunctionSpace<dim>& space)
        : matrix(space.layout(), space.graph()), assembler(space, matrix) {}
    linalg::BlockMatrix matrix;
    fem::ElementAssembler<dim> assembler;
  };

  fem::FunctionSpace<dim> space_;
  std::vector<char> held_;
  Part whole_, free_; ///< the second with the rows and columns of a diagonal matrix where vertices are held
  linalg::LinearSolver solver_;
};

} // namespace recoil::mesh_motion

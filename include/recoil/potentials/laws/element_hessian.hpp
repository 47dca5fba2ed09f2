#pragma once

#include <array>

#include <Eigen/Core>

#include "recoil/potentials/laws/kinematics.hpp"

/// Element matrices of potentials of F = sum_a u_a grad(phi_a)^T + I. `gradients` holds one physical basis
/// gradient per row (num_nodes x dim: a fixed Eigen matrix, or a Map with run-time rows); `K` is num_nodes *
/// dim square, ordered dim * node + component. Only blocks (a, b) with a <= b are touched (diagonal blocks in
/// full): block (b, a) is the transpose.
namespace recoil::potentials {

/// Largest number of nodes of an element (order 4, 3D): bounds the stack arrays of kernels with run-time node
/// counts.
inline constexpr int max_element_nodes = 35;

/// One row per node with the columns and row bound of `Gradients`.
template <class Gradients>
using NodeVectors =
    Eigen::Matrix<double, Gradients::RowsAtCompileTime, Gradients::ColsAtCompileTime, Eigen::RowMajor,
                  Gradients::RowsAtCompileTime == Eigen::Dynamic ? max_element_nodes
                                                                 : Gradients::RowsAtCompileTime,
                  Gradients::ColsAtCompileTime>;

/// Stands for an element matrix whose blocks are to be overwritten instead of added to.
template <class Hessian>
struct AssignedBlocks {
  Hessian& K;
};

/// For every pair a <= b adds the dim x dim block with the entries `block(a, b)(i, k)` to K, or assigns it if
/// K is AssignedBlocks.
template <class Gradients, class Hessian, class Block>
void add_upper_blocks(const Gradients& gradients, Hessian&& K, Block&& block) {
  constexpr int dim = Gradients::ColsAtCompileTime;
  const Eigen::Index num_nodes = gradients.rows();
  for (Eigen::Index b = 0; b < num_nodes; ++b)
    for (Eigen::Index a = 0; a <= b; ++a) {
      // All entries before the first store: K could alias what they are made of.
      const auto entry = block(a, b);
      std::array<double, dim * dim> values;
      for (int k = 0; k < dim; ++k)
        for (int i = 0; i < dim; ++i) values[dim * k + i] = entry(i, k);
      for (int k = 0; k < dim; ++k)
        for (int i = 0; i < dim; ++i) {
          const double value = values[dim * k + i];
          if constexpr (requires { K.K; }) {
            K.K(dim * a + i, dim * b + k) = value;
          } else {
            K(dim * a + i, dim * b + k) += value;
          }
        }
    }
}

/// weight * sum_jl g_a(j) A_ijkl g_b(l) added to the blocks a <= b, for any symmetric tangent (projected ones
/// too).
template <class Gradients, class Hessian>
void add_tangent_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight,
                         const Tangent<Gradients::ColsAtCompileTime>& A, Hessian&& K) {
  constexpr int dim = Gradients::ColsAtCompileTime;
  const Eigen::Index num_nodes = gradients.rows();
  for (Eigen::Index b = 0; b < num_nodes; ++b) {
    Eigen::Matrix<double, dim * dim, dim> T; // A g_b
    for (int k = 0; k < dim; ++k)
      T.col(k).noalias() =
          A.template block<dim * dim, dim>(0, dim * k) * (weight * gradients.row(b)).transpose();
    for (Eigen::Index a = 0; a <= b; ++a)
      for (int k = 0; k < dim; ++k)
        for (int i = 0; i < dim; ++i)
          K(dim * a + i, dim * b + k) += gradients.row(a) * T.template block<dim, 1>(dim * i, k);
  }
}

/// Overwrites the blocks a <= b of K with weight * d2W/du_a du_b of a law at one point: the whole element
/// matrix of a linear element, without clearing it first.
template <class Law, class Gradients, class Hessian>
void assign_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight,
                    const typename Law::Matrix& F, const typename Law::Parameters& p, Hessian& K) {
  Law::add_hessian(gradients, weight, F, p, AssignedBlocks<Hessian>{K});
}

} // namespace recoil::potentials

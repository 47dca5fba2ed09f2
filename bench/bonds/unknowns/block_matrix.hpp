#pragma once

#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "bonds/unknowns/step_energy.hpp"

namespace recoil::bench {

/// A symmetric matrix with one n x n block a particle and one a bond, and the inverses of the diagonal ones,
/// which precondition. Rows and columns of particles that are held are those of the identity.
template <int n>
class SymmetricBlocks {
public:
  using Block = Eigen::Matrix<double, n, n>;
  using Pair = Eigen::Matrix<double, 2 * n, 2 * n>;

  explicit SymmetricBlocks(const StepEnergy& energy)
      : energy_(energy), diagonal_(std::size_t(energy.num_particles())), inverse_(diagonal_.size()),
        bonds_(energy.problem().particles->bonds.size()) {}

  void set_zero() {
    for (Block& block : diagonal_) block.setZero();
    for (Block& block : bonds_) block.setZero();
  }
  void add_bond(LocalIndex bond, const Pair& K) {
    const auto& [a, b, id] = energy_.problem().particles->bonds[bond];
    diagonal_[a] += K.template topLeftCorner<n, n>();
    diagonal_[b] += K.template bottomRightCorner<n, n>();
    if (energy_.is_free(a) && energy_.is_free(b)) bonds_[bond] += K.template topRightCorner<n, n>();
  }
  void add_diagonal(LocalIndex particle, const Block& block) { diagonal_[particle] += block; }

  /// Inverts the diagonal blocks, with a multiple of v v' added where `normals` has its v; false if one is
  /// not positive definite.
  bool invert_diagonal(const Eigen::VectorXd* normals) {
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
      if (!energy_.is_free(LocalIndex(k))) {
        inverse_[k] = diagonal_[k] = Block::Identity();
        continue;
      }
      Block block = diagonal_[k];
      if (normals) {
        const Eigen::Matrix<double, n, 1> v = normals->template segment<n>(n * k);
        block += block.trace() / n * v * v.transpose();
      }
      const Eigen::LLT<Block> factor(block);
      if (factor.info() != Eigen::Success) return false;
      inverse_[k] = factor.solve(Block::Identity());
    }
    return true;
  }
  void precondition(const Eigen::VectorXd& r, Eigen::VectorXd& z) const {
    z.resize(r.size());
    for (std::size_t k = 0; k < inverse_.size(); ++k)
      z.template segment<n>(n * k).noalias() = inverse_[k] * r.template segment<n>(n * k);
  }
  void multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y) const {
    y.resize(x.size());
    for (std::size_t k = 0; k < diagonal_.size(); ++k)
      y.template segment<n>(n * k).noalias() = diagonal_[k] * x.template segment<n>(n * k);
    const auto& bonds = energy_.problem().particles->bonds;
    for (std::size_t k = 0; k < bonds.size(); ++k) {
      const auto& [a, b, id] = bonds[k];
      y.template segment<n>(n * a).noalias() += bonds_[k] * x.template segment<n>(n * b);
      y.template segment<n>(n * b).noalias() += bonds_[k].transpose() * x.template segment<n>(n * a);
    }
  }

private:
  const StepEnergy& energy_;
  std::vector<Block> diagonal_, inverse_, bonds_;
};

} // namespace recoil::bench

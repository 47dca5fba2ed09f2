#pragma once

#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/potentials/mass.hpp"
#include "solvers/elastodynamics/rigid_pieces.hpp"

namespace recoil::solvers {

/// The space Z of rigid motions at a displacement u, one set per piece, that nothing resists: the null space
/// of the Hessian there. Solutions are made unique by the norm |u|_M^2 = int |u|^2 dX (M the consistent mass
/// matrix of density 1, so that neither mesh nor ranks count): along Z, u has the smallest one where Z'M u =
/// 0. Its derivative along Z is (Z_0)'M Z, Z_0 the same motions of the rest shape.
template <int dim>
class LooseSpace {
public:
  /// @param motions coefficients by piece, as RigidPieces::unheld(). `pieces` and `mass` must outlive it.
  /// Collective.
  LooseSpace(const RigidPieces<dim>& pieces, const potentials::MassMatrix<dim>& mass,
             std::vector<Eigen::MatrixXd> motions, const linalg::Vector& u);

  /// Largest number of motions of a piece.
  std::size_t num_motions() const { return along_.size(); }
  const std::vector<Eigen::MatrixXd>& motions() const { return motions_; }
  /// The k-th motion of all pieces.
  const linalg::Vector& motion(std::size_t k) const { return along_[k]; }

  /// x -= Z (Z_0'M Z)^-1 Z_0'M x: what a change of a solution is made of that stays one of smallest norm.
  /// Owned and ghost entries. Collective.
  void project(linalg::Vector& x) const;
  /// Applies the transpose of the projection: b -= M Z_0 (Z'M Z_0)^-1 Z'b, after which the forces b do no
  /// work on Z. Prescribed entries of b are no concern of it. Collective.
  void balance(linalg::Vector& b) const;
  /// Coefficients by piece of the motion of Newton's method for Z'M u = 0 from u. Collective.
  std::vector<typename RigidPieces<dim>::Coefficients> towards_smallest(const linalg::Vector& u) const;

private:
  Eigen::MatrixXd products(const std::vector<linalg::Vector>& motions, const linalg::Vector& x) const;
  void subtract(const Eigen::MatrixXd& factors, const std::vector<linalg::Vector>& motions,
                linalg::Vector& x) const;

  const RigidPieces<dim>& pieces_;
  const potentials::MassMatrix<dim>& mass_;
  std::vector<Eigen::MatrixXd> motions_;
  std::vector<linalg::Vector> along_, weighted_; ///< Z and M Z_0
  std::vector<Eigen::MatrixXd> inverses_;        ///< of Z_0'M Z
};

} // namespace recoil::solvers

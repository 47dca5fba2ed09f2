#pragma once

#include <string>
#include <vector>

#include "solvers/elastodynamics/incremental_potential.hpp"
#include "solvers/elastodynamics/loose_space.hpp"

namespace recoil::solvers {

/// The rigid motions of the pieces of a problem without inertia that no prescribed entry resists: the null
/// space of the Gram matrix of the motions, restricted to the prescribed entries. Translations, and
/// rotations under laws of linear theory, are resisted by nothing at all; other rotations may be by loads,
/// which keep their direction, and are looked at where there is an equilibrium.
template <int dim>
class LooseMotions {
public:
  /// Finds them, if `problem` is solved without inertia and regularisation; null where there are none, or
  /// where there are obstacles, which may hold anything. Collective.
  static std::unique_ptr<LooseMotions> find(const ElastodynamicsProblem<dim>& problem);
  /// Loose motions of pieces that may float among others and obstacles; null where there are none. Where such
  /// a piece touches something, nothing is known of it: it counts as held. Collective.
  static std::unique_ptr<LooseMotions> find_floating(const ElastodynamicsProblem<dim>& problem);

  /// Motions that are loose whatever the loads are.
  const LooseSpace<dim>& certain() const { return *certain_; }

  /// Why there is no equilibrium near u: the loads of a piece work on a certain motion. Empty if there is no
  /// such piece. Warns of pieces with loads that are loose but in balance. @pre the objective is in the step.
  /// Collective.
  std::string check(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;
  /// All that are loose at the equilibrium u. @pre the objective is in the step. Collective.
  LooseSpace<dim> at_equilibrium(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;
  /// Whether there are pieces that loads may turn.
  bool may_turn() const;
  /// All motions that prescribed entries leave free at u. Collective.
  LooseSpace<dim> not_held(const linalg::Vector& u) const;
  /// Moves pieces that are in equilibrium but for forces that work on not_held() as if they were rigid, to
  /// where the loads balance, be that stable or not. The largest share of the elastic forces that worked
  /// there before; infinity, and nothing moved, where the balance would be far away. @pre the objective is in
  /// the step. Collective.
  double turn_into_balance(IncrementalPotential<dim>& objective, linalg::Vector& u) const;
  /// Share of the sum of its absolute contributions below which a resultant is zero: loads on facets of
  /// meshes with coordinates of some digits balance only so far.
  static constexpr double balanced_share = 1e-6;
  /// Moves the equilibrium u along the motions that are loose there to the smallest norm (LooseSpace). Warns
  /// of those that check() could not know. @pre the objective is in the step. Collective.
  void minimize_norm(IncrementalPotential<dim>& objective, linalg::Vector& u) const;

  /// A displacement along certain motions of all pieces; nothing where there are none. Collective.
  std::optional<linalg::Vector> example() const;
  /// The first piece on whose certain motions the derivative `du` of something by the displacement works, and
  /// these, as "body 'a' against translation along x"; empty if there is none. Collective.
  std::string seen_by(std::span<const double> du) const;

private:
  using Pieces = RigidPieces<dim>;
  using Coefficients = typename Pieces::Coefficients;

  /// How the forces change along motions of a piece that are not held.
  struct Resistance {
    Eigen::VectorXd values;  ///< [N/m]
    Eigen::MatrixXd motions; ///< orthonormal columns of coefficients
    double limit;            ///< of values that are none
    double magnitude;        ///< of the elastic forces [N]
    Eigen::MatrixXd select(double least, double most) const;
  };

  LooseMotions(const ElastodynamicsProblem<dim>& problem, Connected connected);
  std::vector<char> touching(const linalg::Vector& u) const;

  std::vector<Resistance> resistances(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;
  void warn_of_unstable(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;
  std::string describe(std::size_t p, const Eigen::MatrixXd& motions) const;
  std::string describe(std::size_t p, const Coefficients& force) const;

  const ElastodynamicsProblem<dim>& problem_;
  Pieces pieces_;
  potentials::MassMatrix<dim> volume_; ///< of density 1
  std::unique_ptr<LooseSpace<dim>> certain_;
  bool exist_ = false;
  bool floats_ = false; ///< find_floating()
};

} // namespace recoil::solvers

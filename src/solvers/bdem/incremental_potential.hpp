#pragma once

#include <vector>

#include "recoil/linalg/linear_solver.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/solvers/bdem/solver.hpp"
#include "solvers/bdem/bond_assembler.hpp"

namespace recoil::solvers {

/// E(x) = 1/2 sum_a [m |p - p~|^2 + 4 I |q - q~|^2] + s (V(x*) - loads . x*) + s c C(x) of one step from
/// x_n, with s = dt^2, x* = x or, for the integrators that take it there, (x + x_n) / 2, and c = dx*/dx. C is
/// contact, always taken where the step ends. Quasi-static steps lack the first sum, and s = 1.
class ParticleIncrementalPotential final : public newton::Objective {
public:
  ParticleIncrementalPotential(BondedParticles& problem, const BondedParticlesOptions& options);

  /// Starts a step of length dt from `previous` with inertia about `target` (both borrowed until the next
  /// call), to `time`. Collective.
  void begin_step(const linalg::Vector& previous, const linalg::Vector& target, double time, double dt);

  /// Lets the hierarchy of multigrid outlive the step just begun, in problems without contact in which
  /// nothing breaks: it is that of the particles at rest with the same dt, as long as conjugate gradients do
  /// well with it.
  void hold_hierarchy();
  /// Goes on with the hierarchy of a run that had this record.
  void restore(const linalg::HierarchyRecord& record) { linear_solver_.restore(record); }

  double value(const linalg::Vector& x) override;
  void gradient(const linalg::Vector& x, linalg::Vector& g) override;
  void assemble_hessian(const linalg::Vector& x, newton::Projection projection) override;
  void shift_hessian(double factor) override;
  linalg::LinearResult solve(const linalg::Vector& rhs, linalg::Vector& d,
                             double relative_tolerance) override;
  double max_step(const linalg::Vector& x, const linalg::Vector& d) override;
  double gradient_norm(const linalg::Vector& g) override;
  double value_resolution(const linalg::Vector& x, double value) override;
  bool tries_exact_shifts() const override;
  int longest_projected_run() const override;
  double useful_step() const override;

  /// g = dV/dx* - loads + C', times dx*/dx: what the bonds, loads and contacts of the step pull with, on
  /// owned entries, prescribed ones too. Contact must be up to date. Collective.
  void add_forces(const linalg::Vector& x, double factor, std::span<double> g) const;
  /// Adds the gradient of the inertia about the target of the step, times dt^2.
  void add_inertia(const linalg::Vector& x, std::span<double> g) const;
  /// The residual of the discrete Euler-Lagrange equations, G_n (m (p - p~), 4 I q) + s G_n dV/dx - M dt v_n,
  /// and its product with a change of x.
  void balance(const linalg::Vector& x, std::span<const double> momentum, linalg::Vector& r) const;
  void multiply_balance(const linalg::Vector& x, const linalg::Vector& change, linalg::Vector& y) const;
  void clear_prescribed(std::span<double> g) const;
  /// What inertia and, without projection, moments add to the Hessian by the turn of a particle.
  Eigen::Matrix3d turning_hessian(const linalg::Vector& x, LocalIndex particle,
                                  newton::Projection projection) const;
  /// Turn of a particle since the start of the step, in its own axes [rad].
  Eigen::Vector3d step_turn(const linalg::Vector& x, LocalIndex particle) const;

  /// M of the tangent space: m three times, then I / r^2 three times [kg].
  std::span<const double> mass() const { return mass_; }
  /// Loads of the step, 6 numbers an owned particle, moments in its axes over r [N].
  std::span<const double> loads() const { return loads_; }
  bool has_inertia() const { return options_.integrator != ParticleIntegrator::quasistatic; }
  /// dx*/dx.
  double share() const;
  /// s.
  double scale() const { return scale_; }
  /// What the force of a term has to be multiplied by, and its energy in E: bonds have dx*/dx in theirs.
  double share_of(const potentials::Potential<3>& term) const {
    return &term == problem_.bonds ? 1 : share();
  }
  double factor_of(const potentials::Potential<3>& term) const { return scale_ * share_of(term); }
  const linalg::LinearSolver& linear_solver() const { return linear_solver_; }
  int linear_iterations() const { return linear_iterations_; }

private:
  linalg::NearNullSpace rigid_motions() const;
  void renew_solver();
  bool solve_columns();
  void begin_with_rest();
  void assemble_at_rest(const linalg::Vector& rest);
  double condition(double dt) const;
  const linalg::StencilMatrix* contact_matrix() const {
    return contact_matrix_ ? &*contact_matrix_ : nullptr;
  }

  BondedParticles& problem_;
  const BondedParticlesOptions& options_;
  linalg::BlockMatrix matrix_;
  BondAssembler assembler_;
  std::optional<linalg::StencilMatrix> contact_matrix_; ///< of problems with contact
  linalg::LinearSolver linear_solver_;
  /// Of planes that hold a force: columns whose products with themselves the Hessian has to lose, and the
  /// solutions of the matrix for them.
  std::vector<linalg::Vector> columns_, solved_columns_;
  Eigen::MatrixXd capacitance_; ///< I less the products of columns and solutions
  std::vector<double> mass_;
  std::vector<double> loads_;
  const linalg::Vector *previous_ = nullptr, *target_ = nullptr;
  double time_ = 0, dt_ = 0; ///< of the step
  bool holds_hierarchy_ = false;
  linalg::Vector position_; ///< where the near null space is taken
  double scale_ = 1;
  int linear_iterations_ = 0;
};

} // namespace recoil::solvers

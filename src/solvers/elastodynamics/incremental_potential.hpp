#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "recoil/fem/element_assembler.hpp"
#include "recoil/linalg/linear_solver.hpp"
#include "recoil/linalg/multipoint_constraints.hpp"
#include "recoil/linalg/stencil_matrix.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/potentials/contact/approach.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"
#include "solvers/elastodynamics/loose_space.hpp"

namespace recoil::solvers {

/// The factor K of the barrier in the incremental potential of one solve, and what Newton's method may make
/// of it.
struct BarrierStiffness {
  double value = 1;
  double largest = 1;       ///< doubling ends here
  double tiny_distance = 0; ///< below it a shrinking distance doubles the value [m]; 0 = never
};

/// options.barrier_stiffness in the units of the energy of contact [J per unit barrier]. @pre it is given.
double physical_barrier_stiffness(const ElastodynamicsOptions& options);

/// K of the state that `problem.contact` was last updated with: scale * options.barrier_stiffness where that
/// is given, else the adaptive value that balances the barrier with the other forces there, within bounds set
/// by mass and size [Li et al. 2020, supplement; docs/contracts.md]. `gradient_without_contact`: that of
/// inertia and of scale * (elastic energy and loads), prescribed entries included. Collective.
template <int dim>
BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<dim>& problem,
                                   const ElastodynamicsOptions& options, double scale,
                                   const linalg::Vector& gradient_without_contact);

/// A motion of everything that follows prescribed entries and obstacles over a share of their way.
struct Extension {
  bool found = false;            ///< false: no linear solve has succeeded
  bool interrupted = false;      ///< between linear solves; nothing else counts then
  linalg::Vector motion;         ///< of the nodes, prescribed entries included [m]
  std::vector<double> obstacles; ///< of the obstacles [m]
  double way = 1;                ///< share of the prescribed motion that it makes
  double max_step = 0;           ///< share of it that is feasible, with a margin
  int linear_solves = 0, linear_iterations = 0;
};

/// E(u) = 1/2 (u - u~)' M (u - u~) + s sum_k Phi_k(u) + K B(u) of one step, with s = (b dt)^2, Phi_k the
/// terms of the problem but its contact barrier B; without inertia the first term is missing (or a weak
/// regularisation w/2 |u - u_lag|^2) and s = 1. Prescribed entries of u and the obstacles are constants.
template <int dim>
class IncrementalPotential final : public newton::Objective {
public:
  IncrementalPotential(ElastodynamicsProblem<dim>& problem, linalg::LinearMethod method, GradientNorm norm);

  /// Starts a step: the potentials see `context`, `mass` and `u_tilde` (borrowed until the next call; null =
  /// no first term) make the first term, `scale` is s.
  void begin_step(const potentials::StepContext& context, const potentials::MassMatrix<dim>* mass,
                  const linalg::Vector& u_tilde, double scale);
  /// Lets the hierarchy of multigrid outlive the step just begun: it is that of the rest configuration with
  /// the same s, as long as conjugate gradients do well with it.
  void hold_hierarchy() { holds_hierarchy_ = true; }
  /// Goes on with the hierarchy of a run that had this record.
  void restore(const linalg::HierarchyRecord& record) { linear_solver_.restore(record); }
  /// Names the rigid motions that nothing resists (null: none): gradients are then without what works on
  /// them, and steps without them. Hessians get a share of their diagonal that makes them regular, and that
  /// Newton's method hardly notices. `loose` must outlive this.
  void leave_out(const LooseSpace<dim>* loose) { loose_ = loose; }
  /// Leaves the first term out for the rest of the step.
  void drop_inertia();

  /// s of this step.
  double scale() const { return scale_; }
  /// K of the coming solve.
  void set_stiffness(const BarrierStiffness& stiffness);
  double stiffness() const { return stiffness_.value; }
  /// Gradient of inertia, elastic energy and loads, prescribed entries included: what K is balanced with.
  void gradient_without_contact(const linalg::Vector& u, linalg::Vector& g);

  double value(const linalg::Vector& u) override;
  void gradient(const linalg::Vector& u, linalg::Vector& g) override;
  void assemble_hessian(const linalg::Vector& u, newton::Projection projection) override;
  void shift_hessian(double factor) override;
  /// Completes a motion of the prescribed entries and obstacles from the feasible u by that of the free ones
  /// (extension.cpp). Asks `interrupted`, if there is such a function, before every linear solve but the
  /// first. Collective.
  Extension extend(const linalg::Vector& u, const linalg::Vector& prescribed,
                   std::span<const double> obstacles, const std::function<bool()>& interrupted);
  linalg::LinearResult solve(const linalg::Vector& rhs, linalg::Vector& d,
                             double relative_tolerance) override;
  /// Solves with the assembled Hessian whether it is positive definite or not. Collective.
  linalg::LinearResult solve_stationary(const linalg::Vector& rhs, linalg::Vector& x,
                                        double relative_tolerance);
  /// y = A x with the assembled Hessian A, contact included; prescribed rows are those of the identity.
  /// Collective.
  void multiply_hessian(const linalg::Vector& x, linalg::Vector& y) const;
  /// y = H x on free entries, without what is added for leave_out(), term by term at a u that they have been
  /// brought to. `x` has ghosts. Collective.
  void hessian_product(const linalg::Vector& u, const linalg::Vector& x, linalg::Vector& y) const;
  bool tries_exact_shifts() const override;
  int longest_projected_run() const override;
  double share_of_last_residual() const override;
  double max_step(const linalg::Vector& u, const linalg::Vector& d) override;
  /// Largest step where the obstacles move too and pairs may close to about half of `expected_gap` [m].
  double max_step(const linalg::Vector& u, const linalg::Vector& d, std::span<const double> obstacle_motion,
                  double expected_gap = std::numeric_limits<double>::infinity());
  /// The norm given at construction; V of GradientNorm::l2 is the lumped rest volume of the nodes.
  double gradient_norm(const linalg::Vector& g) override;
  /// Largest norm of the forces of inertia and of the terms of the problem, with the forces on prescribed
  /// entries.
  double largest_term_norm() const override { return largest_term_norm_; }
  double value_resolution(const linalg::Vector& u, double value) override;
  /// Doubles K where the smallest distance is tiny and shrinks.
  bool accepted(const linalg::Vector& u) override;

  double collision_seconds() const { return collision_seconds_; }

  const linalg::LinearSolver& linear_solver() const { return linear_solver_; }

private:
  /// A potential of the step and its factor.
  struct Summand {
    potentials::Potential<dim>* potential;
    const double* factor;
    bool is_contact;
  };

  void update(const linalg::Vector& u);
  double squared_norm(std::span<const double> g) const;
  void assemble(const linalg::Vector& u, newton::Projection projection, bool with_contact);
  bool begin_with_rest();
  void assemble_at_rest();
  void note_positions(const linalg::Vector& u);
  void hessian_changed();
  void finish_matrix();
  const linalg::BlockMatrix& solved_matrix() const { return condensed_ ? condensed_->matrix() : matrix_; }
  bool respond(const linalg::Vector& u, const linalg::Vector& prescribed, std::span<const double> obstacles,
               const linalg::Vector& force, const potentials::Approach<dim>* approach, Extension& extension);
  void close_gaps(const linalg::Vector& u, const linalg::Vector& prescribed,
                  std::span<const double> obstacles, const linalg::Vector& force,
                  const std::function<bool()>& interrupted, Extension& extension);

  ElastodynamicsProblem<dim>& problem_;
  linalg::BlockMatrix matrix_;
  std::unique_ptr<linalg::StencilMatrix> contact_matrix_; ///< null without contact
  fem::ElementAssembler<dim> assembler_;
  std::unique_ptr<linalg::CondensedMatrix> condensed_; ///< null where no boundary is periodic
  linalg::LinearSolver linear_solver_;
  std::vector<double> norm_weights_; ///< of the owned nodes
  const LooseSpace<dim>* loose_ = nullptr;
  std::optional<potentials::Inertia<dim>> inertia_;
  std::vector<Summand> summands_;
  potentials::StepContext context_; ///< of the step
  double scale_ = 1;
  double last_value_ = 0, last_magnitude_ = 0; ///< of value(); sum of the absolute values of its terms
  double start_magnitude_ = 0;                 ///< of the point that a line search starts from
  bool holds_hierarchy_ = false;
  linalg::Vector positions_; ///< where the near null space of the preconditioner is taken
  BarrierStiffness stiffness_;
  double last_min_distance_ = 0;
  double largest_term_norm_ = 0;          ///< of the last gradient()
  double largest_gradient_norm_ = 0;      ///< of the right-hand sides of this step
  std::vector<double> obstacles_at_rest_; ///< zero motion of the obstacles
  double collision_seconds_ = 0;
};

} // namespace recoil::solvers

#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "recoil/newton/manifold.hpp"
#include "recoil/newton/objective.hpp"

namespace recoil::newton {

enum class NewtonOutcome {
  converged_gradient, ///< the gradient norm is below its tolerance
  converged_step,     ///< the step rule holds
  round_off, ///< converged as far as double precision goes: neither value nor gradient can be reduced
  max_iterations,
  unbounded,           ///< a step a million times as long as NewtonOptions::length_scale: there is no minimum
  stalled,             ///< many steps in a row, each a small share of its direction (NewtonOptions::stall)
  line_search_failed,  ///< no direction, not even steepest descent, has a step that can be accepted
  linear_solve_failed, ///< as before, or for many iterations: the linear solver gave no direction
  infeasible_start,    ///< the value at the start is +infinity
  interrupted,         ///< NewtonOptions::interrupted said so
  not_finite           ///< NaN in a value, gradient, norm or step length, or a value of -infinity
};

/// Where the direction of an iteration came from; later ones are used only when those before fail.
enum class Direction { newton, shifted_newton, projected, shifted, steepest_descent };

std::string_view name(NewtonOutcome outcome);
std::string_view name(Direction direction);

/// IPC's rule: stop when |d|_inf / dt <= tolerance * length for a Newton direction d [Li et al. 2020, section
/// 5].
struct StepRule {
  double tolerance = 1e-2; ///< 1/s
  double dt = 1;           ///< s; 1 in static problems
  double length = 1;       ///< m
  /// Relative tolerance of the linear solve for d, below 1, from which on d is taken for a Newton direction.
  double accuracy = 1e-10;
};

/// Relative tolerances of the linear solves: choice 2 of [Eisenstat, Walker 1996], gamma (|g_k| /
/// |g_k-1|)^alpha, with its safeguard and these bounds.
struct ForcingTerms {
  double first = 1e-2;
  double largest = 1e-1;
  double smallest = 1e-10; ///< also used when a solve may turn out to be the last one
  double gamma = 0.9;
  double alpha = 2;
};

struct LineSearchOptions {
  double armijo = 1e-4; ///< fraction of the predicted decrease that a step must achieve
  double shrink = 0.5;
  int max_backtracks = 50;
  double safety = 1; ///< factor on Objective::max_step where that is below 1
  double resolution =
      64; ///< in units of Objective::value_resolution: smaller predicted decreases count as round-off
};

/// Multiples of Objective::shift_hessian that are tried one after the other.
struct ShiftOptions {
  double first = 1e-4;
  double growth = 10;
  int max_count = 8;
};

/// What one iteration did; for logs.
struct IterationReport {
  int iteration = 0; ///< 1 for the first
  Direction direction = Direction::newton;
  double value = 0;              ///< after the step and its chord steps
  double gradient_norm = 0;      ///< after them
  double slope = 0;              ///< g . d before it
  double direction_norm = 0;     ///< |d|_inf
  double max_step = 1, step = 1; ///< in units of d; longer than max_step where the step was extended
  int backtracks = 0;
  double linear_tolerance = 0;
  int linear_iterations = 0; ///< over all linear solves of the iteration
  int chord_steps = 0;       ///< that followed the step
  bool by_gradient = false;  ///< accepted because the gradient shrank, the value being at its round-off
};

struct NewtonOptions {
  int max_iterations = 500;
  /// Stop when Objective::gradient_norm is below this, or below `relative_gradient_tolerance` times that of
  /// the start.
  double gradient_tolerance = 1e-10;
  double relative_gradient_tolerance = 1e-10;
  /// The first of these two counts, before the first iteration too, only for gradients below this share of
  /// Objective::largest_term_norm: in small units any state would satisfy a fixed bound. Runs in mm, g, ms
  /// and in SI agree to 1.2e-7 with this value, and steps of large contact scenes that are solved meet it.
  double balance_tolerance = 3e-7;
  /// Factor on both within which a solve that gets stuck still counts as converged.
  double stuck_factor = 1;
  /// Bound on the gradient before the first iteration, instead of `gradient_tolerance` and
  /// `relative_gradient_tolerance`.
  double first_gradient_tolerance = 1e-12;
  std::optional<StepRule> step_rule;
  /// Size of what x stands for, where |x|_inf understates it (a bounding box for displacements); judges
  /// round-off of steps, and where a function has no minimum.
  double length_scale = 0;
  ForcingTerms forcing;
  LineSearchOptions line_search;
  ShiftOptions exact_shifts{1e-3, 10, 3}; ///< of the exact Hessian where it is indefinite
  ShiftOptions shifts;                    ///< of the projected one where that gives no acceptable step
  /// Gives up when the geometric mean of `stall.window` steps in a row, as shares of their directions, is
  /// below `stall.share`.
  struct Stall {
    int window = 100;
    double share = 1e-4;
  } stall;
  /// Steps with the matrix of the iterate before, after each step of full length that leaves little of the
  /// gradient.
  int most_chord_steps = 3;
  /// Steps along the negative gradient in a row after which help for the linear solver is given up.
  int max_steepest_in_a_row = 20;
  /// Called on every rank; the log shows the same as debug lines.
  std::function<void(const IterationReport&)> on_iteration;
  /// Ends the minimisation where true: asked on every rank, which must all get the same answer, at the start
  /// and before every direction, so that at most one linear solve and one line search pass in between.
  std::function<bool()> interrupted;
};

struct NewtonResult {
  NewtonOutcome outcome = NewtonOutcome::not_finite;
  int iterations = 0; ///< accepted steps
  int linear_iterations = 0, linear_solves = 0;
  int projected = 0;   ///< steps along directions of the projected Hessian
  int shifted = 0;     ///< steps along directions of a shifted Hessian
  int steepest = 0;    ///< steps along the negative gradient
  int chord_steps = 0; ///< with the matrix of the iterate before, not among the iterations
  int value_evaluations = 0, gradient_evaluations = 0, assemblies = 0;
  double first_gradient_norm = 0, gradient_norm = 0, value = 0;
  double distance = 0;      ///< what the step rule compares with its bound: |d|_inf of the last direction
  double smallest_step = 1; ///< over the accepted steps, in units of d
  /// Gradients within a line search count there; shifts of the Hessian count as assembly.
  double assembly_seconds = 0, linear_solve_seconds = 0, line_search_seconds = 0, gradient_seconds = 0;

  bool converged() const {
    return outcome == NewtonOutcome::converged_gradient || outcome == NewtonOutcome::converged_step ||
           outcome == NewtonOutcome::round_off;
  }
  /// True where iterations, or patience with them, have run out: more of them may still lead to a minimum.
  bool ran_out() const {
    return outcome == NewtonOutcome::max_iterations || outcome == NewtonOutcome::stalled;
  }
};

/// Minimises `objective` from the feasible `x`; `x` ends as the last accepted iterate, ghosts included,
/// whatever the outcome.
///
/// Newton's method with the exact Hessian. Where the linear solve reports that to be indefinite, small shifts
/// of it are tried. Where there is no descent direction still (an indefinite or failed solve, or g . d >= 0)
/// or no acceptable step, the iteration continues with the element-wise projected Hessian, then to growing
/// shifts of it, then to the negative gradient; the next iteration starts with the exact Hessian again, or
/// after some more projected ones (Objective::longest_projected_run). An iteration after one whose step with
/// the exact Hessian was halved starts with the projected Hessian, which may be that of a majorizer. The line
/// search starts at Objective::max_step and halves until the Armijo condition holds on the value. A full step
/// along any but Newton's direction is doubled while more than half of its slope is left, the value does not
/// grow beyond its round-off and Objective::max_step allows it: that leaves saddles. Where the predicted
/// decrease drowns in the round-off of the value, the gradient norm must shrink instead. When that fails and
/// the step is at round-off compared with x, or the gradient along d is mere noise, the outcome is
/// `round_off`. A full step that leaves at most a tenth of the gradient norm is followed by steps with the
/// same matrix, as in the method of [Potra, Ptak 1984], while each leaves at most half of it and does not
/// raise the value.
///
/// Non-convergence is an outcome, never an exception. All ranks decide alike. Collective on the communicator
/// of x. Seconds are those of this rank.
NewtonResult minimize(Objective& objective, const Manifold& manifold, linalg::Vector& x,
                      const NewtonOptions& options = {});

} // namespace recoil::newton

#include <cmath>
#include <sstream>

#include "recoil/base/log.hpp"
#include "solvers/elastodynamics/step_solver.hpp"

namespace recoil::solvers {

namespace {
/// Prescribed motion that cannot be made at once is made in at most this many moves. It is given up earlier
/// where the first moves make so little of it that it would take many times as many.
constexpr int max_sub_moves = 256, first_moves = 8, most_times = 4;
/// Between moves the free nodes only make way: to this share of the first gradient, or so far. With
/// contact the next motion does the same.
constexpr double sub_move_tolerance = 1e-1;
constexpr int sub_move_iterations = 8, sub_move_iterations_in_contact = 1;
constexpr int max_halvings = 30;
/// Share of the largest feasible move that is made.
constexpr double move_safety = 0.8;
} // namespace

/// What is left of the way of prescribed entries and obstacles.
template <int dim>
typename StepSolver<dim>::Way StepSolver<dim>::way_left(const StepTarget& target,
                                                        const linalg::Vector& u) const {
  Way way{u, {}};
  problem_.dirichlet->set_values(target.time, target.load_factor, way.nodes);
  way.nodes.add(-1, u);
  if (problem_.periodic) {
    const auto to = problem_.periodic->displacement_gradient(target.time, target.load_factor);
    Eigen::Matrix<double, dim, dim> way_left = to - problem_.periodic->measure(u);
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j)
        if (!problem_.periodic->is_prescribed(i, j)) way_left(i, j) = 0;
    problem_.periodic->add_affine(way_left, way.nodes);
  }
  if (!problem_.contact) return way;
  way.obstacles = problem_.obstacle_motion(target.time, target.load_factor);
  const auto now = problem_.contact->obstacle_displacement();
  for (std::size_t i = 0; i < now.size(); ++i) way.obstacles[i] -= now[i];
  return way;
}

/// Makes the share `s` of a motion of nodes and obstacles. The objective there; where that is not finite,
/// nothing is made.
template <int dim>
double StepSolver<dim>::try_move(double s, const linalg::Vector& motion, const std::vector<double>& obstacles,
                                 linalg::Vector& u) {
  linalg::Vector trial = u;
  trial.add(s, motion);
  potentials::ContactState<dim>* contact = problem_.contact.get();
  std::vector<double> before;
  if (contact != nullptr) {
    before.assign(contact->obstacle_displacement().begin(), contact->obstacle_displacement().end());
    std::vector<double> moved = before;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += s * obstacles[i];
    contact->set_obstacle_displacement(std::move(moved));
  }
  const double value = objective_.value(trial);
  if (std::isfinite(value))
    u.copy_from(trial);
  else if (contact != nullptr)
    contact->set_obstacle_displacement(std::move(before));
  return value;
}

/// Obstacles or prescribed entries that move may drag others along by friction.
template <int dim>
bool StepSolver<dim>::drags(const Way& way) const {
  return problem_.contact && problem_.has_friction() &&
         problem_.contact->longest_motion(way.nodes.local(), way.obstacles) > 0;
}

/// One move of a cell that repeats, whose nodes all go along. The share of the way that is made.
template <int dim>
double StepSolver<dim>::deform_cell(const Way& way, linalg::Vector& u) {
  const double feasible = objective_.max_step(u, way.nodes, way.obstacles);
  double step = feasible >= 1 ? 1 : move_safety * feasible;
  for (int halving = 0; halving <= max_halvings; ++halving, step /= 2)
    if (std::isfinite(try_move(step, way.nodes, way.obstacles, u))) return step;
  return 0;
}

/// One move along the way that is left: straight if no cell inverts and nothing touches on it, else, or if
/// friction drags them along with less energy, with the free nodes out of the way. The share of the way that
/// is made; 0 where there is none.
template <int dim>
double StepSolver<dim>::move_on(const Way& way, SolvedStep& solved) {
  linalg::Vector& u = solved.u;
  if (problem_.periodic) return deform_cell(way, u);
  const bool is_free = objective_.max_step(u, way.nodes, way.obstacles) >= 1;
  if (is_free && !drags(way) && std::isfinite(try_move(1, way.nodes, way.obstacles, u))) return 1;
  const Extension extension = objective_.extend(u, way.nodes, way.obstacles, newton_.interrupted);
  solved.linear_iterations += extension.linear_iterations;
  totals_.linear_iterations += extension.linear_iterations;
  totals_.motion_solves += extension.linear_solves;
  if (extension.interrupted) {
    solved.newton.outcome = newton::NewtonOutcome::interrupted;
    return 0;
  }
  linalg::Vector extended = u;
  if (is_free) {
    const double straight = try_move(1, way.nodes, way.obstacles, u);
    if (std::isfinite(straight)) {
      if (!extension.found || extension.way < 1 || extension.max_step < 1) return 1;
      extended.add(1, extension.motion);
      if (objective_.value(extended) < straight) u.copy_from(extended);
      return 1;
    }
  }
  if (!extension.found) return 0;
  double step = extension.max_step >= 1 ? 1 : move_safety * extension.max_step;
  for (int halving = 0; halving <= max_halvings; ++halving, step /= 2)
    if (std::isfinite(try_move(step, extension.motion, extension.obstacles, u))) return step * extension.way;
  return 0;
}

/// Moves the prescribed entries of u and the obstacles to their targets, in as many moves as it takes, with
/// relaxations of the free nodes in between. Empty if they arrive, else why not.
template <int dim>
std::string StepSolver<dim>::follow_prescribed(const StepTarget& target, SolvedStep& solved) {
  double left = 1;
  for (int move = 1; move <= max_sub_moves; ++move) {
    const double made = move_on(way_left(target, solved.u), solved);
    if (made == 0 && solved.newton.outcome == newton::NewtonOutcome::interrupted)
      return describe_failure(solved.newton, solved.u);
    if (made == 0)
      return "the prescribed motion leads into inverted elements or contact" + describe_state(solved.u);
    ++solved.sub_moves;
    ++totals_.sub_moves;
    left = made < 1 ? left * (1 - made) : 0;
    log_debug("move " + std::to_string(move), {{"made", 1 - left}});
    if (left == 0) {
      // Land on the prescribed values themselves, without rounding.
      problem_.dirichlet->set_values(target.time, target.load_factor, solved.u);
      if (problem_.periodic)
        problem_.periodic->impose(problem_.periodic->displacement_gradient(target.time, target.load_factor),
                                  solved.u);
      if (problem_.contact)
        problem_.contact->set_obstacle_displacement(
            problem_.obstacle_motion(target.time, target.load_factor));
      return "";
    }
    if (move >= first_moves && move > (1 - left) * most_times * max_sub_moves) break;
    newton::NewtonOptions relaxed = newton_;
    relaxed.relative_gradient_tolerance = sub_move_tolerance;
    relaxed.max_iterations = problem_.contact ? sub_move_iterations_in_contact : sub_move_iterations;
    if (!minimize(relaxed, solved) && !solved.newton.ran_out())
      return "on the way to the prescribed values, " + describe_failure(solved.newton, solved.u);
    if (problem_.contact) balance_stiffness(solved.u);
  }
  std::ostringstream text;
  text << "the prescribed values cannot be reached in " << max_sub_moves
       << " moves without inverting an element or touching: " << solved.sub_moves << " have made "
       << 100 * (1 - left) << " % of the way" << describe_state(solved.u);
  return text.str();
}

template std::string StepSolver<2>::follow_prescribed(const StepTarget&, SolvedStep&);
template std::string StepSolver<3>::follow_prescribed(const StepTarget&, SolvedStep&);

} // namespace recoil::solvers

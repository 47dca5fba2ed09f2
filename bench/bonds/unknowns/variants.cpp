#include "bonds/unknowns/variants.hpp"

#include <algorithm>

namespace recoil::bench {

namespace {

// In radii. A penalty on lengths leaves an error of its own where the energy pulls at them: it falls as one
// over the weight.
constexpr double step_tolerance = 1e-6, state_tolerance = 1e-5, bilinear_penalty_error = 1e-2;

} // namespace

Variants::Variants(const solvers::BondedParticles& problem, int max_descent, bool only_projected)
    : degree_zero_(problem, Extension::degree_zero), bilinear_(problem, Extension::bilinear) {
  const double radius = problem.particles->radii[0];
  const auto add = [&](std::string name, Coordinates coordinates, auto solve) {
    all_.push_back({std::move(name), make_unknowns(coordinates, degree_zero_), solve, state_tolerance});
  };
  const Rules rules{step_tolerance * radius, 300, only_projected};
  const auto plain = [rules](Unknowns& unknowns, Points& x, const Points&, Effort& effort) {
    minimise(unknowns, x, rules, {}, effort);
  };
  add("S^3, second order", Coordinates::sphere, plain);
  add("S^3, first order", Coordinates::sphere,
      [descent = Rules{state_tolerance * radius, max_descent}](Unknowns& unknowns, Points& x,
                                                               const Points& solution, Effort& effort) {
        descend(unknowns, x, descent, solution, effort);
      });
  all_.back().may_give_up = true;
  add("rotation vectors since the start of the step", Coordinates::rotation_vectors_of_step, plain);
  add("rotation vectors", Coordinates::rotation_vectors, plain);
  add("rotation vectors, equations", Coordinates::rotation_vectors,
      [rules](Unknowns& unknowns, Points& x, const Points&, Effort& effort) {
        solve_equations(unknowns, x, rules, effort);
      });
  add_quaternions(degree_zero_, "", 0, rules);
  add_quaternions(bilinear_, ", t bilinear", bilinear_penalty_error, rules);
  for (Variant& variant : all_) variant.may_give_up = variant.may_give_up || only_projected;
}

void Variants::add_quaternions(const StepEnergy& energy, const std::string& suffix, double penalty_error,
                               const Rules& rules) {
  const auto add = [&](const std::string& name, double tolerance, auto solve) {
    all_.push_back({name + suffix, make_unknowns(Coordinates::quaternions, energy), solve, tolerance});
  };
  for (const int weight : {1, 100, 10000})
    add("R^4, penalty " + std::to_string(weight) + " k", std::max(state_tolerance, penalty_error / weight),
        [rules, weight](Unknowns& unknowns, Points& x, const Points&, Effort& effort) {
          minimise(unknowns, x, rules, {weight * unknowns.energy().stiffness(), {}}, effort);
        });
  add("R^4, augmented Lagrangian 1 k", state_tolerance,
      [rules](Unknowns& unknowns, Points& x, const Points&, Effort& effort) {
        minimise_augmented(unknowns, x, rules, unknowns.energy().stiffness(), effort);
      });
  for (const SaddleSolver solver : {SaddleSolver::projected_cg, SaddleSolver::minres})
    add(solver == SaddleSolver::minres ? "R^4, multipliers, MINRES" : "R^4, multipliers, projected CG",
        state_tolerance, [rules, solver](Unknowns& unknowns, Points& x, const Points&, Effort& effort) {
          solve_with_multipliers(unknowns, x, rules, solver, effort);
        });
}

void Variants::begin_step(const Points& from, const Points& target, double dt) {
  for (StepEnergy* energy : {&degree_zero_, &bilinear_}) energy->begin_step(target, dt);
  for (Variant& variant : all_) variant.unknowns->begin_step(from);
}

} // namespace recoil::bench

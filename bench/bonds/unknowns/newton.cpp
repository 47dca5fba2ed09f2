#include "bonds/unknowns/newton.hpp"

#include <algorithm>
#include <cmath>

#include "bonds/unknowns/krylov.hpp"

namespace recoil::bench {

using Eigen::VectorXd;
using newton::Projection;

namespace {

constexpr double armijo = 1e-4;
constexpr int max_backtracks = 40;
/// Predicted decreases below this share of the value drown in its round-off.
constexpr double resolution = 1e-12;
constexpr double largest_tolerance = 0.5, smallest_tolerance = 1e-10;
constexpr int max_multiplier_updates = 60;
/// Of the first minimisation of an augmented Lagrangian, in radii.
constexpr double first_tolerance = 1e-2;
/// Of nu above the largest multiplier.
constexpr double penalty_margin = 1.1;

double norm(const VectorXd& g, const VectorXd& mass) {
  return std::sqrt((g.array().square() / mass.array()).sum());
}

double linear_tolerance(double size, double first) {
  return std::clamp(std::sqrt(size / first), smallest_tolerance, largest_tolerance);
}

struct Step {
  double share = 0; ///< of the direction; 0 for none that can be accepted
  Points x;         ///< where it leads
  double merit = 0;
};

/// The first of s = first, first / 2, .. with merit(x moved by s d) <= before + armijo s slope. Where the
/// first fails, correct(its end) is tried, too, if it changes anything.
template <class Merit, class Correct>
Step search(const Unknowns& unknowns, const Points& x, const VectorXd& d, double slope, double before,
            double first, const Merit& merit, Effort& effort, const Correct& correct) {
  const bool drowns = -slope < resolution * std::abs(before);
  Step step{first, {}, 0};
  const auto is_accepted = [&] {
    step.merit = merit(step.x);
    ++effort.energies;
    return drowns || step.merit <= before + armijo * step.share * slope;
  };
  for (int k = 0; k < max_backtracks; ++k, step.share /= 2) {
    step.x = unknowns.moved(x, d, step.share);
    if (is_accepted()) return step;
    if (k == 0 && correct(step.x) && is_accepted()) return step;
  }
  return {};
}

constexpr auto no_correction = [](Points&) { return false; };

/// Second-order correction against the Maratos effect: one Newton step of each quaternion towards unit
/// length.
bool correct_lengths(Points& x) {
  for (LocalIndex k = 0; k < LocalIndex(x.size() / 7); ++k) {
    potentials::Particle at = solvers::particle_at(x, k);
    const double square = at.q.squaredNorm();
    at.q -= (square - 1) / (2 * square) * at.q;
    solvers::set_particle(x, k, at);
  }
  return true;
}

/// Minimises from x until the last step is below the rules' tolerance; `first` is the gradient norm at the
/// start of the time step, taken here if it is 0.
void minimise_from(Unknowns& unknowns, Points& x, const Rules& rules, const LengthTerms& lengths,
                   double& first, Effort& effort) {
  const VectorXd mass = unknowns.mass();
  const auto merit = [&](const Points& at) { return unknowns.value(at, lengths); };
  const auto multiply = [&](const VectorXd& y, VectorXd& Hy) { unknowns.multiply(y, Hy); };
  const auto precondition = [&](const VectorXd& r, VectorXd& z) { unknowns.precondition(r, z); };
  VectorXd g, d, r;
  double value = merit(x);
  ++effort.energies;
  for (int iteration = 0; iteration < rules.max_iterations; ++iteration) {
    unknowns.gradient(x, lengths, g);
    const double size = norm(g, mass);
    if (first == 0) first = size;
    if (size == 0) return;
    Step step;
    for (const Projection projection : {Projection::none, Projection::per_element}) {
      if (projection == Projection::none && rules.only_projected) continue;
      if (!unknowns.assemble(x, lengths, projection, nullptr)) continue;
      r = -g;
      d.setZero(g.size());
      const KrylovResult solved =
          conjugate_gradients(multiply, precondition, r, d, linear_tolerance(size, first));
      effort.linear += solved.iterations;
      const double slope = g.dot(d);
      if (solved.indefinite || !(slope < 0)) continue;
      step = search(unknowns, x, d, slope, value, unknowns.max_step(d), merit, effort, no_correction);
      if (step.share == 0) continue;
      effort.projected += projection == Projection::per_element;
      break;
    }
    if (step.share == 0) break;
    x = std::move(step.x);
    value = step.merit;
    ++effort.newton;
    if (d.lpNorm<Eigen::Infinity>() <= rules.tolerance) return;
  }
  effort.converged = false;
}

/// Multipliers for which the gradient along the quaternions vanishes.
VectorXd least_squares_multipliers(const VectorXd& g, const Points& x, const Unknowns& unknowns) {
  VectorXd result = VectorXd::Zero(unknowns.energy().num_particles());
  for (LocalIndex k = 0; k < result.size(); ++k) {
    const geometry::Quaternion q = solvers::particle_at(x, k).q;
    result[k] = -q.dot(g.segment<4>(7 * k + 3)) / q.squaredNorm();
  }
  return result;
}

} // namespace

void minimise(Unknowns& unknowns, Points& x, const Rules& rules, const LengthTerms& lengths, Effort& effort) {
  double first = 0;
  minimise_from(unknowns, x, rules, lengths, first, effort);
}

void minimise_augmented(Unknowns& unknowns, Points& x, const Rules& rules, double weight, Effort& effort) {
  VectorXd g;
  unknowns.gradient(x, {}, g);
  LengthTerms lengths{weight, least_squares_multipliers(g, x, unknowns)};
  double first = 0;
  Rules inner = rules;
  inner.tolerance = std::max(rules.tolerance, first_tolerance * unknowns.radius(0));
  for (int k = 0; k < max_multiplier_updates; ++k) {
    minimise_from(unknowns, x, inner, lengths, first, effort);
    if (!effort.converged) return;
    const VectorXd c = unknowns.constraints(x);
    const double violation = c.lpNorm<Eigen::Infinity>();
    if (inner.tolerance <= rules.tolerance && violation <= rules.tolerance) return;
    lengths.multipliers += weight * c;
    inner.tolerance = std::max(rules.tolerance, std::min(inner.tolerance, violation) / 10);
  }
  effort.converged = false;
}

void solve_with_multipliers(Unknowns& unknowns, Points& x, const Rules& rules, SaddleSolver solver,
                            Effort& effort) {
  const VectorXd mass = unknowns.mass();
  VectorXd g;
  unknowns.gradient(x, {}, g);
  LengthTerms lengths{0, least_squares_multipliers(g, x, unknowns)};
  double first = 0, nu = 0, value = unknowns.value(x, {});
  ++effort.energies;
  for (int iteration = 0; iteration < rules.max_iterations; ++iteration) {
    Constraints constraints(unknowns, x);
    const double violation = constraints.values.lpNorm<1>();
    unknowns.gradient(x, {}, g);
    const VectorXd residual = g + constraints.times(lengths.multipliers);
    const double size = std::hypot(norm(residual, mass), std::sqrt(mass[3]) * constraints.values.norm());
    if (first == 0) first = size;
    if (size == 0) return;
    Step step;
    SaddlePoint saddle;
    for (const Projection projection : {Projection::none, Projection::per_element}) {
      if (projection == Projection::none && rules.only_projected) continue;
      if (!unknowns.assemble(x, lengths, projection, &constraints.normals)) continue;
      saddle = solve_saddle_point(solver, unknowns, constraints, g, lengths.multipliers,
                                  linear_tolerance(size, first));
      effort.linear += saddle.solved.iterations;
      nu = std::max(nu, penalty_margin * saddle.multipliers.lpNorm<Eigen::Infinity>());
      const double slope =
          g.dot(saddle.d) + nu * ((constraints.values + constraints.along(saddle.d)).lpNorm<1>() - violation);
      if (saddle.solved.indefinite || !(slope < 0)) continue;
      const auto merit = [&](const Points& at) {
        return unknowns.value(at, {}) + nu * unknowns.constraints(at).lpNorm<1>();
      };
      step = search(unknowns, x, saddle.d, slope, value + nu * violation, unknowns.max_step(saddle.d), merit,
                    effort, correct_lengths);
      if (step.share == 0) continue;
      effort.projected += projection == Projection::per_element;
      break;
    }
    if (step.share == 0) break;
    x = std::move(step.x);
    value = step.merit - nu * unknowns.constraints(x).lpNorm<1>();
    lengths.multipliers += step.share * (saddle.multipliers - lengths.multipliers);
    ++effort.newton;
    if (saddle.d.lpNorm<Eigen::Infinity>() <= rules.tolerance) return;
  }
  effort.converged = false;
}

void solve_equations(Unknowns& unknowns, Points& x, const Rules& rules, Effort& effort) {
  const VectorXd mass = unknowns.mass();
  VectorXd g, d;
  const auto merit = [&](const Points& at) {
    VectorXd there;
    unknowns.gradient(at, {}, there);
    return std::pow(norm(there, mass), 2) / 2;
  };
  double first = 0;
  for (int iteration = 0; iteration < rules.max_iterations; ++iteration) {
    unknowns.gradient(x, {}, g);
    const double size = norm(g, mass);
    if (first == 0) first = size;
    if (size == 0) return;
    if (!unknowns.assemble(x, {}, Projection::none, nullptr)) break;
    g = -g;
    const KrylovResult solved = minres([&](const VectorXd& y, VectorXd& Hy) { unknowns.multiply(y, Hy); },
                                       [&](const VectorXd& r, VectorXd& z) { unknowns.precondition(r, z); },
                                       g, d, linear_tolerance(size, first));
    effort.linear += solved.iterations;
    // The derivative of the merit is -g' M^-1 H d, H d = -g but for the residual of the solve.
    VectorXd Hd;
    unknowns.multiply(d, Hd);
    const double slope = -g.cwiseQuotient(mass).dot(Hd);
    if (!(slope < 0)) break;
    Step step =
        search(unknowns, x, d, slope, size * size / 2, unknowns.max_step(d), merit, effort, no_correction);
    if (step.share == 0) break;
    x = std::move(step.x);
    ++effort.newton;
    if (d.lpNorm<Eigen::Infinity>() <= rules.tolerance) return;
  }
  effort.converged = false;
}

void descend(Unknowns& unknowns, Points& x, const Rules& rules, const Points& solution, Effort& effort) {
  const VectorXd mass = unknowns.mass();
  const auto merit = [&](const Points& at) { return unknowns.value(at, {}); };
  VectorXd g;
  double share = 0.5, value = merit(x);
  ++effort.energies;
  for (int iteration = 0; iteration < rules.max_iterations; ++iteration) {
    if (distance(unknowns, x, solution) <= rules.tolerance) return;
    unknowns.gradient(x, {}, g);
    const VectorXd d = -g.cwiseQuotient(mass);
    Step step = search(unknowns, x, d, g.dot(d), value, std::min(2 * share, unknowns.max_step(d)), merit,
                       effort, no_correction);
    if (step.share == 0) break;
    share = step.share;
    value = step.merit;
    x = std::move(step.x);
    ++effort.newton;
  }
  effort.converged = false;
}

double distance(const Unknowns& unknowns, const Points& x, const Points& y) {
  double largest = 0;
  for (LocalIndex k = 0; k < unknowns.energy().num_particles(); ++k) {
    const potentials::Particle a = solvers::particle_at(x, k), b = solvers::particle_at(y, k);
    const Eigen::Vector3d turn =
        geometry::quaternion_logarithm(geometry::product(geometry::conjugate(a.q), b.q).normalized());
    largest = std::max({largest, (a.p - b.p).norm(), unknowns.radius(k) * turn.norm()});
  }
  return largest;
}

} // namespace recoil::bench

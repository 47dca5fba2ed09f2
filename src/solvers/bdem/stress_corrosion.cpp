#include "recoil/solvers/bdem/stress_corrosion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace recoil::solvers {

namespace {

/// sigma over sigma_c from which on a bond has failed: rounding of the forces must not keep it.
constexpr double failed = 1 - 1e-9;

CorrodingBond bond_at(const BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  const potentials::BondForces forces = problem.bonds->forces_of(bond, u);
  const StressCorrosion& corrosion = *problem.corrosion;
  return {forces.normal,
          problem.bonds->form(bond).stress_moments() * forces.bending,
          problem.strength->tensile[bond],
          problem.strength->separate_terms[bond] != 0,
          corrosion.rate[bond],
          corrosion.exponent[bond],
          corrosion.threshold[bond]};
}

/// The largest number up to which a condition holds that holds at `less` and not at `more`.
template <class Condition>
double bisect(double less, double more, Condition condition) {
  for (;;) {
    const double middle = less + (more - less) / 2;
    if (middle <= less || middle >= more) return less;
    (condition(middle) ? less : more) = middle;
  }
}

/// The stress grows as the radius falls.
double radius_of_failure(const CorrodingBond& bond, double radius) {
  if (bond.stress_ratio(radius) >= failed) return radius;
  return bisect(radius * 1e-9, radius, [&](double r) { return bond.stress_ratio(r) >= failed; });
}

} // namespace

double CorrodingBond::stress_ratio(double radius) const {
  const double area = std::numbers::pi * radius * radius, by_force = normal / area,
               by_moment = 4 * bending / (area * radius);
  return (separate ? std::max(by_force, by_moment) : by_force + by_moment) / strength;
}

/// The time that it takes is the integral of -1 / (dr/dt) over the radius, by Simpson's rule in parts in
/// which the exponent changes by little.
double radius_after(const CorrodingBond& bond, double radius, double duration) {
  if (bond.rate == 0 || !(bond.stress_ratio(radius) > bond.threshold)) return radius;
  const auto slowness = [&](double r) {
    return std::exp(-bond.exponent * std::min(bond.stress_ratio(r), 1.0)) / bond.rate;
  };
  const auto time_between = [&](double from, double to) {
    return (from - to) / 6 * (slowness(from) + 4 * slowness((from + to) / 2) + slowness(to));
  };
  const double end = radius_of_failure(bond, radius), parts = std::ceil(16 + 4 * bond.exponent);
  double left = duration, from = radius;
  for (int part = 1; part <= parts; ++part) {
    const double to = part == parts ? end : radius + (end - radius) * part / parts,
                 time = time_between(from, to);
    if (time > left) return bisect(to, from, [&](double r) { return time_between(from, r) > left; });
    left -= time;
    from = to;
  }
  return end;
}

ShrunkSections shrunk_sections(const BondedParticles& problem, std::span<const double> shares,
                               std::span<const double> u, double dt) {
  ShrunkSections result;
  result.shares.assign(shares.begin(), shares.end());
  for (LocalIndex bond = 0; bond < std::ssize(shares); ++bond) {
    if (problem.bonds->is_broken(bond)) continue;
    const CorrodingBond at = bond_at(problem, bond, u);
    const double radius = problem.bonds->section_radius(bond), after = radius_after(at, radius, dt);
    result.shares[bond] *= after / radius;
    if (at.rate > 0 && at.stress_ratio(after) >= failed) result.failed.push_back({bond, after});
  }
  return result;
}

} // namespace recoil::solvers

#include "recoil/solvers/bdem/critical_time_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace recoil::solvers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The two smallest masses of spheres that move, infinite where there are fewer. Collective.
std::array<double, 2> lightest(const BondedParticles& problem) {
  std::array<double, 2> own{infinity, infinity};
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k) {
    const auto shifts = problem.prescribed.begin() + 6 * std::size_t(k);
    if (std::all_of(shifts, shifts + 3, [](char flag) { return flag != 0; })) continue;
    const double m = problem.mass[k];
    own = m < own[0] ? std::array{m, own[0]} : std::array{own[0], std::min(m, own[1])};
  }
  std::vector<double> all = problem.particles->points->comm->all_gather(std::span<const double>(own));
  std::ranges::sort(all);
  return {all[0], all[1]};
}

double damping_time(const BondedParticles& problem, LocalIndex bond) {
  return problem.bond_damping ? problem.bond_damping->damping_time(bond) : 0;
}

double undamped_time_step(const BondedParticles& problem, LocalIndex bond) {
  constexpr double largest_eigenvalue = 17.9;
  const auto& ends = problem.particles->bonds[bond];
  const double m = std::min(problem.mass[ends.a], problem.mass[ends.b]),
               stiffer = std::max(problem.bonds->form(bond).shear_correction, 1.0);
  return 2 / std::sqrt(stiffer * largest_eigenvalue * problem.bonds->stiffness(bond).stretch / m);
}

/// The least of a time of every bond, infinite without any. Collective.
template <class Time>
double shortest_of_bonds(const BondedParticles& problem, Time time) {
  double shortest = infinity;
  for (LocalIndex bond = 0; bond < std::ssize(problem.particles->bonds); ++bond)
    shortest = std::min(shortest, time(bond));
  return problem.particles->points->comm->min(shortest);
}

double largest_radius(const BondedParticles& problem) {
  double largest = 0;
  for (const double r : problem.particles->radii) largest = std::max(largest, r);
  return problem.particles->points->comm->max(largest);
}

} // namespace

double critical_time_step(const BondedParticles& problem, LocalIndex bond) {
  const double T = undamped_time_step(problem, bond), tau = damping_time(problem, bond);
  return tau > 0 ? T * T / (tau + std::hypot(tau, T)) : T;
}

double bond_time_scale(const BondedParticles& problem, double dt) {
  return shortest_of_bonds(problem, [&](LocalIndex bond) {
    return undamped_time_step(problem, bond) / std::sqrt(1 + damping_time(problem, bond) / dt);
  });
}

double bond_time_step(const BondedParticles& problem) {
  return shortest_of_bonds(problem, [&](LocalIndex bond) { return critical_time_step(problem, bond); });
}

double contact_time_step(const BondedParticles& problem) {
  if (!problem.contact) return infinity;
  constexpr double share_of_contact = 0.17;
  constexpr int triangles_like_one = 4;
  const auto [first, second] = lightest(problem);
  const int triangles = problem.contact->most_triangles_at_once(largest_radius(problem));
  const double inverse = std::max(1 / first + 1 / second, triangles / (triangles_like_one * first));
  return share_of_contact * std::numbers::pi / std::sqrt(problem.barrier->stiffness() * inverse);
}

double critical_time_step(const BondedParticles& problem) {
  return std::min(bond_time_step(problem), contact_time_step(problem));
}

double undamped_time_step(const BondedParticles& problem) {
  const double of_bonds =
      shortest_of_bonds(problem, [&](LocalIndex bond) { return undamped_time_step(problem, bond); });
  return std::min(of_bonds, contact_time_step(problem));
}

} // namespace recoil::solvers

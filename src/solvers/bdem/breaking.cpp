#include "solvers/bdem/breaking.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

namespace {

/// The terms of the stresses at the rim of the section [Pa].
struct Terms {
  double normal, bending, shear, twist;
};

Terms terms_of(const BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  const potentials::BondForces forces = problem.bonds->forces_of(bond, u);
  const double r = problem.bonds->material().section_radius[bond], area = std::numbers::pi * r * r,
               inertia = area * r * r / 4;
  return {forces.normal / area, forces.bending * r / inertia, forces.shear / area,
          forces.twist * r / (2 * inertia)};
}

struct Stress {
  double sigma = 0, tau = 0;     ///< [Pa]
  double tension = 0, shear = 0; ///< over strengths
  double ratio() const { return std::max(tension, shear); }
};

Stress stress_of(const BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  const auto [normal, bending, shear, twist] = terms_of(problem, bond, u);
  const BondStrength& strength = *problem.strength;
  const double cohesion = strength.shear[bond] + strength.tan_friction[bond] * std::max(-normal, 0.0);
  Stress stress{normal + bending, shear + twist};
  if (strength.separate_terms[bond] != 0) {
    stress.tension = std::max(normal, bending) / strength.tensile[bond];
    stress.shear = std::max(shear, twist) / cohesion;
  } else {
    stress.tension = stress.sigma / strength.tensile[bond];
    stress.shear = stress.tau / cohesion;
  }
  return stress;
}

BrokenBond record_of(const BondedParticles& problem, LocalIndex bond, const Stress& stress,
                     std::span<const double> u, double time) {
  const auto& [a, b, id] = problem.particles->bonds[bond];
  return {id,
          time,
          (particle_at(u, a).p + particle_at(u, b).p) / 2,
          stress.sigma,
          stress.tau,
          problem.bonds->energy_of(bond, u),
          stress.tension >= stress.shear};
}

void sever(BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  problem.bonds->break_bond(bond);
  if (problem.contact) problem.contact->pairs.separate(bond, u);
}

} // namespace

std::array<double, 2> bond_stresses(const BondedParticles& problem, LocalIndex bond,
                                    std::span<const double> u) {
  const auto [normal, bending, shear, twist] = terms_of(problem, bond, u);
  return {normal + bending, shear + twist};
}

std::vector<BrokenBond> break_overstressed(BondedParticles& problem, std::span<const double> u, double share,
                                           double time) {
  std::vector<BrokenBond> broken;
  if (!problem.strength) return broken;
  const auto& particles = *problem.particles;
  const LocalIndex num_bonds = particles.bonds.size();
  std::vector<Stress> stresses(num_bonds);
  double largest = 0;
  for (LocalIndex bond = 0; bond < num_bonds; ++bond) {
    if (problem.bonds->is_broken(bond)) continue;
    stresses[bond] = stress_of(problem, bond, u);
    largest = std::max(largest, stresses[bond].ratio());
  }
  largest = particles.points->comm->max(largest);
  if (largest < 1) return broken;
  for (LocalIndex bond = 0; bond < num_bonds; ++bond) {
    const Stress& stress = stresses[bond];
    if (problem.bonds->is_broken(bond) || stress.ratio() < std::max(1.0, share * largest)) continue;
    sever(problem, bond, u);
    if (particles.owns(particles.bonds[bond])) broken.push_back(record_of(problem, bond, stress, u, time));
  }
  return broken;
}

std::vector<BrokenBond> break_bonds(BondedParticles& problem, std::span<const LocalIndex> bonds,
                                    std::span<const double> u, double time) {
  std::vector<BrokenBond> broken;
  for (const LocalIndex bond : bonds) {
    sever(problem, bond, u);
    if (problem.particles->owns(problem.particles->bonds[bond]))
      broken.push_back(record_of(problem, bond, stress_of(problem, bond, u), u, time));
  }
  return broken;
}

} // namespace recoil::solvers

#include "solvers/bdem/breaking.hpp"

#include <algorithm>

#include "solvers/bdem/particle_manifold.hpp"
#include "solvers/bdem/stress_ratio.hpp"

namespace recoil::solvers {

namespace {

/// In the cell.
Eigen::Vector3d middle_of(const BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  const auto& [a, b, id] = problem.particles->bonds[bond];
  const Eigen::Vector3d middle = (particle_at(u, a).p + particle_at(u, b).p + problem.bonds->image(bond)) / 2;
  if (!problem.cell_motion) return middle;
  return problem.cell_motion->cell().wrapped(middle, problem.cell_motion->now());
}

/// The stresses are those of the forces in a section of this radius.
BrokenBond record_of_break(const BondedParticles& problem, LocalIndex bond, bool by_tension,
                           std::span<const double> u, double time, double radius) {
  const GlobalIndex id = problem.particles->bonds[bond].id;
  const double integrity = problem.bonds->integrity(bond);
  const auto [sigma, tau] = bond_stresses(problem, bond, problem.bonds->forces_of(bond, u), radius);
  return {id,
          time,
          middle_of(problem, bond, u),
          integrity * sigma,
          integrity * tau,
          integrity * problem.bonds->energy_of(bond, u),
          by_tension};
}

/// What breaks a bond, as of the sound one.
StressRatio ratio_at(const BondedParticles& problem, LocalIndex bond, std::span<const double> u) {
  return stress_ratio(problem, bond, problem.bonds->forces_of(bond, u));
}

/// Severs a bond, and adds its record if this rank counts it.
void sever(BondedParticles& problem, LocalIndex bond, const BrokenBond& record, std::span<const double> u,
           std::vector<BrokenBond>& broken) {
  if (problem.particles->owns(problem.particles->bonds[bond])) broken.push_back(record);
  problem.bonds->break_bond(bond);
  if (problem.contact) problem.contact->separate(bond, u);
}

} // namespace

BrokenBond record_of_break(const BondedParticles& problem, LocalIndex bond, bool by_tension,
                           std::span<const double> u, double time) {
  return record_of_break(problem, bond, by_tension, u, time, problem.bonds->section_radius(bond));
}

std::vector<BrokenBond> break_overstressed(BondedParticles& problem, std::span<const double> u, double share,
                                           double time) {
  std::vector<BrokenBond> broken;
  if (!problem.strength) return broken;
  const auto& particles = *problem.particles;
  const LocalIndex num_bonds = particles.bonds.size();
  std::vector<StressRatio> ratios(num_bonds);
  double largest = 0;
  for (LocalIndex bond = 0; bond < num_bonds; ++bond) {
    if (problem.bonds->is_broken(bond)) continue;
    ratios[bond] = ratio_at(problem, bond, u);
    largest = std::max(largest, ratios[bond].value);
  }
  largest = particles.points->comm->max(largest);
  if (largest < 1) return broken;
  for (LocalIndex bond = 0; bond < num_bonds; ++bond)
    if (!problem.bonds->is_broken(bond) && ratios[bond].value >= std::max(1.0, share * largest))
      sever(problem, bond, record_of_break(problem, bond, ratios[bond].by_tension, u, time), u, broken);
  return broken;
}

std::vector<BrokenBond> break_bonds(BondedParticles& problem, std::span<const LocalIndex> bonds,
                                    std::span<const double> u, double time) {
  std::vector<BrokenBond> broken;
  for (const LocalIndex bond : bonds)
    sever(problem, bond, record_of_break(problem, bond, ratio_at(problem, bond, u).by_tension, u, time), u,
          broken);
  return broken;
}

std::vector<BrokenBond> break_corroded(BondedParticles& problem, std::span<const CorrodedBond> bonds,
                                       std::span<const double> u, double time) {
  std::vector<BrokenBond> broken;
  for (const auto& [bond, radius] : bonds)
    sever(problem, bond, record_of_break(problem, bond, true, u, time, radius), u, broken);
  return broken;
}

} // namespace recoil::solvers

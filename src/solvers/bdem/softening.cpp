#include "recoil/solvers/bdem/softening.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/particles/bond_values.hpp"
#include "solvers/bdem/stress_ratio.hpp"

namespace recoil::solvers {

namespace {

constexpr double residual = 1e-6;

/// 1 / (1 + exp((kappa - 1) / w)), without overflow.
double logistic(double kappa, double width) { return (1 - std::tanh((kappa - 1) / (2 * width))) / 2; }

/// (1 - r) over the value at kappa = 0.
double scale(double width) { return (1 - residual) * (1 + std::exp(-1 / width)); }

template <class Arrays>
Arrays internal_arrays(const BondedParticles& problem) {
  std::vector<parameters::Quantity> quantities{potentials::bond_integrity};
  if (problem.contact) quantities.push_back(potentials::bond_distance);
  return Arrays(sizes_of(problem), quantities);
}

} // namespace

double integrity_at(double kappa, double width) { return residual + scale(width) * logistic(kappa, width); }

double integrity_slope(double kappa, double width) {
  const double s = logistic(kappa, width);
  return -scale(width) / width * s * (1 - s);
}

void set_damage(potentials::BondPotential& bonds, std::span<const double> kappa, double width) {
  for (std::size_t bond = 0; bond < kappa.size(); ++bond)
    bonds.set_integrity(LocalIndex(bond), integrity_at(kappa[bond], width), kappa[bond] >= 1);
}

std::vector<double> sound_internal(const BondedParticles& problem) {
  const LocalIndex num_bonds = LocalIndex(problem.particles->bonds.size());
  if (problem.corrodes()) return std::vector(num_bonds, 1.0);
  if (!problem.softens()) return {};
  std::vector<double> internal(num_bonds, 0.0);
  for (LocalIndex bond = 0; bond < num_bonds && problem.contact; ++bond)
    internal.push_back(problem.contact->sum_of_radii(bond));
  return internal;
}

std::span<const double> springs_of(const BondedParticles& problem, std::span<const double> internal) {
  const std::size_t num_bonds = problem.particles->bonds.size();
  if (problem.corrodes()) return internal.subspan(num_bonds);
  return internal.subspan(problem.softens() ? (problem.contact ? 2 : 1) * num_bonds : 0);
}

void set_internal(const BondedParticles& problem, std::span<const double> internal) {
  const std::span<const double> springs = springs_of(problem, internal),
                                of_bonds = internal.first(internal.size() - springs.size());
  for (std::size_t bond = 0; problem.corrodes() && bond < of_bonds.size(); ++bond)
    problem.bonds->set_section_share(LocalIndex(bond), of_bonds[bond]);
  const std::span<const double> kappa = damage_of(problem, internal);
  set_damage(*problem.bonds, kappa, problem.damage_width);
  if (problem.softens() && problem.contact)
    std::ranges::copy(of_bonds.subspan(kappa.size()), problem.contact->bond_distances().begin());
  if (problem.has_springs()) problem.friction->set_springs_at_start(potentials::unpacked(springs));
}

parameters::PhysicalDirection<3> internal_direction(const BondedParticles& problem,
                                                    std::span<const double> internal,
                                                    std::span<const double> ds) {
  auto direction = internal_arrays<parameters::PhysicalDirection<3>>(problem);
  std::vector<double>& integrity = direction.numbers(potentials::bond_integrity);
  for (std::size_t bond = 0; bond < integrity.size(); ++bond)
    integrity[bond] = ds[bond] * integrity_slope(internal[bond], problem.damage_width);
  if (std::vector<double>* distance = direction.find_numbers(potentials::bond_distance))
    std::ranges::copy(ds.subspan(integrity.size()), distance->begin());
  return direction;
}

parameters::PhysicalGradient<3> internal_gradient(const BondedParticles& problem) {
  return internal_arrays<parameters::PhysicalGradient<3>>(problem);
}

void add_by_internal(const BondedParticles& problem, std::span<const double> internal,
                     parameters::PhysicalGradient<3>& gradient, std::span<double> by_internal) {
  const std::vector<double>& by_integrity = gradient.numbers(potentials::bond_integrity);
  const std::size_t num_bonds = by_integrity.size();
  for (std::size_t bond = 0; bond < num_bonds; ++bond)
    by_internal[bond] += integrity_slope(internal[bond], problem.damage_width) * by_integrity[bond];
  std::vector<double>* by_distance = gradient.find_numbers(potentials::bond_distance);
  if (!by_distance) return;
  // One of the ranks that hold a bond has its pair.
  particles::sum_bond_values(*problem.particles, *by_distance);
  for (std::size_t bond = 0; bond < num_bonds; ++bond) by_internal[num_bonds + bond] += (*by_distance)[bond];
}

std::vector<double> grown_damage(const BondedParticles& problem, std::span<const double> kappa,
                                 std::span<const double> u) {
  std::vector<double> grown(kappa.begin(), kappa.end());
  for (std::size_t bond = 0; bond < kappa.size(); ++bond) {
    const auto forces = problem.bonds->forces_of(LocalIndex(bond), u);
    grown[bond] = std::max(kappa[bond], stress_ratio(problem, LocalIndex(bond), forces).value);
  }
  return grown;
}

std::vector<DamageGrowth> damage_growth(const BondedParticles& problem, std::span<const double> before,
                                        std::span<const double> after, std::span<const double> u) {
  std::vector<DamageGrowth> all;
  for (LocalIndex bond = 0; bond < std::ssize(before); ++bond) {
    if (after[bond] == before[bond]) continue;
    const potentials::BondPotential& bonds = *problem.bonds;
    const StressRatio ratio = stress_ratio(problem, bond, bonds.forces_of(bond, u));
    const auto weights = [](const potentials::BondForces& of) {
      return Eigen::Vector4d(of.normal, of.shear, of.twist, of.bending);
    };
    const Eigen::Vector4d by_forces = weights(ratio.by_forces);
    const auto [by_E, by_nu] = bonds.forces_by_moduli(bond, u);
    all.push_back({bond, bonds.force_gradients_of(bond, u) * by_forces, by_forces.dot(weights(by_E)),
                   by_forces.dot(weights(by_nu)), ratio.by_tensile, ratio.by_shear});
  }
  return all;
}

std::vector<Separation> separations(const BondedParticles& problem, std::span<const double> before,
                                    std::span<const double> after, std::span<const double> u) {
  std::vector<Separation> all;
  if (!problem.contact) return all;
  for (LocalIndex bond = 0; bond < std::ssize(before); ++bond) {
    if (before[bond] >= 1 || after[bond] < 1) continue;
    const Eigen::Vector3d by_a = problem.contact->separation_gradient(bond, u);
    Separation& next = all.emplace_back(bond, Eigen::Matrix<double, 12, 1>::Zero());
    next.by_ends.segment<3>(0) = by_a;
    next.by_ends.segment<3>(6) = -by_a;
  }
  return all;
}

} // namespace recoil::solvers

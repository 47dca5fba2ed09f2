#pragma once

#include <span>
#include <vector>

#include "recoil/solvers/bdem/problem.hpp"

/// Bonds that soften: with kappa the largest ratio of stress to strength that a bond has seen at the end of a
/// step, of the stresses that it would bear if it were sound, its integrity is
///
///     1 - d(kappa) = r + (1 - r) (1 + exp(-1/w)) / (1 + exp((kappa - 1)/w)),
///
/// a logistic curve of width w (BondedParticles::damage_width), 1 at kappa = 0, and r = 1e-6 what is left of
/// a severed bond, so that pieces at rest have one place to be. The internal variables of states are kappa of
/// all bonds of a rank and, with contact, after these the least distances [m] of their ends, which are of use
/// from kappa = 1 on (SphereContact::separate); those of bonds that corrode are in stress_corrosion.hpp. All
/// ranks that hold a bond have the same numbers.
namespace recoil::solvers {

/// 1 - d, and its derivative by kappa.
double integrity_at(double kappa, double width);
double integrity_slope(double kappa, double width);

/// Gives all bonds of this rank their integrity; they count as broken from kappa = 1 on.
void set_damage(potentials::BondPotential& bonds, std::span<const double> kappa, double width);

/// The internal variables of a body that nothing has pulled at, without springs of contacts; none without
/// softening and corrosion.
std::vector<double> sound_internal(const BondedParticles& problem);
/// kappa among internal variables.
inline std::span<const double> damage_of(const BondedParticles& problem, std::span<const double> internal) {
  return internal.first(problem.softens() ? problem.particles->bonds.size() : 0);
}
/// The springs of contacts among internal variables, after those of bonds: those of owned first particles, as
/// potentials::packed() has them; none without Mindlin's law.
std::span<const double> springs_of(const BondedParticles& problem, std::span<const double> internal);
/// Gives bonds their integrity and contact the least distances of their ends, or bonds their sections, and
/// friction the springs that the next step starts from.
void set_internal(const BondedParticles& problem, std::span<const double> internal);

/// The change of bond_integrity and, with contact, of bond_distance [m] at the start of a step where the
/// internal variables are `internal` and change by `ds`, as many as State::internal. Not collective.
parameters::PhysicalDirection<3> internal_direction(const BondedParticles& problem,
                                                    std::span<const double> internal,
                                                    std::span<const double> ds);
/// A gradient by bond_integrity and, with contact, bond_distance: zeros. Not collective.
parameters::PhysicalGradient<3> internal_gradient(const BondedParticles& problem);
/// by_internal += the transpose of internal_direction() times what `gradient` has got. Collective.
void add_by_internal(const BondedParticles& problem, std::span<const double> internal,
                     parameters::PhysicalGradient<3>& gradient, std::span<double> by_internal);

/// kappa at the end of a step that leads to u, the larger one of what it was and of the ratio there. All
/// ranks that hold a bond see the same numbers. Not collective.
std::vector<double> grown_damage(const BondedParticles& problem, std::span<const double> kappa,
                                 std::span<const double> u);

/// How kappa at the end of a step depends on what it is the ratio at, for a bond of which it has grown.
struct DamageGrowth {
  LocalIndex bond;
  Eigen::Matrix<double, 12, 1> by_ends; ///< by the unknowns of its ends, as in BondPotential
  double by_E, by_nu, by_tensile, by_shear;
};

/// Growth of damage of the bonds whose kappa has grown from one state to the next, at u. The ratio is smooth
/// but where the larger one of two stress ratios or terms changes, where a shear, torsion or bending vanishes
/// and where a compression begins; there it is that of one side.
std::vector<DamageGrowth> damage_growth(const BondedParticles& problem, std::span<const double> before,
                                        std::span<const double> after, std::span<const double> u);

/// How the least distance of the ends of a bond that breaks depends on where they are.
struct Separation {
  LocalIndex bond;
  Eigen::Matrix<double, 12, 1> by_ends; ///< by their unknowns, as in BondPotential
};

/// Separations of the bonds that break at the end u of a step, where kappa passes 1; none without contact.
std::vector<Separation> separations(const BondedParticles& problem, std::span<const double> before,
                                    std::span<const double> after, std::span<const double> u);

} // namespace recoil::solvers

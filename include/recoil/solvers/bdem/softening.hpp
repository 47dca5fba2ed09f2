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
/// a severed bond, so that pieces at rest have one place to be. kappa is the internal variable of states.
namespace recoil::solvers {

/// 1 - d, and its derivative by kappa.
double integrity_at(double kappa, double width);
double integrity_slope(double kappa, double width);

/// Gives all bonds of this rank their integrity; they count as broken from kappa = 1 on.
void set_damage(potentials::BondPotential& bonds, std::span<const double> kappa, double width);
inline void set_damage(const BondedParticles& problem, std::span<const double> kappa) {
  set_damage(*problem.bonds, kappa, problem.damage_width);
}

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

/// Of the bonds whose kappa has grown from one state to the next, at u. The ratio is smooth but where the
/// larger one of two stress ratios or terms changes, where a shear, torsion or bending vanishes and where a
/// compression begins; there it is that of one side.
std::vector<DamageGrowth> damage_growth(const BondedParticles& problem, std::span<const double> before,
                                        std::span<const double> after, std::span<const double> u);

} // namespace recoil::solvers

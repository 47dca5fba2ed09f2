#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "recoil/geometry/friction_smoothing.hpp"
#include "recoil/potentials/spheres/sphere_contact.hpp"

namespace recoil::potentials {

/// The tangential spring of a pair in contact [Mindlin 1949]: stretched by s [m] it pulls with k s, where k =
/// 8 G* a [N/m], a the radius of the contact of Hertz' law.
struct PairSpring {
  Eigen::Vector3d stretch = Eigen::Vector3d::Zero(); ///< of the side a against the other, in space
  double stiffness = 0;
  double energy() const { return stiffness * stretch.squaredNorm() / 2; }
};

/// The spring of a pair that now has the normal n and the stiffness k: in the plane of the contact, as long
/// as it was. Where k has grown it keeps its force, the area that came to the contact being free of stress;
/// where k has fallen it keeps its stretch, and what the area bore is lost [Walton 1987; Thornton, Cummins,
/// Cleary 2013, Powder Technology 233]. Either way its energy does not grow.
PairSpring carried_over(const PairSpring& spring, const Eigen::Vector3d& n, double k);

/// Friction in the terms of geometry::friction_f0 as a spring that yields where it is stretched by eta:
/// y^2/(2 eta) below, y - eta/2 from there on, C^1. Unlike what a speed smooths it bears a load at rest
/// without creep.
inline constexpr geometry::SlidingLaw yielding_spring{
    [](double y, double eta) { return y >= eta ? y - eta / 2 : y * y / (2 * eta); },
    [](double y, double eta) { return 1 / std::max(y, eta); },
    [](double y, double eta) { return y >= eta ? -1 / (y * y * y) : 0; }};

/// As much of a stretch as friction bears, which is `reach` at most [m].
Eigen::Vector3d within_reach(const Eigen::Vector3d& stretch, double reach);

/// A spring as it is kept between steps, whatever rank has its pair.
struct ContactSpring {
  GlobalIndex first, other; ///< ids of particles, the smaller one first; of an obstacle -1 - its number
  std::array<double, 3> stretch;
  double stiffness;
  particles::CellShift shift = {}; ///< of the image of the other one that the first one meets
};

/// Springs as rows of `spring_width` numbers, for State::internal and files, and back.
inline constexpr int spring_width = 9;
std::vector<double> packed(std::span<const ContactSpring> springs);
std::vector<ContactSpring> unpacked(std::span<const double> rows);

/// Gives springs to the ranks that own their first particles: those of `pairs` between `spheres`, one for
/// each. Returns those of this rank by first, other and shift. Collective.
std::vector<ContactSpring> springs_for_owners(const SphereContact& contact, const Spheres& spheres,
                                              std::span<const SpherePair> pairs,
                                              std::span<const PairSpring> springs);
/// The way back: the springs of `pairs`, one for each, without a stretch where there is none. `owned` is what
/// springs_for_owners() has given this rank. Collective.
std::vector<PairSpring> springs_for_pairs(const SphereContact& contact, const Spheres& spheres,
                                          std::span<const SpherePair> pairs,
                                          std::span<const ContactSpring> owned);

} // namespace recoil::potentials

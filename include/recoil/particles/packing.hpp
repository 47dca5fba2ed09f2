#pragma once

#include <cstdint>
#include <optional>

#include <Eigen/Core>

#include "recoil/particles/closed_surface.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/particles/radius_distribution.hpp"

/// Bodies of particles from the surfaces of bodies. All of it is serial, and finds no bonds.
namespace recoil::particles {

/// The two densest packings of equal spheres, both with packing fraction pi / sqrt(18) = 0.7405.
enum class LatticeKind { hcp, fcc };

struct Lattice {
  LatticeKind kind = LatticeKind::hcp;
  double radius = 0; ///< [m]; neighbours are two radii apart
  /// From lattice axes to those of the body. Layers of hcp lie on top of each other along the lattice's z,
  /// their rows along its x; the cubes of fcc have edges along the lattice's axes.
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d origin = Eigen::Vector3d::Zero(); ///< a point of the lattice [m]
};

/// Volume per particle of either lattice, 4 sqrt(2) radius^3 [m^3].
double lattice_cell_volume(double radius);

/// What must lie inside of a body. Rounding counts in favour of spheres that touch the surface and against
/// centres on it, by 1e-9 radius.
enum class Inside { whole_sphere, centre };

/// All points of the lattice at which a particle lies inside of the surface, in the order of layers, rows and
/// places in the row. Each stands for the volume lattice_cell_volume(), so that the masses of interior
/// particles are those of the bulk; the sum is not the volume of the body.
/// @throws InputError for a radius that is not positive, a matrix that is no rotation, more than 2^31
/// candidates, and if no particle fits.
ParticleSet pack_lattice(const ClosedSurface& surface, const Lattice& lattice,
                         Inside inside = Inside::whole_sphere);

/// Packs a lattice that is moved, its origin included, until the particles lie in the middle of the box
/// around the surface, with as much room on one side as on the other along each axis of the body: at once in
/// a box, whose particles stay the same ones. In other bodies a moved lattice has other particles; of a few
/// moves that least out of the middle is taken.
ParticleSet pack_centred_lattice(const ClosedSurface& surface, const Lattice& lattice,
                                 Inside inside = Inside::whole_sphere);

/// A lattice that fills a cell whose edges lie along the axes and repeats with it; along edges that do not
/// repeat, from face to face and in the middle, as `inside` says. The origin of the lattice does not count.
/// @param name of the body. @throws InputError for other cells, a lattice that is turned against the axes,
/// and edges that are no multiples, to 1e-6, of the periods of the lattice: 2 r, 2 sqrt(3) r and 4 sqrt(6) /
/// 3 r of hcp, 2 sqrt(2) r of fcc.
ParticleSet pack_periodic_lattice(const PeriodicCell& cell, const Lattice& lattice, const std::string& name,
                                  Inside inside = Inside::whole_sphere);

/// Spheres whose radii are distributed uniformly, or as `radii` says, whose bounds are not looked at.
struct RandomPacking {
  double min_radius = 0, max_radius = 0; ///< [m]
  std::uint64_t seed = 0;
  /// 1 - (volume of the spheres)/(volume of the body); none: as dense as they get.
  std::optional<double> porosity = {};
  RadiusDistribution radii = {};
};

/// In what pack_random() gives, spheres overlap by at most this much of the sum of their radii, and reach out
/// of the body by at most this much of their radius.
inline constexpr double random_packing_overlap = 1e-3;

/// Random close packing: spheres at random places, more than fit, repel each other while they overlap
/// (V = 1/2 sum overlap^2, minimised by the fast inertial relaxation engine of Bitzek, Koskinen, Gaehler,
/// Moseler, Gumbsch 2006) and are kept inside of the surface, which jams them at random as in O'Hern,
/// Silbert, Liu, Nagel 2003; the most compressed ones are removed until overlaps are within
/// random_packing_overlap. Fills 0.6 and more of the interior, less within a few radii of the surface. Each
/// particle stands for a part of the body's volume in proportion to its own; they add up to that of the body.
/// The same program gives the same packing for the same seed.
///
/// With a porosity as many spheres are drawn as it takes, all radii are scaled by the factor, near 1, that
/// makes it exact, and none is removed.
///
/// In a cell, the box of the surface, spheres repel each other's images across faces that repeat, and fill as
/// much next to these as anywhere else: the surface is a wall along the other edges alone.
/// @throws InputError for radii that are not positive or not in order, more than 2^31 particles, if no
/// particle fits, or none of these spheres find room for a porosity, and for a cell that is too narrow
/// (require_wide()).
/// @note Takes some ten thousand steps over all pairs: seconds for a thousand particles.
ParticleSet pack_random(const ClosedSurface& surface, const RandomPacking& packing,
                        const std::optional<PeriodicCell>& cell = {});

/// Spheres that settle under their weight.
struct Deposition : RandomPacking {
  double friction = 0.5;          ///< between spheres while they settle; with a porosity, to begin with
  Eigen::Vector3d down{0, 0, -1}; ///< direction of gravity, of any length
};

/// In what pack_deposited() gives, spheres overlap by at most this much of the sum of their radii, and reach
/// out of the body by at most this much of their diameter.
inline constexpr double deposition_overlap = 3e-3;

/// Spheres that rain into a body through its top, settle under their weight and fill it from below: discrete
/// elements with linear springs along the normal and, with Coulomb's friction, along the contact [Cundall,
/// Strack, A discrete numerical model for granular assemblies, Geotechnique 29, 1979], and with local
/// damping. Walls have no friction. Rain goes on until no sphere finds room above those that lie there.
/// In the end resultants are below a twentieth of the weight of each sphere but for one in a thousand.
/// Volumes of particles are as those of pack_random().
///
/// With a porosity as many spheres are drawn as it takes, all radii scaled by one factor near 1. While some
/// do not find room, friction falls by a tenth whenever the others are nearly at rest, and they settle
/// further: so samples are brought to a porosity in Yade [Smilauer et al., Yade Documentation, 2021, triaxial
/// test]. The same program gives the same packing for the same seed.
/// @throws InputError as pack_random(), for a negative friction, no direction, and for a porosity that
/// spheres do not reach without friction, or that is looser, by more than 0.005, than friction leaves them.
/// @note Serial. Ten thousand steps and more over all pairs, in proportion to the height over the diameter.
ParticleSet pack_deposited(const ClosedSurface& surface, const Deposition& deposition);

} // namespace recoil::particles

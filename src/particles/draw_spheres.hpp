#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "recoil/particles/packing.hpp"

namespace recoil::particles {

/// Uniform numbers in [0, 1) that are the same with every standard library.
class Uniform {
public:
  explicit Uniform(std::uint64_t seed) : bits_(seed) {}
  double operator()() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

private:
  std::mt19937_64 bits_;
};

double sphere_volume(double radius);
double total_volume(const std::vector<double>& radii);

/// Radii of as many spheres as a packing takes: those of its porosity, all of them then scaled by one factor
/// near 1 that makes it exact, or more than fit where it has none.
/// @throws InputError for radii that are not positive or not in order, and for more than 2^31 particles.
std::vector<double> draw_radii(const ClosedSurface& surface, const RandomPacking& packing, Uniform& uniform);

/// The spheres as particles of the body, each of which stands for a part of it in proportion to its volume.
ParticleSet particles_of_spheres(const ClosedSurface& surface, std::vector<Eigen::Vector3d> positions,
                                 std::vector<double> radii);

} // namespace recoil::particles

#include "particles/draw_spheres.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "particles/packing_errors.hpp"
#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

/// Packing fraction of more spheres than fit; random packings jam below.
constexpr double overfull = 0.66;

void check_radii(const ClosedSurface& surface, const RandomPacking& packing) {
  check_radius(surface, packing.min_radius);
  check_radius(surface, packing.max_radius);
  if (packing.max_radius < packing.min_radius)
    throw InputError(surface.name(), "radii from " + std::to_string(packing.min_radius) + " to " +
                                         std::to_string(packing.max_radius) +
                                         "; the smallest must come first");
}

/// Leaves the last sphere out where that comes nearer to a volume, and scales all to have it.
void fit_volume(std::vector<double>& radii, double volume) {
  const double total = total_volume(radii), last = sphere_volume(radii.back());
  if (radii.size() > 1 && total - volume > last / 2) radii.pop_back();
  const double factor = std::cbrt(volume / total_volume(radii));
  for (double& radius : radii) radius *= factor;
}

} // namespace

double sphere_volume(double radius) { return 4.0 / 3 * std::numbers::pi * radius * radius * radius; }

double total_volume(const std::vector<double>& radii) {
  double total = 0;
  for (const double radius : radii) total += sphere_volume(radius);
  return total;
}

std::vector<double> draw_radii(const ClosedSurface& surface, const RandomPacking& packing, Uniform& uniform) {
  check_radii(surface, packing);
  const double solid = (packing.porosity ? 1 - *packing.porosity : overfull) * surface.volume(),
               most = solid / sphere_volume(packing.min_radius);
  if (!(most < std::numeric_limits<std::int32_t>::max())) throw_too_many(surface, packing.min_radius, most);
  RadiusDistribution distribution = packing.radii;
  distribution.min = packing.min_radius;
  distribution.max = packing.max_radius;
  std::vector<double> radii;
  for (double volume = 0; volume < solid;) {
    radii.push_back(draw_radius(distribution, std::ref(uniform), surface.name()));
    volume += sphere_volume(radii.back());
  }
  if (packing.porosity) fit_volume(radii, solid);
  return radii;
}

ParticleSet particles_of_spheres(const ClosedSurface& surface, std::vector<Eigen::Vector3d> positions,
                                 std::vector<double> radii) {
  ParticleSet set;
  set.body_names = {surface.name()};
  set.positions = std::move(positions);
  set.radii = std::move(radii);
  set.body.assign(set.positions.size(), 0);
  const double total = total_volume(set.radii);
  for (const double radius : set.radii)
    set.volumes.push_back(sphere_volume(radius) * surface.volume() / total);
  return set;
}

} // namespace recoil::particles

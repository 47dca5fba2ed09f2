#include <algorithm>
#include <cmath>

#include "app/solvers/bonded_particles/build_particles.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/solvers/bonded_particles/particle_cell.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

/// Axes, or edges, along which nothing may act.
std::vector<Eigen::Vector3d> repeating_ways(const PeriodicEntry& entry) {
  const auto edges = entry.edges(3);
  std::vector<Eigen::Vector3d> ways;
  for (int k = 0; k < 3; ++k)
    if (entry.repeats_along(k))
      ways.push_back(edges ? Eigen::Vector3d(edges->col(k)) : Eigen::Vector3d::Unit(k));
  return ways;
}

void check_bodies(const PeriodicEntry& entry, const Scene& scene) {
  for (const PlaneObstacle& plane : scene.planes)
    for (const Eigen::Vector3d& way : repeating_ways(entry))
      if (std::abs(plane.normal.dot(way)) > 1e-9 * way.norm())
        throw InputError(entry.where, "the plane '" + plane.name +
                                          "' cuts through a cell that repeats across it; leave that axis out "
                                          "of `axes`, or the plane");
  for (const ParticleBody& body : particles_of(scene).bodies) {
    if (body.packing == Packing::deposited && body.file.empty())
      throw InputError(body.where, "spheres are deposited between walls, and the cell has none where it "
                                   "repeats; take packing \"random\", or a file of what has settled");
    const bool is_box = std::ranges::any_of(particles_of(scene).bodies,
                                            [](const ParticleBody& other) { return other.file.empty(); });
    if (!is_box && entry.periods.empty())
      throw InputError(entry.where, "the particles of '" + body.body +
                                        "' come from a file, which does not say how large the cell is; write "
                                        "its three edges as `correspondence`");
    if (body.file.empty() && !entry.periods.empty())
      throw InputError(entry.where, "`correspondence` is of particles from a file: the packing of '" +
                                        body.body + "' fills a box, which is the cell; leave it out");
  }
}

void check_keys(const Item& conditions, const Scene& scene) {
  const Item boundary = conditions["periodic_boundary"];
  const Item strain = boundary.is_list() ? conditions : boundary;
  if (strain.has("fixed_macro_strain") && scene.time.kind != TimeKind::quasistatic)
    strain["fixed_macro_strain"].fail("leaves entries of the deformation to the forces, and they have no "
                                      "inertia; leave it out, or set time/quasistatic to true");
  if (strain.has("fixed_macro_strain") && scene.contact.enabled)
    strain["fixed_macro_strain"].fail(
        "balances bonds alone, and particles touch across faces; leave it out, or "
        "set contact/enabled to false");
}

/// Without inertia one particle is held in place: nothing may push the cell as a whole.
void check_loads(const PeriodicEntry& entry, const Scene& scene) {
  if (!pins_particle(scene)) return;
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < scene.gravity.size(); ++i) gravity[Eigen::Index(i)] = scene.gravity[i];
  for (const Eigen::Vector3d& way : repeating_ways(entry))
    if (gravity.dot(way) != 0)
      throw InputError(entry.where, "nothing bears weight along an edge across which the cell repeats: there "
                                    "is no state at rest; set `gravity` to zero there, hold particles by "
                                    "dirichlet_boundary, or leave out `quasistatic`");
  if (!particles_of(scene).forces.empty())
    throw InputError(particles_of(scene).forces.front().where,
                     "pushes a cell that nothing holds: there is no state at rest; hold particles by "
                     "dirichlet_boundary, or leave out `quasistatic`");
}

} // namespace

bool pins_particle(const Scene& scene) {
  return particles_of(scene).periodic && scene.time.kind == TimeKind::quasistatic &&
         scene.boundary_conditions.dirichlet.empty();
}

void build_cell(const Item& root, Scene& scene) {
  std::optional<PeriodicEntry>& entry = particles_of(scene).periodic;
  entry = read_periodic(root);
  if (!entry) return;
  check_keys(root["boundary_conditions"], scene);
  check_fit(*entry, 3);
  check_bodies(*entry, scene);
  check_loads(*entry, scene);
  for (int step = 0; step <= scene.time.steps; ++step) deformation_at(*entry, scene.time.time_of_step(step));
}

} // namespace recoil::app

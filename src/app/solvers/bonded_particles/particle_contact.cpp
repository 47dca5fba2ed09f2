#include "recoil/app/solvers/bonded_particles/particle_contact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "recoil/app/run/finite_values.hpp"
#include "recoil/app/run/scene_contact.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

using Eigen::Vector3d;

/// The obstacles with a mesh; planes follow them in obstacle_names().
std::vector<std::string> mesh_obstacles(const Scene& scene) {
  std::vector<std::string> names = obstacle_names(scene);
  names.resize(names.size() - scene.planes.size());
  return names;
}

/// Obstacles as they travel from the first rank.
struct PlainObstacles {
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::int32_t> surface_ids; ///< of the vertices
  std::vector<std::array<LocalIndex, 3>> triangles;
  std::vector<std::int32_t> surfaces; ///< of the triangles
};

PlainObstacles flatten(const Scene& scene, const std::vector<mesh::SurfaceMesh>& surfaces) {
  PlainObstacles all;
  for (std::size_t k = 0; k < surfaces.size(); ++k) {
    const mesh::SurfaceMesh& surface = surfaces[k];
    if (surface.triangles.empty() || !surface.edges.empty() || !surface.points.empty())
      throw InputError(std::ranges::find(scene.geometry, surface.name, &mesh::GeometrySpec::name)->where,
                       "obstacle '" + surface.name +
                           "' has edges or points of their own, or no triangles; particles "
                           "meet triangles and planes: leave out `extract`");
    const LocalIndex first = LocalIndex(all.vertices.size());
    for (const Vector3d& v : surface.vertices) all.vertices.push_back({v[0], v[1], v[2]});
    all.surface_ids.resize(all.vertices.size(), surface.surface_id);
    for (const auto& [a, b, c] : surface.triangles)
      all.triangles.push_back({first + a, first + b, first + c});
    all.surfaces.resize(all.triangles.size(), std::int32_t(k));
  }
  return all;
}

std::vector<Vector3d> displaced(const std::vector<Vector3d>& rest,
                                const std::vector<const DirichletEntry*>& motions, double time) {
  std::vector<Vector3d> places = rest;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    if (motions[v] == nullptr) continue;
    const ExpressionPoint at{rest[v][0], rest[v][1], rest[v][2], time};
    for (int i = 0; i < 3; ++i)
      places[v][i] +=
          require_finite(motions[v]->evaluate(i, at), motions[v]->where, "motion of an obstacle", i, at);
  }
  return places;
}

/// Moves `rest`, each by its own; empty where nothing moves.
std::function<std::vector<Vector3d>(double)> mover(const parallel::Communicator& comm,
                                                   const std::vector<Vector3d>& rest,
                                                   const std::vector<const DirichletEntry*>& motions) {
  if (std::ranges::all_of(motions, [](const DirichletEntry* motion) { return motion == nullptr; })) return {};
  return [rest, motions, &comm](double time) {
    return parallel::collectively(comm, [&] { return displaced(rest, motions, time); });
  };
}

potentials::SphereObstacles obstacles_of(const parallel::Communicator& comm, const Scene& scene,
                                         const std::vector<mesh::SurfaceMesh>& surfaces,
                                         std::size_t num_bodies) {
  PlainObstacles plain = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? flatten(scene, surfaces) : PlainObstacles(); });
  comm.broadcast(plain.vertices);
  comm.broadcast(plain.surface_ids);
  comm.broadcast(plain.triangles);
  comm.broadcast(plain.surfaces);
  potentials::SphereObstacles obstacles;
  for (const auto& [x, y, z] : plain.vertices) obstacles.vertices.emplace_back(x, y, z);
  obstacles.triangles = plain.triangles;
  for (const std::int32_t surface : plain.surfaces)
    obstacles.bodies.push_back(std::int32_t(num_bodies) + surface);
  obstacles.planes = build_planes<3>(scene, num_bodies + mesh_obstacles(scene).size());
  std::vector<const DirichletEntry*> motions;
  for (const std::int32_t id : plain.surface_ids)
    motions.push_back(find_obstacle_motion(scene.boundary_conditions, id));
  obstacles.place = mover(comm, obstacles.vertices, motions);
  std::vector<Vector3d> points;
  std::vector<const DirichletEntry*> motions_of_planes;
  for (const PlaneObstacle& plane : scene.planes) {
    points.push_back(plane.point);
    motions_of_planes.push_back(find_obstacle_motion(scene.boundary_conditions, plane.id.value_or(-1)));
  }
  obstacles.place_planes = mover(comm, points, motions_of_planes);
  return obstacles;
}

/// Planes that hold a force; null where there are none.
std::unique_ptr<solvers::Servo> make_servo(const Scene& scene, const solvers::BondedParticles& problem) {
  std::vector<solvers::ServoPlane> planes;
  for (const ServoEntry& entry : particles_of(scene).servos) {
    const auto plane = std::ranges::find(scene.planes, std::optional(entry.id), &PlaneObstacle::id);
    planes.push_back({std::size_t(plane - scene.planes.begin()),
                      [entry](double time) { return entry.force_at(time); }, entry.max_speed});
  }
  if (planes.empty()) return nullptr;
  return std::make_unique<solvers::Servo>(std::move(planes), *problem.contact, *problem.barrier);
}

/// A pressed pair is about as stiff as the stiffest bond.
double default_stiffness(const parallel::Communicator& comm, const solvers::BondedParticles& problem,
                         const Scene& scene) {
  double largest = 0;
  for (std::size_t k = 0; k < problem.mass.size(); ++k)
    largest =
        std::max(largest, problem.particles->radii[k] *
                              bond_modulus(scene, problem.particles->body_names[problem.particles->body[k]]));
  // Bonds of a file may be stiffer than their material.
  for (std::size_t k = 0; k < problem.particles->bonds.size(); ++k) {
    const auto& [a, b, id] = problem.particles->bonds[k];
    largest = std::max(largest, problem.bonds->material().young_modulus[k] *
                                    std::max(problem.particles->radii[a], problem.particles->radii[b]));
  }
  return comm.max(largest);
}

} // namespace

void add_particle_contact(const parallel::Communicator& comm, const Scene& scene,
                          const std::vector<mesh::SurfaceMesh>& surfaces, solvers::BondedParticles& problem) {
  if (!scene.contact.enabled) return;
  const particles::DistributedParticles& particles = *problem.particles;
  double radius = std::numeric_limits<double>::max();
  for (const double r : particles.radii) radius = std::min(radius, r);
  radius = comm.min(radius);
  if (scene.contact.dhat >= radius)
    throw InputError(scene.file.string() + " (/contact/dhat)",
                     fmt::format("is {:g} m, and must be less than the smallest radius of particles, {:g} m; "
                                 "a tenth of it is a good choice",
                                 scene.contact.dhat, radius));
  potentials::FrictionCoefficients friction =
      friction_coefficients(scene, particles.body_names, mesh_obstacles(scene));
  double rolling = particles_of(scene).solver.rolling_friction;
  if (scene.contact.friction_iterations == 0) {
    friction = {};
    rolling = 0;
  }
  problem.add_contact(obstacles_of(comm, scene, surfaces, particles.body_names.size()), scene.contact.dhat,
                      scene.contact.barrier_stiffness.value_or(default_stiffness(comm, problem, scene)),
                      std::move(friction), rolling, scene.contact.epsv,
                      particles_of(scene).solver.restitution);
  if (problem.cell_motion)
    for (int step = 0; step <= scene.time.steps; ++step)
      problem.contact->require_fitting_cell(scene.time.time_of_step(step));
  problem.servo = make_servo(scene, problem);
  std::vector<double> compliances, shear_compliances;
  for (const std::string& body : particles.body_names) {
    const double nu = find_bond_material(scene, body)->nu, E = bond_modulus(scene, body);
    compliances.push_back((1 - nu * nu) / E);
    shear_compliances.push_back((2 - nu) * 2 * (1 + nu) / E);
  }
  problem.barrier->set_compliances(std::move(compliances));
  if (particles_of(scene).solver.tangential_law == potentials::TangentialLaw::mindlin)
    problem.friction->set_shear_compliances(std::move(shear_compliances));
}

void require_no_overlap(const parallel::Communicator& comm, const solvers::BondedParticles& problem,
                        const Scene& scene) {
  if (!problem.contact) return;
  const potentials::SphereContact& pairs = *problem.contact;
  GlobalIndex count = 0;
  std::string first;
  for (const potentials::SphereTouch& touch : pairs.touching()) {
    if (touch.gap > 0 || count++ > 0) continue;
    const auto& a = problem.particles->positions[touch.pair.a];
    const std::size_t other = pairs.body_of(touch.pair);
    const auto& names = problem.particles->body_names;
    first = fmt::format("a particle of '{}' that is at rest at ({:.6g}, {:.6g}, {:.6g}) and {}",
                        names[problem.particles->body[touch.pair.a]], a[0], a[1], a[2],
                        other < names.size() ? "one of '" + names[other] + "'" : "an obstacle");
  }
  count = comm.sum(count);
  if (count == 0) return;
  const std::vector<std::string> texts = comm.all_gather(first);
  throw InputError(scene.file.string() + " (/geometry)",
                   fmt::format("{} pairs overlap in the initial state, the first {}; move the bodies apart",
                               count,
                               *std::ranges::find_if(texts, [](const auto& text) { return !text.empty(); })));
}

} // namespace recoil::app

#pragma once

#include "bdem/runs.hpp"
#include "recoil/geometry/barrier.hpp"
#include "recoil/geometry/quaternion.hpp"

/// Particles, planes and plates that tests bring into contact.
namespace recoil::solvers::testing {

using potentials::SphereObstacles;

inline constexpr double r = 0.01, dhat = 0.002, stiffness = 2e4;

/// All pairs the same coefficient.
inline potentials::FrictionCoefficients coefficient(double mu) {
  if (mu == 0) return {};
  return {{mu}, [](std::int32_t, std::int32_t) { return std::size_t{0}; }};
}

inline void add_contact(BondedParticles& problem, SphereObstacles obstacles, double mu = 0,
                        double eps_v = 1e-3, double rolling = 0, double restitution = 1) {
  problem.add_contact(std::move(obstacles), dhat, stiffness, coefficient(mu), rolling, eps_v, restitution);
}

/// Brings contact to the end u of a step of 1 s from `start` to t = 1 s.
inline void restore(const BondedParticles& problem, std::span<const double> start,
                    std::span<const double> u) {
  restore_contact(*problem.contact, *problem.barrier, *problem.friction, problem.damping, 1, 1, start, u);
}

/// Adds the gradients of all terms.
inline void add_gradient(const BondedParticles& problem, std::span<const double> u, std::span<double> g) {
  for (const auto& term : problem.terms) term->add_gradient(u, 1, g);
}

inline SphereObstacles floor_plane(const Vector3d& normal = Vector3d::UnitZ()) {
  SphereObstacles obstacles;
  obstacles.planes.push_back({Vector3d::Zero(), normal, 1});
  return obstacles;
}

/// Gap at which the barrier bears a force [N].
inline double resting_gap(double force) {
  double low = 0, high = dhat;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (-stiffness * geometry::log_barrier(middle, dhat).first > force ? low : high) = middle;
  }
  return low;
}

/// kinetic + elastic + barrier, and what has gone from it.
inline double left_over(const ParticleLedger& before, const ParticleLedger& now) {
  const auto sum = [](const ParticleLedger& ledger) {
    return ledger.kinetic + ledger.elastic + ledger.barrier;
  };
  return sum(now) - sum(before) - now.external_work + now.broken + now.dissipated_friction +
         now.dissipated_damping + now.dissipated_integrator;
}

/// A plane that pushes down from the height z(t).
inline SphereObstacles ceiling_plane(std::function<double(double)> z) {
  SphereObstacles obstacles;
  obstacles.planes.push_back({Vector3d(0, 0, z(0)), -Vector3d::UnitZ(), 1});
  obstacles.place_planes = [z](double time) { return std::vector<Vector3d>{{0, 0, z(time)}}; };
  return obstacles;
}

/// Two triangles of the square |x|, |y| < half at the height z(t).
inline SphereObstacles plate(double half, std::function<double(double)> z) {
  SphereObstacles obstacles;
  obstacles.vertices = {{-half, -half, z(0)}, {half, -half, z(0)}, {half, half, z(0)}, {-half, half, z(0)}};
  obstacles.triangles = {{0, 1, 2}, {0, 2, 3}};
  obstacles.bodies = {1, 1};
  obstacles.place = [rest = obstacles.vertices, z](double time) {
    auto places = rest;
    for (Vector3d& place : places) place[2] = z(time);
    return places;
  };
  return obstacles;
}

/// Of a sphere of Stuff [kg].
inline double mass_of(double radius) { return Stuff{}.rho * 4 * pi / 3 * std::pow(radius, 3); }

/// Particles without bonds, of one body each so that none is used to touching another.
inline particles::ParticleSet grains(const std::vector<Vector3d>& places, const std::vector<double>& radii) {
  particles::ParticleSet set;
  for (std::size_t k = 0; k < places.size(); ++k) {
    set.positions.push_back(places[k]);
    set.radii.push_back(radii[k]);
    set.volumes.push_back(4 * pi / 3 * std::pow(radii[k], 3));
    set.body.push_back(std::int32_t(k));
    set.body_names.push_back("grain " + std::to_string(k));
  }
  return set;
}

/// Starts from rest positions with one velocity and one spin [rad/s] of all.
inline void throw_all(BondedParticlesSolver& solver, const Vector3d& velocity,
                      const Vector3d& spin = Vector3d::Zero()) {
  start(solver, unmoved, [&](GlobalIndex, const Vector3d&) { return std::pair(velocity, spin); });
}

/// How a loose sphere starts.
struct Motion {
  Vector3d place, velocity = Vector3d::Zero(), spin = Vector3d::Zero();
  double radius = r;
};

inline particles::ParticleSet grains(const std::vector<Motion>& motions) {
  std::vector<Vector3d> places;
  std::vector<double> radii;
  for (const Motion& motion : motions) {
    places.push_back(motion.place);
    radii.push_back(motion.radius);
  }
  return grains(places, radii);
}

/// Starts grains() as they are told.
inline void throw_each(BondedParticlesSolver& solver, const std::vector<Motion>& motions) {
  start(solver, unmoved,
        [&](GlobalIndex id, const Vector3d&) { return std::pair(motions[id].velocity, motions[id].spin); });
}

} // namespace recoil::solvers::testing

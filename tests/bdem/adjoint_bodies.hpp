#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bdem/adjoint_runs.hpp"

/// The bodies whose sweeps are tested.
namespace recoil::solvers::testing {

/// Two blocks side by side, which drop on a tray that shakes and turns, and on a plane.
inline particles::ParticleSet two_blocks() {
  particles::ParticleSet both = block(2, 2, 2, r);
  const particles::ParticleSet other = both;
  for (std::size_t k = 0; k < other.positions.size(); ++k) {
    both.positions.push_back(other.positions[k] + Vector3d(5 * r + 0.3 * dhat, 0.1 * r, 0.05 * r));
    both.radii.push_back(other.radii[k]);
    both.volumes.push_back(other.volumes[k]);
    both.body.push_back(1);
  }
  both.body_names.push_back("other");
  both.bonds = particles::bond_neighbours(both);
  return both;
}

/// A chain whose ends touch each other across the faces of a cell that has shrunk.
inline particles::ParticleSet closed_chain() {
  particles::ParticleSet set = chain(4, 2 * r, r);
  set.cell.emplace();
  set.cell->edges = Vector3d(10 * r + 0.3 * dhat, 8 * r, 8 * r).asDiagonal();
  set.bond_shifts.resize(set.bonds.size());
  return set;
}

inline SphereObstacles shaken_tray() {
  SphereObstacles obstacles;
  const double z = -r - 0.6 * dhat;
  obstacles.vertices = {{-4 * r, -4 * r, z}, {9 * r, -4 * r, z}, {9 * r, 6 * r, z}, {-4 * r, 6 * r, z}};
  obstacles.triangles = {{0, 1, 2}, {0, 2, 3}};
  obstacles.bodies = {2, 2};
  obstacles.place = [rest = obstacles.vertices](double time) {
    auto places = rest;
    for (Vector3d& place : places)
      place += time * (Vector3d(0.1, -0.2, 0.03) + Vector3d(0.3, -0.2, 1).cross(place));
    return places;
  };
  obstacles.planes.push_back({Vector3d(-r - 0.5 * dhat, 0, 0), Vector3d(1, 0.02, 0.01).normalized(), 3});
  return obstacles;
}

/// Two ranks take all bodies; what more of them do does not depend on the integrator.
inline constexpr std::array<std::string_view, 9> of_many_ranks{"blocks on a tray, be_reflect",
                                                               "closed chain, be_reflect",
                                                               "held chain at rest, damped bonds",
                                                               "damped blocks on a tray, be_reflect",
                                                               "two particles, be_reflect",
                                                               "block, mid_reflectT",
                                                               "held chain at rest",
                                                               "softening block, be_reflect",
                                                               "torn blocks on a tray, be_reflect"};

inline std::vector<Body> bodies() {
  using enum ParticleIntegrator;
  std::vector<Body> result;
  for (const auto integrator : {be_reflect, mid_reflectT}) {
    const std::string of = integrator == be_reflect ? ", be_reflect" : ", mid_reflectT";
    const bool euler = integrator == be_reflect;
    // T = 3.5 ms.
    result.push_back({"two particles" + of,
                      chain(1, 0.1, 0.04),
                      {1e5, 0.3, 1000},
                      integrator,
                      0.007,
                      8,
                      false,
                      0.3,
                      0,
                      {3, 5, -4},
                      20,
                      1});
    result.push_back({"free chain" + of,
                      chain(4, 0.1, 0.04),
                      {1e5, 0.3, 1000},
                      integrator,
                      euler ? 0.035 : 0.014,
                      10,
                      false,
                      0.4,
                      0,
                      {6, 4, -5},
                      20,
                      1});
    // T = 2 ms.
    result.push_back({"held chain" + of,
                      chain(4, 0.1, 0.04),
                      {3e5, 0.3, 1000},
                      integrator,
                      euler ? 0.1 : 0.02,
                      euler ? 5 : 10,
                      true,
                      0.1,
                      0,
                      {0, 0, 0},
                      40,
                      2});
    // T = 0.85 ms.
    result.push_back({"block" + of,
                      block(4, 4, 4, 0.01),
                      {1e6, 0.3, 1000},
                      integrator,
                      euler ? 20 * 8.5e-4 : 5 * 8.5e-4,
                      euler ? 4 : 10,
                      false,
                      0.02,
                      3,
                      {8, 12, 25},
                      euler ? 20.0 : 1.0,
                      euler ? 0.05 : 0.005});
  }
  result.push_back({"held chain at rest",
                    chain(4, 0.1, 0.04),
                    {3e5, 0.3, 1000},
                    quasistatic,
                    0.25,
                    4,
                    true,
                    0,
                    0,
                    {0, 0, 0},
                    6,
                    0.6});
  // Bonds at the corner that moves are softened past their peak.
  struct Softening {
    const char* name;
    ParticleIntegrator integrator;
    double dt;
    GlobalIndex steps;
    double speed, force, moment, strength, width;
    GlobalIndex anchor;
  };
  for (const auto& [name, integrator, dt, steps, speed, force, moment, strength, width, anchor] :
       {Softening{"softening block at rest", quasistatic, 2e-3, 12, 0, 10, 0.1, 1e4, 0.3, 26},
        Softening{"softening block, be_reflect", be_reflect, 1.7e-3, 8, 0.02, 1, 0.005, 5e3, 0.3, -1},
        Softening{"softening block, mid_reflectT", mid_reflectT, 5e-4, 8, 0.02, 1, 0.005, 3e3, 0.4, -1}})
    result.push_back({name,
                      block(3, 3, 3, 0.01),
                      {1e6, 0.3, 1000},
                      integrator,
                      dt,
                      steps,
                      true,
                      speed,
                      0,
                      {0, 0, 0},
                      force,
                      moment,
                      strength,
                      width,
                      anchor});
  for (const std::size_t of : {result.size() - 4, result.size() - 2}) {
    result.push_back(result[of]);
    result.back().name += ", bonds of another form";
    result.back().stuff.form = other_form;
  }
  for (const char* name : {"held chain, be_reflect", "free chain, mid_reflectT", "held chain at rest"}) {
    Body damped = *std::ranges::find(result, name, &Body::name);
    damped.name += ", damped bonds";
    damped.damping_time = damped.dt / 2;
    result.push_back(std::move(damped));
  }
  for (const auto integrator : {be_reflect, mid_reflectT, quasistatic}) {
    const std::string of = integrator == be_reflect     ? ", be_reflect"
                           : integrator == mid_reflectT ? ", mid_reflectT"
                                                        : " at rest";
    Body touching{"blocks on a tray" + of,
                  two_blocks(),
                  {1e6, 0.3, 1000},
                  integrator,
                  integrator == quasistatic ? 2e-3 : 1.5e-3,
                  8,
                  integrator == quasistatic,
                  0.05,
                  0,
                  {0, 0, 0},
                  0.5,
                  0.002};
    if (integrator == quasistatic) touching.anchor = 8;
    touching.obstacles = shaken_tray;
    touching.coefficient = 0.4;
    touching.rolling = 0.1;
    result.push_back(touching);
    if (integrator != quasistatic) {
      Body damped = touching;
      damped.name = "damped " + damped.name;
      damped.restitution = 0.4;
      result.push_back(std::move(damped));
    }
    if (integrator != quasistatic) {
      Body closed = result.back();
      closed.name = "closed chain" + of;
      closed.set = closed_chain();
      closed.obstacles = [] { return SphereObstacles(); };
      closed.deformation = [](double time) {
        Eigen::Matrix3d rate;
        rate << -1.2, 0.4, 0, 0, 0.3, 0.2, -0.1, 0, 0.1;
        Eigen::Matrix3d F = Eigen::Matrix3d::Identity() + time * rate;
        F(0, 0) -= 0.008; // so that the ends touch at the start
        return F;
      };
      result.push_back(std::move(closed));
    }
    // Particles whose bonds have broken press on each other.
    touching.name = "torn " + touching.name;
    touching.strength = integrator == be_reflect ? 3e3 : 5e3;
    touching.width = 0.3;
    if (integrator == mid_reflectT) touching.restitution = 0.6;
    result.push_back(std::move(touching));
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 2)
    std::erase_if(result, [](const Body& body) { return !std::ranges::count(of_many_ranks, body.name); });
  return result;
}

} // namespace recoil::solvers::testing

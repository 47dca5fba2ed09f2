#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/objectives/forces.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"
#include "recoil/solvers/bdem/problem.hpp"
#include "recoil/stepping/sweep_products.hpp"

/// Objectives of bonded particles. States have 7 numbers a particle and 6 as a velocity, derivatives 6 along
/// the tangent space (solvers::BondedParticlesSolver).
namespace recoil::app {

/// An experiment with bonded particles.
struct ParticleScene {
  const Study& study;
  const Scene& scene;
  const solvers::BondedParticles& problem;
};

using solvers::gravity_vector, solvers::particle_loads, solvers::particle_mass, stepping::internal_variables;

/// The mean of points that move rigidly with particles, and where it was seen.
struct ParticleMarker {
  struct Point {
    std::size_t particle; ///< owned by this rank
    Eigen::Vector3d arm;  ///< from its centre at rest [m]
  };
  std::string name;
  std::vector<Point> points;
  double share = 1; ///< 1 / number of points over all ranks
  objectives::Track<3> track;
};

/// The marker of a study: on the particle of its body that is nearest to its rest position, or the mean of
/// those with its id. Collective. @throws InputError on every rank where the first is more than three radii
/// away, and where there are none with the id.
ParticleMarker find_particle_marker(const ParticleScene& at, const MarkerSpec& marker);

/// J = sum_m |x_m - y_m(time)|^2 / sd_m(time)^2, x the mean of p + R(q) a with arms a. `problem` must outlive
/// it.
std::unique_ptr<objectives::Objective<3>> make_particle_markers(const solvers::BondedParticles& problem,
                                                                std::vector<ParticleMarker> markers);

/// J = |c - y(time)|^2 / sd(time)^2, c = sum_k m_k p_k / sum_k m_k over the particles of some bodies; none:
/// of all. Depends on particle_mass. `problem` must outlive it. Collective.
std::unique_ptr<objectives::Objective<3>> make_particle_center(const solvers::BondedParticles& problem,
                                                               const std::vector<std::string>& bodies,
                                                               objectives::Track<3> track);

/// What bears a force along a direction of unit length: particles that are held, or an obstacle.
struct ParticleSupport {
  Eigen::Vector3d direction;
  std::vector<LocalIndex> particles = {}; ///< held ones, owned by this rank
  std::int32_t obstacle = -1;             ///< its number as potentials::SphereObstacles have it; -1: none
};

/// J = (R - y)^2 / sd^2. Of held particles R = sum_k d . (dV/dp_k + dC/dp_k - m_k g - f_k): the force [N]
/// that holds them against bonds, contact with friction, gravity and loads at a state; their inertia is not
/// part of it. Of an obstacle R = -sum_k d . dC/dp_k over all particles, C of the pairs with it: the force on
/// what touches it. There is no friction in the initial state. Depends on the moduli of bonds, coefficients
/// of friction, particle_mass, gravity_vector, particle_loads and, where bonds soften, on
/// internal_variables: V and C are those of the step. `problem` must outlive it, and its contact is left at
/// the end of the step that was looked at; `travel`: null but for a load curve. Collective.
std::unique_ptr<objectives::Objective<3>> make_particle_reaction(const solvers::BondedParticles& problem,
                                                                 ParticleSupport support,
                                                                 objectives::Track<1> track,
                                                                 objectives::Travel travel);

} // namespace recoil::app

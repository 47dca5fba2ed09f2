#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "bdem/contacts.hpp"

/// Grains in cells that repeat, for tests of contact across their faces.
namespace recoil::solvers::testing {

using Eigen::Matrix3d;
using particles::CellShift;
using particles::PeriodicCell;
using Deformation = std::function<Matrix3d(double)>;

inline PeriodicCell cube(double side, std::array<bool, 3> repeats = {true, true, true}) {
  return {side * Matrix3d::Identity(), Vector3d::Zero(), repeats};
}

/// F = I + rate t.
inline Deformation steady(const Matrix3d& rate) {
  return [rate](double time) { return Matrix3d(Matrix3d::Identity() + time * rate); };
}

inline Matrix3d sheared() {
  Matrix3d L;
  L << -0.02, 0.05, 0.01, 0, 0.01, -0.03, 0.02, 0, -0.01;
  return L;
}

struct Laws {
  double mu = 0, eps_v = 1e-3, rolling = 0, restitution = 1;
  bool has_springs = false; ///< beside Hertz' law
};

/// (1 - nu^2)/E and (2 - nu)/G of all grains [1/Pa].
inline constexpr double compliance = 1e-7, shear_compliance = 5e-7;

inline BondedParticles in_cell(const parallel::Communicator& comm, particles::ParticleSet set,
                               const std::optional<PeriodicCell>& cell, const Deformation& F,
                               const Laws& laws = {}, SphereObstacles obstacles = {},
                               const std::vector<int>& owners = {}) {
  set.cell = cell;
  BondedParticles problem = bonded(comm, set, {}, owners, F);
  add_contact(problem, std::move(obstacles), laws.mu, laws.eps_v, laws.rolling, laws.restitution);
  return problem;
}

/// Whole periods that a particle has drifted by.
inline CellShift drift(GlobalIndex id) {
  return {std::int32_t(id % 3) - 1, std::int32_t(id % 5) - 2, std::int32_t(id % 2)};
}

inline BondedParticlesOptions options(double dt, ParticleIntegrator integrator, potentials::ContactLaw law) {
  BondedParticlesOptions result = steps_of(integrator, dt, 1e-12);
  result.contact_law = law;
  return result;
}

inline BondedParticlesSolver thrown(const parallel::Communicator& comm, const std::vector<Motion>& motions,
                                    const std::optional<PeriodicCell>& cell, const Deformation& F,
                                    const Laws& laws, const BondedParticlesOptions& chosen,
                                    SphereObstacles obstacles = {}) {
  BondedParticles problem = in_cell(comm, grains(motions), cell, F, laws, std::move(obstacles));
  if (chosen.contact_law == potentials::ContactLaw::hertz)
    problem.barrier->set_compliances(std::vector(motions.size() + 2, compliance));
  if (laws.has_springs)
    problem.friction->set_shear_compliances(std::vector(motions.size() + 2, shear_compliance));
  if (cell && chosen.integrator == ParticleIntegrator::quasistatic) pin(problem);
  BondedParticlesSolver solver(std::move(problem), chosen);
  throw_each(solver, motions);
  return solver;
}

/// Places, turns and velocities of all particles, by their ids, on all ranks. Collective.
inline std::vector<double> collected(const BondedParticlesSolver& solver) {
  const auto& newest = solver.history().newest();
  std::vector<double> all(13 * std::size_t(newest.u.layout().num_global), 0.0);
  for (LocalIndex k = 0; k < newest.u.layout().num_owned; ++k) {
    const auto row = all.begin() + 13 * solver.problem().particles->ids[k];
    std::copy_n(newest.u.owned().begin() + 7 * std::ptrdiff_t(k), 7, row);
    std::copy_n(newest.v.owned().begin() + 6 * std::ptrdiff_t(k), 6, row + 7);
  }
  newest.u.layout().comm->sum(all);
  return all;
}

/// The largest difference of velocities [m/s], of turns, and of places, less `moved` of each, over the
/// radius.
inline double difference(const BondedParticlesSolver& a, const BondedParticlesSolver& b,
                         const std::vector<Vector3d>& moved) {
  const std::vector<double> x = collected(a), y = collected(b);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % 13;
    const double d = c < 3 ? (y[i] - x[i] - moved[i / 13][Eigen::Index(c)]) / r : y[i] - x[i];
    largest = std::max(largest, std::abs(d));
  }
  return largest;
}

/// A gas whose places and velocities depend on the particle alone.
inline std::vector<Motion> gas(int per_edge, double side, double speed) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto any = [&] { return Vector3d(uniform(random), uniform(random), uniform(random)); };
  std::vector<Motion> motions;
  for (int i = 0; i < per_edge; ++i)
    for (int j = 0; j < per_edge; ++j)
      for (int k = 0; k < per_edge; ++k)
        motions.push_back(
            {side / per_edge * Vector3d(i, j, k) + 0.1 * r * any(), speed * any(), speed / r * any()});
  return motions;
}

} // namespace recoil::solvers::testing

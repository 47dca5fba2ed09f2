#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include "bdem/bodies.hpp"

/// Runs of bonded particles that several tests take.
namespace recoil::solvers::testing {

inline void run(BondedParticlesSolver& solver, GlobalIndex steps) {
  while (solver.step() < steps) {
    const auto outcome = solver.advance([](const auto&...) {});
    ASSERT_TRUE(outcome.accepted) << outcome.failure << " in step " << solver.step() + 1;
  }
}

inline BondedParticlesOptions steps_of(ParticleIntegrator integrator, double dt, double tolerance = 1e-9) {
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = dt;
  options.tolerance = tolerance;
  return options;
}

/// Steps of 1 s without inertia.
inline BondedParticlesOptions at_rest() { return steps_of(ParticleIntegrator::quasistatic, 1); }

/// The same for all bonds, without friction.
inline BondStrength strength(const BondedParticles& problem, double tensile, double shear) {
  const std::size_t count = problem.particles->bonds.size();
  return {std::vector(count, tensile), std::vector(count, shear), std::vector(count, 0.0),
          std::vector<char>(count, 0)};
}

/// A chain with this number of bonds along x: one end is held, the other one has `displacement(time)` [m].
template <class Displacement>
BondedParticles gripped_chain(const parallel::Communicator& comm, int num_bonds, Displacement displacement) {
  BondedParticles problem = bonded(comm, chain(num_bonds, 0.1, 0.04), {1e6, 0.3, 1000});
  clamp(problem, 0);
  clamp(problem, num_bonds);
  const particles::DistributedParticles* particles = problem.particles.get();
  problem.move_prescribed = [=](double time, std::span<double> u) {
    for (std::size_t k = 0; k < particles->ids.size(); ++k)
      if (particles->ids[k] == num_bonds) u[7 * k] = particles->positions[k].x() + displacement(time);
  };
  return problem;
}

/// A block whose particles fly apart, so that some of its bonds break within ten steps of 2e-4 s, or soften.
inline BondedParticlesSolver thrown_block(const parallel::Communicator& comm,
                                          const BondedParticlesOptions& options, double damage_width = 0) {
  BondedParticles problem = bonded(comm, block(4, 4, 4, 0.01), {1e6, 0.3, 1000});
  problem.strength = strength(problem, 2e4, 2e4);
  problem.damage_width = damage_width;
  BondedParticlesSolver solver(std::move(problem), options);
  start(solver, unmoved, [](GlobalIndex id, const Vector3d& x) {
    return std::pair<Vector3d, Vector3d>(Vector3d(100 * x.x(), -60 * x.y(), std::sin(double(id))),
                                         Vector3d::Zero());
  });
  return solver;
}
inline BondedParticlesSolver thrown_block(const parallel::Communicator& comm, ParticleIntegrator integrator,
                                          double damage_width = 0) {
  return thrown_block(comm, steps_of(integrator, 2e-4, 1e-12), damage_width);
}

} // namespace recoil::solvers::testing

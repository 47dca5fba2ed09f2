#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::solvers::testing {
namespace {

/// A plane that comes down on a block, further in each step than there is room for, does what a plate does.
TEST(MovingPlanes, APlanePressesABlockAsAPlateDoes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(4, 4, 4, r);
  double top = 0;
  for (Vector3d& place : set.positions) {
    // Over one triangle of the plate.
    place += Vector3d(30 * r, 0, r + 0.5 * dhat);
    top = std::max(top, place[2] + r);
  }
  const auto height = [top](double t) { return top + 0.5 * dhat - t * 2 * dhat; };
  std::array<std::vector<double>, 2> forces;
  std::array<ParticleLedger, 2> ledgers;
  for (const int k : {0, 1}) {
    BondedParticles problem = bonded(comm, set, {});
    SphereObstacles obstacles = k == 0 ? plate(60 * r, height) : ceiling_plane(height);
    if (k == 0) obstacles.triangles.resize(1);
    if (k == 0) obstacles.bodies.resize(1);
    obstacles.planes.push_back({Vector3d::Zero(), Vector3d::UnitZ(), 2});
    if (k == 1)
      obstacles.place_planes = [height](double t) {
        return std::vector<Vector3d>{{0, 0, height(t)}, Vector3d::Zero()};
      };
    add_contact(problem, std::move(obstacles), 0.2, 1e-3);
    BondedParticlesSolver solver(std::move(problem), at_rest());
    run(solver, 2);
    forces[k] = solver.obstacle_forces();
    ledgers[k] = solver.ledger();
  }
  EXPECT_GT(forces[0][2], 10);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(forces[0][i], forces[1][i], 1e-6 * forces[0][2]) << i;
  EXPECT_NEAR(ledgers[0].external_work, ledgers[1].external_work, 1e-6 * ledgers[0].external_work);
  EXPECT_NEAR(ledgers[0].dissipated_friction, ledgers[1].dissipated_friction,
              1e-6 * ledgers[0].external_work);
}

/// A belt takes a ball along until this rolls on it, at 2/7 of its speed, and does the work for it.
TEST(MovingPlanes, ABeltCarriesABall) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double speed = 0.5, mu = 0.4, g = 9.81, m = mass_of(r);
  for (const ParticleIntegrator integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::leapfrog}) {
    const bool is_explicit = integrator == ParticleIntegrator::leapfrog;
    const double gap = is_explicit ? dhat - m * g / stiffness : resting_gap(m * g);
    BondedParticles problem = bonded(comm, grains({{0, 0, r + gap}}, {r}), {});
    problem.gravity = {0, 0, -g};
    SphereObstacles belt = floor_plane();
    belt.place_planes = [speed](double time) { return std::vector<Vector3d>{{speed * time, 0, 0}}; };
    add_contact(problem, std::move(belt), mu, 1e-5);
    BondedParticlesSolver solver(std::move(problem), steps_of(integrator, is_explicit ? 2e-5 : 1e-3));
    throw_all(solver, Vector3d::Zero());
    run(solver, is_explicit ? 3000 : 60);
    const ParticleLedger& now = solver.ledger();
    EXPECT_NEAR(now.linear_momentum[0], 2.0 / 7 * m * speed, 1e-4 * m * speed);
    // Its force times its way while the ball slides.
    const double work = 2.0 / 7 * m * speed * speed;
    EXPECT_NEAR(now.external_work, work, 1e-3 * work);
    EXPECT_NEAR(now.dissipated_friction + now.dissipated_integrator, work / 2, 2e-3 * work);
  }
}

/// What a plane sweeps over in a step is in its way, however far it lies off at its start.
TEST(MovingPlanes, AFastPlanePassesNothing) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, grains({{0, 0, 0}}, {r}), {});
  add_contact(problem, ceiling_plane([](double t) { return 8 * r - 20 * r * t; }));
  BondedParticlesOptions options;
  options.dt = 0.5;
  options.tolerance = 1e-9;
  BondedParticlesSolver solver(std::move(problem), options);
  run(solver, 2);
  EXPECT_LT(find(solver.problem(), solver.history().newest().u, 0).p[2], -13 * r);
  EXPECT_FALSE(solver.problem().contact->overlaps());
}

} // namespace
} // namespace recoil::solvers::testing

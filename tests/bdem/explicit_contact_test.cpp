#include <cmath>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::solvers::testing {
namespace {

BondedParticlesOptions leapfrog(double dt) { return steps_of(ParticleIntegrator::leapfrog, dt); }

/// Two chains that spin and hit each other off the middle, with friction and rolling friction: pairs of
/// impulses keep both momenta, and friction takes energy.
TEST(ExplicitContact, ImpulsesKeepMomenta) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = chain(3, 2 * r, r), other = chain(2, 2 * r, r);
  for (Vector3d& place : other.positions) place += Vector3d(0.5 * r, 0.3 * r, 2.2 * r);
  append(set, other);
  BondedParticles problem = bonded(comm, set, {});
  add_contact(problem, {}, 0.4, 1e-3, 0.1);
  BondedParticlesSolver solver(std::move(problem), leapfrog(1e-4));
  start(solver, unmoved, [](GlobalIndex id, const Vector3d& x) {
    const Vector3d w = id < 4 ? Vector3d(3, 20, -5) : Vector3d(-8, 4, 30);
    return std::pair<Vector3d, Vector3d>(w.cross(x) + Vector3d(1, 0.5, id < 4 ? 1 : -1), w);
  });
  const ParticleLedger before = solver.ledger();
  run(solver, 100);
  const ParticleLedger now = solver.ledger();
  double scale = 0, angular = 0;
  for (int i = 0; i < 3; ++i) {
    scale = std::max(scale, std::abs(before.linear_momentum[i]));
    angular = std::max(angular, std::abs(before.angular_momentum[i]));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(now.linear_momentum[i], before.linear_momentum[i], 1e-12 * scale);
    EXPECT_NEAR(now.angular_momentum[i], before.angular_momentum[i], 1e-11 * angular);
  }
  EXPECT_GT(now.dissipated_friction, 1e-3 * before.kinetic);
  EXPECT_NEAR(left_over(before, now), 0, 1e-12 * before.kinetic);
}

/// Without friction a ball leaves a floor as fast as it came.
TEST(ExplicitContact, ABallBouncesToItsHeight) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, grains({{0, 0, r + 2 * dhat}}, {r}), {});
  add_contact(problem, floor_plane());
  BondedParticlesSolver solver(std::move(problem), leapfrog(2e-6));
  throw_all(solver, Vector3d(0, 0, -1));
  const ParticleLedger before = solver.ledger();
  double most = 0;
  for (int step = 1; step <= 6000; ++step) {
    run(solver, step);
    most = std::max(most, solver.ledger().barrier);
  }
  const ParticleLedger now = solver.ledger();
  EXPECT_NEAR(most, before.kinetic, 1e-3 * before.kinetic);
  EXPECT_EQ(now.barrier, 0);
  EXPECT_NEAR(now.linear_momentum[2], -before.linear_momentum[2], 1e-4 * std::abs(before.linear_momentum[2]));
}

/// The same with the barrier, which a faster ball meets more deeply and without overlap.
TEST(ExplicitContact, ABallBouncesOffTheBarrierAsFastAsItCame) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, grains({{0, 0, r + 1.5 * dhat}}, {r}), {});
  add_contact(problem, floor_plane());
  BondedParticlesOptions options = leapfrog(2e-6);
  options.contact_law = potentials::ContactLaw::barrier;
  BondedParticlesSolver solver(std::move(problem), options);
  throw_all(solver, Vector3d(0, 0, -3));
  const ParticleLedger before = solver.ledger();
  double most = 0, least = dhat;
  for (int step = 1; solver.ledger().linear_momentum[2] <= 0 || solver.ledger().barrier > 0; ++step) {
    ASSERT_LT(step, 3000);
    run(solver, step);
    most = std::max(most, solver.ledger().barrier);
    least = std::min(least, stepping::value_of<double>(solver.counts(), "min_distance"));
  }
  EXPECT_NEAR(most, before.kinetic, 1e-3 * before.kinetic);
  EXPECT_NEAR(stiffness * geometry::log_barrier(least, dhat).value, before.kinetic, 1e-2 * before.kinetic);
  EXPECT_NEAR(solver.ledger().linear_momentum[2], -before.linear_momentum[2],
              1e-4 * std::abs(before.linear_momentum[2]));
  EXPECT_NEAR(left_over(before, solver.ledger()), 0, 1e-11 * before.kinetic);
}

/// Implicit steps with the penalty let a ball that is pressed by 1.5 kappa dhat overlap by half of dhat, and
/// find the motion that leapfrog finds with the same law.
TEST(ExplicitContact, ImplicitStepsTakeItsLaw) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double m = mass_of(r), force = 1.5 * stiffness * dhat;
  const auto ball = [&](ParticleIntegrator integrator, double dt) {
    BondedParticles problem = bonded(comm, grains({{0, 0, r + 0.9 * dhat}}, {r}), {});
    problem.gravity = {0, 0, -force / m};
    add_contact(problem, floor_plane());
    BondedParticlesOptions options = steps_of(integrator, dt, 1e-10);
    options.contact_law = potentials::ContactLaw::penalty;
    return BondedParticlesSolver(std::move(problem), options);
  };
  const auto height = [](const BondedParticlesSolver& solver) {
    return find(solver.problem(), solver.history().newest().u, 0).p[2];
  };
  // Long steps of backward Euler end at rest.
  BondedParticlesSolver at_rest = ball(ParticleIntegrator::be_reflect, 1);
  run(at_rest, 4);
  EXPECT_NEAR(height(at_rest), r - 0.5 * dhat, 1e-6 * r);
  const double period = 2 * pi * std::sqrt(m / stiffness), dt = period / 2000;
  BondedParticlesSolver leaps = ball(ParticleIntegrator::leapfrog, dt),
                        steps = ball(ParticleIntegrator::be_reflect, dt);
  run(leaps, 500);
  run(steps, 500);
  EXPECT_LT(height(leaps), r - 0.5 * dhat);
  EXPECT_NEAR(height(steps), height(leaps), 1e-2 * dhat);
  EXPECT_NEAR(steps.ledger().barrier, leaps.ledger().barrier, 1e-2 * leaps.ledger().barrier);
}

/// A ball that slides ends up rolling at 5/7 of its speed, or, with rolling friction, comes to rest: it
/// slides until v0 - mu g t = 5/2 (mu - mu_r) g t, and stops 7/10 v^2 / (mu_r g) from there.
TEST(ExplicitContact, BallsRollAsTheyShould) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double g = 9.81, m = mass_of(r), depth = m * g / stiffness, mu = 0.5, v0 = 0.5;
  for (const double rolling : {0.0, 0.05}) {
    // 60000 steps of one ball, for which other ranks only wait.
    if (rolling > 0 && comm.size() > 1) continue;
    BondedParticles problem = bonded(comm, grains({{0, 0, r + dhat - depth}}, {r}), {});
    problem.gravity = {0, 0, -g};
    add_contact(problem, floor_plane(), mu, 1e-3, rolling);
    BondedParticlesSolver solver(std::move(problem), leapfrog(2e-5));
    throw_all(solver, Vector3d(v0, 0, 0));
    const ParticleLedger before = solver.ledger();
    if (rolling == 0) {
      run(solver, 5000);
      EXPECT_NEAR(solver.ledger().linear_momentum[0], 5.0 / 7 * m * v0, 1e-9 * m);
      EXPECT_NEAR(solver.ledger().dissipated_friction, m * v0 * v0 / 7, 1e-6 * m * v0 * v0);
    } else {
      run(solver, 60000);
      const double t = v0 / (mu + 2.5 * (mu - rolling)) / g, v = v0 - mu * g * t,
                   way = (v0 + v) / 2 * t + 0.7 * v * v / (rolling * g);
      EXPECT_NEAR(find(solver.problem(), solver.history().newest().u, 0).p[0], way, 1e-3 * way);
      EXPECT_NEAR(solver.ledger().dissipated_friction, before.kinetic, 1e-3 * before.kinetic);
    }
    EXPECT_NEAR(left_over(before, solver.ledger()), 0, 1e-11 * before.kinetic);
  }
}

/// A plate that turns under a ball takes its spin along by the moment mu_r N R, and does the work for it.
TEST(ExplicitContact, ATurningPlateTurnsABall) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double g = 9.81, m = mass_of(r), mu_r = 0.05, turning = 1, end = 4e-3;
  // Over one triangle of the plate, which turns about the point of contact.
  const Vector3d axis(1.5 * r, -1.5 * r, 0);
  BondedParticles problem =
      bonded(comm, grains({axis + Vector3d(0, 0, r + dhat - m * g / stiffness)}, {r}), {});
  problem.gravity = {0, 0, -g};
  SphereObstacles obstacles = plate(4 * r, [](double) { return 0.0; });
  obstacles.place = [rest = obstacles.vertices, axis, turning](double time) {
    std::vector<Vector3d> places = rest;
    const geometry::Quaternion q = geometry::quaternion_exponential(time * turning * Vector3d::UnitY());
    for (Vector3d& place : places) place = axis + geometry::rotation_matrix(q) * (place - axis);
    return places;
  };
  add_contact(problem, std::move(obstacles), 0, 1e-3, mu_r);
  BondedParticlesSolver solver(std::move(problem), leapfrog(2e-5));
  throw_all(solver, Vector3d::Zero());
  const ParticleLedger before = solver.ledger();
  run(solver, GlobalIndex(std::lround(end / 2e-5)));
  const Vector& v = solver.history().newest().v;
  const double spin = comm.sum(v.layout().num_owned > 0 ? v.owned()[4] / r : 0.0), moment = mu_r * m * g * r,
               I = 0.4 * m * r * r;
  EXPECT_NEAR(spin, moment / I * end, 1e-2 * moment / I * end);
  EXPECT_NEAR(solver.ledger().external_work, moment * turning * end, 2e-2 * moment * turning * end);
  EXPECT_NEAR(left_over(before, solver.ledger()), 0, 1e-10 * moment * turning * end);
}

/// A block stops after v^2 / (2 mu g).
TEST(ExplicitContact, ABlockSlidesAsFarAsFrictionLetsIt) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(6, 4, 2, r);
  for (Vector3d& place : set.positions) place[2] += r + dhat;
  BondedParticles problem = bonded(comm, set, {});
  problem.gravity = {0, 0, -9.81};
  const double mu = 0.3, speed = 0.4;
  add_contact(problem, floor_plane(), mu);
  BondedParticlesSolver solver(std::move(problem), leapfrog(1e-3));
  const Vector3d first = find(solver.problem(), solver.history().newest().u, 0).p;
  throw_all(solver, Vector3d(speed, 0, 0));
  run(solver, 200);
  const Vector3d last = find(solver.problem(), solver.history().newest().u, 0).p;
  EXPECT_NEAR(last[0] - first[0], speed * speed / (2 * mu * 9.81), 0.03 * speed * speed / (2 * mu * 9.81));
}

/// A plate moves down on a block with friction that is held below, and breaks it: what holds the block and
/// the plate change its momentum, and the ledger closes.
TEST(ExplicitContact, APlateBreaksAHeldBlock) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(4, 4, 4, r);
  double top = 0;
  for (const Vector3d& place : set.positions) top = std::max(top, place[2] + r);
  BondedParticles problem = bonded(comm, set, {});
  for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
    if (problem.particles->positions[k][2] < r) std::fill_n(problem.prescribed.begin() + 6 * k, 6, 1);
  problem.strength = strength(problem, 3e4, 3e4);
  add_contact(problem, plate(20 * r, [top](double t) { return top + 1.01 * dhat - t; }), 0.3);
  const double dt = 5e-6;
  BondedParticlesSolver solver(std::move(problem), leapfrog(dt));
  throw_all(solver, Vector3d::Zero());
  std::array<double, 3> impulse{}, held_before{};
  for (int step = 1; step <= 600; ++step) {
    run(solver, step);
    const std::vector<double> on_plate = solver.obstacle_forces();
    std::array<double, 3> held{};
    for (LocalIndex k = 0; k < solver.problem().particles->num_owned(); ++k)
      for (int i = 0; i < 3; ++i) held[i] += solver.reactions()[6 * std::size_t(k) + i];
    comm.sum(held);
    // Those of bonds and of repulsion are taken where steps end.
    for (int i = 0; i < 3; ++i) impulse[i] += dt * ((held_before[i] + held[i]) / 2 - on_plate[i]);
    held_before = held;
  }
  const ParticleLedger now = solver.ledger();
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(impulse[i], now.linear_momentum[i], 1e-4 * std::abs(now.linear_momentum[2]));
  EXPECT_GT(now.broken, 0);
  EXPECT_GT(now.dissipated_friction, 1e-3 * now.external_work);
  EXPECT_NEAR(left_over({}, now), 0, 1e-10 * now.external_work);
  EXPECT_LT(std::abs(now.dissipated_integrator), 1e-3 * now.external_work);
}

} // namespace
} // namespace recoil::solvers::testing

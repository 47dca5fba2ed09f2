#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/geometry/barrier.hpp"
#include "recoil/parallel/communicator.hpp"
#include "solvers/bdem/particle_manifold.hpp"

/// Rolling friction of implicit steps.
namespace recoil::solvers::testing {
namespace {

constexpr double gravity = 9.81;
const double ball_mass = mass_of(r);

BondedParticlesOptions rolling_options(double dt,
                                       ParticleIntegrator integrator = ParticleIntegrator::be_reflect) {
  return steps_of(integrator, dt, 1e-10);
}

/// A ball on a floor that slopes down along x, under its weight.
BondedParticles ball_on_slope(const parallel::Communicator& comm, double slope, double mu, double rolling,
                              double eps_v) {
  const double angle = std::atan(slope);
  BondedParticles problem =
      bonded(comm, grains({{0, 0, r + resting_gap(ball_mass * gravity * std::cos(angle))}}, {r}), {});
  problem.gravity = gravity * Vector3d(std::sin(angle), 0, -std::cos(angle));
  add_contact(problem, floor_plane(), mu, eps_v, rolling);
  return problem;
}

double way_of_ball(const BondedParticlesSolver& solver) {
  return find(solver.problem(), solver.history().newest().u, 0).p[0];
}

/// A ball that rolls at v0 slows down by 5/7 mu_r g and stops after 7 v0^2 / (10 mu_r g), as with leapfrog.
/// Backward Euler takes the speed of the end of a step for all of it: the way is short by v0 dt / 2.
TEST(RollingFriction, ABallSlowsDownAndStops) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double mu_r = 0.05, v0 = 0.1, eps_v = 1e-5, slowing = 5.0 / 7 * mu_r * gravity,
               way = v0 * v0 / (2 * slowing);
  std::array<double, 2> errors{};
  for (int fine = 0; fine < 2; ++fine) {
    const double dt = fine == 0 ? 4e-3 : 2e-3;
    BondedParticlesSolver solver(ball_on_slope(comm, 0, 0.5, mu_r, eps_v), rolling_options(dt));
    throw_all(solver, {v0, 0, 0}, {0, v0 / r, 0});
    const ParticleLedger before = solver.ledger();
    run(solver, fine == 0 ? 50 : 100);
    EXPECT_NEAR(solver.ledger().linear_momentum[0] / ball_mass, v0 - 0.2 * slowing, 3 * eps_v);
    run(solver, fine == 0 ? 100 : 200);
    EXPECT_LT(std::abs(solver.ledger().linear_momentum[0]), 1e-4 * ball_mass * v0);
    errors[fine] = way_of_ball(solver) - way;
    EXPECT_NEAR(errors[fine], -v0 * dt / 2, 0.05 * v0 * dt / 2) << dt;
    const ParticleLedger& after = solver.ledger();
    EXPECT_NEAR(left_over(before, after), 0, 1e-8 * before.kinetic);
    // What backward Euler takes of m v^2 / 2 and of the spin is first order, too.
    EXPECT_NEAR(after.dissipated_friction, before.kinetic, 2 * slowing * dt / v0 * before.kinetic);
  }
  EXPECT_NEAR(errors[0] / errors[1], 2, 0.05);
}

TEST(RollingFriction, AgreesWithLeapfrog) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double mu_r = 0.05, v0 = 0.1, end = 0.05;
  // Slides at first, spins about the normal too.
  const Vector3d spin(0, 0.4 * v0 / r, 20);
  std::array<double, 3> ways{};
  const std::array<ParticleIntegrator, 3> integrators{
      ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT, ParticleIntegrator::leapfrog};
  for (std::size_t k = 0; k < ways.size(); ++k) {
    const double dt = k == 2 ? 2e-5 : 2.5e-4;
    BondedParticles problem = ball_on_slope(comm, 0, 0.5, mu_r, 1e-5);
    BondedParticlesSolver solver(std::move(problem), rolling_options(dt, integrators[k]));
    throw_all(solver, {v0, 0, 0}, spin);
    run(solver, GlobalIndex(std::lround(end / dt)));
    ways[k] = way_of_ball(solver);
    EXPECT_NEAR(solver.ledger().angular_momentum[2], 0.4 * ball_mass * r * r * spin[2],
                1e-3 * 0.4 * ball_mass * r * r * spin[2])
        << "spin about the normal goes on";
  }
  EXPECT_NEAR(ways[0], ways[2], 1e-2 * ways[2]);
  EXPECT_NEAR(ways[1], ways[2], 1e-2 * ways[2]);
}

/// Below mu_r a ball on a slope creeps as the smoothing lets it, with f1(y) = y (2 - y) of rolling and of
/// sliding; above it rolls at 5/7 g (sin - mu_r cos).
TEST(RollingFriction, ABallStaysOnASlopeUpToItsCoefficient) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double mu_r = 0.1, mu = 0.5, eps_v = 1e-4, dt = 2e-3;
  const auto creep = [](double share) { return 1 - std::sqrt(1 - share); };
  for (const double slope : {0.05, 0.2}) {
    BondedParticlesSolver solver(ball_on_slope(comm, slope, mu, mu_r, eps_v), rolling_options(dt));
    throw_all(solver, Vector3d::Zero());
    run(solver, 100);
    const double speed = solver.ledger().linear_momentum[0] / ball_mass;
    if (slope < mu_r) {
      EXPECT_NEAR(speed, eps_v * (creep(slope / mu_r) + creep(slope / mu)), 1e-3 * eps_v);
    } else {
      const double expected = 5.0 / 7 * gravity * (slope - mu_r) / std::sqrt(1 + slope * slope) * 100 * dt;
      EXPECT_NEAR(speed, expected, 2 * eps_v);
    }
  }
}

/// The same creep at rest, as far in each step as the smoothing lets it. Nothing holds a ball against spin
/// about the normal, so that this is prescribed.
TEST(RollingFriction, HoldsABallAtRest) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = ball_on_slope(comm, 0.05, 0.5, 0.1, 1e-5);
  for (std::size_t k = 0; k < problem.particles->ids.size(); ++k) problem.prescribed[6 * k + 5] = 1;
  BondedParticlesSolver solver(std::move(problem), rolling_options(1, ParticleIntegrator::quasistatic));
  run(solver, 4);
  const double expected = 4e-5 * (2 - std::sqrt(0.5) - std::sqrt(0.9));
  EXPECT_NEAR(way_of_ball(solver), expected, 1e-6 * expected);
}

/// Of rolling alone: moments on two spheres that have turned by any angles are opposite, and there are no
/// forces.
TEST(RollingFriction, MomentsOfAPairAreOpposite) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, grains({{0, 0, 0}, {0.6 * r, 1.5 * r, 1.1 * r}}, {r, 0.8 * r}), {});
  add_contact(problem, {}, 0, 1e-3, 0.1);
  Vector u(problem.particles->points);
  const auto values = u.write_local();
  const auto place = [&](double turn) {
    for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
      set_particle(values, k,
                   {problem.particles->positions[k],
                    geometry::quaternion_exponential(Vector3d(0.3, -0.2, 0.5) +
                                                     turn * (problem.particles->ids[k] == 0
                                                                 ? Vector3d(0.6, 0.5, -0.4)
                                                                 : Vector3d(-0.2, 0.3, 0.7)))});
  };
  place(0);
  problem.begin_contact(0.1, 0.1, u.local());
  place(1);
  problem.update(u.local());
  std::vector<double> gradient(6 * std::size_t(u.layout().num_owned), 0.0);
  problem.friction->add_gradient(u.local(), 1, gradient);
  std::array<double, 4> sums{};
  double force = 0;
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    const Vector3d moment = geometry::rotation_matrix(particle_at(u.local(), k).q) *
                            turn_of(std::span<const double>(gradient), k) * problem.particles->radii[k];
    for (int i = 0; i < 3; ++i) sums[i] += moment[i];
    sums[3] += moment.norm();
    force += shift_of(std::span<const double>(gradient), k).norm();
  }
  comm.sum(sums);
  EXPECT_GT(sums[3], 1e-3);
  EXPECT_LT(Vector3d(sums[0], sums[1], sums[2]).norm(), 1e-15 * sums[3]);
  EXPECT_EQ(comm.sum(force), 0);
}

/// Two balls of different size, pressed together, that spin against each other about y and about the normal.
struct SpinningPair {
  static constexpr double press = 0.5, mu_r = 0.02, r_b = 0.8 * r;
  BondedParticlesSolver solver;
  ParticleLedger before;

  SpinningPair(const parallel::Communicator& comm, double dt, double twist) : solver(pressed(comm, dt)) {
    start(solver, unmoved, [twist](GlobalIndex id, const Vector3d&) {
      const Vector3d spin = id == 0 ? Vector3d(0, 30, twist) : Vector3d(0, -20, -twist);
      return std::pair<Vector3d, Vector3d>(Vector3d(0.1, 0, 0), spin);
    });
    before = solver.ledger();
    run(solver, GlobalIndex(std::lround(0.01 / dt)));
  }

  static BondedParticlesSolver pressed(const parallel::Communicator& comm, double dt) {
    BondedParticles problem =
        bonded(comm, grains({{0, 0, 0}, {0, 0, r + r_b + resting_gap(press)}}, {r, r_b}), {});
    add_contact(problem, {}, 0, 1e-5, mu_r);
    const particles::DistributedParticles* particles = problem.particles.get();
    problem.add_loads = [particles](double, std::span<double> loads) {
      for (LocalIndex k = 0; k < particles->num_owned(); ++k)
        loads[6 * std::size_t(k) + 2] += particles->ids[k] == 0 ? press : -press;
    };
    return {std::move(problem), rolling_options(dt)};
  }

  /// Largest change of the angular momentum.
  double angular_change() const {
    double change = 0;
    for (int i = 0; i < 3; ++i)
      change = std::max(change, std::abs(solver.ledger().angular_momentum[i] - before.angular_momentum[i]));
    return change;
  }

  /// Spin about y of one against the other [rad/s]. Collective.
  double relative_spin() const {
    const stepping::State& now = solver.history().newest();
    double spin = 0;
    for (LocalIndex k = 0; k < now.v.layout().num_owned; ++k) {
      const Vector3d w = geometry::rotation_matrix(particle_at(now.u.local(), k).q) *
                         turn_of(now.v.owned(), k) / solver.problem().particles->radii[k];
      spin += solver.problem().particles->ids[k] == 0 ? w[1] : -w[1];
    }
    return now.v.layout().comm->sum(spin);
  }
};

/// Momenta stay, to the order of the integrator where axes of rotation change, and the spins approach each
/// other as the moment mu_r N R makes them.
TEST(RollingFriction, APairKeepsItsMomenta) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  using Pair = SpinningPair;
  const double I = 0.4 * ball_mass * r * r, I_b = I * std::pow(0.8, 5),
               moment = Pair::mu_r * Pair::press * (r + Pair::r_b) / 2,
               expected = 50 - 0.01 * moment * (1 / I + 1 / I_b);
  ASSERT_GT(expected, 20);
  const Pair plain(comm, 2.5e-4, 0), twisted(comm, 2.5e-4, 5), finer(comm, 1.25e-4, 5);
  for (const Pair* pair : {&plain, &twisted, &finer}) {
    const ParticleLedger& now = pair->solver.ledger();
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(now.linear_momentum[i], pair->before.linear_momentum[i], 1e-9 * ball_mass * 0.1);
    EXPECT_NEAR(pair->relative_spin(), expected, 1e-3 * expected);
    EXPECT_NEAR(left_over(pair->before, now), 0, 1e-8 * pair->before.kinetic);
  }
  EXPECT_LT(plain.angular_change(), 1e-8 * I * 30);
  EXPECT_LT(twisted.angular_change(), 5e-4 * I * 30);
  EXPECT_NEAR(twisted.angular_change() / finer.angular_change(), 2, 0.1);
}

/// A plate that turns under a ball: rolling is what the ball turns against it, and the work of the plate all
/// that friction dissipates where the ball does not turn.
TEST(RollingFriction, KnowsHowObstaclesTurn) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double gap = 0.5 * dhat, turn = 0.3;
  BondedParticles problem = bonded(comm, grains({{1.5 * r, -1.5 * r, r + gap}}, {r}), {});
  SphereObstacles obstacles = plate(4 * r, [](double) { return 0.0; });
  obstacles.place = [rest = obstacles.vertices, turn](double time) {
    std::vector<Vector3d> places = rest;
    for (Vector3d& place : places)
      place = geometry::rotation_matrix(geometry::quaternion_exponential(time * turn * Vector3d::UnitY())) *
              place;
    return places;
  };
  add_contact(problem, std::move(obstacles), 0, 1e-3, 0.1);
  Vector u(problem.particles->points);
  const auto place = [&](const Vector3d& by) {
    const auto values = u.write_local();
    for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
      set_particle(values, k, {problem.particles->positions[k], geometry::quaternion_exponential(by)});
  };
  const auto moment = [&] {
    std::vector<double> gradient(6 * std::size_t(u.layout().num_owned), 0.0);
    problem.friction->add_gradient(u.local(), 1, gradient);
    Vector3d own = Vector3d::Zero();
    for (LocalIndex k = 0; k < u.layout().num_owned; ++k)
      own += r * turn_of(std::span<const double>(gradient), k);
    std::array<double, 3> sums{own[0], own[1], own[2]};
    comm.sum(sums);
    return Vector3d(sums[0], sums[1], sums[2]);
  };
  place(Vector3d::Zero());
  problem.begin_contact(1, 1, u.local());
  problem.contact->move_obstacles(1);
  problem.friction->update(u.local());
  const double force = -stiffness * geometry::log_barrier(gap, dhat).first, expected = 0.1 * force * r;
  EXPECT_NEAR(moment()[1], -expected, 1e-12 * expected);
  EXPECT_NEAR(comm.sum(problem.friction->dissipation()), expected * turn, 1e-12 * expected);
  EXPECT_NEAR(comm.sum(problem.friction->obstacle_work()), expected * turn, 1e-12 * expected);
  std::vector<double> on_plate(6, 0.0);
  problem.friction->add_obstacle_forces(1, on_plate);
  comm.sum(on_plate);
  EXPECT_NEAR(on_plate[4], -expected, 1e-12 * expected);
  place(turn * Vector3d::UnitY());
  problem.friction->update(u.local());
  EXPECT_LT(moment().norm(), 1e-10 * expected);
}

/// Grains that fall in a heap, spinning.
BondedParticlesSolver heap(const parallel::Communicator& comm) {
  std::vector<Vector3d> places;
  std::vector<double> radii;
  for (int k = 0; k < 12; ++k) {
    radii.push_back(r * (1 - 0.02 * (k % 5)));
    places.emplace_back(2.3 * r * (k % 2) + 0.1 * r * (k % 3), 2.3 * r * (k / 2 % 2) + 0.15 * r * (k % 4),
                        (1.3 + 2.4 * (k / 4)) * r);
  }
  BondedParticles problem = bonded(comm, grains(places, radii), {});
  problem.gravity = {0, 0, -gravity};
  SphereObstacles floor = floor_plane();
  floor.planes[0].body = 12;
  add_contact(problem, std::move(floor), 0.4, 1e-2, 0.2);
  BondedParticlesOptions chosen = rolling_options(1e-3);
  chosen.friction_iterations = 2;
  BondedParticlesSolver solver(std::move(problem), chosen);
  throw_all(solver, {0.1, -0.05, -1}, {20, 10, -5});
  return solver;
}

TEST(RollingFriction, AHeapIsTheSameOnAnyRanksAndAgain) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  BondedParticlesSolver whole = heap(comm), parts = heap(comm), serial = heap(alone);
  const ParticleLedger before = whole.ledger();
  run(whole, 10);
  const stepping::RestartData data = whole.restart_data();
  const stepping::State state = whole.history().newest();
  run(whole, 20);
  parts.continue_from(data, {state});
  run(parts, 20);
  EXPECT_TRUE(std::ranges::equal(whole.history().newest().u.owned(), parts.history().newest().u.owned()));
  EXPECT_EQ(whole.ledger().dissipated_friction, parts.ledger().dissipated_friction);
  EXPECT_GT(whole.ledger().dissipated_friction, 0.01 * before.kinetic);
  EXPECT_NEAR(left_over(before, whole.ledger()), 0, 1e-7 * before.kinetic);
  run(serial, 20);
  for (GlobalIndex id = 0; id < 12; ++id) {
    const potentials::Particle shared = find(whole.problem(), whole.history().newest().u, id),
                               own = find(serial.problem(), serial.history().newest().u, id);
    EXPECT_LT((shared.p - own.p).norm(), 1e-8 * r);
    EXPECT_LT((shared.q - own.q).norm(), 1e-8);
  }
}

} // namespace
} // namespace recoil::solvers::testing

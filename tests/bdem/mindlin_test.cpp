#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bdem/contact_checks.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/potentials/spheres/contact_springs.hpp"

/// Springs along the contacts of Hertz' law.
namespace recoil::solvers::testing {
namespace mindlin {

using potentials::ContactSpring;

constexpr double E = 1e6, nu = 0.3, G = E / (2 * (1 + nu));

/// With the moduli above on both sides, or beside a rigid obstacle.
constexpr double shear_modulus(int sides) { return G / ((2 - nu) * sides); }
constexpr double modulus(int sides) { return E / ((1 - nu * nu) * sides); }

BondedParticles spheres(const parallel::Communicator& comm, const std::vector<Motion>& motions,
                        SphereObstacles obstacles, double mu, double restitution = 1) {
  BondedParticles problem = bonded(comm, grains(motions), {});
  add_contact(problem, std::move(obstacles), mu, 1e-3, 0, restitution);
  problem.barrier->set_compliances(std::vector<double>(motions.size(), (1 - nu * nu) / E));
  problem.friction->set_shear_compliances(std::vector<double>(motions.size(), (2 - nu) / G));
  return problem;
}

BondedParticlesOptions steps(ParticleIntegrator integrator, double dt) {
  BondedParticlesOptions options = steps_of(integrator, dt, 1e-10);
  options.contact_law = potentials::ContactLaw::hertz;
  return options;
}

/// Depth at which a sphere of radius r bears a force on a plane [m].
double depth_under(double force) { return std::pow(3 * force / (4 * modulus(1) * std::sqrt(r)), 2.0 / 3); }
double stiffness_at(double depth) { return 8 * shear_modulus(1) * std::sqrt(r * depth); }

/// A pile on a plane whose springs an earlier step has stretched, some to where they yield.
TEST(Mindlin, DerivativesAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::vector<Motion> places;
  for (int i = 0; i < 18; ++i)
    places.push_back({(2 * r + 0.4 * dhat) * Vector3d(i % 3, i / 3 % 3, i / 9) +
                      Vector3d(1e-3 * std::sin(i), 1e-3 * std::cos(2 * i), r + 0.4 * dhat)});
  struct {
    BondedParticles problem;
    Vector u;
  } pile{spheres(comm, places, floor_plane(), 0.4), {}};
  auto& [problem, u] = pile;
  problem.barrier->set_law(potentials::ContactLaw::hertz);
  u = turned(problem);
  const ParticleManifold manifold(problem.particles->tangents, problem.particles->radii);
  GlobalIndex stretched = 0;
  for (const int seed : {11, 12}) { // the second step starts from springs
    problem.begin_contact(1, 1, u.local());
    manifold.move(u, 1, direction(problem, seed, 0.08 * dhat));
    problem.contact->cover(u.local());
    problem.update(u.local());
    if (seed == 11) problem.friction->set_springs_at_start(problem.friction->springs_at_end());
    stretched = comm.sum(GlobalIndex(problem.friction->springs_at_start().size()));
  }
  EXPECT_GT(stretched, 30);
  const double energy = comm.sum(problem.friction->stored_energy()),
               loss = comm.sum(problem.friction->dissipation());
  EXPECT_GT(energy, 0);
  EXPECT_GT(loss, 0.01 * energy); // some of them have yielded
  check_derivatives(pile, *problem.friction, 1e-6);
}

/// A spring keeps its force where the contact has grown and its stretch where it has shrunk, and no energy
/// comes of it.
TEST(Mindlin, SpringsAreCarriedOver) {
  const Vector3d s(3e-4, -1e-4, 0), n = Vector3d(0.1, 0, 1).normalized();
  const potentials::PairSpring spring{s, 100};
  const auto grown = potentials::carried_over(spring, n, 150),
             shrunk = potentials::carried_over(spring, n, 50);
  EXPECT_NEAR(grown.stiffness * grown.stretch.norm(), 100 * s.norm(), 1e-14);
  EXPECT_NEAR(shrunk.stretch.norm(), s.norm(), 1e-16);
  EXPECT_NEAR(shrunk.stretch.dot(n), 0, 1e-18);
  EXPECT_LT(grown.energy(), spring.energy());
  EXPECT_LT(shrunk.energy(), spring.energy());
}

/// A ball that slides all through its impact leaves a plane with e_t = 1 - mu (1 + e)/tan theta of its speed
/// along the plane and 5/2 mu (1 + e) v_n/r of spin, by any integrator.
TEST(Mindlin, ObliqueImpactsThatSlide) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double mu = 0.3, v = 0.3, tangent = 4;
  for (const auto integrator :
       {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT})
    for (const double e : {1.0, 0.6}) {
      if (e == 1 && integrator != ParticleIntegrator::leapfrog) continue; // they damp
      const std::vector<Motion> ball{{{0, 0, r + dhat + 1e-6}, {tangent * v, 0, -v}}};
      BondedParticlesSolver solver(spheres(comm, ball, floor_plane(), mu, e), steps(integrator, 2e-4));
      throw_each(solver, ball);
      const ParticleLedger before = solver.ledger();
      run(solver, 150);
      const ParticleLedger now = solver.ledger();
      const double m = mass_of(r), expected = 1 - mu * (1 + e) / tangent,
                   e_t = now.linear_momentum[0] / (m * tangent * v), e_n = now.linear_momentum[2] / (m * v);
      EXPECT_EQ(now.barrier, 0);
      EXPECT_NEAR(e_n, e, 0.003);
      EXPECT_NEAR(e_t, expected, 1e-3) << int(integrator) << " " << e;
      const Vector3d p = find(solver.problem(), solver.history().newest().u, 0).p;
      const double spin =
          now.angular_momentum[1] - p[2] * now.linear_momentum[0] + p[0] * now.linear_momentum[2];
      EXPECT_NEAR(spin, mu * (1 + e) * m * v * r, 3e-3 * mu * (1 + e) * m * v * r);
      EXPECT_NEAR(left_over(before, now), 0, 1e-10 * before.kinetic);
      EXPECT_GT(now.dissipated_friction, 0);
      if (comm.rank() == 0)
        std::printf("integrator %d, e %.1f: e_t %.5f, expected %.5f\n", int(integrator), e, e_t, expected);
    }
}

/// A ball on a plane as equations of its depth, its speeds and the force of its spring, in 20000 steps of an
/// impact: speed along the plane after one at (v, -v_n), and what is left of the energy.
std::array<double, 2> rebound(double v, double v_n, double mu) {
  const double m = mass_of(r), inertia = 0.4 * m * r * r,
               most = std::pow(15 * m * v_n * v_n / (16 * modulus(1) * std::sqrt(r)), 0.4),
               dt = 2.94 * most / v_n / 20000, energy = m * (v * v + v_n * v_n) / 2;
  double depth = 0, normal = -v_n, along = v, spin = 0, pull = 0, k = 0;
  do {
    depth -= dt * normal;
    const double now = stiffness_at(std::max(depth, 0.0)),
                 force = modulus(1) * std::sqrt(r) * 4 / 3 * std::pow(std::max(depth, 0.0), 1.5);
    if (now < k) pull *= now / k;
    k = now;
    pull = std::clamp(pull + k * dt * (along - r * spin), -mu * force, mu * force);
    normal += dt * force / m;
    along -= dt * pull / m;
    spin += dt * r * pull / inertia;
  } while (depth > 0);
  return {along, (m * (along * along + normal * normal) + inertia * spin * spin) / 2 / energy};
}

/// From impacts that stick to those that slide, also where the surface comes back faster than it went.
TEST(Mindlin, ObliqueImpactsAtAnyAngle) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double mu = 0.3, v_n = 0.3;
  double worst = 0;
  for (const double tangent : {0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0}) {
    BondedParticlesOptions options = steps(ParticleIntegrator::leapfrog, 2e-4);
    options.explicit_share = 0.02;
    const std::vector<Motion> ball{{{0, 0, r + dhat + 1e-6}, {tangent * v_n, 0, -v_n}}};
    BondedParticlesSolver solver(spheres(comm, ball, floor_plane(), mu), options);
    throw_each(solver, ball);
    const ParticleLedger before = solver.ledger();
    run(solver, 150);
    const auto [along, left] = rebound(tangent * v_n, v_n, mu);
    const double found = solver.ledger().linear_momentum[0] / mass_of(r);
    EXPECT_EQ(solver.ledger().barrier, 0);
    EXPECT_NEAR(found / (tangent * v_n), along / (tangent * v_n), 2e-3) << tangent;
    EXPECT_NEAR(solver.ledger().kinetic / before.kinetic, left, 2e-3) << tangent;
    worst = std::max(worst, std::abs(found - along) / (tangent * v_n));
    if (comm.rank() == 0)
      std::printf("tan theta %.1f: e_t %.4f, of the equations %.4f; energy left %.4f\n", tangent,
                  found / (tangent * v_n), along / (tangent * v_n), left);
  }
  if (comm.rank() == 0) std::printf("worst error of e_t %.2g\n", worst);
}

TEST(Mindlin, RefusesWhatItCannotGoWith) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto make = [&](std::optional<potentials::ContactLaw> law) {
    BondedParticlesOptions options = steps(ParticleIntegrator::be_reflect, 1e-3);
    options.contact_law = law;
    return BondedParticlesSolver(spheres(comm, {{{0, 0, 2 * r}}}, floor_plane(), 0.3), options);
  };
  EXPECT_THROW(make({}), InputError);
  EXPECT_THROW(make(potentials::ContactLaw::penalty), InputError);
  BondedParticlesSolver solver = make(potentials::ContactLaw::hertz);
  stepping::SweepProducts<3> products;
  try {
    solver.recorded_step(products);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("<tangential_law>"), std::string::npos) << error.what();
  }
}

/// Two unequal spheres, of different ranks, that do not slide all the time: implicit steps come to what
/// leapfrog finds, by the first order; momenta are kept, and no energy comes from nowhere.
TEST(Mindlin, ImplicitStepsConvergeToThoseOfLeapfrog) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double v = 0.3, mu = 0.5;
  const auto speed_after = [&](ParticleIntegrator integrator, double dt) {
    BondedParticlesOptions options = steps(integrator, dt);
    options.sudden_breaking = SuddenBreaking::shorter_steps;
    std::vector<Motion> pair{{{0, 0, 0}, {0.4 * v, 0, 0}},
                             {{1.6 * r + dhat + 1e-6, 0, 0}, {-0.6 * v, 0.5 * v, 0.2 * v}}};
    pair[1].radius = 0.6 * r;
    BondedParticlesSolver solver(spheres(comm, pair, {}, mu), options);
    throw_each(solver, pair);
    const ParticleLedger before = solver.ledger();
    run(solver, GlobalIndex(std::lround(0.012 / dt)));
    const ParticleLedger now = solver.ledger();
    EXPECT_EQ(now.barrier, 0);
    EXPECT_NEAR(left_over(before, now), 0, 1e-9 * before.kinetic);
    EXPECT_GT(now.dissipated_friction, 0);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(now.linear_momentum[i], before.linear_momentum[i], 1e-9 * mass_of(r) * v);
    return now.kinetic;
  };
  const double exact = speed_after(ParticleIntegrator::leapfrog, 1e-4);
  EXPECT_NEAR(speed_after(ParticleIntegrator::leapfrog, 1.2e-5), exact, 2e-4 * exact);
  std::array<double, 2> error{};
  for (int i = 0; i < 2; ++i)
    error[i] = speed_after(ParticleIntegrator::mid_reflectT, 2e-5 / (1 << i)) - exact;
  if (comm.rank() == 0) std::printf("errors %.3g %.3g of %.3g\n", error[0], error[1], exact);
  EXPECT_NEAR(error[0] / error[1], 2, 0.3);
  EXPECT_LT(std::abs(error[1]), 0.02 * exact);
}

/// A ball that may not turn on a plane which it presses on, pulled along it by half of what friction bears:
/// it moves by F/(8 G* a) and stays there, where smoothed friction creeps. By more it slides.
TEST(Mindlin, ALoadIsHeldWithoutCreep) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double mu = 0.5, pull = 0.25;
  const double weight = 0.5, depth = depth_under(weight);
  const auto hold = [&](const BondedParticlesOptions& options, double share, bool has_springs,
                        int num_steps) {
    BondedParticles problem = spheres(comm, {{{0, 0, r + dhat - depth}}}, floor_plane(), mu);
    if (!has_springs) problem.friction->set_shear_compliances({});
    for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
      std::fill_n(problem.prescribed.begin() + 6 * k + 3, 3, 1);
    problem.gravity = weight / mass_of(r) * Vector3d(share, 0, -1);
    BondedParticlesSolver solver(std::move(problem), options);
    std::vector<double> ways;
    for (int step = 1; step <= num_steps; ++step) {
      run(solver, step);
      ways.push_back(find(solver.problem(), solver.history().newest().u, 0).p[0]);
    }
    return ways;
  };
  BondedParticlesOptions at_rest = steps(ParticleIntegrator::quasistatic, 1);
  const double expected = pull * weight / stiffness_at(depth);
  const auto held = hold(at_rest, pull, true, 60);
  EXPECT_NEAR(held.front(), expected, 1e-6 * expected);
  EXPECT_NEAR(held.back(), held.front(), 1e-9 * expected);
  const auto creeping = hold(at_rest, pull, false, 60);
  EXPECT_GT(creeping.back(), 30 * expected);
  if (comm.rank() == 0)
    std::printf("way %.9g of F/(8 G* a) %.9g, change in 59 steps %.2g; of smoothed friction %.3g\n",
                held.front(), expected, held.back() - held.front(), creeping.back());
  // With inertia backward Euler damps what begins as an oscillation.
  const auto settled = hold(steps(ParticleIntegrator::be_reflect, 5e-3), pull, true, 200);
  EXPECT_NEAR(settled.back(), expected, 1e-4 * expected);
  EXPECT_NEAR(settled.back(), settled[150], 1e-8 * expected);
  const auto sliding = hold(steps(ParticleIntegrator::be_reflect, 5e-3), 1.1 * mu, true, 40);
  const double t = 40 * 5e-3;
  EXPECT_NEAR(sliding.back(), 0.1 * mu * weight / mass_of(r) * t * t / 2, 0.1 * sliding.back());
}

/// A ball between two planes swings at the root of 2 k/m, by leapfrog without a loss.
TEST(Mindlin, ABallSwingsBetweenPlanes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double depth = 2e-4, k = stiffness_at(depth), period = 2 * pi * std::sqrt(mass_of(r) / (2 * k)),
               reach = 0.9 * 4.0 / 3 * modulus(1) * std::sqrt(r) * std::pow(depth, 1.5) / k,
               speed = 0.5 * reach * 2 * pi / period;
  SphereObstacles planes = floor_plane();
  planes.planes.push_back({Vector3d(0, 0, 2 * (r + dhat - depth)), -Vector3d::UnitZ(), 2});
  constexpr int parts = 200;
  const std::vector<Motion> ball{{{0, 0, r + dhat - depth}, {speed, 0, 0}}};
  BondedParticlesSolver solver(spheres(comm, ball, planes, 0.9),
                               steps(ParticleIntegrator::leapfrog, period / parts));
  throw_each(solver, ball);
  const ParticleLedger before = solver.ledger();
  double last = before.linear_momentum[0], first_turn = 0, last_turn = 0;
  int turns = 0;
  for (int step = 1; step <= 10 * parts; ++step) {
    run(solver, step);
    const double now = solver.ledger().linear_momentum[0];
    if (last * now < 0) {
      last_turn = solver.time() - now / (now - last) * period / parts;
      if (turns++ == 0) first_turn = last_turn;
    }
    last = now;
  }
  const double found = 2 * (last_turn - first_turn) / (turns - 1);
  EXPECT_EQ(turns, 20);
  EXPECT_NEAR(found, period, 2e-3 * period);
  const ParticleLedger now = solver.ledger();
  EXPECT_NEAR(left_over(before, now), 0, 1e-11 * before.kinetic);
  EXPECT_NEAR(now.dissipated_friction, 0, 1e-3 * before.kinetic);
  EXPECT_NEAR(now.kinetic + now.barrier, before.kinetic + before.barrier, 1e-3 * before.kinetic);
  if (comm.rank() == 0) std::printf("period %.6f of theory\n", found / period);
}

/// Two spheres that are shifted against each other and then turned together about the normal of their
/// contact: the force of the spring turns with them.
TEST(Mindlin, SpringsTurnWithTheirPair) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr int parts = 30;
  const double depth = 3e-4, shift = 2e-5, height = 2 * r + dhat - depth;
  BondedParticles problem = spheres(comm, {{{0, 0, 0}}, {{0, 0, height}}}, {}, 0.8);
  clamp(problem, 0);
  clamp(problem, 1);
  const particles::DistributedParticles* particles = problem.particles.get();
  problem.move_prescribed = [=](double time, std::span<double> u) {
    const double angle = std::clamp(time - 1.5, 0.0, double(parts)) / parts * pi / 2;
    const geometry::Quaternion q = geometry::quaternion_exponential({0, 0, angle});
    for (std::size_t k = 0; k < particles->ids.size(); ++k) {
      const Vector3d place =
          particles->ids[k] == 0 ? Vector3d(0, 0, 0) : Vector3d(time > 0.5 ? shift : 0, 0, height);
      set_particle(u, LocalIndex(k), {geometry::rotation_matrix(q) * place, q});
    }
  };
  BondedParticlesSolver solver(std::move(problem), steps(ParticleIntegrator::quasistatic, 1));
  const auto pull = [&] {
    Vector3d sum = Vector3d::Zero();
    for (LocalIndex k = 0; k < solver.problem().particles->num_owned(); ++k)
      if (solver.problem().particles->ids[k] == 1)
        sum = Eigen::Map<const Vector3d>(solver.reactions().data() + 6 * std::size_t(k));
    std::array<double, 3> all{sum[0], sum[1], sum[2]};
    comm.sum(all);
    return Vector3d(all[0], all[1], 0);
  };
  run(solver, 1);
  const Vector3d before = pull();
  run(solver, parts + 5);
  const Vector3d after = pull(), turned(-before[1], before[0], 0);
  EXPECT_GT(before.norm(), 0);
  EXPECT_NEAR((after - turned).norm() / before.norm(), 0, 2e-3);
  if (comm.rank() == 0) std::printf("turned by %.2g of the force\n", (after - turned).norm() / before.norm());
}

/// Grains that fall into a heap on a plane, with springs on other ranks than their pairs: the same on any
/// ranks.
TEST(Mindlin, AHeapIsTheSameOnAnyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  std::vector<Motion> places;
  for (int i = 0; i < 24; ++i)
    places.push_back({2.2 * r * Vector3d(i % 3, i / 3 % 2, i / 6) +
                      Vector3d(2e-3 * std::sin(i), 2e-3 * std::cos(i * i), r + dhat)});
  for (const auto integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::leapfrog}) {
    const auto momentum = [&](const parallel::Communicator& ranks) {
      BondedParticles problem = spheres(ranks, places, floor_plane(), 0.5);
      problem.gravity = {0, 0, -10};
      BondedParticlesSolver solver(std::move(problem), steps(integrator, 1e-3));
      const ParticleLedger before = solver.ledger();
      run(solver, 60);
      // Of implicit steps spins are what it closes worst for, with springs or without.
      EXPECT_NEAR(left_over(before, solver.ledger()), 0, 2e-6 * solver.ledger().kinetic);
      EXPECT_GT(solver.ledger().dissipated_friction, 0);
      std::vector<double> all = {solver.ledger().kinetic, solver.ledger().barrier,
                                 solver.ledger().dissipated_friction};
      const ParticleLedger& ledger = solver.ledger();
      all.insert(all.end(), ledger.angular_momentum.begin(), ledger.angular_momentum.end());
      return all;
    };
    const std::vector<double> one = momentum(alone), many = momentum(comm);
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(many[i], one[i], 1e-6 * std::abs(one[i]) + 1e-12) << int(integrator) << " " << i;
  }
}

} // namespace mindlin
} // namespace recoil::solvers::testing

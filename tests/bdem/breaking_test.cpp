#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "bdem/runs.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

/// Ends of a chain that are held, or pulled and pushed along x by `speed` [m/s].
BondedParticles pulled_chain(const parallel::Communicator& comm, double speed) {
  return gripped_chain(comm, 4, [=](double time) { return speed * time; });
}

TEST(Breaking, HappensAtTheStrengthInTensionAndNotInCompression) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double direction : {1.0, -1.0}) {
    // Strain 1e-4 a step; the bonds, all of them loaded alike, break at sigma = E * 5.5e-4.
    BondedParticles problem = pulled_chain(comm, direction * 0.4e-4);
    problem.strength = strength(problem, 550, 1e9);
    BondedParticlesSolver solver(std::move(problem), at_rest());
    for (int i = 1; i <= 8; ++i) {
      run(solver, i);
      const GlobalIndex broken = stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds");
      EXPECT_EQ(broken, direction > 0 && i >= 6 ? 4 : 0) << "step " << i;
      for (const BrokenBond& bond : solver.broken_in_step()) {
        EXPECT_TRUE(bond.by_tension);
        EXPECT_EQ(bond.time, 6);
        EXPECT_NEAR(bond.sigma, 600, 1e-3);
        EXPECT_NEAR(bond.energy, 0.5 * bond.sigma * bond.sigma / 1e6 * pi * 0.04 * 0.04 * 0.1, 1e-9);
      }
    }
    const ParticleLedger& ledger = solver.ledger();
    EXPECT_NEAR(ledger.elastic + ledger.broken + ledger.dissipated_integrator, ledger.external_work,
                1e-9 * std::abs(ledger.external_work));
  }
}

TEST(Breaking, WorstBondGoesFirstAndUnloadsTheOthers) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = pulled_chain(comm, 0.4e-4);
  problem.strength = strength(problem, 550, 1e9);
  for (std::size_t k = 0; k < problem.particles->bonds.size(); ++k)
    if (problem.particles->bonds[k].id == 2) problem.strength->tensile[k] = 400;
  BondedParticlesSolver solver(std::move(problem), at_rest());
  run(solver, 10);
  EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), 1);
  EXPECT_NEAR(solver.ledger().elastic, 0, 1e-15);
}

TEST(Breaking, FrictionAngleHoldsWhatIsPressed) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double tan_friction : {0.0, 0.5}) {
    // Pressed by a strain of 1e-3, then sheared.
    BondedParticles problem = bonded(comm, chain(1, 0.1, 0.04), {1e6, 0.3, 1000});
    clamp(problem, 0);
    clamp(problem, 1);
    const particles::DistributedParticles* particles = problem.particles.get();
    problem.move_prescribed = [=](double time, std::span<double> u) {
      for (std::size_t k = 0; k < particles->ids.size(); ++k)
        if (particles->ids[k] == 1) {
          u[7 * k] = particles->positions[k].x() - 1e-4;
          u[7 * k + 1] = 1e-5 * time;
        }
    };
    problem.strength = strength(problem, 1e9, 100);
    problem.strength->tan_friction.assign(problem.particles->bonds.size(), tan_friction);
    BondedParticlesSolver solver(std::move(problem), at_rest());
    const double G = 1e6 / 2.6, stress_of_step = G * 1e-4, limit = 100 + tan_friction * 1000;
    const int breaks_in = int(std::ceil(limit / stress_of_step));
    run(solver, breaks_in - 1);
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), 0);
    run(solver, breaks_in);
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), 1) << tan_friction;
    for (const BrokenBond& bond : solver.broken_in_step()) EXPECT_FALSE(bond.by_tension);
  }
}

/// Pressed all over, or along z between sides that are held: bonds are shortened, and all or those across the
/// layers would break if pressure counted as tension does.
TEST(Breaking, APressedBlockHolds) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double E = 1e6, radius = 0.01, strain = 1e-3;
  for (const Vector3d& pressed : {Vector3d(1, 1, 1), Vector3d(0, 0, 1)}) {
    const particles::ParticleSet set = block(5, 5, 5, radius);
    Eigen::AlignedBox3d box;
    for (const Vector3d& place : set.positions) box.extend(place);
    BondedParticles problem = bonded(comm, set, {E, 0.3, 1000});
    problem.strength = strength(problem, 0.3 * E * strain, 1e12);
    const particles::DistributedParticles* particles = problem.particles.get();
    const auto outside = [box](const Vector3d& X) {
      return (X - box.min()).minCoeff() < 1.1 * radius || (box.max() - X).minCoeff() < 1.1 * radius;
    };
    for (std::size_t k = 0; k < particles->ids.size(); ++k)
      if (outside(particles->positions[k])) clamp(problem, particles->ids[k]);
    problem.move_prescribed = [=](double time, std::span<double> u) {
      for (std::size_t k = 0; k < particles->ids.size(); ++k)
        if (const Vector3d& X = particles->positions[k]; outside(X))
          for (int i = 0; i < 3; ++i) u[7 * k + i] = (1 - strain * time * pressed[i]) * X[i];
    };
    BondedParticlesSolver solver(std::move(problem), at_rest());
    run(solver, 1);
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), 0);
    GlobalIndex unsigned_would_break = 0;
    for (LocalIndex bond = 0; bond < std::ssize(particles->bonds); ++bond) {
      const auto forces = solver.problem().bonds->forces_of(bond, solver.history().newest().u.local());
      EXPECT_LT(forces.normal, 1e-3 * E * strain * pi * radius * radius);
      if (std::abs(forces.normal) > 0.3 * E * strain * pi * radius * radius &&
          particles->owns(particles->bonds[bond]))
        ++unsigned_would_break;
    }
    const GlobalIndex all = particles->num_bonds_global, found = comm.sum(unsigned_would_break);
    EXPECT_GT(found, pressed == Vector3d(1, 1, 1) ? all - 1 : all / 4);
    EXPECT_LT(solver.ledger().elastic, solver.ledger().external_work * (1 + 1e-6));
  }
}

/// A bond whose ends are pulled, bent, sheared and twisted bears N/S + M_b r/I = 100 Pa + 80 Pa and
/// F/S + M_t r/J = 100 Pa + 80 Pa, whatever the form of its energy is.
TEST(Breaking, TakesTermsTogetherOrEachAlone) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double E = 1e6, nu = 0.3, G = E / (2 * (1 + nu)), l = 0.1, radius = 0.04;
  struct Case {
    double tensile, shear;
    bool together, alone, by_tension;
  };
  for (const Case& given : {Case{140, 1e9, true, false, true}, Case{90, 1e9, true, true, true},
                            Case{1e9, 140, true, false, false}, Case{1e9, 90, true, true, false},
                            Case{190, 190, false, false, false}})
    for (const auto& [alone, form] : {std::pair(false, potentials::BondForm{}),
                                      {true, {}},
                                      {false, {0.8, potentials::ShearEnergy::angle}},
                                      {false, {1, potentials::ShearEnergy::smooth, true}}}) {
      BondedParticles problem = bonded(comm, chain(1, l, radius), {E, nu, 1000, form});
      clamp(problem, 0);
      clamp(problem, 1);
      const particles::DistributedParticles* particles = problem.particles.get();
      const double kappa = form.shear_correction, turned = form.half_turns ? 2 : 1;
      problem.move_prescribed = [=](double, std::span<double> u) {
        for (std::size_t k = 0; k < particles->ids.size(); ++k) {
          const double side = particles->ids[k] == 0 ? -0.5 : 0.5;
          const Vector3d way(100 * l / E, 100 * l / (kappa * G), 0),
              turn(turned * 80 * l / (G * radius), 0, turned * 80 * l / (E * radius));
          const Vector3d p = particles->positions[k] + side * way;
          const geometry::Quaternion q = geometry::quaternion_exponential(side * turn);
          std::copy_n(p.data(), 3, u.data() + 7 * k);
          std::copy_n(q.data(), 4, u.data() + 7 * k + 3);
        }
      };
      problem.strength = strength(problem, given.tensile, given.shear);
      problem.strength->separate_terms.assign(particles->bonds.size(), alone ? 1 : 0);
      BondedParticlesSolver solver(std::move(problem), at_rest());
      run(solver, 1);
      const bool breaks = alone ? given.alone : given.together;
      EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), breaks ? 1 : 0)
          << given.tensile << ", " << given.shear << ", " << alone;
      for (const BrokenBond& bond : solver.broken_in_step()) {
        EXPECT_EQ(bond.by_tension, given.by_tension);
        EXPECT_NEAR(bond.sigma, 180, 0.5);
        EXPECT_NEAR(bond.tau, 180, 0.5);
      }
    }
}

/// How a run broke its bonds.
struct Course {
  double first = 1e9, last = 0; ///< times [s]
  int repetitions = 0;
  GlobalIndex broken = 0;
  std::set<GlobalIndex> bonds; ///< on rank 0
};

Course follow(BondedParticlesSolver& solver, int steps) {
  Course course;
  std::vector<GlobalIndex> own;
  for (int i = 0; i < steps; ++i) {
    double end = solver.time();
    const auto outcome = solver.advance([&](const stepping::StepRecord& record, const auto&, const auto&) {
      EXPECT_GT(record.time, end);
      end = record.time;
    });
    EXPECT_TRUE(outcome.accepted) << outcome.failure;
    EXPECT_EQ(end, solver.time());
    course.repetitions += outcome.repetitions;
    for (const BrokenBond& bond : solver.broken_in_step()) {
      course.first = std::min(course.first, bond.time);
      course.last = std::max(course.last, bond.time);
      own.push_back(bond.bond);
    }
  }
  const parallel::Communicator& comm = *solver.layout()->comm;
  course.first = comm.min(course.first);
  course.last = comm.max(course.last);
  course.broken = stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds");
  const auto all = parallel::gather(comm, 0, own);
  course.bonds = {all.begin(), all.end()};
  return course;
}

/// A strip whose ends are pulled apart by 5 % in ten steps.
Course tear(const parallel::Communicator& comm, double max_broken_share) {
  constexpr double r = 0.01;
  BondedParticles problem = bonded(comm, block(10, 3, 1, r), {1e6, 0.3, 1000});
  problem.strength = strength(problem, 2e4, 2e4);
  const particles::DistributedParticles* particles = problem.particles.get();
  const auto pulled = [](const Vector3d& X) { return X.x() > 17 * r; };
  for (std::size_t k = 0; k < particles->ids.size(); ++k)
    if (pulled(particles->positions[k]) || particles->positions[k].x() < 2 * r)
      clamp(problem, particles->ids[k]);
  problem.move_prescribed = [=](double time, std::span<double> u) {
    for (std::size_t k = 0; k < particles->ids.size(); ++k)
      if (pulled(particles->positions[k])) u[7 * k] = particles->positions[k].x() + 0.01 * time;
  };
  BondedParticlesOptions options;
  options.dt = 0.1;
  options.tolerance = 1e-12;
  options.max_broken_share = max_broken_share;
  BondedParticlesSolver solver(std::move(problem), options);
  const Course course = follow(solver, 10);
  const ParticleLedger& ledger = solver.ledger();
  EXPECT_NEAR(ledger.kinetic + ledger.elastic + ledger.broken + ledger.dissipated_integrator,
              ledger.external_work, 1e-8 * ledger.external_work);
  return course;
}

TEST(Breaking, OfManyBondsAtOnceShortensSteps) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Course plain = tear(comm, 1), cut = tear(comm, 0.04);
  EXPECT_EQ(plain.repetitions, 0);
  EXPECT_GT(plain.broken, 3);
  EXPECT_GT(cut.repetitions, 0);
  EXPECT_GT(cut.broken, 3);
  EXPECT_LT(cut.first, plain.first);
  EXPECT_GT(cut.first, plain.first - 0.1);
  EXPECT_GT(cut.last, cut.first);
  if (comm.rank() != 0) return;
  const Course serial = tear(alone, 0.04);
  EXPECT_EQ(serial.bonds, cut.bonds);
  EXPECT_EQ(serial.first, cut.first);
}

TEST(Breaking, OfManyBondsAtOnceIsTakenInTheShortestSteps) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const int retries : {0, 3}) {
    // All bonds reach their strength at t = 5.55 s, whatever the steps.
    BondedParticles problem = pulled_chain(comm, 0.4e-4);
    problem.strength = strength(problem, 555, 1e9);
    BondedParticlesOptions options = at_rest();
    options.max_broken_share = 0.5;
    options.max_retries = retries;
    BondedParticlesSolver solver(std::move(problem), options);
    const Course course = follow(solver, 8);
    EXPECT_EQ(course.broken, 4);
    EXPECT_EQ(course.repetitions, retries);
    EXPECT_EQ(course.first, retries == 0 ? 6 : 5.625);
    EXPECT_EQ(course.last, course.first);
  }
}

/// Ids of the bonds of a block that is thrown apart.
std::set<GlobalIndex> broken_set(const parallel::Communicator& comm, double& closing,
                                 ParticleIntegrator integrator) {
  BondedParticlesSolver solver = thrown_block(comm, integrator);
  const ParticleLedger first = solver.ledger();
  std::vector<GlobalIndex> own;
  for (int i = 1; i <= 10; ++i) {
    run(solver, i);
    for (const BrokenBond& bond : solver.broken_in_step()) own.push_back(bond.bond);
  }
  const ParticleLedger& last = solver.ledger();
  closing = (last.kinetic + last.elastic + last.broken + last.dissipated_integrator - first.kinetic) /
            first.kinetic;
  for (int c = 0; c < 3; ++c)
    EXPECT_NEAR(last.linear_momentum[c], first.linear_momentum[c],
                1e-10 * std::abs(first.linear_momentum[0]));
  const auto all = parallel::gather(comm, 0, own);
  return {all.begin(), all.end()};
}

TEST(Breaking, IsTheSameOnAllRanksAndClosesTheLedger) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  double closing = 0;
  for (const auto integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT}) {
    const auto shared = broken_set(comm, closing, integrator);
    EXPECT_LT(std::abs(closing), 0.01);
    if (comm.rank() != 0) continue;
    const auto serial = broken_set(alone, closing, integrator);
    EXPECT_EQ(shared, serial);
    EXPECT_GT(serial.size(), 10u);
    EXPECT_LT(serial.size(), 300u);
  }
}

/// What a ledger of thrown_block() may be off by [J]. Newton's method leaves each particle where the force
/// and the moment over r of its bonds are off by at most the stiffness of the stiffest motion, 17.9 k_n,
/// times `tolerance` r. These do work along its way and r times its turn: with the mass I / r^2 of the
/// latter, less than m, and the kinetic energy K of all, sum |v_i| t <= sqrt(2 (2 N) K r^2 / I) t.
double open_ledger(const BondedParticles& problem, const BondedParticlesOptions& options, double kinetic,
                   double time) {
  constexpr double stiffest = 17.9;
  const double r = problem.particles->radii[0], mass = problem.inertia(0) / (r * r),
               left = stiffest * problem.bonds->stiffness(0).stretch * options.tolerance * r;
  return left * std::sqrt(4 * double(problem.particles->points->num_global) * kinetic / mass) * time;
}

/// A block that flies apart, of whose steps leapfrog takes those in which bonds break.
BondedParticlesOptions handing_over(ParticleIntegrator integrator) {
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = 2e-4;
  options.tolerance = 1e-12;
  options.explicit_share = 0.2;
  if (integrator != ParticleIntegrator::leapfrog) {
    options.max_broken_share = 1e-9;
    options.sudden_breaking = SuddenBreaking::leapfrog;
  }
  return options;
}
BondedParticlesSolver handed_over(const parallel::Communicator& comm, ParticleIntegrator integrator) {
  return thrown_block(comm, handing_over(integrator));
}

/// Damping of bonds shortens the sub-steps of leapfrog, not the waves by which impacts break bonds: what
/// takes such steps does not change as it is switched on.
TEST(Breaking, OfImpactsIsLeapfrogsWithDampedBondsToo) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double damping : {0.0, 1.0}) {
    BondedParticles problem = bonded(comm, block(3, 3, 3, 0.01), {1e6, 0.3, 1000});
    problem.strength = strength(problem, 200, 200);
    const double T = critical_time_step(problem);
    if (damping > 0) {
      potentials::BondMaterial material = problem.bonds->material();
      material.damping_time.emplace(problem.particles->bonds.size(), damping * T);
      problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, std::move(material)));
      ASSERT_LT(BondedParticlesOptions::longest_impact_step * critical_time_step(problem), 30 * T);
    }
    problem.add_contact({}, 1e-3, 2e3, {}, 0, 1e-3, 1);
    BondedParticlesOptions options;
    options.dt = 30 * T;
    BondedParticlesSolver solver(std::move(problem), options);
    start(solver, unmoved, [](GlobalIndex, const Vector3d& x) {
      return std::pair<Vector3d, Vector3d>(100 * x, Vector3d::Zero());
    });
    run(solver, 1);
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.summary(), "steps_of_leapfrog"), 1) << damping;
  }
}

TEST(Breaking, IsHandedOverToLeapfrog) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const auto broken_in = [](BondedParticlesSolver& solver, GlobalIndex steps) {
    std::vector<GlobalIndex> own;
    while (solver.step() < steps) {
      run(solver, solver.step() + 1);
      for (const BrokenBond& bond : solver.broken_in_step()) own.push_back(bond.bond);
    }
    return parallel::gather(*solver.problem().particles->points->comm, 0, own);
  };
  constexpr int steps = 40;
  BondedParticlesSolver solver = handed_over(comm, ParticleIntegrator::mid_reflectT),
                        leaps = handed_over(comm, ParticleIntegrator::leapfrog);
  const ParticleLedger before = solver.ledger();
  const auto broken = broken_in(solver, steps), by_leapfrog = broken_in(leaps, steps);
  EXPECT_NEAR(double(broken.size()), double(by_leapfrog.size()), 0.1 * double(by_leapfrog.size()));
  const auto taken = stepping::value_of<GlobalIndex>(solver.summary(), "steps_of_leapfrog");
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, steps);
  const ParticleLedger& now = solver.ledger();
  const BondedParticlesOptions options = handing_over(ParticleIntegrator::mid_reflectT);
  EXPECT_NEAR(now.kinetic + now.elastic + now.broken + now.dissipated_integrator, before.kinetic,
              open_ledger(solver.problem(), options, before.kinetic, steps * options.dt));
  // What leapfrog goes on with belongs to restarts.
  BondedParticlesSolver first = handed_over(comm, ParticleIntegrator::mid_reflectT),
                        second = handed_over(comm, ParticleIntegrator::mid_reflectT);
  run(first, 6);
  std::vector<double> flags, distances;
  for (std::size_t bond = 0; bond < first.problem().particles->bonds.size(); ++bond)
    if (first.problem().particles->owns(first.problem().particles->bonds[bond]))
      flags.push_back(first.problem().bonds->broken()[bond]);
  second.restore_broken(flags, distances);
  second.continue_from(first.restart_data(), {first.history().newest()});
  run(second, steps);
  EXPECT_EQ(second.ledger().kinetic, solver.ledger().kinetic);
  EXPECT_EQ(second.ledger().broken, solver.ledger().broken);
  if (comm.rank() != 0) return;
  BondedParticlesSolver serial = handed_over(alone, ParticleIntegrator::mid_reflectT);
  const auto all = broken_in(serial, steps);
  EXPECT_EQ(std::set(all.begin(), all.end()), std::set(broken.begin(), broken.end()));
}

/// What a step ends with does not depend on how well it is solved while bonds break: none is overstressed,
/// and the forces balance as well.
TEST(Breaking, EndsConvergedWithoutOverstressedBonds) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::array<GlobalIndex, 2> newton{}, broken{};
  constexpr int steps = 4;
  for (const int iterations : {0, 1}) {
    BondedParticlesOptions options;
    options.integrator = ParticleIntegrator::be_reflect;
    options.dt = 1e-3;
    options.tolerance = 1e-9;
    options.cascade_iterations = iterations;
    BondedParticlesSolver solver = thrown_block(comm, options);
    const ParticleLedger before = solver.ledger();
    for (int i = 1; i <= steps; ++i) {
      run(solver, i);
      const BondedParticles& problem = solver.problem();
      for (LocalIndex bond = 0; bond < std::ssize(problem.particles->bonds); ++bond) {
        if (problem.bonds->is_broken(bond)) continue;
        const auto [sigma, tau] = solver.stresses(bond, solver.history().newest().u);
        EXPECT_LT(std::max(sigma, tau), 2e4);
      }
    }
    const ParticleLedger& now = solver.ledger();
    EXPECT_NEAR(now.kinetic + now.elastic + now.broken + now.dissipated_integrator, before.kinetic,
                open_ledger(solver.problem(), options, before.kinetic, steps * options.dt));
    newton[iterations] = solver.newton_iterations();
    broken[iterations] = stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds");
  }
  EXPECT_LT(newton[1], newton[0]);
  EXPECT_NEAR(double(broken[1]), double(broken[0]), 0.1 * double(broken[0]));
}

/// What a free block that spins and flies apart loses of its angular momentum, of its size, at most in a
/// step.
double worst_loss(const parallel::Communicator& comm, ParticleIntegrator integrator, double dt, int steps,
                  bool breaks, double& in_all) {
  BondedParticles problem = bonded(comm, block(4, 4, 4, 0.01), {1e6, 0.3, 1000});
  if (breaks) problem.strength = strength(problem, 2e4, 2e4);
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = dt;
  options.tolerance = 1e-12;
  BondedParticlesSolver solver(std::move(problem), options);
  const Vector3d w(30, -20, 50);
  start(solver, unmoved, [&](GlobalIndex, const Vector3d& x) {
    return std::pair<Vector3d, Vector3d>(w.cross(x) + Vector3d(100 * x.x(), -60 * x.y(), 0), w);
  });
  const auto momentum = [&] {
    const auto& L = solver.ledger().angular_momentum;
    return Vector3d(L[0], L[1], L[2]);
  };
  const Vector3d first = momentum();
  Vector3d last = first;
  double worst = 0;
  for (int i = 1; i <= steps; ++i) {
    run(solver, i);
    worst = std::max(worst, (momentum() - last).norm() / first.norm());
    last = momentum();
  }
  in_all = (last - first).norm() / first.norm();
  EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds") > 10, breaks);
  return worst;
}

TEST(Breaking, KeepsAngularMomentum) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  double in_all = 0;
  for (const bool breaks : {false, true})
    for (const auto integrator : {ParticleIntegrator::del_exact, ParticleIntegrator::leapfrog})
      EXPECT_LT(worst_loss(comm, integrator, 2e-4, 10, breaks, in_all), 1e-10) << breaks;
}

/// The others lose some: backward Euler in proportion to the time step, and the midpoint rule next to
/// nothing.
TEST(Breaking, OtherIntegratorsLoseLittleAngularMomentum) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  double coarse = 0, fine = 0;
  worst_loss(comm, ParticleIntegrator::be_reflect, 1e-4, 20, false, coarse);
  worst_loss(comm, ParticleIntegrator::be_reflect, 5e-5, 40, false, fine);
  EXPECT_NEAR(coarse / fine, 2, 0.2);
  EXPECT_LT(fine, 3e-3);
  for (const bool breaks : {false, true})
    EXPECT_LT(worst_loss(comm, ParticleIntegrator::mid_reflectT, 1e-4, 20, breaks, coarse), 1e-8) << breaks;
}

} // namespace
} // namespace recoil::solvers

#include <set>

#include <gtest/gtest.h>

#include "bdem/runs.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"
#include "solvers/bdem/bond_loop.hpp"
#include "solvers/bdem/breaking.hpp"
#include "solvers/bdem/explicit_steps.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;
using geometry::Quaternion;

const Stuff soft{1e6, 0.3, 1000};
constexpr double radius = 0.01;

double pseudo_random(GlobalIndex id, int component, double seed) {
  return std::sin(12.9898 * double(id) + 78.233 * component + seed);
}

/// A block whose particles are all moved by up to a tenth of their radius and turned as a whole and by up to
/// 0.4 rad, with quaternions of both signs; `other` chooses among such states.
Vector rough_state(const particles::DistributedParticles& particles, double other = 0) {
  Vector u(particles.points);
  const auto values = u.write_local();
  const Quaternion whole = geometry::quaternion_exponential({0.3, -2, 1.1});
  for (std::size_t k = 0; k < particles.ids.size(); ++k) {
    const GlobalIndex id = particles.ids[k];
    const auto vector = [&](double seed) {
      return Vector3d(pseudo_random(id, 0, seed + other), pseudo_random(id, 1, seed + other),
                      pseudo_random(id, 2, seed + other));
    };
    const Quaternion q = geometry::product(whole, geometry::quaternion_exponential(0.4 * vector(2)));
    set_particle(values, LocalIndex(k),
                 {geometry::rotation_matrix(whole) * particles.positions[k] + 0.1 * radius * vector(5),
                  id % 3 == 0 ? Quaternion(-q) : q});
  }
  return u;
}

void expect_gradient_of_energy(const parallel::Communicator& comm, bool mixed, bool damped) {
  BondedParticles problem = bonded(comm, block(4, 3, 3, radius), soft);
  const auto& particles = *problem.particles;
  if (damped) {
    potentials::BondMaterial material = problem.bonds->material();
    material.damping_time.emplace();
    for (const auto& bond : particles.bonds) material.damping_time->push_back(0.1 * double(bond.id % 5));
    problem.set_bonds(std::make_unique<potentials::BondPotential>(particles, std::move(material)));
  }
  if (mixed) mix_forms(problem);
  // Some are missing, so that the last block is filled up in several ways.
  for (std::size_t k = 0; k < particles.bonds.size(); ++k)
    if (particles.bonds[k].id % 7 == 2) problem.bonds->break_bond(LocalIndex(k));
  const Vector u = rough_state(particles);
  Vector g(particles.tangents);
  problem.bonds->add_gradient(u.local(), 1, g.write_owned());
  BondLoop loop(problem);
  if (damped) {
    constexpr double h = 0.3;
    const Vector before = rough_state(particles, 0.7);
    problem.bond_damping->begin_step({0, h, 1, before.local()});
    problem.bond_damping->add_gradient(u.local(), 1, g.write_owned());
    loop.begin_damping(before.local(), Eigen::Matrix3d::Identity(), h);
  }
  std::vector<double> forces(6 * particles.ids.size());
  EXPECT_TRUE(loop.forces(u.local(), forces).empty());
  double largest = g.norm_infinity(), off = 0;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    const std::span<const double> f(forces);
    const Vector3d moment = geometry::rotation_matrix(particle_at(u.local(), k).q).transpose() *
                            turn_of(f, k) / particles.radii[k];
    off = std::max(
        {off, (shift_of(g.owned(), k) + shift_of(f, k)).norm(), (turn_of(g.owned(), k) + moment).norm()});
  }
  EXPECT_LE(off, 1e-13 * largest);
}

/// What sub-steps exert at the end of a step does not depend on whether a share or a refinement made them so
/// short, of bonds that turn fast.
TEST(ExplicitSteps, RefinedOnesTellTheDampingOfTheirOwnRates) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto damping_after = [&](double share, int refinement) {
    BondedParticles problem = bonded(comm, chain(2, 2 * radius, radius), soft);
    const double T = critical_time_step(problem);
    potentials::BondMaterial material = problem.bonds->material();
    material.damping_time.emplace(problem.particles->bonds.size(), 0.01 * T);
    problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, std::move(material)));
    const double dt = 0.6 * critical_time_step(problem);
    ExplicitSteps steps(problem, share);
    Vector u = rough_state(*problem.particles), v(problem.particles->tangents);
    const auto speeds = v.write_local();
    for (std::size_t i = 0; i < speeds.size(); ++i)
      speeds[i] = radius / T * std::sin(double(6 * problem.particles->ids[i / 6]) + double(i % 6));
    steps.advance(u, v, dt, dt, refinement, {});
    std::vector<double> forces(v.owned().size(), 0.0);
    steps.add_damping_gradient(u, v, dt, forces);
    return forces;
  };
  const std::vector<double> refined = damping_after(0.2, 4), fine = damping_after(0.05, 1);
  double size = 0, off = 0;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    size = std::max(size, std::abs(fine[i]));
    off = std::max(off, std::abs(fine[i] - refined[i]));
  }
  EXPECT_GT(comm.max(size), 0);
  EXPECT_LE(comm.max(off), 1e-10 * comm.max(size));
}

TEST(BondLoop, AgreesWithTheGradientOfTheEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const bool mixed : {false, true})
    for (const bool damped : {false, true}) expect_gradient_of_energy(comm, mixed, damped);
}

/// Bonds that have reached their strength are those that the implicit solver breaks, exert nothing, and come
/// back if their step is not taken.
TEST(BondLoop, FindsWhatBreaks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [apart, mixed] : {std::pair(false, false), {false, true}, {true, false}, {true, true}})
    for (const double tan_friction : {0.0, 0.7}) {
      BondedParticles problem = bonded(comm, block(4, 3, 3, radius), soft);
      if (mixed) mix_forms(problem);
      const std::size_t count = problem.particles->bonds.size();
      problem.strength = strength(problem, 3e5, 1.3e5);
      problem.strength->tan_friction.assign(count, tan_friction);
      problem.strength->separate_terms.assign(count, apart ? 1 : 0);
      const Vector u = rough_state(*problem.particles);
      BondLoop loop(problem);
      std::vector<double> f(6 * problem.particles->ids.size()), without(f), again(f);
      const auto found = loop.forces(u.local(), f);
      const std::set<LocalIndex> by_loop(found.begin(), found.end());
      EXPECT_TRUE(loop.forces(u.local(), again).empty());
      EXPECT_EQ(f, again);
      loop.refresh();
      EXPECT_EQ(loop.forces(u.local(), again).size(), by_loop.size()) << "nothing is broken yet";

      break_overstressed(problem, u.local(), 0, 0);
      std::set<LocalIndex> by_potential;
      for (std::size_t k = 0; k < count; ++k)
        if (problem.bonds->is_broken(LocalIndex(k))) by_potential.insert(LocalIndex(k));
      EXPECT_EQ(by_loop, by_potential);
      const auto total = comm.sum(GlobalIndex(by_loop.size())), bonds = comm.sum(GlobalIndex(count));
      EXPECT_GT(total, bonds / 10);
      EXPECT_LT(total, 9 * bonds / 10);
      BondLoop rest(problem);
      EXPECT_TRUE(rest.forces(u.local(), without).empty());
      for (std::size_t i = 0; i < 6 * std::size_t(problem.particles->num_owned()); ++i)
        ASSERT_EQ(f[i], without[i]);
    }
}

BondedParticlesOptions explicit_options(const BondedParticles& problem, double nominal, double share) {
  BondedParticlesOptions options;
  options.integrator = ParticleIntegrator::leapfrog;
  options.dt = nominal * critical_time_step(problem);
  options.explicit_share = share;
  return options;
}

/// A free block that is twisted at the start and spins.
BondedParticlesSolver free_block(const parallel::Communicator& comm, double nominal, double share) {
  BondedParticles problem = bonded(comm, block(4, 4, 6, radius), soft);
  const BondedParticlesOptions options = explicit_options(problem, nominal, share);
  BondedParticlesSolver solver(std::move(problem), options);
  start(
      solver, [](GlobalIndex, const Vector3d& X) { return twisted_place(X, 3); },
      [](GlobalIndex, const Vector3d& x) {
        const Vector3d w(1, 2, 5);
        return std::pair<Vector3d, Vector3d>(w.cross(x), w);
      });
  return solver;
}

/// How far energies of the steps of a run are off, at most and on average over either half.
struct EnergyError {
  double largest = 0;
  std::array<double, 2> mean{};
};

EnergyError energy_error(const parallel::Communicator& comm, double share) {
  BondedParticlesSolver solver = free_block(comm, 4, share);
  const ParticleLedger first = solver.ledger();
  const double before = first.kinetic + first.elastic;
  EnergyError error;
  for (int i = 1; i <= 100; ++i) {
    run(solver, i);
    const ParticleLedger& now = solver.ledger();
    const double off = (now.kinetic + now.elastic - before) / before;
    error.mean[(i - 1) / 50] += off / 50;
    error.largest = std::max(error.largest, std::abs(off));
    EXPECT_NEAR(off, -now.dissipated_integrator / before, 1e-11) << "the integrator knows what it loses";
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(now.linear_momentum[c], first.linear_momentum[c],
                  1e-12 * std::abs(first.linear_momentum[0]));
      EXPECT_NEAR(now.angular_momentum[c], first.angular_momentum[c],
                  1e-12 * std::abs(first.angular_momentum[2]));
    }
  }
  return error;
}

/// An oscillator of the critical frequency 2 / T would be off by share^2.
TEST(Leapfrog, KeepsTheEnergyOfATwistedBlockInABandOfSecondOrder) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const EnergyError coarse = energy_error(comm, 0.2), fine = energy_error(comm, 0.1);
  EXPECT_LT(coarse.largest, 0.2 * 0.2);
  EXPECT_NEAR(coarse.largest / fine.largest, 4, 0.4);
  EXPECT_LT(std::abs(coarse.mean[1] - coarse.mean[0]), 2e-4);
}

/// Bonds that are stiffer in shear have a shorter critical step; that without the correction is too long.
TEST(Leapfrog, IsStableWithAShearCorrection) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto largest_energy = [&](double share) {
    const Stuff stuff{soft.E, soft.nu, soft.rho, {4}};
    BondedParticles problem = bonded(comm, block(4, 4, 6, radius), stuff);
    const BondedParticlesOptions options = explicit_options(problem, 10 * share, share);
    BondedParticlesSolver solver(std::move(problem), options);
    start(
        solver, [](GlobalIndex, const Vector3d& X) { return twisted_place(X, 0.3); },
        [](GlobalIndex, const Vector3d&) {
          return std::pair<Vector3d, Vector3d>{Vector3d::Zero(), Vector3d::Zero()};
        });
    const double before = solver.ledger().elastic;
    double largest = 0;
    for (int i = 1; i <= 30 && largest < 100; ++i) {
      run(solver, i);
      largest = std::max(largest, (solver.ledger().kinetic + solver.ledger().elastic) / before);
    }
    return largest;
  };
  EXPECT_NEAR(
      critical_time_step(bonded(comm, chain(3, 2 * radius, radius), {soft.E, soft.nu, soft.rho, {4}})) /
          critical_time_step(bonded(comm, chain(3, 2 * radius, radius), soft)),
      0.5, 1e-15);
  EXPECT_LT(largest_energy(1), 1.5);
  EXPECT_GT(largest_energy(2), 100);
}

/// The state at the end by ids, on rank 0.
std::vector<double> by_ids(const BondedParticlesSolver& solver) {
  const auto& particles = *solver.problem().particles;
  const auto newest = solver.history().newest();
  std::vector<double> own;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    own.push_back(double(particles.ids[k]));
    for (int i = 0; i < 7; ++i) own.push_back(newest.u.owned()[7 * k + i]);
    for (int i = 0; i < 6; ++i) own.push_back(newest.v.owned()[6 * k + i]);
  }
  const auto all = parallel::gather(*particles.points->comm, 0, own);
  std::vector<double> sorted(all.size());
  for (std::size_t k = 0; k < all.size() / 14; ++k)
    std::copy_n(all.begin() + 14 * k, 14, sorted.begin() + 14 * std::size_t(all[14 * k]));
  return sorted;
}

TEST(Leapfrog, GivesTheSameBitsOnAnyRanksAndAgain) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  BondedParticlesSolver solver = free_block(comm, 3, 0.2);
  run(solver, 20);
  const std::vector<double> shared = by_ids(solver);
  BondedParticlesSolver second = free_block(comm, 3, 0.2);
  run(second, 8);
  // Continues as from a checkpoint.
  BondedParticlesSolver third = free_block(comm, 3, 0.2);
  third.continue_from(second.restart_data(), {second.history().newest()});
  run(third, 20);
  EXPECT_EQ(by_ids(third), shared);
  EXPECT_EQ(third.ledger().kinetic, solver.ledger().kinetic);
  if (comm.rank() != 0) return;
  BondedParticlesSolver serial = free_block(alone, 3, 0.2);
  run(serial, 20);
  EXPECT_EQ(by_ids(serial), shared);
}

/// From by_ids() of rank 0, on the ranks where particles now lie. Collective.
stepping::State state_of(const particles::DistributedParticles& particles, GlobalIndex id,
                         std::vector<double> values) {
  particles.points->comm->broadcast(values);
  Vector u(particles.points), v(particles.tangents);
  for (std::size_t k = 0; k < particles.ids.size(); ++k) {
    const double* from = values.data() + 14 * std::size_t(particles.ids[k]);
    std::copy_n(from + 1, 7, u.write_local().begin() + 7 * k);
    std::copy_n(from + 8, 6, v.write_local().begin() + 6 * k);
  }
  return {id, u, v};
}

// All of them on the last rank, the others own nothing.
TEST(Leapfrog, GoesOnWithTheSameBitsOnOtherRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = free_block(comm, 3, 0.2);
  run(solver, 8);
  const std::vector<double> before = by_ids(solver);
  const GlobalIndex id = solver.history().newest().id;
  const stepping::RestartData data = solver.restart_data();
  const particles::ParticleSet whole = block(4, 4, 6, radius);
  solver.move_to(bonded(comm, whole, soft, std::vector<int>(whole.positions.size(), comm.size() - 1)));
  EXPECT_EQ(solver.problem().particles->num_owned(), comm.rank() + 1 == comm.size() ? 96 : 0);
  solver.continue_from(data, {state_of(*solver.problem().particles, id, before)});
  EXPECT_EQ(by_ids(solver), before);
  run(solver, 20);
  BondedParticlesSolver left_alone = free_block(comm, 3, 0.2);
  run(left_alone, 20);
  EXPECT_EQ(by_ids(solver), by_ids(left_alone));
}

/// A block held at one end, of which the other is pulled and twisted, then held. One of the particles between
/// can neither move along x nor turn about its third axis.
BondedParticles driven_block(const parallel::Communicator& comm, double duration) {
  BondedParticles problem = bonded(comm, block(4, 4, 8, radius), soft);
  problem.gravity = Vector3d(0, 0, -9.81);
  const particles::DistributedParticles* particles = problem.particles.get();
  const double top = 7 * 2 * std::sqrt(6.0) / 3 * radius;
  const auto is_driven = [=](const Vector3d& X) { return X.z() > top - 0.1 * radius; };
  for (std::size_t k = 0; k < particles->ids.size(); ++k) {
    const Vector3d& X = particles->positions[k];
    if (X.z() < 0.1 * radius || is_driven(X)) std::fill_n(problem.prescribed.begin() + 6 * k, 6, 1);
    if (particles->ids[k] == 16 * 3 + 5) problem.prescribed[6 * k] = problem.prescribed[6 * k + 5] = 1;
  }
  problem.move_prescribed = [=](double time, std::span<double> u) {
    const double way = std::min(time / duration, 1.0), smooth = way * way * (3 - 2 * way);
    for (std::size_t k = 0; k < particles->ids.size(); ++k) {
      const Vector3d& X = particles->positions[k];
      if (!is_driven(X)) continue;
      const Vector3d centre(3.5 * radius, 3 * radius, 0);
      potentials::Particle at = twisted_place(X - centre, 4 * smooth);
      at.p += centre + Vector3d(0, 0, radius * smooth);
      set_particle(u, LocalIndex(k), at);
    }
  };
  problem.add_loads = [=](double time, std::span<double> loads) {
    for (LocalIndex k = 0; k < particles->num_owned(); ++k) {
      const double way = std::sin(time / duration);
      shift_of(loads, k) += way * Vector3d(0.001, 0, 0);
      turn_of(loads, k) += way * Vector3d(0, 1e-6, 0);
    }
  };
  return problem;
}

TEST(Leapfrog, AgreesWithTheImplicitMidpointOnADrivenBlock) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double duration = 0.04;
  const int steps = 200;
  std::array<Vector, 2> ends;
  Vector rest;
  for (const bool is_explicit : {false, true}) {
    BondedParticles problem = driven_block(comm, duration);
    BondedParticlesOptions options = explicit_options(problem, 1, 0.2);
    options.dt = 1.25 * duration / steps;
    options.tolerance = 1e-8;
    if (!is_explicit) options.integrator = ParticleIntegrator::mid_reflectT;
    BondedParticlesSolver solver(std::move(problem), options);
    const Vector begin = solver.history().newest().u;
    run(solver, steps);
    const ParticleLedger& ledger = solver.ledger();
    if (is_explicit) {
      EXPECT_NEAR(ledger.kinetic + ledger.elastic + ledger.dissipated_integrator, ledger.external_work,
                  1e-10 * ledger.external_work);
      EXPECT_LT(std::abs(ledger.dissipated_integrator), 1e-5 * ledger.external_work);
    }
    EXPECT_GT(ledger.external_work, 0);
    ends[is_explicit ? 1 : 0] = solver.history().newest().u;
    rest = begin;
  }
  // Places and orientations apart: [m] and 1.
  std::array<double, 2> moved{}, off{};
  for (std::size_t i = 0; i < rest.owned().size(); ++i) {
    const std::size_t kind = i % 7 < 3 ? 0 : 1;
    moved[kind] = std::max(moved[kind], std::abs(ends[0].owned()[i] - rest.owned()[i]));
    off[kind] = std::max(off[kind], std::abs(ends[1].owned()[i] - ends[0].owned()[i]));
  }
  for (const int kind : {0, 1}) EXPECT_LT(comm.max(off[kind]), 0.01 * comm.max(moved[kind])) << kind;
}

TEST(Leapfrog, BreaksTheSameBondsOnAnyRanksAndClosesTheLedger) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const auto thrown_apart = [](const parallel::Communicator& of) {
    BondedParticlesSolver solver = thrown_block(of, ParticleIntegrator::leapfrog);
    const double dt = 2e-4;
    const ParticleLedger first = solver.ledger();
    std::vector<GlobalIndex> own;
    std::size_t at_nominal_steps = 0;
    for (int i = 1; i <= 10; ++i) {
      run(solver, i);
      for (const BrokenBond& bond : solver.broken_in_step()) {
        own.push_back(bond.bond);
        at_nominal_steps += std::abs(std::remainder(bond.time, dt)) < 1e-9 * dt ? 1 : 0;
        EXPECT_GT(bond.time, (i - 1) * dt * (1 - 1e-12));
        EXPECT_LE(bond.time, i * dt * (1 + 1e-12));
      }
    }
    const ParticleLedger& last = solver.ledger();
    EXPECT_NEAR(last.kinetic + last.elastic + last.broken + last.dissipated_integrator, first.kinetic,
                1e-11 * first.kinetic);
    EXPECT_LT(std::abs(last.dissipated_integrator), 0.02 * first.kinetic);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(last.linear_momentum[c], first.linear_momentum[c],
                  1e-12 * std::abs(first.linear_momentum[0]));
    EXPECT_LT(at_nominal_steps, std::max<std::size_t>(own.size(), 1)) << "sub-steps have their own times";
    const auto all = parallel::gather(of, 0, own);
    return std::pair(std::set<GlobalIndex>(all.begin(), all.end()), by_ids(solver));
  };
  const auto shared = thrown_apart(comm);
  if (comm.rank() != 0) return;
  const auto serial = thrown_apart(alone);
  EXPECT_EQ(shared.first, serial.first);
  EXPECT_EQ(shared.second, serial.second);
  EXPECT_GT(serial.first.size(), 10u);
  EXPECT_LT(serial.first.size(), 300u);
}

TEST(Leapfrog, SaysWhenItIsUnstableOrInterrupted) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = free_block(comm, 2000, 1.5);
  stepping::StepOutcome outcome = solver.advance([](const auto&...) {});
  EXPECT_FALSE(outcome.accepted);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_EQ(outcome.repetitions, 0) << "a halved step has the same sub-steps";
  EXPECT_NE(outcome.failure.find("lower <explicit_share>"), std::string::npos) << outcome.failure;
  EXPECT_EQ(solver.step(), 0);
  int questions = 0;
  solver.interrupt_when([&] { return ++questions == 3; });
  outcome = solver.advance([](const auto&...) {});
  EXPECT_FALSE(outcome.accepted);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(questions, 3);
}

TEST(Leapfrog, RefusesAShareOfZero) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(2, 0.1, 0.04), soft);
  const BondedParticlesOptions options = explicit_options(problem, 1, 0);
  EXPECT_THROW(BondedParticlesSolver(std::move(problem), options), InputError);
}

} // namespace
} // namespace recoil::solvers

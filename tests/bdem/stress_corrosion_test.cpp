#include "recoil/solvers/bdem/stress_corrosion.hpp"

#include <gtest/gtest.h>

#include "bdem/runs.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

constexpr double l = 0.1, r = 0.04, strength_of_bond = 1e4, rate = 1e-9, exponent = 20;
/// Stiff, so that ways under load turn no force.
const Stuff stuff{1e9, 0.3, 1000};

/// A bond that bears a share of its strength by a force and one by a moment.
CorrodingBond bond_under(double by_force, double by_moment) {
  return {by_force * strength_of_bond * pi * r * r,
          by_moment * strength_of_bond * pi * r * r * r / 4,
          strength_of_bond,
          false,
          rate,
          exponent,
          0};
}

/// Time from a radius to a lower one, by the closed integral.
double time_between(const CorrodingBond& bond, double from, double to) {
  constexpr int parts = 20000;
  double sum = 0;
  for (int i = 0; i < parts; ++i) {
    const double at = from + (to - from) * (i + 0.5) / parts;
    sum += std::exp(-bond.exponent * bond.stress_ratio(at)) / bond.rate;
  }
  return sum * (from - to) / parts;
}

double time_to_failure(const CorrodingBond& bond) {
  double less = 0, more = r;
  for (int i = 0; i < 100; ++i) (bond.stress_ratio((less + more) / 2) >= 1 ? less : more) = (less + more) / 2;
  return time_between(bond, r, less);
}

TEST(StressCorrosion, RadiusFollowsTheIntegral) {
  for (const auto& [by_force, by_moment] : {std::pair(0.3, 0.0), {0.2, 0.5}, {-0.1, 0.6}, {0.9, 0.0}}) {
    const CorrodingBond bond = bond_under(by_force, by_moment);
    const double whole = time_to_failure(bond);
    for (const double share : {1e-6, 0.01, 0.3, 0.9, 0.999}) {
      const double after = radius_after(bond, r, share * whole);
      EXPECT_NEAR(time_between(bond, r, after) / (share * whole), 1, 1e-5) << by_force << ", " << share;
    }
    EXPECT_NEAR(bond.stress_ratio(radius_after(bond, r, 1.001 * whole)), 1, 1e-8);
  }
}

TEST(StressCorrosion, DoesNothingBelowItsThresholdAndUnderPressure) {
  CorrodingBond bond = bond_under(0.4, 0);
  bond.threshold = 0.41;
  EXPECT_EQ(radius_after(bond, r, 1e20), r);
  bond.threshold = 0.39;
  EXPECT_LT(radius_after(bond, r, 1e20), r);
  EXPECT_EQ(radius_after(bond_under(-0.4, 0), r, 1e20), r);
  EXPECT_EQ(radius_after(bond_under(0, 0), r, 1e20), r);
}

/// A particle that hangs on a bond.
struct Hanging {
  BondedParticles problem;

  /// The load grows for `ramp` [s].
  Hanging(const parallel::Communicator& comm, const CorrodingBond& bond, double ramp = 0)
      : problem(bonded(comm, chain(1, l, r), stuff)) {
    clamp(problem, 0);
    const std::size_t count = problem.particles->bonds.size();
    problem.strength = strength(problem, strength_of_bond, 1e9);
    problem.corrosion = {std::vector(count, bond.rate), std::vector(count, bond.exponent),
                         std::vector(count, bond.threshold)};
    const particles::DistributedParticles* particles = problem.particles.get();
    problem.add_loads = [=](double time, std::span<double> loads) {
      const double share = time < ramp ? time / ramp : 1;
      for (LocalIndex k = 0; k < particles->num_owned(); ++k)
        if (particles->ids[k] == 1) {
          loads[6 * std::size_t(k)] += share * bond.normal;
          loads[6 * std::size_t(k) + 5] += share * bond.bending;
        }
    };
  }
};

double broken_bonds(const BondedParticlesSolver& solver) {
  return double(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"));
}

/// When the bond breaks; negative: not within twice the time.
double breaks_at(BondedParticlesSolver& solver, double expected) {
  while (broken_bonds(solver) == 0) {
    if (solver.time() > 2 * expected) return -1;
    run(solver, solver.step() + 1);
  }
  const auto& broken = solver.broken_in_step();
  const auto& comm = *solver.problem().particles->points->comm;
  return comm.max(broken.empty() ? 0.0 : broken.front().time);
}

/// Under constant loads by steps at rest: within a step, whatever its length; its logarithm falls with the
/// load as the integral's does.
TEST(StressCorrosion, OfABondUnderConstantLoadTakesTheTimeOfTheIntegral) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  // Ranks wait for each other in each of many short steps.
  const bool is_alone = comm.size() == 1;
  std::vector<double> found, closed;
  const std::vector<double> loads = is_alone ? std::vector{0.3, 0.5, 0.7, 0.9} : std::vector{0.7};
  for (const double by_moment : {0.0, 0.4})
    for (const double load : loads) {
      const CorrodingBond bond = bond_under((1 - by_moment) * load, by_moment * load);
      const double expected = time_to_failure(bond);
      for (const int parts : is_alone ? std::vector{40, 200} : std::vector{10}) {
        BondedParticlesOptions options = at_rest();
        options.dt = expected / (parts - 0.5);
        BondedParticlesSolver solver(std::move(Hanging(comm, bond).problem), options);
        const double time = breaks_at(solver, expected);
        EXPECT_NEAR(time, expected + options.dt / 2, 0.51 * options.dt + 1e-3 * expected)
            << load << ", " << by_moment << ", " << parts;
        const ParticleLedger& ledger = solver.ledger();
        EXPECT_NEAR(ledger.external_work, ledger.elastic + ledger.broken + ledger.dissipated_integrator,
                    1e-8 * ledger.external_work);
        EXPECT_EQ(ledger.elastic, 0) << "the only bond has broken";
        for (const BrokenBond& broken : solver.broken_in_step())
          EXPECT_NEAR(broken.sigma, strength_of_bond, 1e-8 * strength_of_bond) << "of the section that broke";
        if (parts != 200 || by_moment > 0) continue;
        found.push_back(time);
        closed.push_back(expected);
      }
    }
  for (std::size_t k = 1; k < found.size(); ++k) {
    const double slope = std::log(found[k] / found[k - 1]) / (loads[k] - loads[k - 1]),
                 of_integral = std::log(closed[k] / closed[k - 1]) / (loads[k] - loads[k - 1]);
    EXPECT_NEAR(slope / of_integral, 1, 0.01);
    RecordProperty("slope_" + std::to_string(k), std::to_string(slope) + " " + std::to_string(of_integral));
  }
}

/// With inertia: the load grows for a tenth of the time, in which a hundredth of it is used up.
TEST(StressCorrosion, IsTheSameWithInertia) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  CorrodingBond bond = bond_under(0.5, 0);
  bond.rate *= 10 * time_to_failure(bond);
  for (const auto integrator :
       {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT}) {
    // Ranks wait for each other in each step, and "mid_reflectT" swings about the load in long ones.
    const bool is_alone = comm.size() == 1;
    if (!is_alone && integrator == ParticleIntegrator::mid_reflectT) continue;
    BondedParticles problem = std::move(Hanging(comm, bond, 0.01).problem);
    potentials::BondMaterial material = problem.bonds->material();
    material.damping_time.emplace(problem.particles->bonds.size(), 1e-4);
    problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, std::move(material)));
    BondedParticlesOptions options;
    options.integrator = integrator;
    options.dt = is_alone ? 5e-4 : 2e-3;
    options.tolerance = 1e-9;
    BondedParticlesSolver solver(std::move(problem), options);
    // A break is known to the step.
    EXPECT_NEAR(breaks_at(solver, 0.1), 0.109, 1.5e-3 + options.dt);
  }
}

/// Bonds of a block share a load anew as each of them shrinks and breaks; a run that is continued has the
/// same bits.
TEST(StressCorrosion, IsContinuedToTheSameBits) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto make = [&](ParticleIntegrator integrator) {
    BondedParticles problem = bonded(comm, block(3, 3, 3, 0.01), stuff);
    const std::size_t count = problem.particles->bonds.size();
    problem.strength = strength(problem, 2e4, 1e9);
    problem.corrosion = {std::vector(count, 1.0), std::vector(count, 5.0), std::vector(count, 0.1)};
    const particles::DistributedParticles* particles = problem.particles.get();
    problem.add_loads = [=](double, std::span<double> loads) {
      for (LocalIndex k = 0; k < particles->num_owned(); ++k)
        loads[6 * std::size_t(k) + 2] += 150 * (particles->positions[k].z() - 0.0163);
    };
    BondedParticlesOptions options;
    options.integrator = integrator;
    options.dt = 2e-4;
    options.tolerance = 1e-9;
    return BondedParticlesSolver(std::move(problem), options);
  };
  for (const auto integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::leapfrog}) {
    BondedParticlesSolver whole = make(integrator), first = make(integrator), second = make(integrator);
    run(whole, 12);
    run(first, 3);
    // As a restart does: which bonds are broken, then the state.
    std::vector<double> flags;
    for (std::size_t k = 0; k < first.problem().particles->bonds.size(); ++k)
      if (first.problem().particles->owns(first.problem().particles->bonds[k]))
        flags.push_back(first.problem().bonds->is_broken(LocalIndex(k)) ? 1 : 0);
    second.restore_broken(flags, {});
    second.continue_from(first.restart_data(), {first.history().newest()});
    run(second, 12);
    const auto &a = whole.history().newest(), &b = second.history().newest();
    EXPECT_TRUE(std::ranges::equal(a.u.owned(), b.u.owned()));
    EXPECT_EQ(a.internal, b.internal);
    EXPECT_GT(broken_bonds(whole), broken_bonds(first));
    EXPECT_EQ(broken_bonds(whole), broken_bonds(second));
    if (!a.internal.empty()) {
      EXPECT_LT(*std::ranges::min_element(a.internal), 1);
    }
  }
}

TEST(StressCorrosion, NeedsBondsThatBreakAtOnce) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto made = [&](bool strong, double width) {
    BondedParticles problem = std::move(Hanging(comm, bond_under(0.5, 0)).problem);
    if (!strong) problem.strength.reset();
    problem.damage_width = width;
    BondedParticlesSolver(std::move(problem), at_rest());
  };
  EXPECT_THROW(made(false, 0), InputError);
  EXPECT_THROW(made(true, 0.1), InputError);
  EXPECT_NO_THROW(made(true, 0));
}

} // namespace
} // namespace recoil::solvers

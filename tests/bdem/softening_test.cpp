#include "recoil/solvers/bdem/softening.hpp"

#include <functional>
#include <random>

#include "bdem/contacts.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/rotation_vector.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

TEST(Softening, IntegrityFallsFromOneAlongALogisticCurve) {
  for (const double width : {0.01, 0.1, 0.4}) {
    EXPECT_NEAR(integrity_at(0, width), 1, 1e-15);
    EXPECT_NEAR(integrity_at(1, width), (1 + std::exp(-1 / width)) / 2, 2e-6);
    EXPECT_NEAR(integrity_at(1e3, width), 1e-6, 1e-20);
    for (const double kappa : {0.3, 0.9, 1.0, 1.2}) {
      const double h = 1e-4 * width;
      EXPECT_NEAR((integrity_at(kappa + h, width) - integrity_at(kappa - h, width)) / (2 * h),
                  integrity_slope(kappa, width), 1e-7 / width);
    }
  }
}

/// A block that is deformed at random, with strengths of all kinds.
struct DeformedBlock {
  BondedParticles problem;
  Vector u;

  DeformedBlock(const parallel::Communicator& comm, double size)
      : problem(bonded(comm, block(3, 3, 2, 0.01), {1e6, 0.3, 1000})), u(problem.particles->points) {
    mix_forms(problem);
    problem.strength = strength(problem, 2e4, 1e4);
    problem.damage_width = 0.1;
    for (std::size_t k = 0; k < problem.particles->bonds.size(); ++k) {
      const GlobalIndex id = problem.particles->bonds[k].id;
      problem.strength->tan_friction[k] = 0.2 * double(id % 3);
      problem.strength->separate_terms[k] = id % 4 == 0;
      if (id % 5 == 0) problem.strength->shear[k] = std::numeric_limits<double>::infinity();
      if (id % 7 == 0) problem.strength->tensile[k] = std::numeric_limits<double>::infinity();
    }
    const auto values = u.write_local();
    for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
      set(values, k, {problem.particles->positions[k], geometry::identity_quaternion()}, 7, size);
  }
  /// A particle moved and turned by numbers that depend on its id, in radii.
  void set(std::span<double> values, std::size_t k, potentials::Particle at, int salt, double size) const {
    std::mt19937 random(unsigned(31 * problem.particles->ids[k] + salt));
    std::uniform_real_distribution<double> number(-1, 1);
    const double r = problem.particles->radii[k];
    for (double& x : at.p) x += size * r * number(random);
    Vector3d turn;
    for (double& x : turn) x = size * number(random);
    at.q = geometry::product(at.q, geometry::quaternion_exponential(turn));
    std::copy_n(at.p.data(), 3, values.begin() + 7 * std::ptrdiff_t(k));
    std::copy_n(at.q.data(), 4, values.begin() + 7 * std::ptrdiff_t(k) + 3);
  }
  /// Along a direction in all unknowns.
  Vector moved(double h) const {
    Vector result(u);
    const auto values = result.write_local();
    for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
      set(values, k,
          {Vector3d(values[7 * k], values[7 * k + 1], values[7 * k + 2]),
           geometry::Quaternion(values[7 * k + 3], values[7 * k + 4], values[7 * k + 5], values[7 * k + 6])},
          99, h);
    return result;
  }
  /// That direction, by displacements and r times rotation vectors.
  std::vector<double> direction() const {
    std::vector<double> result;
    for (std::size_t k = 0; k < problem.particles->ids.size(); ++k) {
      std::mt19937 random(unsigned(31 * problem.particles->ids[k] + 99));
      std::uniform_real_distribution<double> number(-1, 1);
      for (int i = 0; i < 6; ++i) result.push_back(problem.particles->radii[k] * number(random));
    }
    return result;
  }
  std::vector<double> ratios(const Vector& at) const {
    return grown_damage(problem, std::vector(problem.particles->bonds.size(), 0.0), at.local());
  }
};

double fourth_order(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

TEST(Softening, RatiosHaveTheirDerivatives) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  DeformedBlock at(comm, 0.05);
  const std::vector<double> none(at.problem.particles->bonds.size(), 0.0), ratios = at.ratios(at.u),
                                                                           d = at.direction();
  const auto growth = damage_growth(at.problem, none, ratios, at.u.local());
  // Bonds that cannot break have none.
  GlobalIndex num_growing = std::ranges::count_if(ratios, [](double ratio) { return ratio > 0; });
  EXPECT_EQ(std::ssize(growth), num_growing);
  constexpr double h = 1e-5;
  std::array<std::vector<double>, 4> along;
  const std::array<double, 4> shares{h, -h, 2 * h, -2 * h};
  for (int s = 0; s < 4; ++s) along[s] = at.ratios(at.moved(shares[s]));
  const auto changed = [&](auto change) {
    return std::function([&, change](double share) {
      BondedParticles& problem = at.problem;
      const BondStrength strength = *problem.strength;
      auto terms = std::move(problem.terms);
      potentials::BondPotential* bonds = problem.bonds;
      potentials::BondMaterial material = bonds->material();
      change(material, *problem.strength, 1 + share);
      problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, material));
      std::vector<double> result = at.ratios(at.u);
      problem.terms = std::move(terms);
      problem.bonds = bonds;
      problem.strength = strength;
      return result;
    });
  };
  const auto scale = [](std::vector<double>& values, double by) {
    for (double& value : values) value *= by;
  };
  const auto by_E = changed([&](auto&material, auto&, double by) { scale(material.young_modulus, by); }),
             by_nu = changed([&](auto&material, auto&, double by) { scale(material.poisson_ratio, by); }),
             by_tensile = changed([&](auto&, auto&strength, double by) { scale(strength.tensile, by); }),
             by_shear = changed([&](auto&, auto&strength, double by) { scale(strength.shear, by); });
  const auto slope = [&](const auto& values, LocalIndex bond) {
    return fourth_order([&](double share) { return values(share)[bond]; }, 1e-3);
  };
  for (const DamageGrowth& of : growth) {
    const LocalIndex b = of.bond;
    const double difference = (8 * (along[0][b] - along[1][b]) - (along[2][b] - along[3][b])) / (12 * h);
    const auto change = potentials::unknowns_of_ends(at.problem.particles->bonds[b], d);
    EXPECT_NEAR(of.by_ends.dot(change), difference, 1e-6 * of.by_ends.norm() * change.norm()) << b;
    EXPECT_NEAR(of.by_E * 1e6, slope(by_E, b), 1e-9 * ratios[b]);
    EXPECT_NEAR(of.by_nu * 0.3, slope(by_nu, b), 1e-9 * ratios[b]);
    const auto& strength = *at.problem.strength;
    if (std::isfinite(strength.tensile[b])) {
      EXPECT_NEAR(of.by_tensile * strength.tensile[b], slope(by_tensile, b), 1e-9 * ratios[b]);
    }
    if (std::isfinite(strength.shear[b])) {
      EXPECT_NEAR(of.by_shear * strength.shear[b], slope(by_shear, b), 1e-9 * ratios[b]);
    }
  }
}

/// One bond that is pulled by a strain of 1e-4 a step, to three times its strength.
TEST(Softening, OneBondFollowsItsCurveAndLosesItsEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = gripped_chain(comm, 1, [](double time) { return 1e-5 * time; });
  const particles::DistributedParticles* particles = problem.particles.get();
  problem.strength = strength(problem, 1000, 1e9);
  problem.damage_width = 0.1;
  BondedParticlesSolver solver(std::move(problem), at_rest());
  const double area = pi * 0.04 * 0.04, volume = area * 0.1;
  double lost = 0, broken_at = 0;
  for (int i = 1; i <= 30; ++i) {
    run(solver, i);
    // Softened by the step before.
    const double stress = 100.0 * i, energy = stress * stress / 2e6 * volume,
                 before = integrity_at(0.1 * (i - 1), 0.1), now = integrity_at(0.1 * i, 0.1);
    lost += (before - now) * energy;
    double force = 0;
    for (LocalIndex k = 0; k < particles->num_owned(); ++k)
      if (particles->ids[k] == 1) force = solver.reactions()[6 * std::size_t(k)];
    EXPECT_NEAR(comm.sum(force), before * stress * area, 1e-9 * stress * area);
    EXPECT_NEAR(solver.ledger().elastic, now * energy, 1e-12 * volume);
    EXPECT_NEAR(solver.ledger().broken, lost, 1e-12 * volume);
    for (const BrokenBond& bond : solver.broken_in_step()) {
      broken_at = bond.time;
      EXPECT_TRUE(bond.by_tension);
      EXPECT_NEAR(bond.sigma, before * stress, 1e-6);
      EXPECT_NEAR(bond.energy, before * energy, 1e-12);
    }
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), i >= 10 ? 1 : 0) << i;
  }
  EXPECT_EQ(comm.max(broken_at), 10);
  const ParticleLedger& ledger = solver.ledger();
  EXPECT_NEAR(ledger.elastic + ledger.broken + ledger.dissipated_integrator, ledger.external_work,
              1e-12 * std::abs(ledger.external_work));
}

/// A bar that is torn in two, at rest: the pieces are held by what is left of the bonds between them.
TEST(Softening, TearsABarAtRest) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const particles::ParticleSet set = block(12, 3, 3, 0.01);
  BondedParticles problem = bonded(comm, set, {1e7, 0.3, 1000});
  const particles::DistributedParticles* particles = problem.particles.get();
  const auto is_grip = [](const Vector3d& X) { return X.x() < 0.03 || X.x() > 0.21; };
  for (std::size_t k = 0; k < particles->ids.size(); ++k)
    if (is_grip(particles->positions[k]))
      std::fill_n(problem.prescribed.begin() + 6 * std::ptrdiff_t(k), 6, 1);
  problem.move_prescribed = [=](double time, std::span<double> u) {
    for (std::size_t k = 0; k < particles->ids.size(); ++k)
      if (particles->positions[k].x() > 0.21) u[7 * k] = particles->positions[k].x() + 1e-4 * time;
  };
  problem.strength = strength(problem, 1e5, 1e5);
  problem.damage_width = 0.1;
  for (std::size_t k = 0; k < particles->bonds.size(); ++k) {
    // Weaker in the middle.
    const auto& [a, b, id] = particles->bonds[k];
    const double x = (particles->positions[a].x() + particles->positions[b].x()) / 2;
    if (std::abs(x - 0.12) < 0.02) problem.strength->tensile[k] = problem.strength->shear[k] = 6e4;
  }
  BondedParticlesOptions options = at_rest();
  options.tolerance = 1e-4;
  BondedParticlesSolver solver(std::move(problem), options);
  double peak = 0, last = 0;
  for (int i = 1; i <= 40; ++i) {
    const auto outcome = solver.advance([](const auto&...) {});
    ASSERT_TRUE(outcome.accepted) << outcome.failure << " in step " << i;
    EXPECT_EQ(outcome.repetitions, 0) << i;
    last = 0;
    for (LocalIndex k = 0; k < particles->num_owned(); ++k)
      if (particles->positions[k].x() > 0.21) last += solver.reactions()[6 * std::size_t(k)];
    last = comm.sum(last);
    peak = std::max(peak, last);
  }
  EXPECT_LT(last, 1e-3 * peak);
  EXPECT_LT(solver.newton_iterations(), 40 * 15);
  EXPECT_LT(solver.ledger().elastic, 1e-2 * solver.ledger().broken);
}

/// A block that is thrown apart.
BondedParticlesSolver softening_block(const parallel::Communicator& comm, ParticleIntegrator integrator) {
  return thrown_block(comm, integrator, 0.1);
}

TEST(Softening, IsTheSameOnAllRanksAndClosesTheLedger) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const auto integrator :
       {ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT, ParticleIntegrator::del_exact}) {
    BondedParticlesSolver solver = softening_block(comm, integrator),
                          other = softening_block(alone, integrator);
    const ParticleLedger first = solver.ledger();
    run(solver, 10);
    run(other, 10);
    const auto& particles = *solver.problem().particles;
    const auto& kappa = solver.history().newest().internal;
    GlobalIndex softened = 0;
    for (std::size_t k = 0; k < kappa.size(); ++k) {
      const double expected = other.history().newest().internal[particles.bonds[k].id];
      EXPECT_NEAR(kappa[k], expected, 1e-8 * std::max(1.0, expected));
      softened += kappa[k] >= 1 && particles.owns(particles.bonds[k]) ? 1 : 0;
    }
    EXPECT_GT(comm.sum(softened), 10);
    EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), comm.sum(softened));
    const ParticleLedger& last = solver.ledger();
    EXPECT_LT(
        std::abs(last.kinetic + last.elastic + last.broken + last.dissipated_integrator - first.kinetic),
        0.01 * first.kinetic);
  }
}

TEST(Softening, ContinuesFromItsStates) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto integrator = ParticleIntegrator::be_reflect;
  BondedParticlesSolver whole = softening_block(comm, integrator), parts = softening_block(comm, integrator);
  run(whole, 5);
  const stepping::RestartData data = whole.restart_data();
  const stepping::State state = whole.history().newest();
  run(whole, 10);
  parts.continue_from(data, {state});
  run(parts, 10);
  EXPECT_EQ(whole.history().newest().internal, parts.history().newest().internal);
  EXPECT_TRUE(std::ranges::equal(whole.history().newest().u.local(), parts.history().newest().u.local()));
  EXPECT_EQ(whole.ledger().broken, parts.ledger().broken);
}

/// Two particles whose bond was torn meet again.
TEST(Softening, LetsTornParticlesTouch) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem =
      gripped_chain(comm, 1, [](double time) { return time <= 4 ? 1e-4 * time : 4e-4 - 0.01 * (time - 4); });
  problem.strength = strength(problem, 1000, 1e9);
  problem.damage_width = 0.1;
  add_contact(problem, {});
  BondedParticlesSolver solver(std::move(problem), at_rest());
  run(solver, 4);
  EXPECT_EQ(stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"), 1);
  EXPECT_EQ(solver.ledger().barrier, 0);
  // Their surfaces meet at a displacement of -0.02.
  run(solver, 6);
  EXPECT_GT(solver.ledger().barrier, 0);
  EXPECT_FALSE(solver.advance([](const auto&...) {}).accepted) << "they do not pass through each other";
}

TEST(Softening, RefusesWhatCannotSoften) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesOptions options;
  options.dt = 1e-3;
  BondedParticles without = bonded(comm, chain(2, 0.1, 0.04), {});
  without.damage_width = 0.1;
  EXPECT_THROW(BondedParticlesSolver(std::move(without), options), InputError);
  BondedParticles exploding = bonded(comm, chain(2, 0.1, 0.04), {});
  exploding.strength = strength(exploding, 1, 1);
  exploding.damage_width = 0.1;
  options.integrator = ParticleIntegrator::leapfrog;
  EXPECT_THROW(BondedParticlesSolver(std::move(exploding), options), InputError);
}

} // namespace
} // namespace recoil::solvers

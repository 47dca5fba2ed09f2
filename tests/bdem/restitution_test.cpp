#include <cmath>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/potentials/spheres/restitution.hpp"

/// Collisions with a coefficient of restitution, and by Hertz' law.
namespace recoil::solvers::testing {
namespace restitution {

using potentials::ContactLaw;

constexpr double E = 1e6, nu = 0.3;

struct Collision {
  double restitution;
  ParticleIntegrator integrator;
  std::optional<ContactLaw> law;
  double dt;
  SuddenBreaking sudden = SuddenBreaking::impacts;
};

BondedParticlesSolver collide(const parallel::Communicator& comm, const std::vector<Motion>& motions,
                              SphereObstacles obstacles, const Collision& how) {
  BondedParticles problem = bonded(comm, grains(motions), {});
  add_contact(problem, std::move(obstacles), 0, 1e-3, 0, how.restitution);
  problem.barrier->set_compliances(std::vector<double>(motions.size(), (1 - nu * nu) / E));
  BondedParticlesOptions options = steps_of(how.integrator, how.dt);
  options.contact_law = how.law;
  options.sudden_breaking = how.sudden;
  BondedParticlesSolver solver(std::move(problem), options);
  throw_each(solver, motions);
  return solver;
}

/// Relative speed of two spheres, the only ones.
double relative_speed(const parallel::Communicator& comm, const BondedParticlesSolver& solver) {
  double sum = 0, inverse = 0;
  for (LocalIndex k = 0; k < solver.problem().particles->num_owned(); ++k) {
    sum += solver.problem().mass[k];
    inverse += 1 / solver.problem().mass[k];
  }
  sum = comm.sum(sum);
  inverse = comm.sum(inverse);
  const ParticleLedger& now = solver.ledger();
  const Vector3d momentum(now.linear_momentum.data());
  return std::sqrt(2 * (now.kinetic - momentum.squaredNorm() / (2 * sum)) * inverse);
}

/// Measured coefficient of restitution of a pair of unequal spheres that meet at `speed`, from `way` before
/// they touch until they have had the time to go `most` further.
double measured(const parallel::Communicator& comm, const Collision& how, double speed, double way = 0.4 * r,
                double most = 3 * r) {
  Motion small{{1.6 * r + dhat + way, 0, 0}, {-0.3 * speed, 0, 0}};
  small.radius = 0.6 * r;
  BondedParticlesSolver solver = collide(comm, {{{0, 0, 0}, {0.7 * speed, 0, 0}}, small}, {}, how);
  const ParticleLedger before = solver.ledger();
  run(solver, GlobalIndex(std::ceil(most / speed / how.dt)));
  EXPECT_EQ(solver.ledger().barrier, 0);
  EXPECT_NEAR(left_over(before, solver.ledger()), 0, 1e-8 * before.kinetic);
  return relative_speed(comm, solver) / speed;
}

TEST(Restitution, DampingHasTheCoefficientItIsOf) {
  for (const double e : {0.05, 0.2, 0.5, 0.9, 0.99})
    EXPECT_NEAR(potentials::restitution_of_damping(potentials::damping_of_restitution(e)), e, 1e-12);
  EXPECT_EQ(potentials::damping_of_restitution(1), 0);
}

/// Also in steps that are up to 8 times as long as the collision, by each law and at each speed.
TEST(Restitution, DoesNotDependOnTimeStepSpeedOrLaw) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  double worst = 0;
  for (const auto integrator :
       {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT})
    for (const auto law : {ContactLaw::penalty, ContactLaw::hertz, ContactLaw::barrier})
      for (const double e : {0.2, 0.5, 0.9})
        for (const double speed : {0.2, 1.0})
          for (const double dt : {2e-2, 6e-3, 2e-3}) {
            const double found = measured(comm, {e, integrator, law, dt / 4}, speed);
            worst = std::max(worst, std::abs(found / e - 1));
            EXPECT_NEAR(found, e, 0.01 * e)
                << int(integrator) << " " << int(law) << " " << speed << " " << dt;
          }
  RecordProperty("worst", std::to_string(worst));
  if (comm.rank() == 0) std::printf("worst error of e: %.2g\n", worst);
}

/// Steps that resolve the collision damp as well, and what they leave open is of first order.
TEST(Restitution, ResolvedImplicitStepsConverge) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT}) {
    std::array<double, 2> error{};
    for (int i = 0; i < 2; ++i)
      error[i] =
          measured(comm, {0.5, integrator, ContactLaw::hertz, 4e-5 / (1 << i), SuddenBreaking::shorter_steps},
                   0.5, 1e-5, 0.3 * r) -
          0.5;
    EXPECT_NEAR(error[0] / error[1], 2, 0.3) << int(integrator);
    EXPECT_LT(std::abs(error[1]), 0.05) << int(integrator);
  }
}

/// A ball that falls on a plate from h comes up to e^2 h, in the middle of a triangle and on an edge of two.
TEST(Restitution, ABallBouncesUpToTheSquareOfIt) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double dt : {4e-3, 1e-3}) {
    const double x = dt < 2e-3 ? 0 : 0.03;
    BondedParticles problem = bonded(comm, grains({{x, 0, r + dhat + 0.1}}, {r}), {});
    add_contact(problem, plate(0.1, [](double) { return 0.0; }), 0, 1e-3, 0, 0.7);
    problem.gravity = {0, 0, -10};
    BondedParticlesOptions options = steps_of(ParticleIntegrator::mid_reflectT, dt);
    options.contact_law = ContactLaw::penalty;
    BondedParticlesSolver solver(std::move(problem), options);
    const ParticleLedger before = solver.ledger();
    double top = 0,
           m = comm.sum(solver.problem().particles->num_owned() > 0 ? solver.problem().mass[0] : 0.0);
    while (solver.time() < 0.26) {
      run(solver, solver.step() + 1);
      if (solver.time() > 0.17) top = std::max(top, 0.1 - solver.ledger().external_work / (m * 10));
    }
    EXPECT_NEAR(left_over(before, solver.ledger()), 0, 1e-9 * m * 10 * 0.1);
    EXPECT_NEAR(top, 0.049, 5e-4) << dt;
    EXPECT_NEAR(solver.ledger().dissipated_damping, m * 10 * 0.1 * (1 - 0.49), 0.01 * m * 10 * 0.1) << dt;
  }
}

/// Duration 2.9432 delta/v and peak 4/3 E* sqrt(R*) delta^1.5 with delta = (15 m v^2/(16 E* sqrt(R*)))^(2/5)
/// [Johnson, Contact mechanics, 1985, section 11.4], on a rigid plate.
TEST(Hertz, ImpactLastsAndPressesAsTheorySays) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double stiffness = E / (1 - nu * nu) * std::sqrt(r), v = 0.5;
  const double depth = std::pow(15 * mass_of(r) * v * v / (16 * stiffness), 0.4),
               duration = 2.9432 * depth / v, peak = 4.0 / 3 * stiffness * std::pow(depth, 1.5);
  constexpr int parts = 400;
  BondedParticlesSolver solver =
      collide(comm, {{{0.03, 0, r + dhat + 1e-7}, {0, 0, -v}}}, plate(0.1, [](double) { return 0.0; }),
              {1, ParticleIntegrator::leapfrog, ContactLaw::hertz, duration / parts});
  double most = 0, lasted = 0;
  while (solver.time() < 1.3 * duration) {
    run(solver, solver.step() + 1);
    const double force = -solver.obstacle_forces()[2];
    most = std::max(most, force);
    if (force > 0) lasted += duration / parts;
  }
  EXPECT_NEAR(most, peak, 0.01 * peak);
  EXPECT_NEAR(lasted, duration, 0.01 * duration);
  if (comm.rank() == 0)
    std::printf("Hertz: peak %.5f, duration %.5f of theory\n", most / peak, lasted / duration);
}

} // namespace restitution
} // namespace recoil::solvers::testing

#include <gtest/gtest.h>

#include "bdem/runs.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"

/// What an integrator gives or takes is told where it is much of the energy.
namespace recoil::solvers::testing {
namespace energy_watch {

/// A free block that is twisted at the start and let go.
BondedParticlesSolver twisted(const parallel::Communicator& comm, ParticleIntegrator integrator,
                              double nominal, double share = 0.2) {
  BondedParticles problem = bonded(comm, block(3, 3, 4, 0.01), {1e6, 0.3, 1000});
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = nominal * critical_time_step(problem);
  options.explicit_share = share;
  BondedParticlesSolver solver(std::move(problem), options);
  start(
      solver, [](GlobalIndex, const Vector3d& X) { return twisted_place(X, 3); },
      [](GlobalIndex, const Vector3d&) {
        return std::pair<Vector3d, Vector3d>{Vector3d::Zero(), Vector3d::Zero()};
      });
  return solver;
}

TEST(EnergyWatch, EndsRunsThatAreFedEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = twisted(comm, ParticleIntegrator::leapfrog, 2, 2);
  EXPECT_EQ(solver.fault(), "");
  for (int step = 1; solver.fault().empty() && step < 100; ++step) run(solver, step);
  EXPECT_LT(solver.step(), 100);
  for (const char* part : {"<explicit_share> from 2", "has fed", "dissipated_integrator"})
    EXPECT_NE(solver.fault().find(part), std::string::npos) << solver.fault();
  EXPECT_GT(-solver.ledger().dissipated_integrator, 0.25 * solver.ledger().kinetic);
}

/// What a restart takes over decides as the run itself would.
TEST(EnergyWatch, IsPartOfRestarts) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = twisted(comm, ParticleIntegrator::leapfrog, 2, 2);
  for (int step = 1; solver.fault().empty(); ++step) run(solver, step);
  BondedParticlesSolver again = twisted(comm, ParticleIntegrator::leapfrog, 2, 2);
  again.continue_from(solver.restart_data(), {solver.history().newest()});
  EXPECT_EQ(again.fault(), solver.fault());
}

TEST(EnergyWatch, WarnsOfStepsThatDampMoreThanTheBody) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver damped = twisted(comm, ParticleIntegrator::be_reflect, 4);
  EXPECT_EQ(damped.warning(), "");
  run(damped, 10);
  EXPECT_EQ(damped.fault(), "");
  for (const char* part : {"has dissipated", "mid_reflectT", "bonds"})
    EXPECT_NE(damped.warning().find(part), std::string::npos) << damped.warning();
  for (const auto integrator : {ParticleIntegrator::mid_reflectT, ParticleIntegrator::leapfrog}) {
    BondedParticlesSolver kept = twisted(comm, integrator, 4);
    run(kept, 10);
    EXPECT_EQ(kept.warning() + kept.fault(), "");
  }
}

/// A body at rest has no energy but rounding, of which nothing is said.
TEST(EnergyWatch, SaysNothingOfRounding) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, block(3, 3, 3, 0.01), {});
  BondedParticlesOptions options;
  options.integrator = ParticleIntegrator::leapfrog;
  options.dt = 1e-4;
  BondedParticlesSolver solver(std::move(problem), options);
  run(solver, 5);
  EXPECT_EQ(solver.warning() + solver.fault(), "");
}

} // namespace energy_watch
} // namespace recoil::solvers::testing

#include <gtest/gtest.h>

#include "bdem/runs.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;
using geometry::Quaternion;

constexpr std::array all_dynamic{ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT,
                                 ParticleIntegrator::del_exact, ParticleIntegrator::leapfrog};

BondedParticlesOptions options_for(ParticleIntegrator integrator, double dt) {
  return steps_of(integrator, dt, 1e-11);
}

/// A particle alone. The angle of a step of the discrete Euler-Lagrange equations has sin(angle / 2) = w dt /
/// 2, the momentum being that of the constant mass 4 I of quaternions.
TEST(Integrators, FreeSpinsAndFlightsAreExact) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Vector3d w(0.6, -1.1, 1.6), velocity(0.01, 0.02, -0.03);
  const double dt = 0.05;
  for (const auto integrator : all_dynamic) {
    BondedParticlesSolver solver(bonded(comm, chain(0, 1, 0.1), {}), options_for(integrator, dt));
    start(solver, unmoved, [&](GlobalIndex, const Vector3d&) { return std::pair(velocity, w); });
    const auto first = solver.ledger().angular_momentum;
    run(solver, 400);
    const auto at = find(solver.problem(), solver.history().newest().u, 0);
    EXPECT_LT((at.p - 20 * velocity).norm(), 1e-10);
    const double half = w.norm() * dt / 2, angle = integrator == ParticleIntegrator::del_exact
                                                       ? 400 * 2 * std::asin(half)
                                                       : 400 * 2 * half;
    const Quaternion expected = geometry::quaternion_exponential(angle * w.normalized());
    EXPECT_LT(geometry::quaternion_logarithm(geometry::product(geometry::conjugate(expected), at.q)).norm(),
              1e-10);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(solver.ledger().angular_momentum[c], first[c], 1e-9 * std::abs(first[c])) << c;
  }
}

/// Nothing bends a falling bar: no step needs a matrix, and each falls as its integrator has it.
TEST(Integrators, FlyFreelyWithoutNewtonIterations) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double dt = 1e-4, g = 9.81;
  for (const auto integrator : {ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT}) {
    BondedParticles problem = bonded(comm, chain(6, 0.1, 0.04), {1e6, 0.3, 1000});
    problem.gravity = Vector3d(0, 0, -g);
    BondedParticlesOptions options = options_for(integrator, dt);
    options.tolerance = 1e-4;
    BondedParticlesSolver solver(std::move(problem), options);
    start(solver, unmoved,
          [](GlobalIndex, const Vector3d&) { return std::pair(Vector3d(1, 0, 0), Vector3d(0, 0, 0)); });
    constexpr int steps = 20;
    run(solver, steps);
    EXPECT_EQ(solver.newton_iterations(), 0);
    const double share = integrator == ParticleIntegrator::be_reflect ? 1 : 0;
    const auto at = find(solver.problem(), solver.history().newest().u, 3);
    const Vector3d way = at.p - Vector3d(0.3, 0, 0);
    EXPECT_NEAR(way.x(), steps * dt, 1e-9);
    EXPECT_NEAR(way.z(), -g * dt * dt * steps * (steps + share) / 2, 1e-9);
  }
}

/// 1 / w^2 of a free spin grows by dt^2 / 2 in every step: w_n = w_0 / sqrt(1 + 2 n (w_0 dt / 2)^2).
TEST(Integrators, ThePredictorOfThePaperSlowsSpinsDown) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double dt = 0.05;
  BondedParticlesSolver solver(bonded(comm, chain(0, 1, 0.1), {}),
                               options_for(ParticleIntegrator::paper_literal, dt));
  start(solver, unmoved, [](GlobalIndex, const Vector3d&) {
    return std::pair<Vector3d, Vector3d>({0, 0, 0.4}, {0, 0, 2});
  });
  const ParticleLedger first = solver.ledger();
  run(solver, 400);
  const ParticleLedger& last = solver.ledger();
  EXPECT_NEAR(last.angular_momentum[2] / first.angular_momentum[2], 1 / std::sqrt(1 + 800 * 0.05 * 0.05),
              2e-3);
  EXPECT_NEAR(last.linear_momentum[2], first.linear_momentum[2], 1e-12 * first.linear_momentum[2]);
  EXPECT_NEAR(last.kinetic + last.dissipated_integrator, first.kinetic,
              1e-2 * (first.kinetic - last.kinetic));
}

/// Places of all five beads of a chain that flies, bends and twists.
Eigen::VectorXd state_at_end(ParticleIntegrator integrator, double dt, GlobalIndex steps) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver(bonded(comm, chain(4, 0.1, 0.04), {1e5, 0.3, 1000}),
                               options_for(integrator, dt));
  start(solver, unmoved, [&](GlobalIndex id, const Vector3d&) {
    const double s = double(id);
    return std::pair(Vector3d(0.3 * std::sin(s), 0.5 * std::cos(2 * s), 0.2 * s - 0.3),
                     Vector3d(5 * std::cos(s), -4, 6 * std::sin(3 * s)));
  });
  run(solver, steps);
  Eigen::VectorXd result(5 * 7);
  for (GlobalIndex id = 0; id < 5; ++id) {
    const auto at = find(solver.problem(), solver.history().newest().u, id);
    result.segment<3>(7 * id) = at.p / 0.1;
    result.segment<4>(7 * id + 3) = at.q[3] < 0 ? Quaternion(-at.q) : at.q;
  }
  return result;
}

TEST(Integrators, HaveTheOrderInTimeThatTheyPromise) {
  const double T = 0.02;
  const Eigen::VectorXd exact = state_at_end(ParticleIntegrator::del_exact, T / 640, 640);
  std::vector integrators(all_dynamic.begin(), all_dynamic.end());
  integrators.push_back(ParticleIntegrator::paper_literal);
  for (const auto integrator : integrators) {
    const double coarse = (state_at_end(integrator, T / 40, 40) - exact).norm(),
                 fine = (state_at_end(integrator, T / 80, 80) - exact).norm(),
                 order = std::log2(coarse / fine);
    if (integrator == ParticleIntegrator::be_reflect || integrator == ParticleIntegrator::paper_literal) {
      EXPECT_NEAR(order, 1, 0.15) << coarse << ", " << fine;
    } else {
      EXPECT_NEAR(order, 2, 0.1) << coarse << ", " << fine;
    }
  }
}

double total(const ParticleLedger& ledger) { return ledger.kinetic + ledger.elastic; }

/// A free block that is twisted at the start.
BondedParticlesSolver twisted(const parallel::Communicator& comm, ParticleIntegrator integrator,
                              double in_T) {
  const double r = 0.01;
  const Stuff stuff{1e6, 0.3, 1000};
  const double mass = stuff.rho * 4 * std::numbers::sqrt2 * r * r * r,
               T = 2 / std::sqrt(17.9 * pi / 2 * stuff.E * r / mass);
  BondedParticlesSolver solver(bonded(comm, block(4, 4, 6, r), stuff), options_for(integrator, in_T * T));
  start(
      solver,
      [&](GlobalIndex, const Vector3d& X) {
        const Quaternion q = geometry::quaternion_exponential(Vector3d(0, 0, 3 * X.z()));
        return potentials::Particle{geometry::rotation_matrix(q) * X, q};
      },
      [](GlobalIndex, const Vector3d& x) {
        const Vector3d w(1, 2, 5);
        return std::pair<Vector3d, Vector3d>(w.cross(x), w);
      });
  return solver;
}

TEST(Integrators, DiscreteEulerLagrangeKeepsEnergyAndMomenta) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = twisted(comm, ParticleIntegrator::del_exact, 2);
  const ParticleLedger first = solver.ledger();
  const Vector3d L(first.angular_momentum[0], first.angular_momentum[1], first.angular_momentum[2]);
  double least = total(first), most = least;
  for (int i = 1; i <= 60; ++i) {
    run(solver, i);
    const ParticleLedger& now = solver.ledger();
    least = std::min(least, total(now));
    most = std::max(most, total(now));
    const Vector3d now_L(now.angular_momentum[0], now.angular_momentum[1], now.angular_momentum[2]);
    ASSERT_LT((now_L - L).norm(), 1e-10 * i * L.norm());
    for (int c = 0; c < 3; ++c)
      ASSERT_NEAR(now.linear_momentum[c], first.linear_momentum[c], 1e-10 * i * std::sqrt(first.kinetic));
  }
  EXPECT_LT((most - least) / most, 0.02);
}

TEST(Integrators, BackwardEulerLosesEnergyAndKnowsWhere) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticlesSolver solver = twisted(comm, ParticleIntegrator::be_reflect, 10);
  const double before = total(solver.ledger());
  double last = before;
  for (int i = 1; i <= 20; ++i) {
    run(solver, i);
    EXPECT_LE(total(solver.ledger()), last * (1 + 1e-12));
    last = total(solver.ledger());
  }
  const ParticleLedger& ledger = solver.ledger();
  EXPECT_LT(last, 0.9 * before);
  EXPECT_NEAR(last + ledger.dissipated_integrator, before, 0.01 * before);
}

} // namespace
} // namespace recoil::solvers

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "bdem/contacts.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"

/// Loose spheres by leapfrog at default sub-steps: without friction their energy is theirs.
namespace recoil::solvers::testing {
namespace collisions {

BondedParticles loose(const parallel::Communicator& comm, const std::vector<Motion>& motions,
                      SphereObstacles obstacles) {
  BondedParticles problem = bonded(comm, grains(motions), {});
  add_contact(problem, std::move(obstacles));
  return problem;
}

BondedParticlesSolver thrown(const parallel::Communicator& comm, const std::vector<Motion>& motions,
                             SphereObstacles obstacles, double dt) {
  BondedParticlesSolver solver(loose(comm, motions, std::move(obstacles)),
                               steps_of(ParticleIntegrator::leapfrog, dt));
  throw_each(solver, motions);
  return solver;
}

/// The largest error of the energy in the steps of a run, over that at its start.
double energy_error(BondedParticlesSolver& solver, GlobalIndex steps) {
  const auto energy = [&] { return solver.ledger().kinetic + solver.ledger().barrier; };
  const double before = energy();
  double largest = 0;
  for (GlobalIndex step = 1; step <= steps; ++step) {
    run(solver, step);
    largest = std::max(largest, std::abs(energy() / before - 1));
    EXPECT_EQ(solver.fault(), "");
  }
  EXPECT_EQ(solver.warning(), "");
  return largest;
}

/// A box of planes around |x|, |y|, |z| < half.
SphereObstacles box(double half) {
  SphereObstacles obstacles;
  for (int i = 0; i < 3; ++i)
    for (const double side : {-1.0, 1.0})
      obstacles.planes.push_back({half * side * Vector3d::Unit(i), -side * Vector3d::Unit(i), 100});
  return obstacles;
}

/// A flat floor of 2 n^2 triangles of the width `side`; each inner vertex has six of them.
SphereObstacles paved(int n, double side) {
  SphereObstacles obstacles;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      obstacles.vertices.emplace_back((i - n / 2.0) * side, (j - n / 2.0) * side, 0);
  for (LocalIndex j = 0; j < n; ++j)
    for (LocalIndex i = 0; i < n; ++i) {
      const LocalIndex a = i + (n + 1) * j, b = a + 1, c = a + n + 1, d = c + 1;
      obstacles.triangles.push_back({a, b, d});
      obstacles.triangles.push_back({a, d, c});
    }
  obstacles.bodies.assign(obstacles.triangles.size(), 100);
  return obstacles;
}

/// Steps of any length: spheres part as fast as they met, times what elastic spheres of these masses do.
TEST(Collisions, APairThatMeetsHeadOnIsElastic) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double dt : {1e-3, 3.3e-4}) {
    const double small = 0.6 * r, ratio = std::pow(small / r, 3);
    BondedParticlesSolver solver = thrown(
        comm, {{{0, 0, 0}, {2, 0, 0}, {0, 0, 0}}, {{3 * r, 0, 0}, {-1, 0, 0}, {0, 0, 0}, small}}, {}, dt);
    EXPECT_LT(energy_error(solver, GlobalIndex(std::lround(0.04 / dt))), 0.01) << dt;
    const ParticleLedger now = solver.ledger();
    EXPECT_EQ(now.barrier, 0);
    // v1' = ((m1 - m2) v1 + 2 m2 v2) / (m1 + m2).
    const double expected = ((1 - ratio) * 2 - 2 * ratio) / (1 + ratio);
    const double v = solver.history().newest().v.layout().num_owned > 0 && comm.rank() == 0
                         ? solver.history().newest().v.owned()[0]
                         : 0;
    if (comm.size() == 1) {
      EXPECT_NEAR(v, expected, 0.01 * expected);
    }
  }
}

TEST(Collisions, APairThatMeetsAslantAndSpinsIsElastic) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  double hit = 0;
  for (const double aside : {0.2, 0.7, 1.2}) {
    BondedParticlesSolver solver = thrown(
        comm,
        {{{0, 0, 0}, {2, 0, 0}, {0, 0, 30}}, {{3 * r, aside * r, 0.1 * r}, {-1, 0.1, 0}, {5, 0, 0}, 0.6 * r}},
        {}, 1e-3);
    const double before = solver.ledger().linear_momentum[1];
    EXPECT_LT(energy_error(solver, 20), 0.01) << aside;
    EXPECT_NEAR(solver.ledger().linear_momentum[1], before, 1e-12);
    hit = std::max(hit, solver.ledger().kinetic);
  }
  EXPECT_GT(hit, 0);
}

/// Fifty spheres of different sizes that hit each other and six planes some hundred times.
TEST(Collisions, AGasInABoxKeepsItsEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::mt19937 random(7);
  const auto number = [&] { return 2 * (random() / double(std::mt19937::max())) - 1; };
  std::vector<Motion> motions;
  for (int k = 0; k < 50; ++k) {
    const Vector3d cell(k % 4 - 1.5, k / 4 % 4 - 1.5, k / 16 - 1.5);
    const Vector3d velocity(number(), number(), number()), spin(number(), number(), number());
    motions.push_back({2.6 * r * cell, 2 * velocity, 50 * spin, r * (0.8 + 0.2 * number())});
  }
  BondedParticlesSolver solver = thrown(comm, motions, box(6 * r), 2e-3);
  const double share = comm.size() == 1 ? 1 : 0.2;
  EXPECT_LT(energy_error(solver, GlobalIndex(50 * share)), 0.01);
}

/// Spheres that fall on the corners, edges and insides of triangles, and on many small ones at once.
TEST(Collisions, SpheresAgainstTrianglesKeepTheirEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [n, side] : {std::pair(4, 3 * r), std::pair(40, 0.3 * r)}) {
    std::vector<Motion> motions;
    for (int k = 0; k < 9; ++k)
      motions.push_back({{3 * r * (k % 3 - 1 + 0.13 * k), 3 * r * (k / 3 - 1), 1.5 * r + 0.1 * r * k},
                         {0.1 * k, -0.05 * k, -1},
                         {0, 3.0 * k, 0}});
    BondedParticlesSolver solver = thrown(comm, motions, paved(n, side), 1e-3);
    EXPECT_LT(energy_error(solver, comm.size() == 1 ? 40 : 20), 0.01) << side;
    if (n == 4) {
      EXPECT_GT(solver.ledger().linear_momentum[2], 0) << "all have bounced";
    }
  }
}

/// T of contact is that of the two lightest spheres that move, or of one on many triangles.
TEST(Collisions, TheStepFollowsTheLightestSpheres) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const std::vector<Motion> motions{{{0, 0, 5 * r}, {0, 0, 0}, {0, 0, 0}, 0.5 * r},
                                    {{9 * r, 0, 5 * r}, {0, 0, 0}, {0, 0, 0}, 2 * r},
                                    {{18 * r, 0, 5 * r}, {0, 0, 0}, {0, 0, 0}}};
  const auto step = [](double inverse) { return 0.17 * pi / std::sqrt(stiffness * inverse); };
  const double pair = step(1 / mass_of(0.5 * r) + 1 / mass_of(r));
  BondedParticles problem = loose(comm, motions, {});
  EXPECT_NEAR(critical_time_step(problem), pair, 1e-12 * pair);
  EXPECT_TRUE(std::isinf(bond_time_step(problem)));
  clamp(problem, 0);
  const double without = step(1 / mass_of(r) + 1 / mass_of(2 * r));
  EXPECT_NEAR(critical_time_step(problem), without, 1e-12 * without);
  EXPECT_NEAR(critical_time_step(loose(comm, motions, floor_plane())), pair, 1e-12 * pair);
  const double six = step(6 / 4.0 / mass_of(0.5 * r));
  EXPECT_NEAR(critical_time_step(loose(comm, motions, paved(4, 3 * r))), six, 1e-12 * six);

  const BondedParticles fine = loose(comm, motions, paved(40, 0.3 * r));
  const int triangles = fine.contact->most_triangles_at_once(2 * r);
  // Within sqrt(0.2 (4 + 0.2)) r of a vertex, on squares of 0.3 r: two triangles a square, and those it cuts.
  EXPECT_GT(triangles, 2 * pi * 0.84 / 0.09);
  EXPECT_LT(triangles, 2 * pi * std::pow(std::sqrt(0.84) + 0.43, 2) / 0.09);
  const double many = step(triangles / 4.0 / mass_of(0.5 * r));
  EXPECT_NEAR(critical_time_step(fine), many, 1e-12 * many);
}

} // namespace collisions
} // namespace recoil::solvers::testing

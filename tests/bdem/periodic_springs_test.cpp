#include <cmath>
#include <set>
#include <utility>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "bdem/cells.hpp"
#include "recoil/parallel/communicator.hpp"

/// Springs along the contacts of grains in a cell that repeats.
namespace recoil::solvers::testing {
namespace periodic_springs {

using potentials::ContactLaw;

/// Odd, so that neighbours cannot turn against each other like gears, which no spring would resist.
constexpr int per_edge = 5;

/// A simple cubic lattice with this distance of neighbours, its grains off by up to `rough` along each axis.
std::vector<Motion> cubic(double distance, double rough) {
  std::vector<Motion> motions = gas(per_edge, per_edge * distance, 0);
  for (Motion& motion : motions) {
    const Vector3d X = (motion.place / distance).array().round() * distance;
    motion.place = X + rough / (0.1 * r) * (motion.place - X);
  }
  return motions;
}

BondedParticlesOptions steps_at_rest() {
  BondedParticlesOptions chosen = options(1, ParticleIntegrator::quasistatic, ContactLaw::hertz);
  chosen.tolerance = 1e-13;
  return chosen;
}

Matrix3d stress(const BondedParticlesSolver& solver) {
  const particles::CellMotion& motion = *solver.problem().cell_motion;
  return solver.contact_force_moments() / motion.cell().volume(motion.now());
}

/// Contacts along x and along y of a cubic lattice share a simple shear equally as spheres turn with the mean
/// rotation of the cell: sigma_xy = (k/(2 l) - N/l^2) gamma, k the stiffness of springs, l the distance of
/// neighbours and N the force that turns with their lines.
TEST(PeriodicSprings, ShearModulusOfACubicLattice) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double depth = 0.1 * dhat, l = 2 * r + dhat - depth, gamma = 1e-7;
  Matrix3d rate = Matrix3d::Zero();
  rate(0, 1) = gamma;
  BondedParticlesSolver solver =
      thrown(comm, cubic(l, 0), cube(per_edge * l), steady(rate), {0.5, 1e-3, 0, 1, true}, steps_at_rest());
  run(solver, 3);
  const double k = 8 * std::sqrt(r / 2 * depth) / (2 * shear_compliance),
               N = 4.0 / 3 * std::sqrt(r / 2) * std::pow(depth, 1.5) / (2 * compliance),
               expected = 3 * gamma * (k / (2 * l) - N / (l * l));
  const Matrix3d sigma = stress(solver);
  EXPECT_NEAR(sigma(0, 1), expected, 1e-5 * expected);
  EXPECT_NEAR(sigma(1, 0), expected, 1e-5 * expected);
  EXPECT_NEAR(sigma(2, 2), -N / (l * l), 1e-5 * N / (l * l));
  EXPECT_NEAR(solver.ledger().dissipated_friction, 0, 1e-9 * solver.ledger().external_work);
  if (comm.rank() == 0) std::printf("shear modulus %.8f of theory\n", sigma(0, 1) / expected);
}

/// Virtual work: at rest the cell does V sigma : dF F^-1 in a step, springs included, some of which yield.
TEST(PeriodicSprings, TheCellWorksByItsStress) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double l = 2 * r + 0.6 * dhat;
  Matrix3d rate = 1e-3 * sheared();
  rate(0, 1) = 1e-2;
  BondedParticlesSolver solver = thrown(comm, cubic(l, 0.1 * dhat), cube(per_edge * l), steady(rate),
                                        {0.2, 1e-3, 0, 1, true}, steps_at_rest());
  const particles::CellMotion& motion = *solver.problem().cell_motion;
  double worst = 0, tangential = 0;
  for (int step = 1; step <= 6; ++step) {
    const double before = solver.ledger().external_work;
    run(solver, step);
    const Matrix3d sigma = stress(solver), F = motion.now(), way = rate * F.inverse();
    const double work = motion.cell().volume(F) * sigma.cwiseProduct(way).sum(),
                 found = solver.ledger().external_work - before;
    worst = std::max(worst, std::abs(found / work - 1));
    tangential = std::abs(comm.sum(solver.problem().friction->force_moments()(0, 1)) /
                          (motion.cell().volume(F) * sigma(0, 1)));
  }
  EXPECT_LT(worst, 1e-10);
  EXPECT_GT(tangential, 0.1);
  EXPECT_GT(solver.ledger().dissipated_friction, 0.01 * solver.ledger().external_work);
  if (comm.rank() == 0)
    std::printf("work of the cell as by its stress to %.2g, of which springs have %.2f\n", worst, tangential);
}

/// Springs that do not yield give back to leapfrog what the cell has stretched them by.
TEST(PeriodicSprings, LeapfrogKeepsTheWorkOfTheCell) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double l = 2 * r + 0.6 * dhat;
  Matrix3d rate = Matrix3d::Zero();
  rate(0, 1) = 0.05;
  BondedParticlesSolver solver =
      thrown(comm, cubic(l, 0), cube(per_edge * l), steady(rate), {0.5, 1e-3, 0, 1, true},
             options(1e-3, ParticleIntegrator::leapfrog, ContactLaw::hertz));
  const ParticleLedger before = solver.ledger();
  run(solver, 20);
  const ParticleLedger now = solver.ledger();
  EXPECT_GT(now.external_work, 1e-6 * before.barrier);
  EXPECT_NEAR(left_over(before, now), 0, 1e-12 * before.barrier);
  EXPECT_NEAR(now.dissipated_friction, 0, 1e-5 * now.external_work);
  EXPECT_NEAR(now.dissipated_integrator, 0, 1e-8 * now.external_work);
}

/// n by n copies of a square floor of two triangles beside each other, the first one in the corner at the
/// origin.
SphereObstacles tiles(double side, int n) {
  SphereObstacles floor;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const LocalIndex first = LocalIndex(floor.vertices.size());
      for (const auto& [x, y] : {std::pair(0, 0), std::pair(1, 0), std::pair(1, 1), std::pair(0, 1)})
        floor.vertices.push_back(side * Vector3d(i + x, j + y, 0));
      floor.triangles.push_back({first, first + 1, first + 2});
      floor.triangles.push_back({first, first + 2, first + 3});
      floor.bodies.insert(floor.bodies.end(), {1, 1});
    }
  return floor;
}

/// Where a ball rolls over a corner of the cell it meets three images of each triangle of the floor, with a
/// spring each, as it does on a floor of copies.
TEST(PeriodicSprings, ABallRollsOverImagesOfTrianglesAsOverCopies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 8 * r;
  const Motion before_corner{
      {side - 0.2 * r, side - 0.15 * r, r + 0.5 * dhat}, {0.4, 0.3, -0.2}, {-10, 20, 5}};
  for (const auto integrator : {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect}) {
    BondedParticlesOptions chosen = options(1e-4, integrator, ContactLaw::hertz);
    chosen.sudden_breaking = SuddenBreaking::shorter_steps;
    const Laws laws{0.4, 1e-3, 0, 0.5, true};
    BondedParticlesSolver on_images = thrown(comm, {before_corner}, cube(side, {true, true, false}),
                                             undeformed, laws, chosen, tiles(side, 1)),
                          on_copies =
                              thrown(comm, {before_corner}, {}, undeformed, laws, chosen, tiles(side, 2));
    std::size_t most = 0, distinct = 0;
    for (int step = 1; step <= 100; ++step) {
      run(on_images, step);
      run(on_copies, step);
      const auto& springs = on_images.problem().friction->springs_at_start();
      std::set<std::pair<GlobalIndex, CellShift>> keys;
      std::set<GlobalIndex> triangles;
      for (const potentials::ContactSpring& spring : springs) {
        keys.insert({spring.other, spring.shift});
        triangles.insert(spring.other);
      }
      EXPECT_EQ(keys.size(), springs.size());
      EXPECT_EQ(springs.size(), on_copies.problem().friction->springs_at_start().size());
      most = std::max(most, springs.size());
      distinct = std::max(distinct, springs.size() - triangles.size());
    }
    EXPECT_EQ(comm.max(GlobalIndex(most)), 6) << int(integrator);
    EXPECT_GT(comm.max(GlobalIndex(distinct)), 0);
    EXPECT_LT(difference(on_images, on_copies, {Vector3d::Zero()}),
              integrator == ParticleIntegrator::leapfrog ? 1e-11 : 1e-9)
        << int(integrator);
  }
}

/// Springs across faces whose pairs change ranks.
TEST(PeriodicSprings, RanksAgree) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  constexpr double l = 2 * r + 0.6 * dhat;
  auto motions = cubic(l, 0.1 * dhat);
  for (std::size_t k = 0; k < motions.size(); ++k) {
    motions[k].place += cube(per_edge * l).vector(drift(GlobalIndex(k)));
    motions[k].velocity =
        0.5 * Vector3d(std::sin(double(k)), std::cos(3.0 * double(k)), std::sin(5.0 * double(k)));
  }
  Matrix3d rate = -2 * Matrix3d::Identity();
  rate(0, 1) = 3;
  for (const auto integrator : {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect}) {
    auto chosen = options(5e-4, integrator, ContactLaw::hertz);
    chosen.sudden_breaking = SuddenBreaking::shorter_steps;
    const Laws laws{0.3, 1e-3, 0, 0.8, true};
    BondedParticlesSolver together = thrown(comm, motions, cube(per_edge * l), steady(rate), laws, chosen),
                          single = thrown(alone, motions, cube(per_edge * l), steady(rate), laws, chosen);
    run(together, 20);
    run(single, 20);
    const std::vector<Vector3d> moved(motions.size(), Vector3d::Zero());
    EXPECT_LT(difference(together, single, moved), 1e-8) << int(integrator);
    EXPECT_GT(single.ledger().dissipated_friction, 0);
    EXPECT_NEAR(together.ledger().dissipated_friction, single.ledger().dissipated_friction,
                1e-8 * single.ledger().kinetic);
  }
}

} // namespace periodic_springs
} // namespace recoil::solvers::testing

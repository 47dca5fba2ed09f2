#include <cmath>
#include <numeric>
#include <random>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "async_contact/cloths.hpp"
#include "async_contact/runs.hpp"

namespace recoil::solvers::async_contact {
namespace shells_test {

using testing::cloth;
using testing::ClothsAboveSpikes;
using testing::CrumpledSheet;
using testing::expect_balance;
using testing::expect_same;
using testing::SheetText;
using testing::Shells;

TEST(AsyncShells, AFreeSheetKeepsEnergyAndMomenta) {
  SheetText text;
  text.add_grid(6, 6, [](double s, double t) { return Eigen::Vector3d(0.2 * s, 0.2 * t, 0); });
  ShellMaterial material = cloth();
  material.bending_stiffness = 1e-3;
  Shells shells(text, material);
  EXPECT_EQ(shells.model.membranes.size(), 72U);
  EXPECT_EQ(shells.model.hinges.size(), 96U);
  EXPECT_NEAR(std::accumulate(shells.model.masses.begin(), shells.model.masses.end(), 0.0), 0.2 * 0.04,
              1e-12);
  for (LocalIndex v = 0; v < shells.model.num_vertices(); ++v) {
    const Eigen::Vector3d& x = shells.model.positions[v];
    shells.model.velocities[v] = Eigen::Vector3d(1, 0.5, 0) + Eigen::Vector3d(3, 1, 5).cross(x) +
                                 Eigen::Vector3d(0, 0, 0.5 * std::sin(20 * x.x()));
  }
  Integrator run(shells.model);
  const double energy = run.totals().energy();
  for (int i = 1; i <= 10; ++i) {
    ASSERT_EQ(run.advance_to(0.02 * i), Outcome::reached) << run.diagnosis();
    expect_balance(run, energy, 0.005 * energy);
  }
}

TEST(AsyncShells, DampingAndPlasticityOnlyLose) {
  SheetText text;
  text.add_grid(
      5, 3, [](double s, double t) { return Eigen::Vector3d(0.2 * s, 0.12 * t, 0.02 * std::sin(9 * s)); });
  ShellMaterial material = cloth();
  material.bending_stiffness = 1e-3;
  material.stretch_damping = 0.02;
  material.bend_damping = 1e-6;
  material.yield_angle = 0.05;
  Shells shells(text, material);
  for (LocalIndex v = 0; v < shells.model.num_vertices(); ++v)
    shells.model.velocities[v] = Eigen::Vector3d(0, 0, 2 * std::sin(15 * shells.model.positions[v].x()));
  Integrator run(shells.model);
  const double energy = run.totals().energy();
  double last = 0;
  for (int i = 1; i <= 8; ++i) {
    ASSERT_EQ(run.advance_to(0.02 * i), Outcome::reached) << run.diagnosis();
    EXPECT_GE(run.ledger().dissipation(), last);
    last = run.ledger().dissipation();
    expect_balance(run, energy, 0.01 * energy);
  }
  EXPECT_GT(run.ledger().stretch_damping, 0);
  EXPECT_GT(run.ledger().bend_damping, 0);
  EXPECT_GT(run.ledger().plasticity, 0);
}

TEST(AsyncShells, ClothsOnSpikesDoNotIntersect) {
  const ClothsAboveSpikes shells;
  Integrator slabs(shells.model), windows(shells.model, Certificates::windows);
  const double energy = slabs.totals().energy();
  for (int i = 1; i <= 4; ++i) {
    ASSERT_EQ(slabs.advance_to(0.02 * i), Outcome::reached) << slabs.diagnosis();
    ASSERT_EQ(windows.advance_to(0.02 * i), Outcome::reached) << windows.diagnosis();
    EXPECT_EQ(shells.intersections(slabs), 0);
    EXPECT_GT(slabs.smallest_gap(), 0);
    expect_same(slabs, windows);
    expect_balance(slabs, energy, 0.02 * slabs.ledger().gravity_impulse.norm());
  }
  EXPECT_GT(slabs.counts().layers, 1000);
  Integrator first(shells.model);
  first.advance_to(0.0617);
  Integrator rest(shells.model, first.state(), Certificates::windows);
  rest.advance_to(0.08);
  expect_same(slabs, rest);
}

TEST(AsyncShells, CrumpledSheetsDoNotIntersect) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const CrumpledSheet sheet(seed);
    Integrator run(sheet.model);
    const double energy = run.totals().energy();
    for (int i = 1; i <= 3; ++i) {
      ASSERT_EQ(run.advance_to(0.02 * i), Outcome::reached) << run.diagnosis();
      EXPECT_EQ(sheet.intersections(run), 0);
      expect_balance(run, energy, 0.05 * (energy + run.ledger().wall_work));
    }
    EXPECT_GT(run.counts().layers, 10000);
  }
}

/// A hanging strip stretches under its weight by rho g L^2 / (2 Y) (linear, along the strip, nu = 0).
TEST(AsyncShells, AHangingStripIsStretchedByItsWeight) {
  SheetText text;
  text.add_grid(2, 10, [](double s, double t) { return Eigen::Vector3d(0.04 * s, 0, -0.2 * t); });
  ShellMaterial material = cloth();
  material.poisson = 0;
  material.stretch_damping = 0.05;
  Shells shells(text, material);
  shells.prescribe([](const Eigen::Vector3d& x) { return x.z() > -1e-9; });
  shells.model.gravity = {0, 0, -9.8};
  shells.model.gravity_step = 1e-4;
  Integrator run(shells.model);
  ASSERT_EQ(run.advance_to(1.5), Outcome::reached);
  // Each row of triangles carries the weight below it in the mean over their vertical edges, one per
  // triangle: the exact value is that of the mean with half the weight at the corners, whose triangles are
  // half as many. Corners alone hang deeper or higher, as masses of a third per triangle are uneven along a
  // row.
  double mean = 0;
  const std::vector<Eigen::Vector3d> now = run.positions();
  for (std::size_t v = 0; v < now.size(); ++v) {
    const Eigen::Vector3d& rest = shells.model.positions[v];
    if (rest.z() > -0.2 + 1e-9) continue;
    mean += (std::abs(rest.x() - 0.02) < 1e-9 ? 0.5 : 0.25) * now[v].z();
  }
  const double stretch = 0.2 * 9.8 * 0.2 * 0.2 / (2 * 50);
  // Stress grows as e + 3/2 e^2 with the strain e: less stretch by its greatest value, rho g L / Y, in second
  // order.
  EXPECT_NEAR(-mean - 0.2, stretch * (1 - 0.2 * 9.8 * 0.2 / 50), 0.01 * stretch);
}

/// A free strip swings along itself with period 2 L / c, c = sqrt(Y h / (rho h)) for nu = 0.
TEST(AsyncShells, WavesHaveTheSpeedOfTheMembrane) {
  SheetText text;
  text.add_grid(40, 2, [](double s, double t) { return Eigen::Vector3d(0.2 * s, 0.01 * t, 0); });
  ShellMaterial material = cloth();
  material.poisson = 0;
  Shells shells(text, material);
  const auto mode = [&](LocalIndex v) { return std::cos(M_PI * shells.model.positions[v].x() / 0.2); };
  for (LocalIndex v = 0; v < shells.model.num_vertices(); ++v)
    shells.model.velocities[v].x() = 1e-3 * mode(v);
  Integrator run(shells.model);
  const double quarter = testing::first_zero(run, 1e-4, 0.02, [&](const Integrator& at) {
    double sum = 0;
    for (LocalIndex v = 0; v < shells.model.num_vertices(); ++v)
      sum += shells.model.masses[v] * mode(v) * at.velocity(v).x();
    return sum;
  });
  const double speed = std::sqrt(50 / 0.2);
  EXPECT_NEAR(quarter, 0.2 / (2 * speed), 0.01 * 0.2 / (2 * speed));
}

} // namespace shells_test
} // namespace recoil::solvers::async_contact

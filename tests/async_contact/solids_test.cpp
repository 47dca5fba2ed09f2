#include <cmath>

#include <gtest/gtest.h>

#include "async_contact/runs.hpp"
#include "recoil/potentials/laws/fixed_corotational.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/solvers/async_contact/solid.hpp"

namespace recoil::solvers::async_contact {
namespace solids_test {

using testing::expect_balance;

/// A box of nx x ny x nz boxes with edges h, each of six tetrahedra around its diagonal.
struct Box {
  std::vector<Eigen::Vector3d> positions;
  std::vector<std::array<LocalIndex, 4>> cells;

  Box(int nx, int ny, int nz, const Eigen::Vector3d& h, const Eigen::Vector3d& corner) {
    const auto at = [&](int i, int j, int k) { return i + (nx + 1) * (j + (ny + 1) * k); };
    for (int k = 0; k <= nz; ++k)
      for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= nx; ++i) positions.push_back(corner + h.cwiseProduct(Eigen::Vector3d(i, j, k)));
    constexpr int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}};
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
          for (int o = 0; o < 6; ++o) {
            int p[3] = {i, j, k};
            std::array<LocalIndex, 4> cell{at(i, j, k), 0, 0, 0};
            for (int s = 0; s < 3; ++s) {
              ++p[orders[o][s]];
              cell[s + 1] = at(p[0], p[1], p[2]);
            }
            if (o >= 3) std::swap(cell[2], cell[3]); // odd orders turn the cell round
            cells.push_back(cell);
          }
  }
};

TEST(AsyncSolids, CellsArePotentials) {
  const std::array<double, 2> lame{2, 1};
  Points<4> rest;
  rest << 0, 1, 0.1, 0.2, 0, 0, 1.2, 0.1, 0, 0.1, 0, 0.9;
  const Solid solid = make_solid({0, 1, 2, 3}, rest, solid_law<potentials::NeoHookean<3>>(), lame);
  EXPECT_NEAR(energy(solid, rest), 0, 1e-14);
  Points<4> x = rest;
  x.col(3) += Eigen::Vector3d(0.1, -0.05, 0.2);
  x.col(1) += Eigen::Vector3d(-0.1, 0.1, 0.05);
  const Points<4> force = gradient(solid, x);
  EXPECT_LT(force.rowwise().sum().norm(), 1e-14);
  for (int i = 0; i < 12; ++i) {
    Points<4> more = x, less = x;
    more.data()[i] += 1e-5;
    less.data()[i] -= 1e-5;
    EXPECT_NEAR(force.data()[i], (energy(solid, more) - energy(solid, less)) / 2e-5, 1e-8);
  }
}

/// Two elastic bars that collide [Wolff and Bucher 2013]: they part when the wave has come back from their
/// ends.
TEST(AsyncSolids, BarsReboundAfterTheWaveHasReturned) {
  Model model;
  // E = 1, nu = 0: the stress of this law is linear in the stretch, and the wave speed 1.
  const SolidMaterial material{.law = solid_law<potentials::FixedCorotational<3>>(),
                               .parameters = {0, 0.5},
                               .density = 1,
                               .alpha = 0.05};
  for (const int side : {0, 1}) {
    const Box box(40, 1, 1, {0.25, 1, 1}, {side == 0 ? 0.015 : -10.015, 0, 0});
    const LocalIndex first = add_solid(model, box.positions, box.cells, material);
    for (LocalIndex v = first; v < model.num_vertices(); ++v)
      model.velocities[v].x() = side == 0 ? -0.1 : 0.1;
  }
  model.contact = {.eta = 0.01, .stiffness = 20, .alpha = 0.05};
  Integrator run(model, Certificates::windows);
  const double energy = run.totals().energy();
  EXPECT_NEAR(energy, 20 * 0.5 * 0.01, 1e-12);
  double begin = -1, end = -1;
  const double spacing = 0.05;
  for (int i = 1; i * spacing <= 26; ++i) {
    ASSERT_EQ(run.advance_to(spacing * i), Outcome::reached) << run.diagnosis();
    const bool touches = run.totals().contact > 0;
    if (touches && begin < 0) begin = spacing * i;
    if (touches) end = spacing * i;
    ASSERT_NEAR(run.totals().energy(), energy, 0.005 * energy);
    EXPECT_GT(run.smallest_gap(), 0);
  }
  double momentum = 0;
  for (LocalIndex v = 0; v < model.num_vertices() / 2; ++v) momentum += model.masses[v] * run.velocity(v).x();
  printf("bars: contact from %g to %g, rebound %g, energy %g of %g\n", begin, end, momentum / 10,
         run.totals().energy(), energy);
  EXPECT_NEAR(end - begin, 20, 0.03 * 20);
  EXPECT_NEAR(momentum / 10, 0.1, 0.05 * 0.1);
  expect_balance(run, energy, 0.005 * energy);
}

TEST(AsyncSolids, WrongBodiesAreRefused) {
  Box box(1, 1, 1, {1, 1, 1}, {0, 0, 0});
  const SolidMaterial material{
      .law = solid_law<potentials::NeoHookean<3>>(), .parameters = {1, 1}, .density = 1};
  SolidMaterial few = material;
  few.parameters.pop_back();
  Model model;
  EXPECT_THROW(add_solid(model, box.positions, box.cells, few), InputError);
  std::swap(box.cells[0][0], box.cells[0][1]);
  EXPECT_THROW(add_solid(model, box.positions, box.cells, material), InputError);
}

} // namespace solids_test
} // namespace recoil::solvers::async_contact

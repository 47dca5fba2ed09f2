#pragma once

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "async_contact/discs.hpp"
#include "recoil/solvers/async_contact/integrator.hpp"

/// Runs of asynchronous contact and what holds for all of them.
namespace recoil::solvers::async_contact::testing {

/// The equations of Ledger for a run from rest or the model's velocities that began with `energy`.
inline void expect_balance(const Integrator& run, double energy, double tolerance) {
  const Model& model = run.model();
  const Ledger& ledger = run.ledger();
  const Totals now = run.totals();
  EXPECT_NEAR(now.energy(), energy + ledger.wall_work - ledger.dissipation(), tolerance);
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero(), angular = momentum;
  double size = 0, angular_size = 0;
  for (LocalIndex v = 0; v < model.num_vertices(); ++v) {
    if (std::isinf(model.masses[v])) continue;
    momentum += model.masses[v] * model.velocities[v];
    angular += model.masses[v] * model.positions[v].cross(model.velocities[v]);
    size += model.masses[v] * (model.velocities[v].norm() + run.velocity(v).norm());
    angular_size += model.masses[v] * (run.position(v).norm() * run.velocity(v).norm() +
                                       model.positions[v].norm() * model.velocities[v].norm());
  }
  size += ledger.wall_impulse.norm() + ledger.gravity_impulse.norm();
  angular_size += ledger.wall_torque.norm() + ledger.gravity_torque.norm() + ledger.friction_torque.norm();
  EXPECT_LT((now.momentum + ledger.wall_impulse - ledger.gravity_impulse - momentum).norm(), 1e-11 * size);
  EXPECT_LT(
      (now.angular_momentum + ledger.wall_torque - ledger.gravity_torque - ledger.friction_torque - angular)
          .norm(),
      1e-11 * angular_size);
}

/// The whole state of two runs, bit for bit.
inline void expect_same(const Integrator& a, const Integrator& b) {
  const std::vector<double> first = to_numbers(a.state()), second = to_numbers(b.state());
  ASSERT_EQ(first.size(), second.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] != second[i]) ++different;
  EXPECT_EQ(different, 0U);
}

/// First time at which a quantity of a run, positive at first, is zero.
inline double first_zero(Integrator& run, double spacing, double latest,
                         const std::function<double(const Integrator&)>& quantity) {
  double before = quantity(run);
  for (int i = 1; spacing * i <= latest; ++i) {
    EXPECT_EQ(run.advance_to(spacing * i), Outcome::reached) << run.diagnosis();
    const double now = quantity(run);
    if (now <= 0) return spacing * (i - now / (now - before));
    before = now;
  }
  return latest;
}

} // namespace recoil::solvers::async_contact::testing

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::stepping {
namespace {

// Oscillators u'' = -w_k^2 u, u(0) = 1, u'(0) = w_k / 2, two to a rank; the other rank's first one is the
// ghost.
class Oscillators : public ::testing::Test {
protected:
  Oscillators() {
    auto made = std::make_shared<linalg::VectorLayout>();
    made->comm = &comm;
    made->num_owned = 2;
    made->offset = 2 * comm.rank();
    made->num_global = 2 * comm.size();
    if (comm.size() > 1) made->ghosts = {2 * ((comm.rank() + 1) % comm.size())};
    layout = made;
    u = u_bar = linalg::Vector(layout);
  }

  double frequency(GlobalIndex k) const { return 1 + 0.5 * static_cast<double>(k % 2); }
  GlobalIndex global(std::size_t local) const {
    return local < 2 ? layout->offset + static_cast<GlobalIndex>(local) : layout->ghosts[local - 2];
  }

  template <class Function>
  linalg::Vector vector_of(Function&& function) const {
    linalg::Vector result(layout);
    const auto entries = result.write_local();
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = function(frequency(global(i)));
    return result;
  }
  linalg::Vector exact_u(double t) const {
    return vector_of([t](double w) { return std::cos(w * t) + 0.5 * std::sin(w * t); });
  }
  linalg::Vector exact_v(double t) const {
    return vector_of([t](double w) { return w * (0.5 * std::cos(w * t) - std::sin(w * t)); });
  }

  // The minimiser of 1/2 (u - u_tilde)^2 + B^2 w^2 u^2 / 2.
  void step(History& history, const StepCoefficients& c, double dt) {
    history.predict(c, dt, u_bar, u);
    const auto entries = u.write_local();
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] /= 1 + std::pow(frequency(global(i)) * c.scaled_dt(dt), 2);
    history.update_velocity(c, dt, u, u_bar, u_bar);
    history.push(history.newest().id + 1, u, u_bar);
  }
  void step(History& history, double dt) { step(history, history.next_coefficients(), dt); }

  // Error at t = 2 in u and v.
  double error(int order, int steps, bool exact_start) {
    const double dt = 2.0 / steps;
    History history(order);
    const int past = exact_start ? order - 1 : 0;
    for (int k = -past; k <= 0; ++k) history.push(k + past, exact_u(k * dt), exact_v(k * dt));
    for (int i = 0; i < steps; ++i) step(history, dt);
    linalg::Vector du = history.newest().u, dv = history.newest().v;
    du.add(-1, exact_u(2));
    dv.add(-1, exact_v(2));
    return du.norm() + dv.norm();
  }
  double measured_order(int order, int steps, bool exact_start) {
    return std::log2(error(order, steps, exact_start) / error(order, 2 * steps, exact_start));
  }

  static bool equal_bits(const linalg::Vector& a, const linalg::Vector& b) {
    return std::ranges::equal(a.local(), b.local());
  }

  parallel::Communicator comm{MPI_COMM_WORLD};
  std::shared_ptr<const linalg::VectorLayout> layout;
  linalg::Vector u, u_bar; // of the step taken
};

TEST_F(Oscillators, OrdersWithExactStart) {
  for (int m = 1; m <= max_bdf_order; ++m) {
    // Higher orders soon reach the round-off of velocities, about 1e-16 / dt^2.
    const double order = measured_order(m, m == 1 ? 400 : m < 5 ? 80 : 40, true);
    EXPECT_NEAR(order, m, 0.1) << "BDF" << m;
    RecordProperty("exact" + std::to_string(m), std::to_string(order));
  }
}

TEST_F(Oscillators, RampLimitsTheOrderToTwo) {
  for (int m = 1; m <= max_bdf_order; ++m) {
    const double order = measured_order(m, m == 1 ? 400 : 200, false);
    EXPECT_NEAR(order, std::min(m, 2), 0.1) << "BDF" << m;
    RecordProperty("ramp" + std::to_string(m), std::to_string(order));
  }
}

TEST_F(Oscillators, EnergyDecays) {
  for (const int m : {1, 2}) {
    History history(m);
    history.push(0, exact_u(0), exact_v(0));
    linalg::Vector scaled(layout);
    const auto energy = [&] {
      scaled.copy_from(history.newest().u);
      const auto entries = scaled.write_local();
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i] *= frequency(global(i));
      return std::pow(history.newest().v.norm(), 2) + std::pow(scaled.norm(), 2);
    };
    double before = energy();
    const double start = before;
    for (int i = 0; i < 100; ++i) {
      step(history, 0.05);
      if (i < 2) continue; // the ramp may end with a small rise
      EXPECT_LT(energy(), before) << "BDF" << m << ", step " << i;
      before = energy();
    }
    EXPECT_LT(before, (m == 1 ? 0.7 : 0.995) * start);
    EXPECT_GT(before, 0);
  }
}

TEST_F(Oscillators, PredictionOfFreeFlightIsExact) {
  // u = p t + q: the inertial prediction hits it at every order.
  for (int m = 1; m <= max_bdf_order; ++m) {
    History history(m);
    const double dt = 0.25;
    for (int k = 0; k < m; ++k)
      history.push(k, vector_of([&](double w) { return w * (k - m + 1) * dt + 3; }),
                   vector_of([](double w) { return w; }));
    linalg::Vector u_tilde(layout), v(layout);
    const StepCoefficients c = history.next_coefficients();
    history.predict(c, dt, u_bar, u_tilde);
    history.update_velocity(c, dt, u_tilde, u_bar, v);
    u_tilde.add(-1, vector_of([&](double w) { return w * dt + 3; }));
    v.add(-1, vector_of([](double w) { return w; }));
    EXPECT_LT(u_tilde.norm_infinity(), 1e-13);
    EXPECT_LT(v.norm_infinity(), 1e-12);
    for (const double entry : v.local()) EXPECT_LT(std::abs(entry), 1e-12) << "ghosts as well";
  }
}

TEST_F(Oscillators, RestartContinuesBitForBit) {
  for (const int m : {1, 2, 3, 6})
    for (const int at : {0, 2, 7}) {
      History through(m), again(m);
      through.push(0, exact_u(0), exact_v(0));
      for (int i = 0; i < at; ++i) step(through, 0.1);
      const auto states = through.states();
      for (std::size_t k = states.size(); k-- > 0;) again.push(states[k].id, states[k].u, states[k].v);
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(again.next_coefficients(), through.next_coefficients());
        step(through, 0.1);
        step(again, 0.1);
        EXPECT_TRUE(equal_bits(through.newest().u, again.newest().u));
        EXPECT_TRUE(equal_bits(through.newest().v, again.newest().v));
      }
    }
}

TEST_F(Oscillators, NothingIsAllocatedOnceFull) {
  History history(3);
  history.push(0, exact_u(0), exact_v(0));
  for (int i = 0; i < 3; ++i) step(history, 0.1);
  const auto storage = [&] {
    std::set<const void*> result;
    for (const State& state : history.states()) {
      result.insert(state.u.get());
      result.insert(state.v.get());
    }
    return result;
  };
  const auto before = storage();
  EXPECT_EQ(before.size(), 6u);
  for (int i = 0; i < 4; ++i) step(history, 0.1);
  EXPECT_EQ(storage(), before);
  EXPECT_EQ(history.size(), 3);
  for (GlobalIndex k = 0; k < 3; ++k) EXPECT_EQ(history.states()[static_cast<std::size_t>(k)].id, 7 - k);
}

TEST_F(Oscillators, RecordsNameWhatStepsLeanOn) {
  History history(3);
  history.push(0, exact_u(0), exact_v(0));
  std::vector<StepRecord> records;
  const auto advance = [&](GlobalIndex nominal, double dt, const StepCoefficients& c) {
    const double time = records.empty() ? 0 : records.back().time;
    records.push_back(history.next_record(history.newest().id + 1, nominal, time + dt, dt, c));
    step(history, c, dt);
  };
  for (GlobalIndex n = 1; n <= 3; ++n) advance(n, 0.1, history.next_coefficients());
  // Step 4 fails and is repeated as two sub-steps of BDF1; then the ramp starts anew.
  history.restart();
  advance(4, 0.05, bdf_coefficients(1));
  advance(4, 0.05, bdf_coefficients(1));
  history.restart();
  for (GlobalIndex n = 5; n <= 7; ++n) advance(n, 0.1, history.next_coefficients());

  const std::vector<std::vector<GlobalIndex>> expected{{0}, {1, 0}, {2, 1, 0}, {3},
                                                       {4}, {5},    {6, 5},    {7, 6, 5}};
  ASSERT_EQ(records.size(), expected.size());
  for (std::size_t k = 0; k < records.size(); ++k) {
    EXPECT_TRUE(std::ranges::equal(records[k].predecessors(), expected[k])) << "record " << k;
    EXPECT_EQ(records[k].id, static_cast<GlobalIndex>(k + 1));
    EXPECT_EQ(records[k].coefficients.order, static_cast<int>(expected[k].size()));
  }
  EXPECT_EQ(records[4].nominal_step, 4);
  EXPECT_DOUBLE_EQ(records.back().time, 0.7);

  // Without inertia the state before is still named: friction and damping see it.
  const StepRecord still = history.next_record(9, 8, 0.8, 0.1, StepCoefficients{});
  EXPECT_TRUE(std::ranges::equal(still.predecessors(), std::vector<GlobalIndex>{8}));
  EXPECT_EQ(still.coefficients.order, 0);
}

TEST_F(Oscillators, RestartAndClear) {
  EXPECT_THROW(History(0), InputError);
  EXPECT_THROW(History(7), InputError);
  History history(2);
  EXPECT_THROW(history.next_coefficients(), InputError);
  history.restart();
  EXPECT_TRUE(history.empty());
  history.push(3, exact_u(0), exact_v(0));
  history.push(4, exact_u(1), exact_v(1));
  EXPECT_EQ(history.next_coefficients().order, 2);
  history.push(5, exact_u(1), exact_v(1));
  EXPECT_EQ(history.next_coefficients().order, 2);
  history.restart();
  EXPECT_EQ(history.size(), 1);
  EXPECT_TRUE(equal_bits(history.newest().u, exact_u(1)));
  EXPECT_EQ(history.next_coefficients().order, 1);
  history.clear();
  EXPECT_TRUE(history.empty());
}

TEST_F(Oscillators, HistoriesKeepInternalVariables) {
  History history(2);
  history.push(0, u, u, std::vector{1.0, 2.0});
  history.push(1, u, u, std::vector{3.0});
  EXPECT_EQ(history.newest().internal, std::vector{3.0});
  EXPECT_EQ(history.states()[1].internal, (std::vector{1.0, 2.0}));
  history.push(2, u, u);
  EXPECT_TRUE(history.newest().internal.empty());
}

} // namespace
} // namespace recoil::stepping

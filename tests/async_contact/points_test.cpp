#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "async_contact/runs.hpp"
#include "recoil/base/error.hpp"

namespace recoil::solvers::async_contact {
namespace points_test {

using testing::expect_balance;
using testing::expect_same;
using testing::random_discs;

/// Two masses on a vertical spring that falls on a plane: length, stiffness, masses and gravity 1. On a line
/// the masses may pass each other without the spring turning round: the upper one is where it is less the
/// length, on a spring without length. Its energy is 1 less.
Model spring_above_plane(double alpha, bool aligned) {
  Model model;
  const LocalIndex low = model.add_sphere({0, 0, 1}, {0, 0, 0}, 1, 0);
  const LocalIndex high = model.add_vertex({0, 0, 1}, {0, 0, 0}, 1);
  model.springs.push_back({.vertices = {low, high}, .length = 0, .stiffness = 1, .step = 2e-3});
  model.add_plane({0, 0, 0}, {0, 0, 1});
  model.gravity = {0, 0, -1};
  model.gravity_step = 2e-3;
  model.contact = {.eta = 0.1, .stiffness = 1000, .alpha = alpha, .aligned = aligned};
  return model;
}

/// Means of the energy over the quarters of a run, its least and its greatest value.
struct EnergyHistory {
  std::array<double, 4> means{};
  double least = 1e300, greatest = -1e300;
};

EnergyHistory energies(Integrator& run, double duration, int samples) {
  EnergyHistory result;
  for (int i = 0; i < samples; ++i) {
    EXPECT_EQ(run.advance_to(duration * (i + 1) / samples), Outcome::reached) << run.diagnosis();
    const double energy = run.totals().energy() + 1;
    result.means[4 * i / samples] += energy * 4 / samples;
    result.least = std::min(result.least, energy);
    result.greatest = std::max(result.greatest, energy);
  }
  return result;
}

TEST(AsyncPoints, SpringOnPlaneKeepsItsEnergy) {
  Integrator run(spring_above_plane(0.01, true));
  const EnergyHistory history = energies(run, 2000, 20000);
  EXPECT_NEAR(history.means[3], 3, 0.0015 * 3);
  EXPECT_LE(history.greatest - history.least, 0.02 * 3);
  expect_balance(run, 2.0, 0.01 * 3);

  Integrator unaligned(spring_above_plane(0.01, false));
  const EnergyHistory drift = energies(unaligned, 2000, 20000);
  EXPECT_LT(drift.means[0], drift.means[1]);
  EXPECT_LT(drift.means[1], drift.means[2]);
  EXPECT_LT(drift.means[2], drift.means[3]);
  EXPECT_GT(drift.means[3], 3 * 1.015);
  RecordProperty("aligned", ::testing::PrintToString(history.means));
  RecordProperty("unaligned", ::testing::PrintToString(drift.means));
  printf("A1 aligned %.4f %.4f %.4f %.4f (%.4f .. %.4f), unaligned %.4f %.4f %.4f %.4f, events %ld\n",
         history.means[0], history.means[1], history.means[2], history.means[3], history.least,
         history.greatest, drift.means[0], drift.means[1], drift.means[2], drift.means[3],
         run.counts().events());
}

/// The spring on a plane with all layers up to the sixth integrated at every time of their clocks, without
/// search, certificates and heap.
TEST(AsyncPoints, NoLayerIsMissed) {
  const Model model = spring_above_plane(0.01, true);
  const double duration = 60;
  std::array<double, 2> q{1, 2}, v{0, 0};
  constexpr int layers = 6;
  const TickLength tick;
  const Tick end = tick.floor(duration), step = tick.floor(2e-3);
  std::array<Tick, layers + 1> next, h;
  next[0] = h[0] = step;
  for (int l = 1; l <= layers; ++l) next[l] = h[l] = tick.floor(0.01 * 2 / std::sqrt(2.0 * l * l * l * 1000));
  Tick t = 0;
  while (true) {
    const Tick now = *std::ranges::min_element(next);
    const double drift = tick.to_seconds(std::min(now, end) - t);
    q[0] += drift * v[0];
    q[1] += drift * v[1];
    if (now > end) break;
    t = now;
    if (next[0] == now) {
      v[0] -= tick.to_seconds(step);
      v[1] -= tick.to_seconds(step);
      const double force = q[1] - q[0] - 1;
      v[0] += tick.to_seconds(step) * force;
      v[1] -= tick.to_seconds(step) * force;
    }
    for (int l = 1; l <= layers; ++l)
      if (next[l] == now)
        v[0] += tick.to_seconds(h[l]) * 2 * l * l * l * 1000 * std::max(0.0, 0.2 / l - q[0]);
    for (int l = 0; l <= layers; ++l)
      if (next[l] == now) next[l] += h[l];
  }
  for (const Certificates certificates : {Certificates::slabs, Certificates::windows}) {
    Integrator run(model, certificates);
    EXPECT_EQ(run.advance_to(duration), Outcome::reached);
    EXPECT_LE(run.counts().deepest, layers + 1); // the seventh layer is activated early at most
    EXPECT_NEAR(run.position(0).z(), q[0], 1e-6);
    EXPECT_NEAR(run.position(1).z(), q[1] - 1, 1e-6);
  }
}

/// A sphere that hits a plane at right angles.
Model falling_ball(double e) {
  Model model;
  model.add_sphere({0, 0, 0.5}, {0.3, 0, -1}, 2, 0.1);
  model.add_plane({0, 0, 0}, {0, 0, 1});
  model.contact = {.eta = 1e-2, .stiffness = 1e5, .alpha = 0.01, .restitution = e};
  return model;
}

TEST(AsyncPoints, RestitutionIsThatOfTheSpeeds) {
  for (const double e : {1.0, 0.9, 0.8, 0.7, 0.5, 0.2, 0.0}) {
    Integrator run(falling_ball(e));
    run.advance_to(1);
    // Layers push back in full as long as the ball approaches. The last kick of these is at most h w^2 times
    // the depth v / w that is reached, 2 alpha v, of which what is left after it has stopped the ball cannot
    // be taken back: e = 0 leaves between 0 and 2 alpha (in another phase of the clock .002 of v).
    EXPECT_NEAR(run.velocity(0).z(), e, e > 0 ? 0.005 : 2 * 0.01) << e;
    EXPECT_DOUBLE_EQ(run.velocity(0).x(), 0.3);
    EXPECT_NEAR(run.ledger().restitution, 1 - e * e, 0.01);
    expect_balance(run, 1.09, 0.01);
  }
}

TEST(AsyncPoints, EqualMassesSwapTheirVelocities) {
  Model model;
  model.add_sphere({-1, 0, 0}, {1, 0, 0}, 1, 0.2);
  model.add_sphere({0, 0, 0}, {0, 0, 0}, 1, 0.2);
  model.contact = {.eta = 0.05, .stiffness = 1e4, .alpha = 0.01};
  Integrator run(model);
  run.advance_to(2);
  EXPECT_NEAR(run.velocity(0).x(), 0, 1e-3);
  EXPECT_NEAR(run.velocity(1).x(), 1, 1e-3);
  EXPECT_EQ(run.counts().deepest, 1);
  // Contact lasts half a period of w = sqrt(2 k / mu).
  const double h = 0.01 * 2 / std::sqrt(2e4 / 0.5);
  EXPECT_NEAR(run.counts().layers * h, M_PI / std::sqrt(2e4 / 0.5), 2 * h);
}

/// Two chains of masses and springs, as long as the bars of Wolff and Bucher with wave speed 1, that collide.
TEST(AsyncPoints, ChainsReboundAfterTheWaveHasReturned) {
  Model model;
  const int n = 50;
  const double length = 10, piece = length / n;
  std::array<LocalIndex, 2> tips{};
  for (const int side : {0, 1}) {
    const double sign = side == 0 ? -1 : 1;
    for (int i = 0; i <= n; ++i) {
      const double mass = (i == 0 || i == n ? 0.5 : 1.0) * piece;
      const LocalIndex v = model.add_vertex({sign * (0.015 + i * piece), 0, 0}, {-0.1 * sign, 0, 0}, mass);
      if (i == 0) model.spheres.push_back(tips[side] = v);
      if (i > 0)
        model.springs.push_back(
            {.vertices = {v - 1, v}, .length = piece, .stiffness = 1 / piece, .step = 0.1 * piece});
    }
  }
  model.contact = {.eta = 0.01, .stiffness = 50, .alpha = 0.01};
  Integrator run(model);
  const double energy = run.totals().energy();
  double begin = -1, end = -1;
  for (int i = 1; i <= 3000; ++i) {
    ASSERT_EQ(run.advance_to(0.01 * i), Outcome::reached);
    const bool touches = run.totals().contact > 0;
    if (touches && begin < 0) begin = 0.01 * i;
    if (touches) end = 0.01 * i;
    EXPECT_NEAR(run.totals().energy(), energy, 0.005 * energy);
  }
  EXPECT_NEAR(end - begin, 20, 0.6);
  double momentum = 0, mass = 0;
  for (LocalIndex v = n + 1; v <= 2 * n + 1; ++v) {
    momentum += model.masses[v] * run.velocity(v).x();
    mass += model.masses[v];
  }
  EXPECT_NEAR(momentum / mass, 0.1, 0.005);
  expect_balance(run, energy, 0.005 * energy);
}

TEST(AsyncPoints, DiscsInABoxKeepEnergyAndMomentum) {
  const Model model = random_discs(100, 1.0, 1.0);
  Integrator run(model);
  const double energy = run.totals().energy();
  for (int i = 1; i <= 10; ++i) {
    ASSERT_EQ(run.advance_to(0.05 * i), Outcome::reached) << run.diagnosis();
    EXPECT_GT(run.smallest_gap(), 0);
    expect_balance(run, energy, 0.005 * energy);
  }
  EXPECT_GT(run.counts().layers, 100000);
}

TEST(AsyncPoints, EnergyDecaysInTheOrderOfRestitution) {
  double last = 0;
  for (const double e : {0.0, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0}) {
    Integrator run(random_discs(49, 0.7, e));
    const double energy = run.totals().energy();
    ASSERT_EQ(run.advance_to(0.3), Outcome::reached);
    EXPECT_GT(run.totals().kinetic, last) << e;
    last = run.totals().kinetic;
    expect_balance(run, energy, 0.01 * energy);
  }
}

TEST(AsyncPoints, WindowsGiveTheMotionOfSlabsBitForBit) {
  for (const double e : {1.0, 0.5}) {
    Model model = random_discs(64, 0.8, e);
    model.gravity = {0, -9.8, 0};
    model.contact.friction = e < 1 ? 0.3 : 0;
    Integrator slabs(model, Certificates::slabs), windows(model, Certificates::windows);
    for (int i = 1; i <= 5; ++i) {
      slabs.advance_to(0.06 * i);
      windows.advance_to(0.06 * i);
      expect_same(slabs, windows);
    }
    EXPECT_EQ(slabs.counts().layers, windows.counts().layers);
  }
}

TEST(AsyncPoints, ContinuedRunsAreTheSameBitForBit) {
  for (const double stiffness : {0.0, 1e5}) {
    Model model = random_discs(36, 0.6, 0.7);
    model.gravity = {0, -9.8, 0};
    model.contact.friction = 0.4;
    model.contact.anchor_stiffness = stiffness;
    Integrator whole(model);
    whole.advance_to(0.2);
    Integrator first(model);
    first.advance_to(0.0713);
    const std::vector<double> numbers = to_numbers(first.state());
    Integrator second(model, from_numbers(numbers), Certificates::windows);
    second.advance_to(0.13);
    Integrator third(model, second.state());
    third.advance_to(0.2);
    expect_same(whole, third);
  }
}

TEST(AsyncPoints, DamagedStatesAreRefused) {
  Model model = random_discs(4, 0.2, 1);
  Integrator run(model);
  std::vector<double> numbers = to_numbers(run.state());
  EXPECT_THROW(from_numbers(std::span(numbers).first(numbers.size() - 1)), InputError);
  EXPECT_THROW(from_numbers({}), InputError);
  std::vector<double> longer = numbers;
  longer.push_back(0);
  EXPECT_THROW(from_numbers(longer), InputError);
  numbers[0] = 7;
  EXPECT_THROW(from_numbers(numbers), InputError);
  // Of another model.
  IntegratorState state = run.state();
  state.vertices.pop_back();
  EXPECT_THROW(Integrator(model, state), InputError);
}

/// A point on a plane that is tilted by the direction of gravity.
Model point_on_slope(double slope, double friction, double anchor, double speed) {
  Model model;
  model.add_sphere({0, 0, 0.0199}, {speed, 0, 0}, 1, 0);
  model.add_plane({0, 0, 0}, {0, 0, 1});
  model.gravity = 9.81 * Eigen::Vector3d(std::sin(slope), 0, -std::cos(slope));
  // A kick of gravity gives the point at rest m (g h)^2 / 2, which contact without restitution takes away
  // before the next one: an energy of m g^2 h / 2 per time that is dissipated and came from no height, 0.005
  // J/s with this step.
  model.gravity_step = 1e-4;
  model.contact = {.eta = 1e-2,
                   .stiffness = 1e4,
                   .alpha = 0.01,
                   .restitution = 0,
                   .friction = friction,
                   .anchor_stiffness = anchor};
  return model;
}

TEST(AsyncPoints, SlidingEndsWhereCoulombSays) {
  for (const double anchor : {0.0, 1e4}) {
    Integrator run(point_on_slope(0, 0.5, anchor, 2));
    const double energy = run.totals().energy();
    ASSERT_EQ(run.advance_to(1), Outcome::reached);
    EXPECT_NEAR(run.position(0).x(), 2 * 2 / (2 * 0.5 * 9.81), 0.01);
    expect_balance(run, energy, 0.02);
  }
}

TEST(AsyncPoints, AnchorsDoNotCreep) {
  Integrator run(point_on_slope(0.2, 0.5, 1e4, 0));
  run.advance_to(2);
  const double early = run.position(0).x();
  run.advance_to(8);
  // It swings about the stretched spring, and stays there.
  EXPECT_NEAR(run.position(0).x(), early, 2.5 * 9.81 * std::sin(0.2) / 1e4);
  EXPECT_LT(run.position(0).x(), 0.01);
}

TEST(AsyncPoints, MovingPlanesDoWork) {
  Model model;
  model.add_sphere({0, 0, 0.5}, {0, 0, 0}, 1, 0.1);
  const LocalIndex floor = model.add_plane({0, 0, 0}, {0, 0, 1});
  model.scripts.push_back({{floor}, {{0.1, {0, 0, 1}}, {0.55, {0, 0, 0}}}});
  model.contact = {.eta = 1e-2, .stiffness = 1e5, .alpha = 0.01};
  Integrator run(model);
  ASSERT_EQ(run.advance_to(1), Outcome::reached);
  EXPECT_NEAR(run.velocity(0).z(), 2, 0.01); // elastic rebound from a wall of speed 1
  EXPECT_NEAR(run.ledger().wall_work, 2, 0.02);
  EXPECT_NEAR(run.position(floor).z(), 0.45, 1e-9);
  expect_balance(run, 0, 0.02);
}

TEST(AsyncPoints, WrongModelsAreRefused) {
  EXPECT_THROW(Integrator{Model()}, InputError);
  Model model = falling_ball(1);
  model.masses[0] = 0;
  EXPECT_THROW(Integrator{model}, InputError);
  model = falling_ball(1);
  model.positions[0].z() = 0.05; // below the plane
  EXPECT_THROW(Integrator{model}, InputError);
  model = falling_ball(1);
  model.springs.push_back({.vertices = {0, 5}, .length = 1, .stiffness = 1, .step = 1e-3});
  EXPECT_THROW(Integrator{model}, InputError);
  model = falling_ball(2);
  EXPECT_THROW(Integrator{model}, InputError);
}

} // namespace points_test
} // namespace recoil::solvers::async_contact

#include <cmath>

#include <gtest/gtest.h>

#include "recoil/solvers/async_contact/integrator.hpp"

namespace recoil::solvers::async_contact {
namespace {

/// Two masses on a vertical spring that falls on a plane: length, stiffness, masses and gravity 1.
Model spring_above_plane(double alpha, bool aligned, double step) {
  Model model;
  const LocalIndex low = model.add_sphere({0, 0, 1}, {0, 0, 0}, 1, 0);
  const LocalIndex high = model.add_vertex({0, 0, 2}, {0, 0, 0}, 1);
  model.springs.push_back({.vertices = {low, high}, .length = 1, .stiffness = 1, .step = step});
  model.add_plane({0, 0, 0}, {0, 0, 1});
  model.gravity = {0, 0, -1};
  model.gravity_step = step;
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
    const double energy = run.totals().energy();
    result.means[4 * i / samples] += energy * 4 / samples;
    result.least = std::min(result.least, energy);
    result.greatest = std::max(result.greatest, energy);
  }
  return result;
}

TEST(AsyncPoints, SpringOnPlaneKeepsItsEnergy) {
  Integrator run(spring_above_plane(0.01, true, 2e-3));
  const EnergyHistory history = energies(run, 2000, 20000);
  printf("%.4f %.4f %.4f %.4f  %.4f .. %.4f events %ld\n", history.means[0], history.means[1], history.means[2], history.means[3], history.least, history.greatest, run.counts().events());
  EXPECT_NEAR(history.means[3], 3, 0.0015 * 3);
  Integrator unaligned(spring_above_plane(0.01, false, 2e-3));
  const EnergyHistory drift = energies(unaligned, 2000, 20000);
  printf("%.4f %.4f %.4f %.4f  %.4f .. %.4f\n", drift.means[0], drift.means[1], drift.means[2], drift.means[3], drift.least, drift.greatest);
}

} // namespace
} // namespace recoil::solvers::async_contact

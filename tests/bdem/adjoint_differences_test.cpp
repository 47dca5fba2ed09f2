#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bdem/adjoint_bodies.hpp"

// Differences of whole runs, which are most of the work: on one rank, with which bonded_adjoint compares
// several.
namespace recoil::solvers {
namespace {

using namespace testing;

WholeRun run_along(const parallel::Communicator& comm, const Body& body, Kind kind, double share) {
  Shares at{};
  at[kind] = share;
  return WholeRun(comm, body, at);
}

/// Differences of fourth order. Those of runs in which bonds soften need small steps, as kinks of their
/// ratios are near, and rounding then shows: the best one of some counts.
void expect_differences(const parallel::Communicator& comm, const Body& body, Kind kind, const Slopes& slopes,
                        const std::array<double, 2>& values) {
  const bool is_second_order = body.integrator == ParticleIntegrator::mid_reflectT;
  const std::vector<double> shares = body.softens()   ? std::vector{1e-4, 1e-5, 1e-6, 1e-7}
                                     : body.obstacles ? std::vector{1e-3, 1e-4, 1e-5, 1e-6}
                                                      : std::vector{is_second_order ? 5e-4 : 1e-3};
  std::array<double, 2> error, difference{};
  error.fill(std::numeric_limits<double>::infinity());
  for (const double h : shares) {
    const auto at = [&](double share) { return run_along(comm, body, kind, share).values; };
    const auto a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
    for (int k = 0; k < 2; ++k) {
      difference[k] = (8 * (a[k] - b[k]) - (c[k] - d[k])) / (12 * h);
      const double rounding = body.softens() ? 1e-14 * (1 + std::abs(values[k])) / h : 0;
      error[k] = std::min(error[k],
                          (std::abs(slopes[k][kind] - difference[k]) - rounding) / std::abs(difference[k]));
    }
    if (std::max(error[0], error[1]) <= 1e-6) break;
  }
  for (int k = 0; k < 2; ++k)
    EXPECT_LE(error[k], 1e-6) << body.name << ", objective " << k << " by " << names[kind] << ": "
                              << slopes[k][kind] << " against " << difference[k];
}

TEST(BondedAdjointDifferences, GradientsAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {});
    if (body.softens()) {
      EXPECT_GE(run.num_broken(), 3) << body.name;
      if (body.obstacles) {
        EXPECT_GE(run.num_torn_contacts, 10) << body.name;
      }
    }
    const Slopes slopes = reverse_slopes(comm, body, run);
    for (int kind = 0; kind < num_kinds; ++kind) {
      if ((kind == motion && !body.clamped) || (kind >= tensile && kind <= shear && !body.softens()) ||
          (kind == friction && !body.obstacles) || (kind == damping && body.damping_time == 0))
        continue;
      // At rest only moments, friction and damping know where a step started.
      if (body.integrator == ParticleIntegrator::quasistatic &&
          ((kind == places && !body.obstacles && body.damping_time == 0) || kind == speeds ||
           kind == spins)) {
        EXPECT_EQ(slopes[0][kind], 0);
        EXPECT_EQ(slopes[1][kind], 0);
        continue;
      }
      expect_differences(comm, body, Kind(kind), slopes, run.values);
    }
  }
}

TEST(BondedAdjointDifferences, RemaindersAreOfSecondOrder) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    // Kinks of ratios are nearer than where remainders stand out from rounding, of bodies that are touched
    // along some directions.
    if (body.softens() && !body.obstacles) continue;
    const auto is_taken = [&](int kind) {
      return (kind != motion || body.clamped) && !(body.softens() && (kind == places || kind == turns));
    };
    WholeRun run(comm, body, {});
    const Slopes slopes = reverse_slopes(comm, body, run);
    const auto remainders = [&](double h) {
      Shares at{};
      for (int kind = 0; kind < num_kinds; ++kind)
        if (is_taken(kind)) at[kind] = h;
      const auto values = WholeRun(comm, body, at).values;
      std::array<double, 2> result{};
      for (int k = 0; k < 2; ++k) {
        double slope = 0;
        for (int kind = 0; kind < num_kinds; ++kind)
          if (is_taken(kind)) slope += slopes[k][kind];
        result[k] = values[k] - run.values[k] - h * slope;
      }
      return result;
    };
    const double h = body.obstacles ? 1e-5 : 1e-4;
    const auto coarse = remainders(2 * h), fine = remainders(h);
    for (int k = 0; k < 2; ++k)
      EXPECT_NEAR(std::log2(coarse[k] / fine[k]), 2, 0.05) << body.name << ", objective " << k;
  }
}

} // namespace
} // namespace recoil::solvers

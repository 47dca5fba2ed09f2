#include <cmath>

#include <gtest/gtest.h>

#include "adjoint/recorded_run.hpp"

namespace recoil::adjoint {
namespace {

class SweepOf : public ::testing::TestWithParam<Plan> {};

TEST_P(SweepOf, AgreesWithDifferences) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const auto gradients = sweep(model, simulate(model, reference, GetParam()), inertia);
  for (std::size_t k = 0; k < 2; ++k)
    for (int parameter = 0; parameter < num_parameters; ++parameter) {
      const bool is_inertial = parameter == mass || parameter == start_v;
      const auto j = static_cast<std::size_t>(parameter);
      double error = 1e300;
      for (const double h : {1e-4, 1e-5, 1e-6}) {
        Parameters plus = reference, minus = reference;
        plus[j] += h;
        minus[j] -= h;
        const double difference = (Sums::value(model, simulate(model, plus, GetParam()), k) -
                                   Sums::value(model, simulate(model, minus, GetParam()), k)) /
                                  (2 * h);
        error = std::min(error, std::abs(difference - gradients[k][j]));
      }
      if (inertia || !is_inertial) {
        EXPECT_GT(std::abs(gradients[k][j]), 1e-3) << "vacuous: parameter " << parameter;
      }
      EXPECT_LE(error, 1e-8 * std::max(1.0, std::abs(gradients[k][j])))
          << "parameter " << parameter << ", objective " << k;
    }
}

TEST_P(SweepOf, GoesOnFromWhatIsPending) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const Recorded run = simulate(model, reference, GetParam());
  const auto whole = sweep(model, run, inertia);
  for (const GlobalIndex at : {GlobalIndex{0}, GlobalIndex{1}, GlobalIndex{5}})
    EXPECT_EQ(sweep(model, run, inertia, at), whole) << "restarted before state " << at;
}

TEST_P(SweepOf, EstimatesWhatExactSolvesWouldChange) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const auto sum = [&](const Recorded& run) {
    return Sums::value(model, run, 0) + Sums::value(model, run, 1);
  };
  const double exact = sum(simulate(model, reference, GetParam()));
  const auto correction = [&](const Recorded& run) {
    ModelStep step(model, reference, inertia);
    StoredStates states(run);
    Sums objectives;
    ReverseSweep sweep(run.records, states, objectives, &step, SweepOptions{});
    while (sweep.next() >= 0) EXPECT_EQ(sweep.advance(), "");
    return sweep.totals().objective_correction;
  };
  EXPECT_NEAR(correction(simulate(model, reference, GetParam())), 0, 1e-11 * std::abs(exact));
  const Recorded loose = simulate(model, reference, GetParam(), 2);
  const double error = exact - sum(loose);
  EXPECT_GT(std::abs(error), 1e-9 * std::abs(exact)) << "vacuous";
  EXPECT_NEAR(correction(loose), error, 0.05 * std::abs(error));
}

INSTANTIATE_TEST_SUITE_P(Schemes, SweepOf, ::testing::ValuesIn(schemes));

} // namespace
} // namespace recoil::adjoint

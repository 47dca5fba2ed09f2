#include "recoil/app/study/evaluation/residual_report.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/inverse/fit_statistics.hpp"

namespace recoil::app::residual_report_test {
namespace {

using ::testing::HasSubstr;

constexpr int num_times = 16;

struct MadeUp final : ObjectiveSpec {
  MadeUp(const std::string& its_name, int its_experiment) {
    name = its_name;
    experiment = its_experiment;
  }
  ObjectiveMaker<2> open(const Specimen<2>&) const override { return {}; }
  ObjectiveMaker<3> open(const Specimen<3>&) const override { return {}; }
};

/// Two objectives: points `a` and `b`, each on a rank of its own where there are so many, and one without
/// observations on the last rank.
class ResidualReport : public ::testing::Test {
protected:
  ResidualReport() {
    study_.experiments = {{"drop", {}, false, {}}, {"left out", {}, false, {}}};
    study_.objectives = {std::make_shared<MadeUp>("lost", 1), std::make_shared<MadeUp>("path", 0),
                         std::make_shared<MadeUp>("smooth", 0)};
  }

  static double noise(int point, int component, int step) {
    const double large =
        43758.5453 * std::sin(12.9898 * point + 78.233 * component + 37.719 * (step + 1) + 1);
    return 2 * (large - std::floor(large)) - 1;
  }
  /// residual(point, component, step); NaN: not observed.
  std::vector<ObjectiveResiduals> summarise(const std::function<double(int, int, int)>& residual,
                                            bool counts_once = true,
                                            std::optional<objectives::RobustLoss> loss = {}) {
    ResidualRows rows;
    rows.terms = {{{{"a", "b"}, {"x", "y"}}, counts_once, true, loss}, {}};
    std::vector<double> residuals;
    for (int step = 0; step < num_times; ++step) {
      for (int point = 0; point < 2; ++point)
        for (int component = 0; point % comm_.size() == comm_.rank() && component < 2; ++component) {
          const double r = residual(point, component, step);
          rows.rows.push_back({0, {point, component, 0.1 * step, !std::isnan(r), 2 + step}, 1});
          residuals.push_back(std::isnan(r) ? 0 : loss ? loss->residual(r) : r);
        }
      if (comm_.rank() != comm_.size() - 1) continue;
      rows.rows.push_back({1, {}, 1});
      residuals.push_back(0.5);
    }
    return summarise_residuals(comm_, rows, residuals);
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  Study study_;
};

TEST_F(ResidualReport, NamesTheLargestOfWhatIsObserved) {
  const auto found = summarise([](int point, int component, int step) {
    if (point == 0 && step == 3) return std::nan("");
    if (point == 1 && component == 0 && step == 7) return -9.0;
    if (point == 0 && component == 1 && step == 2) return 5.0;
    return noise(point, component, step);
  });
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].data, 4 * num_times - 2);
  ASSERT_EQ(found[0].worst.size(), ObjectiveResiduals::most_worst);
  EXPECT_EQ(found[0].worst[0].point, "b");
  EXPECT_EQ(found[0].worst[0].component, "x");
  EXPECT_NEAR(found[0].worst[0].time, 0.7, 1e-15);
  EXPECT_EQ(found[0].worst[0].residual, -9);
  EXPECT_EQ(found[0].worst[1].point, "a");
  EXPECT_EQ(found[0].worst[1].residual, 5);
  EXPECT_LE(std::abs(found[0].worst[3].residual), std::abs(found[0].worst[2].residual));
  double squares = 0;
  for (int point = 0; point < 2; ++point)
    for (int component = 0; component < 2; ++component)
      for (int step = 0; step < num_times; ++step)
        if (!(point == 0 && step == 3)) squares += std::pow(noise(point, component, step), 2);
  squares += 81 - std::pow(noise(1, 0, 7), 2) + 25 - std::pow(noise(0, 1, 2), 2);
  EXPECT_NEAR(found[0].squares, squares, 1e-12);
  // Without labels there is nothing to name.
  EXPECT_NEAR(found[1].squares, 0.25 * num_times, 1e-14);
  EXPECT_EQ(found[1].data, num_times);
  EXPECT_TRUE(found[1].worst.empty());
  EXPECT_EQ(found[1].tested, 0);

  const auto json = describe_residuals(study_, {{found, ""}, {}});
  EXPECT_EQ(json.size(), 2) << json;
  EXPECT_EQ(json["path"]["experiment"], "drop");
  EXPECT_EQ(json["path"]["worst"][0]["point"], "b");
  EXPECT_EQ(json["path"]["data"], 4 * num_times - 2);
  EXPECT_TRUE(json["smooth"]["runs_p"].is_null());
}

/// Residuals are reported the same with a loss as without one: what it makes of them is undone.
TEST_F(ResidualReport, CountsWhatIsFarOffWithItsLine) {
  const auto residual = [](int point, int component, int step) {
    if (point == 1 && component == 0 && step == 7) return -300.0;
    return point == 0 && component == 1 && step == 2 ? 5.5 : noise(point, component, step);
  };
  const auto without = summarise(residual);
  using Type = objectives::RobustLoss::Type;
  const std::vector<std::optional<objectives::RobustLoss>> losses{
      {}, objectives::RobustLoss{Type::huber, 1.3}, objectives::RobustLoss{Type::cauchy, 2}};
  for (const auto& loss : losses) {
    const auto found = summarise(residual, true, loss);
    EXPECT_EQ(found[0].outliers, 2);
    EXPECT_NEAR(found[0].outlier_squares, 9e4 + 5.5 * 5.5, 1e-6);
    EXPECT_NEAR(found[0].squares, without[0].squares, 1e-6);
    EXPECT_NEAR(found[0].worst[0].residual, -300, 1e-8);
    EXPECT_EQ(found[0].worst[0].line, 9);
    EXPECT_EQ(found[0].worst[1].line, 4);
  }
  EXPECT_EQ(summarise(residual, false)[0].outliers, 0);
}

/// The signs of `b` along y change once; the others change as noise does.
TEST_F(ResidualReport, WarnsOfTheSeriesThatIsNoNoise) {
  const auto found = summarise([](int point, int component, int step) {
    return point == 1 && component == 1 ? step - 7.3 : noise(point, component, step);
  });
  std::vector<double> series(num_times);
  for (int step = 0; step < num_times; ++step) series[step] = step - 7.3;
  const double p = inverse::runs_test(series).p_value;
  EXPECT_LT(4 * p, 1e-2);
  EXPECT_EQ(found[0].tested, 4);
  EXPECT_EQ(found[0].least_runs_p, p);
  const auto json = describe_residuals(study_, {{found, ""}, {}});
  EXPECT_DOUBLE_EQ(json["path"]["runs_p"].get<double>(), 4 * p);
  EXPECT_EQ(json["path"]["runs_of"]["point"], "b");
  EXPECT_EQ(json["path"]["runs_of"]["component"], "y");
  EXPECT_THAT(suspicious_residuals(study_, {{found, ""}, {}}),
              HasSubstr("'path' in experiment 'drop' at 'b', y"));
}

TEST_F(ResidualReport, DoesNotWarnOfNoiseOrOfTooFewData) {
  const auto of_noise = summarise(noise);
  EXPECT_EQ(of_noise[0].tested, 4);
  EXPECT_EQ(suspicious_residuals(study_, {{of_noise, ""}, {}}), "");
  const auto of_interpolated =
      summarise([](int, int, int step) { return std::floor(0.2 * step) - 1.5; }, false);
  EXPECT_EQ(of_interpolated[0].tested, 0);
  EXPECT_EQ(of_interpolated[0].data, 4 * num_times);
  const auto of_few = summarise([](int, int, int step) { return step < 9 ? step - 4.3 : std::nan(""); });
  EXPECT_EQ(of_few[0].tested, 0);
  EXPECT_EQ(suspicious_residuals(study_, {{of_few, ""}, {}}), "");
}

} // namespace
} // namespace recoil::app::residual_report_test

#include "app/study/fit_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recoil::app::fit_verdict_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Is = Verdict::Is;

JudgedSquares squares(double chi_squared, GlobalIndex data) { return {chi_squared, data, 0, 0, 2, ""}; }

TEST(FitVerdict, TellsThreeKindsOfFits) {
  EXPECT_EQ(judge(Ending::converged, "", squares(25, 27)).is, Is::converged);
  EXPECT_THAT(judge(Ending::converged, "", squares(25, 27)).reasons, IsEmpty());
  const Verdict large = judge(Ending::converged, "", squares(60, 27));
  EXPECT_EQ(large.is, Is::bad_fit);
  EXPECT_THAT(large.reasons.at(0), HasSubstr("too large"));
  const Verdict small = judge(Ending::converged, "", squares(4, 27));
  EXPECT_EQ(small.is, Is::bad_fit);
  EXPECT_THAT(small.reasons.at(0), HasSubstr("too small"));
  const Verdict limit = judge(Ending::iteration_limit, "7 iterations are done", squares(60, 27));
  EXPECT_EQ(limit.is, Is::not_converged);
  EXPECT_THAT(limit.reasons.at(0), HasSubstr("7 iterations are done"));
  EXPECT_THAT(limit.reasons.at(1), HasSubstr("too large"));
  EXPECT_EQ(judge(Ending::time_limit, "", squares(25, 27)).is, Is::not_converged);
  EXPECT_EQ(judge(Ending::stalled, "", squares(25, 27)).is, Is::not_converged);
}

TEST(FitVerdict, LeavesOutliersToTheirLoss) {
  JudgedSquares with_one = squares(25 + 9e4, 28);
  with_one.outlier_squares = 9e4;
  with_one.outliers = 1;
  EXPECT_EQ(judge(Ending::converged, "", with_one).is, Is::converged);
  EXPECT_DOUBLE_EQ(*judge(Ending::converged, "", with_one).p_value,
                   *judge(Ending::converged, "", squares(25, 27)).p_value);
  JudgedSquares with_many = squares(25 + 9e4, 31);
  with_many.outlier_squares = 9e4;
  with_many.outliers = 4;
  EXPECT_EQ(judge(Ending::converged, "", with_many).is, Is::bad_fit);
}

TEST(FitVerdict, SaysWhatItDoesNotJudge) {
  JudgedSquares without = squares(25, 27);
  without.why_not = "no sd";
  const Verdict verdict = judge(Ending::converged, "", without);
  EXPECT_EQ(verdict.is, Is::converged);
  EXPECT_FALSE(verdict.p_value);
  EXPECT_THAT(verdict.reasons.at(0), HasSubstr("no sd"));
}

TEST(FitVerdict, RoundsValuesToTheirDeviations) {
  EXPECT_EQ(value_with_deviation(4.98342, 0.0612), "4.98 ± 0.06");
  EXPECT_EQ(value_with_deviation(4.98342, 0.0212), "4.983 ± 0.021");
  EXPECT_EQ(value_with_deviation(190123.4, 2345), "190100 ± 2300");
  EXPECT_EQ(value_with_deviation(-0.2, 268), "-0.2 ± 270");
  EXPECT_EQ(value_with_deviation(0, 268), "0 ± 270");
  EXPECT_EQ(value_with_deviation(3.7e11, 4.6e13), "4e+11 ± 5e+13");
  EXPECT_EQ(value_with_deviation(2.10352e11, 3.4e8), "(2.1035 ± 0.0034)e+11");
  EXPECT_EQ(value_with_deviation(3.2e-7, 1.5e-9), "(3.200 ± 0.015)e-07");
  EXPECT_EQ(value_with_deviation(0.99996, 0.0996), "1.00 ± 0.10");
  EXPECT_EQ(value_with_deviation(1.0 / 3, {}), "0.333333");
}

} // namespace
} // namespace recoil::app::fit_verdict_test

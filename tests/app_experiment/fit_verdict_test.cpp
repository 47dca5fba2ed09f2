#include "app/study/fit/fit_verdict.hpp"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recoil::app::fit_verdict_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Is = Verdict::Is;

JudgedSquares squares(double chi_squared, GlobalIndex data) { return {chi_squared, data, 0, 0, 2, ""}; }

Verdict judged(Ending ending, const std::string& reason, const JudgedSquares& found) {
  return judge(ending, reason, found, "fit.json");
}

TEST(FitVerdict, TellsThreeKindsOfFits) {
  EXPECT_EQ(judged(Ending::converged, "", squares(25, 27)).is, Is::converged);
  EXPECT_THAT(judged(Ending::converged, "", squares(25, 27)).reasons, IsEmpty());
  const Verdict large = judged(Ending::converged, "", squares(60, 27));
  EXPECT_EQ(large.is, Is::bad_fit);
  EXPECT_THAT(large.reasons.at(0), HasSubstr("too large"));
  const Verdict small = judged(Ending::converged, "", squares(4, 27));
  EXPECT_EQ(small.is, Is::bad_fit);
  EXPECT_THAT(small.reasons.at(0), HasSubstr("too small"));
  const Verdict limit = judged(Ending::iteration_limit, "7 iterations are done", squares(60, 27));
  EXPECT_EQ(limit.is, Is::not_converged);
  EXPECT_THAT(limit.reasons.at(0), HasSubstr("7 iterations are done"));
  EXPECT_THAT(limit.reasons.at(1), HasSubstr("too large"));
  EXPECT_EQ(judged(Ending::time_limit, "", squares(25, 27)).is, Is::not_converged);
  EXPECT_EQ(judged(Ending::stalled, "", squares(25, 27)).is, Is::not_converged);
}

TEST(FitVerdict, CountsWhereStartsHaveEnded) {
  Verdict verdict = judged(Ending::converged, "", squares(25, 27));
  EXPECT_EQ(in_words(verdict, squares(25, 27)).find("start"), std::string::npos);
  for (const auto& [starts, text] : std::vector<std::pair<std::vector<int>, std::string>>{
           {{1, 1, 1}, "; all 3 starts ended here"},
           {{2, 1}, "; 1 of 2 starts ended here, 1 at another minimum"},
           {{1, 0, 1}, "; 2 of 3 starts ended here, 1 at no minimum"},
           {{3, 2, 1}, "; 1 of 3 starts ended here, 2 at 2 other minima"}}) {
    verdict.starts = starts;
    EXPECT_THAT(in_words(verdict, squares(25, 27)), HasSubstr(text));
    EXPECT_EQ(describe(verdict, squares(25, 27)).at("minima"), std::ranges::max(starts));
  }
}

TEST(FitVerdict, LeavesOutliersToTheirLoss) {
  JudgedSquares with_one = squares(25 + 9e4, 28);
  with_one.outlier_squares = 9e4;
  with_one.outliers = 1;
  EXPECT_EQ(judged(Ending::converged, "", with_one).is, Is::converged);
  EXPECT_DOUBLE_EQ(*judged(Ending::converged, "", with_one).p_value,
                   *judged(Ending::converged, "", squares(25, 27)).p_value);
  JudgedSquares with_many = squares(25 + 9e4, 31);
  with_many.outlier_squares = 9e4;
  with_many.outliers = 4;
  EXPECT_EQ(judged(Ending::converged, "", with_many).is, Is::bad_fit);
}

TEST(FitVerdict, SaysWhatItDoesNotJudge) {
  JudgedSquares without = squares(25, 27);
  without.why_not = "no sd";
  const Verdict verdict = judged(Ending::converged, "", without);
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

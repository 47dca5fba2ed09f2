#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/inverse/difference_check.hpp"

namespace recoil::inverse {
namespace {

using Function = std::function<double(double)>;

/// An objective with a derivative at zero, what it is computed with, and how it is looked at.
struct Case {
  Function value;
  double derivative = 1;
  ObjectiveErrors errors;
  std::vector<double> steps{1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
  bool one_sided = false;
};

DifferenceJudgement judge(const Case& c, double relative_error = 0) {
  std::vector<DifferenceQuotient> quotients;
  const double start = c.value(0);
  for (const double h : c.steps)
    if (c.one_sided) {
      const double near = c.value(h), far = c.value(2 * h);
      quotients.push_back({h, (4 * near - far - 3 * start) / (2 * h), (far - 2 * near + start) / h, true});
    } else {
      const double plus = c.value(h), minus = c.value(-h);
      quotients.push_back({h, (plus - minus) / (2 * h), (plus - 2 * start + minus) / h, false});
    }
  return judge_differences(quotients, c.derivative * (1 + relative_error), c.errors);
}

/// A smooth function of which higher derivatives are felt at a distance of `length`, and noise.
class Noisy {
public:
  Noisy(std::uint64_t seed, double noise, double length) : random_(seed), noise_(noise), length_(length) {
    for (double& c : coefficients_) c = uniform_(random_);
  }
  double operator()(double h) {
    double value = 1 + h, power = h;
    for (const double c : coefficients_) value += c * (power *= h / length_);
    return value + noise_ * normal_(random_);
  }

private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
  std::normal_distribution<double> normal_;
  double noise_, length_;
  std::array<double, 4> coefficients_{};
};

double pick(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
}

TEST(JudgeDifferences, NoFalseAlarmInRandomCases) {
  std::mt19937_64 random(1);
  int confirmed = 0;
  for (int i = 0; i < 10000; ++i) {
    // The objective is 1, so that its noise is at least rounding; the derivative may be small beside it.
    const double noise = pick(random, 1e-16, 1e-8), length = pick(random, 1e-4, 10),
                 size = pick(random, 1e-6, 10);
    Noisy smooth(random(), noise / size, length);
    Case c;
    // One side alone does not show a kink of the first derivative.
    c.one_sided = i % 8 != 0 && i % 5 == 0;
    const double kink = i % 4 == 0 ? pick(random, 1e-8, 1e-2) : 0, bend = pick(random, 1e-2, 1e2);
    // The second derivative, or in every eighth case the first one, jumps at a random place.
    c.value = [&](double h) {
      const double beyond = kink > 0 ? std::max(h - kink, 0.0) : 0;
      return size * (smooth(h) + bend * (i % 8 == 0 ? beyond : beyond * beyond / length));
    };
    c.derivative = size;
    std::vector<double> near;
    for (int k = 0; k < 7; ++k) near.push_back(c.value(1e-7 * (c.one_sided ? k : k - 3)));
    c.errors.noise = noise_level(near);
    const Judgement found = judge(c).judgement;
    ASSERT_NE(found, Judgement::wrong) << "case " << i;
    confirmed += found == Judgement::agrees ? 1 : 0;
  }
  EXPECT_GT(confirmed, 5000);
}

TEST(JudgeDifferences, FindsWrongDerivatives) {
  for (const bool one_sided : {false, true})
    for (const double size : {1e-3, 1.0, 1e3})
      for (const double length : {one_sided ? 1.0 : 0.1, 10.0})
        for (const double error : {1e-3, -1e-3, 1e-5, -1e-5, 0.5, -2.0, 1e3}) {
          Noisy smooth(7, 1e-14, length);
          Case c{[&](double h) { return size * smooth(h); }, size, {1e-14 * size, 0}};
          c.one_sided = one_sided;
          EXPECT_EQ(judge(c, error).judgement, Judgement::wrong)
              << "off by " << error << ", length " << length << ", size " << size;
          EXPECT_EQ(judge(c).judgement, Judgement::agrees) << "length " << length << ", size " << size;
        }
}

TEST(JudgeDifferences, FindsADerivativeThatIsZero) {
  Noisy smooth(3, 1e-14, 1);
  EXPECT_EQ(judge({smooth, 0, {1e-14, 0}}).judgement, Judgement::wrong);
}

TEST(JudgeDifferences, TellsNoise) {
  Noisy smooth(3, 1e-6, 1);
  const Case c{smooth, 1, {1e-6, 0}};
  const DifferenceJudgement found = judge(c);
  EXPECT_EQ(found.judgement, Judgement::noisy);
  EXPECT_EQ(found.best, 0u);
  EXPECT_EQ(judge(c, 1e-3).judgement, Judgement::noisy);
  EXPECT_EQ(judge(c, 10).judgement, Judgement::wrong) << "noise does not hide everything";
}

TEST(JudgeDifferences, TellsLooselySolvedSteps) {
  // The runs have another derivative than exactly solved steps have, without any noise.
  const Case c{[](double h) { return 1 + h + h * h + 1e-5 * std::sin(30 * h); }, 1, {1e-15, 1e-5}};
  EXPECT_EQ(judge(c).judgement, Judgement::unsolved);
  EXPECT_EQ(judge({c.value, 1, {1e-15, 0}}).judgement, Judgement::wrong);
  EXPECT_EQ(judge(c, 0.5).judgement, Judgement::wrong);
  const Case close{[](double h) { return 1 + h + h * h + 2e-8 * std::sin(30 * h); }, 1, {1e-15, 2e-8}};
  EXPECT_EQ(judge(close).judgement, Judgement::agrees);
  EXPECT_EQ(judge({close.value, 1, {1e-15, 0}}).judgement, Judgement::wrong);
  // Another part of the scene may be what is left unsolved.
  Noisy smooth(3, 1e-15, 1);
  EXPECT_EQ(judge({smooth, 1, {1e-15, 1e-5}}).judgement, Judgement::agrees);
}

TEST(JudgeDifferences, TellsDifferencesThatAreNotConverged) {
  Noisy smooth(3, 1e-15, 1e-6);
  const Case coarse{smooth, 1, {1e-15, 0}, {1e-3, 1e-4, 1e-5}};
  EXPECT_EQ(judge(coarse).judgement, Judgement::unconverged);
  EXPECT_EQ(judge(coarse, 1e-2).judgement, Judgement::unconverged);
  const Case fine{smooth, 1, {1e-15, 0}, {1e-8, 3e-9, 1e-9}};
  EXPECT_EQ(judge(fine).judgement, Judgement::agrees);
}

TEST(JudgeDifferences, IsNotFooledByAKinkAtTheStart) {
  // Whatever the sweep takes for the derivative is between those of the two sides.
  const Case c{[](double h) { return 1 + h + 0.3 * std::abs(h); }, 1.3, {1e-15, 0}};
  EXPECT_EQ(judge(c).judgement, Judgement::unconverged);
  EXPECT_EQ(judge(c, 1).judgement, Judgement::wrong);
}

TEST(JudgeDifferences, AgreesWhereTheObjectiveIsStationary) {
  const Case c{[](double h) { return 1 + 2 * h * h; }, 1e-14, {1e-16, 0}};
  EXPECT_EQ(judge(c).judgement, Judgement::agrees);
}

TEST(JudgeDifferences, NeedsTwoQuotients) {
  EXPECT_EQ(judge_differences({}, 1, {}).judgement, Judgement::not_comparable);
  const std::array one{DifferenceQuotient{1e-3, 1, 0, false}};
  EXPECT_EQ(judge_differences(one, 1, {}).judgement, Judgement::not_comparable);
}

} // namespace
} // namespace recoil::inverse

#include "recoil/objectives/composition.hpp"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

namespace recoil::objectives {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

const std::vector<double> times{0, 0.1, 0.3, 0.4};

TEST(StateWeights, FollowTheSelection) {
  const auto near = [](std::vector<double> expected) {
    return Pointwise(::testing::DoubleNear(1e-12), expected);
  };
  EXPECT_THAT(state_weights(WholeTime{}, times), near({0.05, 0.15, 0.15, 0.05}));
  EXPECT_THAT(state_weights(FinalState{}, times), near({0, 0, 0, 1}));
  EXPECT_THAT(state_weights(ChosenSteps{{0, 2, 2}}, times), near({1, 0, 2, 0}));
  EXPECT_THAT(state_weights(ChosenTimes{{0.15, 0.1, 0.4}}, times), near({0, 1.75, 0.25, 1}));
}

TEST(StateWeights, TimesOnAStateTakeThatStateAlone) {
  // 0.1 + 0.2 is not 0.3: no weight of 1e-16 may fall on a neighbour.
  const std::vector<double> summed{0, 0.1, 0.1 + 0.2, 0.4};
  EXPECT_THAT(state_weights(ChosenTimes{{0.3}}, summed), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(state_weights(ChosenTimes{{0.4 + 1e-14}}, summed), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(state_weights(ChosenTimes{{-1e-14}}, summed), ElementsAre(1, 0, 0, 0));
}

TEST(StateWeights, RefuseWhatIsNotThere) {
  EXPECT_THROW(state_weights(WholeTime{}, std::span(times).first(1)), InputError);
  EXPECT_THROW(state_weights(ChosenSteps{{4}}, times), InputError);
  EXPECT_THROW(state_weights(ChosenSteps{{-1}}, times), InputError);
  EXPECT_THROW(state_weights(ChosenSteps{}, times), InputError);
  EXPECT_THROW(state_weights(ChosenTimes{{0.41}}, times), InputError);
  EXPECT_THROW(state_weights(ChosenTimes{{-0.01}}, times), InputError);
  EXPECT_THROW(state_weights(ChosenTimes{{std::nan("")}}, times), InputError);
  EXPECT_THROW(state_weights(ChosenTimes{}, times), InputError);
}

TEST(Composition, FactorsAreItsDerivatives) {
  const std::vector<Term> terms{{"a", 2, 0.5, WholeTime{}},
                                {"b", -3, 3, ChosenTimes{{0.15}}},
                                {"c", 1, 1, FinalState{}},
                                {"d", 0.7, -1, ChosenSteps{{1, 2}}}};
  const auto observed = [](std::size_t term, std::size_t state) {
    return 1.3 + std::sin(static_cast<double>(5 * term + 3 * state));
  };
  const auto filled = [&](std::size_t term, std::size_t state, double shift) {
    Composition composition(terms, times);
    for (std::size_t k = 0; k < terms.size(); ++k)
      for (std::size_t i = 0; i < times.size(); ++i)
        if (composition.weight(k, i) != 0)
          composition.set(k, i, observed(k, i) + (k == term && i == state ? shift : 0));
    return composition;
  };
  const Composition composition = filled(0, 0, 0);
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) sum += composition.weight(0, i) * observed(0, i);
  EXPECT_NEAR(composition.value(0), 2 * std::sqrt(sum), 1e-14);
  EXPECT_NEAR(composition.value(2), observed(2, 3), 1e-15);
  EXPECT_NEAR(composition.value(),
              composition.value(0) + composition.value(1) + composition.value(2) + composition.value(3),
              1e-14);
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double h = 1e-5;
      const double slope = (filled(k, i, h).value() - filled(k, i, -h).value()) / (2 * h);
      EXPECT_NEAR(composition.factor(k, i), slope, 1e-8) << k << " " << i;
      EXPECT_EQ(composition.factor(k, i) == 0, composition.weight(k, i) == 0);
    }
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Composition, RefusesPowersWithoutAValueOrDerivative) {
  const auto with = [](double power, double value) {
    Composition composition({{"height", 1, power, FinalState{}}}, times);
    composition.set(0, 3, value);
    return composition;
  };
  EXPECT_THAT(refusal([&] { with(0.5, -1).value(); }), HasSubstr("height: the sum over time is -1"));
  EXPECT_EQ(with(2, -3).value(), 9);
  EXPECT_EQ(with(2, -3).factor(0, 3), -6);
  EXPECT_EQ(with(0.5, 0).value(), 0);
  EXPECT_THAT(refusal([&] { with(0.5, 0).factor(0, 3); }), HasSubstr("no derivative"));
  EXPECT_EQ(with(0.5, 0).factor(0, 2), 0);
  EXPECT_EQ(with(1, 0).factor(0, 3), 1);
  EXPECT_THAT(refusal([&] { with(-1, 0).value(); }), HasSubstr("not defined"));
  EXPECT_THROW(with(0, 1), InputError);
  EXPECT_THAT(refusal([&] {
                Composition({{"end", 1, 1, ChosenSteps{{9}}}}, times);
              }),
              HasSubstr("end: step 9"));
}

TEST(Composition, ValuesThatWereNotSetAreSeen) {
  const Composition composition({{"a", 1, 1, FinalState{}}}, times);
  EXPECT_TRUE(std::isnan(composition.value()));
}

} // namespace
} // namespace recoil::objectives

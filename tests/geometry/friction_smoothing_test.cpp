#include "recoil/geometry/friction_smoothing.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

using namespace recoil::geometry;

namespace {

constexpr double eta = 2.5e-4;

/// f1 = f0': 1 for y >= eta, (2 - y/eta) y/eta below.
double friction_f1(double y, double transition) {
  const double ratio = std::min(y / transition, 1.0);
  return (2.0 - ratio) * ratio;
}

/// f2 = f1'.
double friction_f2(double y, double transition) {
  return y >= transition ? 0.0 : 2.0 * (1.0 - y / transition) / transition;
}

double difference(double (*f)(double, double), double y) {
  const double h = 1e-4 * y;
  return (8.0 * (f(y + h, eta) - f(y - h, eta)) - (f(y + 2.0 * h, eta) - f(y - 2.0 * h, eta))) / (12.0 * h);
}

} // namespace

TEST(FrictionSmoothing, DerivativesAgreeWithDifferences) {
  for (double ratio : {0.01, 0.3, 0.9, 1.1, 7.0}) {
    const double y = ratio * eta;
    EXPECT_NEAR(friction_f1(y, eta), difference(friction_f0, y), 1e-9);
    EXPECT_NEAR(friction_f2(y, eta) * eta, difference(friction_f1, y) * eta, 1e-9);
    EXPECT_NEAR(friction_f1_over_y(y, eta) * y, friction_f1(y, eta), 1e-15);
    const double slope = difference(friction_f1_over_y, y) / y;
    EXPECT_NEAR(friction_f1_over_y_slope_over_y(y, eta) / slope, 1.0, 1e-8);
  }
}

// P_n (s + (s'/y) y^2) along the slip is the second derivative of the potential.
TEST(FrictionSmoothing, HessianAlongTheSlipIsThatOfThePotential) {
  for (double ratio : {1e-9, 0.2, 0.99, 1.0, 3.0}) {
    const double y = ratio * eta;
    const double along = friction_f1_over_y(y, eta) + friction_f1_over_y_slope_over_y(y, eta) * y * y;
    EXPECT_NEAR(along * eta, friction_f2(y, eta) * eta, 1e-12);
  }
}

TEST(FrictionSmoothing, LimitsAreFinite) {
  EXPECT_DOUBLE_EQ(friction_f0(0.0, eta), eta / 3.0);
  EXPECT_EQ(friction_f1(0.0, eta), 0.0);
  EXPECT_DOUBLE_EQ(friction_f2(0.0, eta), 2.0 / eta);
  EXPECT_DOUBLE_EQ(friction_f1_over_y(0.0, eta), 2.0 / eta);
  EXPECT_EQ(friction_f1_over_y_slope_over_y(0.0, eta), 0.0);
}

TEST(FrictionSmoothing, IsSmoothAtTheTransition) {
  const double below = std::nextafter(eta, 0.0);
  EXPECT_NEAR(friction_f0(below, eta), friction_f0(eta, eta), 1e-15 * eta);
  EXPECT_NEAR(friction_f1(below, eta), 1.0, 1e-15);
  EXPECT_NEAR(friction_f2(below, eta) * eta, 0.0, 1e-15);
  EXPECT_NEAR(friction_f1_over_y(below, eta) * eta, 1.0, 1e-15);
  EXPECT_NEAR(friction_f1_over_y_slope_over_y(below, eta) * eta * eta * eta, -1.0, 1e-15);
}

// As friction up to the transition, but for the constant, and gone from twice that on.
TEST(TangentialAdhesion, IsABumpThatBeginsAsFriction) {
  for (double ratio : {0.0, 0.01, 0.5, 0.999}) {
    const double y = ratio * eta;
    EXPECT_NEAR(tangential_adhesion_f0(y, eta) + eta / 3, friction_f0(y, eta), 1e-15 * eta);
    EXPECT_DOUBLE_EQ(tangential_adhesion_f1_over_y(y, eta), friction_f1_over_y(y, eta));
    EXPECT_DOUBLE_EQ(tangential_adhesion_f1_over_y_slope_over_y(y, eta),
                     friction_f1_over_y_slope_over_y(y, eta));
  }
  EXPECT_DOUBLE_EQ(tangential_adhesion_f1_over_y(eta, eta) * eta, 1);
  for (double ratio : {2.0, 2.5, 1e6}) {
    EXPECT_DOUBLE_EQ(tangential_adhesion_f0(ratio * eta, eta), 4 * eta / 3);
    EXPECT_EQ(tangential_adhesion_f1_over_y(ratio * eta, eta), 0);
    EXPECT_EQ(tangential_adhesion_f1_over_y_slope_over_y(ratio * eta, eta), 0);
  }
  const double below = std::nextafter(2 * eta, 0.0);
  EXPECT_NEAR(tangential_adhesion_f0(below, eta), 4 * eta / 3, 1e-15 * eta);
  EXPECT_NEAR(tangential_adhesion_f1_over_y(below, eta) * eta, 0, 1e-14);
}

TEST(TangentialAdhesion, DerivativesAgreeWithDifferences) {
  for (double ratio : {0.01, 0.5, 1.3, 1.9, 2.1}) {
    const double y = ratio * eta;
    EXPECT_NEAR(tangential_adhesion_f1_over_y(y, eta) * y, difference(tangential_adhesion_f0, y), 1e-9);
    EXPECT_NEAR(tangential_adhesion_f1_over_y_slope_over_y(y, eta) * y * eta * eta,
                difference(tangential_adhesion_f1_over_y, y) * eta * eta, 1e-8);
  }
}

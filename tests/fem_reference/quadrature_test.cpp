#include "recoil/fem/reference/quadrature.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

using namespace recoil::fem;

namespace {

// int over the simplex of prod xi_i^e_i = prod e_i! / (dim + sum e_i)!.
template <int dim>
double exact(const std::array<int, dim>& e) {
  double value = 1.0;
  int total = dim;
  for (int power : e) {
    value *= std::tgamma(power + 1.0);
    total += power;
  }
  return value / std::tgamma(total + 1.0);
}

template <int dim>
double worst_error(const QuadratureRule<dim>& rule, int degree) {
  double worst = 0.0;
  std::array<int, dim> e{};
  std::vector<double> powers; // [point][axis][exponent]
  for (const auto& point : rule.points)
    for (double x : point)
      for (int power = 0; power <= degree; ++power) powers.push_back(std::pow(x, power));
  auto all = [&](auto&& self, std::size_t position, int left) -> void {
    if (position == dim) {
      double sum = 0.0;
      for (std::size_t q = 0; q < rule.weights.size(); ++q) {
        double term = rule.weights[q];
        for (std::size_t i = 0; i < dim; ++i)
          term *=
              powers[(q * dim + i) * static_cast<std::size_t>(degree + 1) + static_cast<std::size_t>(e[i])];
        sum += term;
      }
      worst = std::max(worst, std::abs(sum / exact<dim>(e) - 1.0));
      return;
    }
    for (int power = 0; power <= left; ++power) {
      e[position] = power;
      self(self, position + 1, left - power);
    }
  };
  all(all, 0, degree);
  return worst;
}

template <int dim>
void check_quadrature(int degree) {
  const QuadratureRule<dim> rule = simplex_quadrature<dim>(degree);
  ASSERT_EQ(rule.points.size(), rule.weights.size());
  EXPECT_EQ(rule.degree, degree);
  for (std::size_t q = 0; q < rule.weights.size(); ++q) {
    EXPECT_GT(rule.weights[q], 0.0);
    EXPECT_GT(rule.points[q].minCoeff(), 0.0);
    EXPECT_LT(rule.points[q].sum(), 1.0);
  }
  const double volume = std::accumulate(rule.weights.begin(), rule.weights.end(), 0.0);
  EXPECT_NEAR(volume * std::tgamma(dim + 1.0), 1.0, 1e-14);
  EXPECT_LT(worst_error<dim>(rule, degree), 1e-13) << dim << "D degree " << degree;
}

} // namespace

TEST(Quadrature, IntegratesAllMonomialsOfItsDegree) {
  for (int degree = 0; degree <= 13; ++degree) {
    check_quadrature<1>(degree);
    check_quadrature<2>(degree);
    check_quadrature<3>(degree);
  }
}

TEST(Quadrature, ErrorsAreSeenBeyondTheDegree) {
  EXPECT_GT(worst_error<1>(simplex_quadrature<1>(5), 6), 1e-6);
  EXPECT_GT(worst_error<2>(simplex_quadrature<2>(5), 6), 1e-6);
  EXPECT_GT(worst_error<3>(simplex_quadrature<3>(6), 7), 1e-6);
}

TEST(Quadrature, NeedsFewPoints) {
  const int triangle[] = {1, 1, 3, 6, 6, 7, 12, 15, 16, 19, 25},
            tetrahedron[] = {1, 1, 4, 8, 14, 14, 24, 35, 46};
  for (int degree = 0; degree <= 10; ++degree)
    EXPECT_EQ(simplex_quadrature<2>(degree).size(), triangle[degree]);
  for (int degree = 0; degree <= 8; ++degree)
    EXPECT_EQ(simplex_quadrature<3>(degree).size(), tetrahedron[degree]);
}

TEST(Quadrature, RefusesOtherDegrees) {
  EXPECT_THROW(simplex_quadrature<2>(-1), recoil::InputError);
  EXPECT_THROW(simplex_quadrature<3>(31), recoil::InputError);
}

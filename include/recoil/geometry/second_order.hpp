#pragma once

#include <cmath>

#include <Eigen/Core>

namespace recoil::geometry {

/// A number with its gradient and Hessian by n variables: forward-mode automatic differentiation. The rules
/// are those of sums, products and chains, so that derivatives are as accurate as the value.
template <int n>
struct SecondOrder {
  using Gradient = Eigen::Matrix<double, n, 1>;
  using Hessian = Eigen::Matrix<double, n, n>;

  double value;
  Gradient gradient;
  Hessian hessian;

  SecondOrder(double constant = 0) // NOLINT: constants are numbers
      : value(constant), gradient(Gradient::Zero()), hessian(Hessian::Zero()) {}
  SecondOrder(double v, Gradient g, Hessian h) : value(v), gradient(std::move(g)), hessian(std::move(h)) {}

  /// The variable with this number at a value.
  static SecondOrder variable(double value, int number) {
    return {value, Gradient::Unit(number), Hessian::Zero()};
  }
};

/// f(x) from f and its two derivatives at x.
template <int n>
SecondOrder<n> compose(const SecondOrder<n>& x, double f, double first, double second) {
  return {f, first * x.gradient, first * x.hessian + second * x.gradient * x.gradient.transpose()};
}

template <int n>
SecondOrder<n> operator+(const SecondOrder<n>& a, const SecondOrder<n>& b) {
  return {a.value + b.value, a.gradient + b.gradient, a.hessian + b.hessian};
}
template <int n>
SecondOrder<n> operator-(const SecondOrder<n>& a, const SecondOrder<n>& b) {
  return {a.value - b.value, a.gradient - b.gradient, a.hessian - b.hessian};
}
template <int n>
SecondOrder<n> operator*(const SecondOrder<n>& a, const SecondOrder<n>& b) {
  return {a.value * b.value, a.value * b.gradient + b.value * a.gradient,
          a.value * b.hessian + b.value * a.hessian + a.gradient * b.gradient.transpose() +
              b.gradient * a.gradient.transpose()};
}
template <int n>
SecondOrder<n> operator*(double a, const SecondOrder<n>& b) {
  return {a * b.value, a * b.gradient, a * b.hessian};
}
template <int n>
SecondOrder<n> inverse(const SecondOrder<n>& x) {
  const double f = 1 / x.value;
  return compose(x, f, -f * f, 2 * f * f * f);
}
template <int n>
SecondOrder<n> operator/(const SecondOrder<n>& a, const SecondOrder<n>& b) {
  return a * inverse(b);
}
template <int n>
SecondOrder<n> sqrt(const SecondOrder<n>& x) {
  const double f = std::sqrt(x.value);
  return compose(x, f, 0.5 / f, -0.25 / (f * x.value));
}
template <int n>
SecondOrder<n> log(const SecondOrder<n>& x) {
  return compose(x, std::log(x.value), 1 / x.value, -1 / (x.value * x.value));
}

inline double value_of(double x) { return x; }
template <int n>
double value_of(const SecondOrder<n>& x) {
  return x.value;
}
inline double compose(double, double f, double, double) { return f; }

} // namespace recoil::geometry

#pragma once

#include <cmath>

#include <Eigen/Core>

namespace recoil::geometry {

/// A number with its derivatives by n variables, the gradient (order 1) or gradient and Hessian (order 2):
/// forward-mode automatic differentiation. The rules are those of sums, products and chains, so that
/// derivatives are as accurate as the value.
template <int n, int order = 2>
struct Differentiated {
  static constexpr bool has_hessian = order == 2;
  using Gradient = Eigen::Matrix<double, n, 1>;
  using Hessian = Eigen::Matrix<double, has_hessian ? n : 0, has_hessian ? n : 0>;

  double value;
  Gradient gradient;
  Hessian hessian;

  Differentiated(double constant = 0) // NOLINT: constants are numbers
      : value(constant), gradient(Gradient::Zero()), hessian(Hessian::Zero()) {}
  Differentiated(double v, const Gradient& g) : value(v), gradient(g), hessian(Hessian::Zero()) {}

  /// The variable with this number at a value.
  static Differentiated variable(double value, int number) { return {value, Gradient::Unit(number)}; }
};

/// f(x) from f and its two derivatives at x.
template <int n, int order>
Differentiated<n, order> compose(const Differentiated<n, order>& x, double f, double first,
                                 [[maybe_unused]] double second) {
  Differentiated<n, order> result(f, first * x.gradient);
  if constexpr (order == 2)
    result.hessian.noalias() = first * x.hessian + (second * x.gradient) * x.gradient.transpose();
  return result;
}

template <int n, int order>
Differentiated<n, order> operator+(const Differentiated<n, order>& a, const Differentiated<n, order>& b) {
  Differentiated<n, order> result(a.value + b.value, a.gradient + b.gradient);
  if constexpr (order == 2) result.hessian = a.hessian + b.hessian;
  return result;
}
template <int n, int order>
Differentiated<n, order> operator-(const Differentiated<n, order>& a, const Differentiated<n, order>& b) {
  Differentiated<n, order> result(a.value - b.value, a.gradient - b.gradient);
  if constexpr (order == 2) result.hessian = a.hessian - b.hessian;
  return result;
}
template <int n, int order>
Differentiated<n, order> operator*(const Differentiated<n, order>& a, const Differentiated<n, order>& b) {
  Differentiated<n, order> result(a.value * b.value, a.value * b.gradient + b.value * a.gradient);
  if constexpr (order == 2)
    result.hessian = a.value * b.hessian + b.value * a.hessian + a.gradient * b.gradient.transpose() +
                     b.gradient * a.gradient.transpose();
  return result;
}
template <int n, int order>
Differentiated<n, order> operator*(double a, const Differentiated<n, order>& b) {
  Differentiated<n, order> result(a * b.value, a * b.gradient);
  if constexpr (order == 2) result.hessian = a * b.hessian;
  return result;
}
template <int n, int order>
Differentiated<n, order> operator/(const Differentiated<n, order>& a, const Differentiated<n, order>& b) {
  const double f = 1 / b.value;
  return a * compose(b, f, -f * f, 2 * f * f * f);
}
template <int n, int order>
Differentiated<n, order> sqrt(const Differentiated<n, order>& x) {
  const double f = std::sqrt(x.value);
  return compose(x, f, 0.5 / f, -0.25 / (f * x.value));
}
template <int n, int order>
Differentiated<n, order> log(const Differentiated<n, order>& x) {
  return compose(x, std::log(x.value), 1 / x.value, -1 / (x.value * x.value));
}

// The same functions of numbers without derivatives.
inline double value_of(double x) { return x; }
template <int n, int order>
double value_of(const Differentiated<n, order>& x) {
  return x.value;
}
inline double compose(double, double f, double, double) { return f; }

} // namespace recoil::geometry

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "recoil/fem/function_space.hpp"

namespace recoil::test {

/// A field that is the same on any partition and as rough as the mesh allows, from the canonical node
/// numbers. Ghosts are set.
template <int dim>
linalg::Vector rough_field(const fem::FunctionSpace<dim>& space, double amplitude, double seed) {
  linalg::Vector vector(space.layout());
  auto values = vector.write_local();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = amplitude * std::sin(12.9898 * static_cast<double>(space.canonical_ids()[i / dim]) +
                                     78.233 * static_cast<double>(i % dim) + seed);
  return vector;
}

/// Smallest absolute errors over several step sizes.
struct DerivativeErrors {
  double slope = std::numeric_limits<double>::infinity();
  double curvature = std::numeric_limits<double>::infinity(); ///< Euclidean norm
};

/// Compares `slope` = g . d and `curvature` = H d at `u` with central differences of value(x) and
/// gradient(x) along `d`, with each of `steps`. Collective where the functions are.
template <class Value, class Gradient>
DerivativeErrors derivative_errors(Value&& value, Gradient&& gradient, double slope,
                                   const linalg::Vector& curvature, const linalg::Vector& u,
                                   const linalg::Vector& d, std::span<const double> steps) {
  DerivativeErrors errors;
  for (const double h : steps) {
    linalg::Vector plus = u, minus = u;
    plus.add(h, d);
    minus.add(-h, d);
    const double difference = (value(plus) - value(minus)) / (2 * h);
    errors.slope = std::min(errors.slope, std::abs(difference - slope));
    linalg::Vector change = gradient(plus);
    change.add(-1, gradient(minus));
    change.scale(1 / (2 * h));
    change.add(-1, curvature);
    errors.curvature = std::min(errors.curvature, change.norm());
  }
  return errors;
}

} // namespace recoil::test

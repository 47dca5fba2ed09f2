#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace recoil::parameters {

/// How one physical value q depends on what an optimiser sees of it, x.
struct Scaling {
  struct Form {
    const char* name;
    double (*value)(const Scaling&, double x);
    double (*variable)(const Scaling&, double q);
    double (*slope)(const Scaling&, double x);
  };
  static const Form linear;    ///< q = x
  static const Form multiple;  ///< q = factor x
  static const Form logarithm; ///< q = exp(x)
  static const Form logit;     ///< q = low + (high - low) / (1 + exp(-x)): between two bounds

  const Form* form = &linear;
  double factor = 1;
  double low = 0, high = 1;

  /// q(x).
  double value(double x) const { return form->value(*this, x); }
  /// x(q), the inverse. @pre q is in the range: positive, strictly between the bounds.
  double variable(double q) const { return form->variable(*this, q); }
  /// dq/dx at x.
  double slope(double x) const { return form->slope(*this, x); }
};

/// The map from the variables of an optimiser to the values of all parameters: every value is a scaling of a
/// variable of its own. Not collective.
class VariableMap {
public:
  /// Adds `count` values with the same scaling.
  void add(const Scaling& scaling, std::size_t count) { scalings_.resize(scalings_.size() + count, scaling); }

  std::size_t num_variables() const { return scalings_.size(); }

  /// Values at the variables x.
  std::vector<double> values(std::span<const double> x) const;
  /// Variables that give the values q.
  std::vector<double> variables(std::span<const double> q) const;
  /// (dq/dx) dx at x.
  std::vector<double> product(std::span<const double> x, std::span<const double> dx) const;
  /// (dq/dx)' g at x: the derivative by the variables from that by the values.
  std::vector<double> transposed_product(std::span<const double> x, std::span<const double> g) const;

private:
  std::vector<Scaling> scalings_;
};

} // namespace recoil::parameters

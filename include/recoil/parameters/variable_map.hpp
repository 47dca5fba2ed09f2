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

/// The map from the variables of an optimiser to the values of all parameters: every value is a scaling of
/// one variable, and several values may share one (tied parameters). Not collective.
class VariableMap {
public:
  /// Adds `count` values of their own variables with the same scaling; returns the number of the first value.
  std::size_t add(const Scaling& scaling, std::size_t count);
  /// Adds `count` values that share the variables of the values from `first` on, with their own scaling.
  /// @pre those values exist.
  std::size_t add_tied(const Scaling& scaling, std::size_t first, std::size_t count);

  std::size_t num_variables() const { return num_variables_; }
  std::size_t num_values() const { return entries_.size(); }

  /// Values at the variables x.
  std::vector<double> values(std::span<const double> x) const;
  /// Variables that give the values q; of values that share a variable the first one counts.
  std::vector<double> variables(std::span<const double> q) const;
  /// (dq/dx) dx at x.
  std::vector<double> product(std::span<const double> x, std::span<const double> dx) const;
  /// (dq/dx)' g at x: the derivative by the variables from that by the values.
  std::vector<double> transposed_product(std::span<const double> x, std::span<const double> g) const;

private:
  struct Entry {
    Scaling scaling;
    std::size_t variable;
  };
  std::vector<Entry> entries_;
  std::size_t num_variables_ = 0;
};

} // namespace recoil::parameters

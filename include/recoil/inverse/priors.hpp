#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recoil/inverse/field_prior.hpp"

namespace recoil::inverse {

/// What is known of a variable beforehand: a normal distribution.
struct Prior {
  std::size_t parameter = 0;
  double mean = 0, deviation = 1;
};

/// What is known beforehand of variables first, first + 1, ..: a field around a mean.
struct CorrelatedPrior {
  std::size_t first = 0;
  double mean = 0;
  FieldPrior field;
};

/// All that is known beforehand of n variables z: independent ones and fields, each variable in one of them
/// at most. Its rows are residuals W (z - mean) whose squares are those of the density, in the order of
/// `independent`, then of the fields. Not collective.
class GaussianPrior {
public:
  GaussianPrior() = default;
  GaussianPrior(std::size_t n, std::vector<Prior> independent, std::vector<CorrelatedPrior> fields);

  std::size_t num_rows() const;
  bool has_fields() const { return !fields_.empty(); }
  /// Whether it knows something of every variable, so that W is square and has an inverse.
  bool is_proper() const { return num_rows() == n_; }
  const std::vector<CorrelatedPrior>& fields() const { return fields_; }

  /// W (z - mean).
  std::vector<double> residuals(std::span<const double> z) const;
  /// W d.
  std::vector<double> whiten(std::span<const double> d) const;
  /// W' y.
  std::vector<double> whiten_transposed(std::span<const double> y) const;
  /// W^-1 y. @pre is_proper().
  std::vector<double> colour(std::span<const double> y) const;
  /// W^-T z. @pre is_proper().
  std::vector<double> colour_transposed(std::span<const double> z) const;
  /// (W'W)^-1 r, r itself in variables of which nothing is known: a preconditioner of J'J + W'W.
  std::vector<double> precondition(std::span<const double> r) const;
  /// The pointwise variances. @pre is_proper().
  std::vector<double> variances() const;

private:
  using FieldProduct = std::vector<double> (FieldPrior::*)(std::span<const double>) const;
  template <class Scale>
  std::vector<double> rows_of(std::span<const double> z, Scale scale, FieldProduct product) const;
  template <class Scale>
  std::vector<double> variables_of(std::span<const double> rows, Scale scale, FieldProduct product) const;

  std::size_t n_ = 0;
  std::vector<Prior> independent_;
  std::vector<CorrelatedPrior> fields_;
};

} // namespace recoil::inverse

#include "recoil/inverse/priors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "recoil/base/error.hpp"

namespace recoil::inverse {

GaussianPrior::GaussianPrior(std::size_t n, std::vector<Prior> independent,
                             std::vector<CorrelatedPrior> fields)
    : n_(n), independent_(std::move(independent)), fields_(std::move(fields)) {
  RECOIL_ASSERT(num_rows() <= n_);
}

std::size_t GaussianPrior::num_rows() const {
  std::size_t count = independent_.size();
  for (const CorrelatedPrior& one : fields_) count += one.field.size();
  return count;
}

std::vector<double> GaussianPrior::residuals(std::span<const double> z) const {
  std::vector<double> away(z.begin(), z.end());
  for (const Prior& one : independent_) away[one.parameter] -= one.mean;
  for (const CorrelatedPrior& one : fields_)
    for (std::size_t i = 0; i < one.field.size(); ++i) away[one.first + i] -= one.mean;
  return whiten(away);
}

/// scale(z_i, deviation) of independent variables and the product of a field with its part of z, in rows.
template <class Scale>
std::vector<double> GaussianPrior::rows_of(std::span<const double> z, Scale scale,
                                           FieldProduct product) const {
  std::vector<double> rows;
  for (const Prior& one : independent_) rows.push_back(scale(z[one.parameter], one.deviation));
  for (const CorrelatedPrior& one : fields_)
    std::ranges::copy((one.field.*product)(z.subspan(one.first, one.field.size())), std::back_inserter(rows));
  return rows;
}

/// Values of the variables from those of the rows.
template <class Scale>
std::vector<double> GaussianPrior::variables_of(std::span<const double> rows, Scale scale,
                                                FieldProduct product) const {
  std::vector<double> z(n_, 0.0);
  std::size_t row = 0;
  for (const Prior& one : independent_) z[one.parameter] = scale(rows[row++], one.deviation);
  for (const CorrelatedPrior& one : fields_) {
    std::ranges::copy((one.field.*product)(rows.subspan(row, one.field.size())), z.begin() + one.first);
    row += one.field.size();
  }
  return z;
}

std::vector<double> GaussianPrior::whiten(std::span<const double> d) const {
  return rows_of(d, std::divides<>(), &FieldPrior::whiten);
}

std::vector<double> GaussianPrior::whiten_transposed(std::span<const double> y) const {
  return variables_of(y, std::divides<>(), &FieldPrior::whiten_transposed);
}

std::vector<double> GaussianPrior::colour(std::span<const double> y) const {
  RECOIL_ASSERT(is_proper());
  return variables_of(y, std::multiplies<>(), &FieldPrior::colour);
}

std::vector<double> GaussianPrior::colour_transposed(std::span<const double> z) const {
  RECOIL_ASSERT(is_proper());
  return rows_of(z, std::multiplies<>(), &FieldPrior::colour_transposed);
}

std::vector<double> GaussianPrior::precondition(std::span<const double> r) const {
  std::vector<double> z(r.begin(), r.end());
  for (const Prior& one : independent_) z[one.parameter] *= one.deviation * one.deviation;
  for (const CorrelatedPrior& one : fields_) {
    const auto part = r.subspan(one.first, one.field.size());
    std::ranges::copy(one.field.colour(one.field.colour_transposed(part)), z.begin() + one.first);
  }
  return z;
}

std::vector<double> GaussianPrior::variances() const {
  RECOIL_ASSERT(is_proper());
  std::vector<double> result(n_);
  for (const Prior& one : independent_) result[one.parameter] = one.deviation * one.deviation;
  for (const CorrelatedPrior& one : fields_)
    std::fill_n(result.begin() + one.first, one.field.size(), std::pow(one.field.deviation(), 2));
  return result;
}

} // namespace recoil::inverse

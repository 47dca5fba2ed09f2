#include "recoil/parameters/variable_map.hpp"

#include <cmath>

#include "recoil/base/error.hpp"

namespace recoil::parameters {

double Scaling::value(double x) const {
  switch (kind) {
  case Kind::factor:
    return factor * x;
  case Kind::logarithm:
    return std::exp(x);
  case Kind::logit:
    return low + (high - low) / (1 + std::exp(-x));
  case Kind::identity:
    break;
  }
  return x;
}

double Scaling::variable(double q) const {
  switch (kind) {
  case Kind::factor:
    return q / factor;
  case Kind::logarithm:
    return std::log(q);
  case Kind::logit:
    return std::log((q - low) / (high - q));
  case Kind::identity:
    break;
  }
  return q;
}

double Scaling::slope(double x) const {
  switch (kind) {
  case Kind::factor:
    return factor;
  case Kind::logarithm:
    return std::exp(x);
  case Kind::logit: {
    // Symmetric in x, and free of overflow.
    const double e = std::exp(-std::abs(x));
    return (high - low) * e / ((1 + e) * (1 + e));
  }
  case Kind::identity:
    break;
  }
  return 1;
}

std::size_t VariableMap::add(const Scaling& scaling, std::size_t count) {
  const std::size_t first = entries_.size();
  for (std::size_t i = 0; i < count; ++i) entries_.push_back({scaling, num_variables_++});
  return first;
}

std::size_t VariableMap::add_tied(const Scaling& scaling, std::size_t first, std::size_t count) {
  RECOIL_ASSERT(first + count <= entries_.size());
  const std::size_t number = entries_.size();
  for (std::size_t i = 0; i < count; ++i) entries_.push_back({scaling, entries_[first + i].variable});
  return number;
}

std::vector<double> VariableMap::values(std::span<const double> x) const {
  RECOIL_ASSERT(x.size() == num_variables_);
  std::vector<double> q;
  q.reserve(entries_.size());
  for (const Entry& entry : entries_) q.push_back(entry.scaling.value(x[entry.variable]));
  return q;
}

std::vector<double> VariableMap::variables(std::span<const double> q) const {
  RECOIL_ASSERT(q.size() == entries_.size());
  std::vector<double> x(num_variables_);
  for (std::size_t i = entries_.size(); i-- > 0;)
    x[entries_[i].variable] = entries_[i].scaling.variable(q[i]);
  return x;
}

std::vector<double> VariableMap::product(std::span<const double> x, std::span<const double> dx) const {
  RECOIL_ASSERT(x.size() == num_variables_ && dx.size() == num_variables_);
  std::vector<double> dq;
  dq.reserve(entries_.size());
  for (const Entry& entry : entries_)
    dq.push_back(entry.scaling.slope(x[entry.variable]) * dx[entry.variable]);
  return dq;
}

std::vector<double> VariableMap::transposed_product(std::span<const double> x,
                                                    std::span<const double> g) const {
  RECOIL_ASSERT(x.size() == num_variables_ && g.size() == entries_.size());
  std::vector<double> result(num_variables_, 0.0);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    result[entries_[i].variable] += entries_[i].scaling.slope(x[entries_[i].variable]) * g[i];
  return result;
}

} // namespace recoil::parameters

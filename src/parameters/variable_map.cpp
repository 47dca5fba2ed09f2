#include "recoil/parameters/variable_map.hpp"

#include <cmath>

#include "recoil/base/error.hpp"

namespace recoil::parameters {

const Scaling::Form Scaling::linear{"linear", [](const Scaling&, double x) { return x; },
                                    [](const Scaling&, double q) { return q; },
                                    [](const Scaling&, double) { return 1.0; }};
const Scaling::Form Scaling::multiple{"factor", [](const Scaling& s, double x) { return s.factor * x; },
                                      [](const Scaling& s, double q) { return q / s.factor; },
                                      [](const Scaling& s, double) { return s.factor; }};
const Scaling::Form Scaling::logarithm{"log", [](const Scaling&, double x) { return std::exp(x); },
                                       [](const Scaling&, double q) { return std::log(q); },
                                       [](const Scaling&, double x) { return std::exp(x); }};
const Scaling::Form Scaling::logit{
    "logit", [](const Scaling& s, double x) { return s.low + (s.high - s.low) / (1 + std::exp(-x)); },
    [](const Scaling& s, double q) { return std::log((q - s.low) / (s.high - q)); },
    [](const Scaling& s, double x) {
      // Symmetric in x, and free of overflow.
      const double e = std::exp(-std::abs(x));
      return (s.high - s.low) * e / ((1 + e) * (1 + e));
    }};

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

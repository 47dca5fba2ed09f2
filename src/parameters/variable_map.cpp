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

std::vector<double> VariableMap::values(std::span<const double> x) const {
  RECOIL_ASSERT(x.size() == scalings_.size());
  std::vector<double> q(x.size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = scalings_[i].value(x[i]);
  return q;
}

std::vector<double> VariableMap::variables(std::span<const double> q) const {
  RECOIL_ASSERT(q.size() == scalings_.size());
  std::vector<double> x(q.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = scalings_[i].variable(q[i]);
  return x;
}

std::vector<double> VariableMap::product(std::span<const double> x, std::span<const double> dx) const {
  RECOIL_ASSERT(x.size() == scalings_.size() && dx.size() == scalings_.size());
  std::vector<double> dq(x.size());
  for (std::size_t i = 0; i < dq.size(); ++i) dq[i] = scalings_[i].slope(x[i]) * dx[i];
  return dq;
}

std::vector<double> VariableMap::transposed_product(std::span<const double> x,
                                                    std::span<const double> g) const {
  std::vector<double> result = product(x, g);
  // Of zeros the positive one, as in a sum.
  for (double& value : result) value += 0.0;
  return result;
}

} // namespace recoil::parameters

#include "recoil/particles/radius_distribution.hpp"

#include <cmath>
#include <numbers>

#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

/// Of mean 0 and standard deviation 1 [Box, Muller 1958].
double standard_normal(const std::function<double()>& uniform) {
  const double length = std::sqrt(-2 * std::log(1 - uniform()));
  return length * std::cos(2 * std::numbers::pi * uniform());
}

double draw_normal(const RadiusDistribution& of, const std::function<double()>& uniform,
                   const std::string& where) {
  constexpr int most_draws = 100000;
  const double log_variance = std::log1p(of.sd * of.sd / (of.mean * of.mean)),
               log_mean = std::log(of.mean) - log_variance / 2;
  for (int i = 0; i < most_draws; ++i) {
    const double x = standard_normal(uniform),
                 radius = of.kind == RadiusDistribution::Kind::normal
                              ? of.mean + of.sd * x
                              : std::exp(log_mean + std::sqrt(log_variance) * x);
    if (radius >= of.min && radius <= of.max) return radius;
  }
  throw InputError(where, "hardly any radius of this distribution lies between the bounds of `radius`; widen "
                          "them, or move `mean` between them");
}

/// The interval by the number of particles in it, then d with a density as d^-3, of which the mass is
/// uniform.
double draw_sieved(const RadiusDistribution& of, double pick, double place) {
  std::vector<double> numbers;
  double sum = 0;
  for (std::size_t k = 1; k < of.sieves.size(); ++k) {
    const auto [from, passes_from] = of.sieves[k - 1];
    const auto [to, passes_to] = of.sieves[k];
    sum += (passes_to - passes_from) / (to - from) * (1 / (from * from) - 1 / (to * to));
    numbers.push_back(sum);
  }
  std::size_t k = 0;
  while (k + 1 < numbers.size() && numbers[k] <= pick * sum) ++k;
  const double from = of.sieves[k][0], to = of.sieves[k + 1][0];
  return 0.5 / std::sqrt(1 / (from * from) - place * (1 / (from * from) - 1 / (to * to)));
}

} // namespace

double draw_radius(const RadiusDistribution& distribution, const std::function<double()>& uniform,
                   const std::string& where) {
  using Kind = RadiusDistribution::Kind;
  if (distribution.kind == Kind::uniform)
    return distribution.min + (distribution.max - distribution.min) * uniform();
  if (distribution.kind != Kind::sieves) return draw_normal(distribution, uniform, where);
  const double pick = uniform();
  return draw_sieved(distribution, pick, uniform());
}

} // namespace recoil::particles

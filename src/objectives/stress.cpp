#include "recoil/objectives/stress.hpp"

#include <cmath>
#include <string>

#include "objectives/stress_integrals.hpp"

namespace recoil::objectives {

namespace {

using potentials::PointFunction;
using potentials::PointState;

/// max(norm - limit, 0)^2.
NormFunction squared_excess(double limit) {
  return {[=](double norm) { return norm > limit ? (norm - limit) * (norm - limit) : 0.0; },
          [=](double norm) { return norm > limit ? 2 * (norm - limit) / norm : 0.0; }};
}

template <int dim>
class EnergyDensity final : public PointFunction<dim> {
public:
  double value(const PointState<dim>& point) const override { return point.energy_density; }
  typename PointFunction<dim>::Derivatives derivatives(const PointState<dim>&) const override {
    typename PointFunction<dim>::Derivatives result;
    result.by_W = 1;
    return result;
  }
};

/// J = int j dX.
template <int dim>
class PointIntegral final : public OfElasticCells<dim> {
public:
  PointIntegral(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic,
                std::unique_ptr<const PointFunction<dim>> j)
      : OfElasticCells<dim>(name, std::move(region), std::move(elastic)), j_(std::move(j)) {}

  double value(const ObservedState& state) override { return this->integral(state, *j_); }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    this->add_integral_derivatives(state, *j_, factor, du, g);
  }

private:
  std::unique_ptr<const PointFunction<dim>> j_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                 StressMeasure measure) {
  return make_power_mean<dim>("stress_norm", std::move(region), std::move(elastic), p, measure);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim> region, ElasticPotentials<dim> elastic,
                                                  double limit, StressMeasure measure) {
  if (!(limit >= 0) || !std::isfinite(limit))
    throw InputError("stress_bound: limit = " + std::to_string(limit) + " Pa; it must not be negative");
  return std::make_unique<PointIntegral<dim>>(
      "stress_bound", std::move(region), std::move(elastic),
      std::make_unique<OfStress<dim>>(squared_excess(limit), measure));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic) {
  return std::make_unique<PointIntegral<dim>>("elastic_energy", std::move(region), std::move(elastic),
                                              std::make_unique<EnergyDensity<dim>>());
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim>, ElasticPotentials<dim>, double,     \
                                                            StressMeasure);                                  \
  template std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim>, ElasticPotentials<dim>, double,    \
                                                             StressMeasure);                                 \
  template std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim>, ElasticPotentials<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

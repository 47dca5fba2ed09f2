#include "app/study/objectives/stress.hpp"

namespace recoil::app {
namespace {

struct StressNorm final : StressPower<StressNorm> {
  using StressPower::StressPower;
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_stress_norm<dim>(region_of(*this, discrete), elastic_potentials(discrete), p,
                                             stress);
  }
};

struct StressBound final : ObjectiveOf<StressBound> {
  explicit StressBound(const Item& entry) : limit(entry["limit"].number()), stress(stress_of(entry)) {}
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_stress_bound<dim>(region_of(*this, discrete), elastic_potentials(discrete), limit,
                                              stress);
  }

  double limit;
  objectives::StressMeasure stress;
};

struct ElasticEnergy final : ObjectiveOf<ElasticEnergy> {
  explicit ElasticEnergy(const Item&) {}
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_elastic_energy<dim>(region_of(*this, discrete), elastic_potentials(discrete));
  }
};

} // namespace

std::vector<ObjectiveType> stress_objectives() {
  return {{.name = "stress_norm",
           .doc = "(int |S|^p)^(1/p) over the rest volume, |S| the Frobenius norm of the stress.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = StressNorm::read},
          {.name = "stress_bound",
           .doc = "int max(|S| - limit, 0)^2 over the rest volume.",
           .keys = {body_key, time_key, stress_key, limit_key("Pa")},
           .read = StressBound::read},
          {.name = "elastic_energy",
           .doc = "Elastic energy.",
           .keys = {body_key, time_key},
           .read = ElasticEnergy::read}};
}

} // namespace recoil::app

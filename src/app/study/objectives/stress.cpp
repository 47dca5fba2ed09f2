#include "app/study/objectives/stress.hpp"

namespace recoil::app {
namespace {

struct StressNorm final : StressPower<StressNorm> {
  using StressPower::StressPower;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_stress_norm<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)), p,
                                             stress);
  }
};

struct StressBound final : ObjectiveOf<StressBound> {
  explicit StressBound(const Item& entry) : limit(entry["limit"].number()), stress(stress_of(entry)) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_stress_bound<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)),
                                              limit, stress);
  }

  double limit;
  objectives::StressMeasure stress;
};

struct ElasticEnergy final : ObjectiveOf<ElasticEnergy> {
  explicit ElasticEnergy(const Item&) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_component<dim>(type->name, at.elastic_energy(bodies), 0);
  }
};

} // namespace

std::vector<ObjectiveType> stress_objectives() {
  return {{.name = "stress_norm",
           .doc = "(int |S|^p)^(1/p) over the rest volume, |S| the Frobenius norm of the stress.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = StressNorm::read,
           .asks = ObservableKind::stress},
          {.name = "stress_bound",
           .doc = "int max(|S| - limit, 0)^2 over the rest volume.",
           .keys = {body_key, time_key, stress_key, limit_key("Pa")},
           .read = StressBound::read,
           .asks = ObservableKind::stress},
          {.name = "elastic_energy",
           .doc = "Elastic energy.",
           .keys = {body_key, time_key},
           .read = ElasticEnergy::read,
           .asks = ObservableKind::elastic_energy}};
}

} // namespace recoil::app

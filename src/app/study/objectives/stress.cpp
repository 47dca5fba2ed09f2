#include "recoil/objectives/stress.hpp"

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"

namespace recoil::app {
namespace {

constexpr Key stress_key{.pattern = "/objectives/*/stress",
                         .types = text,
                         .implied = "`first_piola`",
                         .choices = "[\"first_piola\", \"cauchy\"]",
                         .doc = "Which stress."};

objectives::StressMeasure stress_of(const Item& entry) {
  return entry.has("stress") && entry["stress"].text() == "cauchy" ? objectives::StressMeasure::cauchy
                                                                   : objectives::StressMeasure::first_piola;
}

template <int dim>
objectives::ElasticPotentials<dim> elastic_potentials(DiscreteScene<dim>& discrete) {
  const auto& elastic = discrete.solver().problem().elastic;
  return {elastic.begin(), elastic.end()};
}

/// Base of those that take the stress to a power.
template <class Type>
struct StressPower : ObjectiveOf<Type> {
  explicit StressPower(const Item& entry) : p(entry["p"].number()), stress(stress_of(entry)) {}

  double p;
  objectives::StressMeasure stress;
};

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

struct MaxStress final : StressPower<MaxStress> {
  using StressPower::StressPower;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_max_stress<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)), p,
                                            stress);
  }
};

struct Compliance final : ObjectiveOf<Compliance> {
  explicit Compliance(const Item&) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_compliance<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)));
  }
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
           .asks = ObservableKind::elastic_energy},
          {.name = "compliance",
           .doc = "int P : grad u over the rest volume, P the first Piola-Kirchhoff stress: in equilibrium, "
                  "where nothing is moved by its boundary, the work f.u of the loads f, of laws of linear "
                  "theory twice the elastic energy.",
           .keys = {body_key, time_key},
           .read = Compliance::read,
           .asks = ObservableKind::stress},
          {.name = "max_stress",
           .doc = "(int |S|^p / V)^(1/p), V the rest volume: a smooth maximum of |S|, from below. With v the "
                  "volume of the element where |S| is largest it is at least (v / V)^(1/p) times that in "
                  "linear elements, and grows with p.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = MaxStress::read,
           .asks = ObservableKind::stress}};
}

} // namespace recoil::app

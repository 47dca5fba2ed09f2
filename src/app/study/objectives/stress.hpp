#pragma once

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/objectives/stress.hpp"

/// What objectives of a stress share.
namespace recoil::app {

inline constexpr Key stress_key{.pattern = "/objectives/*/stress",
                                .types = text,
                                .implied = "`first_piola`",
                                .choices = "[\"first_piola\", \"cauchy\"]",
                                .doc = "Which stress."};

inline objectives::StressMeasure stress_of(const Item& entry) {
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

} // namespace recoil::app

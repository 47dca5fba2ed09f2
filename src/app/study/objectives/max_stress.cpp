#include "recoil/objectives/max_stress.hpp"

#include "app/study/objectives/stress.hpp"

namespace recoil::app {
namespace {

struct MaxStress final : StressPower<MaxStress> {
  using StressPower::StressPower;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_max_stress<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)), p,
                                            stress);
  }
};

} // namespace

std::vector<ObjectiveType> max_stress_objectives() {
  return {{.name = "max_stress",
           .doc = "(int |S|^p / V)^(1/p), V the rest volume: a smooth maximum of |S|, from below. With v the "
                  "volume of the element where |S| is largest it is at least (v / V)^(1/p) times that in "
                  "linear elements, and grows with p.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = MaxStress::read,
           .asks = ObservableKind::stress}};
}

} // namespace recoil::app

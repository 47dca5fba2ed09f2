#pragma once

#include <utility>

#include "recoil/potentials/laws/fixed_corotational.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"
#include "recoil/potentials/laws/mooney_rivlin.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/laws/saint_venant.hpp"
#include "recoil/potentials/laws/unconstrained_ogden.hpp"

/// The one list of laws: keys and documentation, elastic energies, their derivatives and the tests follow it.
namespace recoil::potentials {

template <class... Laws>
struct LawList {};

template <int dim>
using AllLaws = LawList<LinearElasticity<dim>, SaintVenant<dim>, NeoHookean<dim>, FixedCorotational<dim>,
                        MooneyRivlin<dim>, UnconstrainedOgden<dim>>;

template <class... Laws>
constexpr std::size_t count_laws(LawList<Laws...>) {
  return sizeof...(Laws);
}
inline constexpr std::size_t num_laws = count_laws(AllLaws<3>());

/// Calls `act.template operator()<Law>()` for all laws.
template <int dim, class Act>
void for_each_law(Act&& act) {
  [&]<class... Laws>(LawList<Laws...>) { (act.template operator()<Laws>(), ...); }(AllLaws<dim>());
}

} // namespace recoil::potentials

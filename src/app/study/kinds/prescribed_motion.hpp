#pragma once

#include "app/study/kinds/boundary_entries.hpp"

/// What parameters for the values of `dirichlet_boundary` share.
namespace recoil::app {

/// Refuses what does not fit the scene. @throws InputError.
void check_dirichlet(const ExperimentScene& at, const ParameterSpec& parameter);

/// The derivatives of prescribed displacements, where slot_of(node) has the value of a local node.
template <int dim, class SlotOf>
void take_prescribed(const WeightsOf<dim>& of, const TakeWeight& take, SlotOf slot_of) {
  const ParameterSpec& spec = *of.fields.front().spec;
  const auto& entries = of.discrete.scene().boundary_conditions.dirichlet;
  of.discrete.solver().problem().dirichlet->for_each(
      [&](LocalIndex node, int component, std::size_t condition) {
        if (spec.sets(entries[condition]))
          take_in_time(of, entries[condition].interpolation, slot_of(node), node, component, take);
      });
}

} // namespace recoil::app

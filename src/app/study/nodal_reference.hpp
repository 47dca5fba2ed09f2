#pragma once

#include "recoil/app/study/study.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/target.hpp"

namespace recoil::app {

/// The field that an objective is measured against, from the run folder `spec.reference` on the same mesh:
/// displacements, or positions (coordinates of the rest mesh plus displacement). Linear in time between the
/// stored states. Collective, also when it is called.
/// @throws InputError on every rank where the run has another number of nodes or does not reach a time.
template <int dim>
objectives::ReferenceField nodal_reference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                                           bool positions);

} // namespace recoil::app

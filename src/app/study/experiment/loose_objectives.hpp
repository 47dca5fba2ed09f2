#pragma once

#include "recoil/app/study/objectives/experiment_objectives.hpp"

namespace recoil::app {

/// Refuses objectives that see where bodies are along rigid motions that nothing in the scene resists: there
/// the solution is the displacement of smallest norm by agreement, not by any law, and so would be what is
/// fitted to it. Collective. @throws InputError on every rank, at the objective's type.
template <int dim>
void refuse_loose(const OpenObjectives<dim>& opened, const Observation<dim>& seen,
                  DiscreteScene<dim>& discrete);

} // namespace recoil::app

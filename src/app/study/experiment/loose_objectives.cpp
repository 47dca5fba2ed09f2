#include "app/study/experiment/loose_objectives.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/solvers/elastodynamics/loose_places.hpp"

namespace recoil::app {

template <int dim>
void refuse_loose(const OpenObjectives<dim>& opened, const Observation<dim>& seen,
                  DiscreteScene<dim>& discrete) {
  const Scene& scene = discrete.scene();
  const auto sees = [](const OpenObjective<dim>& one) { return one.spec->type->sees_place; };
  const bool is_regularized =
      scene.time.kind == TimeKind::statics && scene.solver.lagged_regularization_weight > 0;
  if (scene.time.kind == TimeKind::dynamic || is_regularized || std::ranges::none_of(opened, sees)) return;
  const auto& problem = discrete.solver().problem();
  const std::optional<linalg::Vector> u = solvers::loose_displacement(problem);
  if (!u) return;
  const std::vector<double> times = observed_state_times(scene.time);
  const linalg::Vector v(u->shared_layout());
  for (std::size_t k = 0; k < opened.size(); ++k) {
    const ObjectiveSpec& spec = *opened[k].spec;
    if (!sees(opened[k])) continue;
    objectives::Objective<dim>& objective = *seen.objectives[k];
    const std::vector<objectives::Quantity> quantities = objective.depends_on();
    for (std::size_t state = 0; state < times.size(); ++state) {
      if (seen.composition.weight(k, state) == 0) continue;
      linalg::Vector du(u->shared_layout()), dv = du;
      parameters::PhysicalGradient<dim> by_quantities(discrete.space(), quantities);
      objective.add_derivatives({u->local(), v.local(), times[state]}, 1, du.write_owned(), dv.write_owned(),
                                by_quantities);
      const std::string motion = solvers::loose_motion_seen_by(problem, du.owned());
      if (motion.empty()) continue;
      throw InputError(
          spec.where.of("type"),
          fmt::format(
              "{} depends on where the body is, and nothing in {} holds {}: its place is the one with "
              "the smallest displacement by agreement, and says nothing of the parameters. Prescribe "
              "displacements that hold it (/boundary_conditions/dirichlet_boundary), or take an "
              "objective of its deformation, as strain_at, stress_norm or elastic_energy",
              spec.type->name, scene.file.string(), motion));
    }
  }
}

template void refuse_loose(const OpenObjectives<2>&, const Observation<2>&, DiscreteScene<2>&);
template void refuse_loose(const OpenObjectives<3>&, const Observation<3>&, DiscreteScene<3>&);

} // namespace recoil::app

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "app/simulation/discrete_scene.hpp"
#include "app/study/nodal_reference.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/markers.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::app {

/// The objectives of one experiment of a study on a discrete scene, term by term; `discrete` must outlive
/// them.
template <int dim>
struct ExperimentObjectives {
  std::vector<std::unique_ptr<objectives::Objective<dim>>> objectives;
  std::vector<objectives::Term> terms;
};

/// Where markers of a study sit, with their numbers in it.
template <int dim>
using MarkerPoints = std::map<std::size_t, objectives::MaterialPoint<dim>>;

/// Those on bodies of `mesh`; none where no objective of the experiment looks at markers. `mesh` is that of
/// the start values: in a study of the shape markers move with the material. Collective.
/// @throws InputError on every rank for a point outside of its body.
template <int dim>
MarkerPoints<dim> locate_markers(const Study& study, int experiment, const mesh::DistributedMesh<dim>& mesh);

/// `references` must outlive the objectives, too. Collective.
/// @throws InputError on every rank, at the objective's place.
template <int dim>
ExperimentObjectives<dim> make_objectives(const Study& study, int experiment, const MarkerPoints<dim>& points,
                                          const NodalReferences<dim>& references,
                                          DiscreteScene<dim>& discrete);

/// Times of the states that objectives see: the start and the end of every nominal step [s].
std::vector<double> observed_state_times(const TimeSpec& time);

} // namespace recoil::app

#pragma once

#include <memory>
#include <vector>

#include "app/study/objectives/objective_type.hpp"
#include "recoil/objectives/composition.hpp"

namespace recoil::app {

/// An objective with what belongs to the mesh of its experiment.
template <int dim>
struct OpenObjective {
  const ObjectiveSpec* spec;
  ObjectiveMaker<dim> make;
};
template <int dim>
using OpenObjectives = std::vector<OpenObjective<dim>>;

/// Those of an experiment, opened on its mesh as its files give it. Collective.
/// @throws InputError on every rank, at the objective's place.
template <int dim>
OpenObjectives<dim> open_objectives(const ExperimentMesh<dim>& at);

/// The objectives of one experiment of a study on a discrete scene, term by term; `discrete` must outlive
/// them.
template <int dim>
struct ExperimentObjectives {
  std::vector<std::unique_ptr<objectives::Objective<dim>>> objectives;
  std::vector<objectives::Term> terms;
};

/// `opened` must outlive the objectives, too. Collective.
/// @throws InputError on every rank, at the objective's place.
template <int dim>
ExperimentObjectives<dim> make_objectives(const OpenObjectives<dim>& opened, DiscreteScene<dim>& discrete);

/// Times of the states that objectives see: the start and the end of every nominal step [s].
std::vector<double> observed_state_times(const TimeSpec& time);

} // namespace recoil::app

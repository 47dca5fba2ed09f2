#pragma once

#include <memory>
#include <vector>

#include "app/simulation/discrete_scene.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::app {

/// The objectives of one experiment of a study on a discrete scene, term by term; `discrete` must outlive
/// them.
template <int dim>
struct ExperimentObjectives {
  std::vector<const ObjectiveSpec*> specs;
  std::vector<std::unique_ptr<objectives::Objective<dim>>> objectives;
  std::vector<objectives::Term> terms;
};

/// Collective. @throws InputError on every rank, at the objective's place.
template <int dim>
ExperimentObjectives<dim> make_objectives(const Study& study, int experiment, DiscreteScene<dim>& discrete);

/// Times of the states that objectives see: the start and the end of every nominal step [s].
std::vector<double> observed_state_times(const TimeSpec& time);

} // namespace recoil::app

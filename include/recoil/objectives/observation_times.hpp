#pragma once

#include <memory>
#include <span>

#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::objectives {

/// An objective that counts every observation once, and the states at which it has a value.
template <int dim>
struct CountedOnce {
  std::unique_ptr<Objective<dim>> objective;
  ChosenSteps states;
};

/// The sum of J(u_i + (t - t_i) v_i, v_i) over the observation times t of `objective` within the run,
/// compared with what was observed at t: an observation between two states belongs to the one next to it,
/// t_i, and the motion until t is followed with its velocity. The error is (t - t_i)^2 / 2 times the
/// acceleration, at most that of linear interpolation between the two states.
/// @param objective one whose tracks are not interpolated, so that others of its points have no part at t.
/// @param state_times of the states that objectives see, ascending [s].
/// @param has_velocities there are velocities along which displacements change.
/// @throws InputError where no observation lies within the run, and where there are no velocities and one
/// lies between states. Not collective.
template <int dim>
CountedOnce<dim> count_observations_once(std::unique_ptr<Objective<dim>> objective,
                                         std::span<const double> state_times, bool has_velocities);

} // namespace recoil::objectives

#pragma once

#include <limits>
#include <optional>
#include <string>

#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// What happened in a nominal step.
struct StepCounts {
  int newton_iterations = 0, linear_iterations = 0;
  GlobalIndex active_pairs = 0;
  double min_distance = std::numeric_limits<double>::infinity(); ///< of its new state [m]
  potentials::FrictionCounts friction;
};

/// Calls visit(name, value) for every count, const or not, under the names that files have for them.
template <class AnyStepCounts, class Visit>
void for_each_count(AnyStepCounts& counts, Visit visit) {
  visit("newton", counts.newton_iterations);
  visit("linear_iterations", counts.linear_iterations);
  visit("active_pairs", counts.active_pairs);
  visit("min_distance", counts.min_distance);
  visit("sticking", counts.friction.sticking);
  visit("sliding", counts.friction.sliding);
}

/// What a restart needs beside displacements and velocities; travels as JSON text with each state.
struct RunState {
  GlobalIndex step = 0;  ///< nominal steps done
  int usable_states = 1; ///< how many of the last states the next step may use (1 after a repeated step)
  solvers::Ledger ledger;
  solvers::ContactTotals contact;
  std::optional<StepCounts> counts = {}; ///< of the nominal step that ends here, if one does
};

std::string to_json(const RunState& state);
/// @throws FileError if the text is not what to_json wrote.
RunState run_state_from_json(const std::string& text);

} // namespace recoil::app

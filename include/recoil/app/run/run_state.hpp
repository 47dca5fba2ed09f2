#pragma once

#include <string>

#include "recoil/app/run/run_output.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/stepping/solver.hpp"

namespace recoil::app {

/// What a restart needs beside positions and velocities, and what happened in the step; travels as JSON text
/// with each state.
struct RunState {
  stepping::RestartData restart;
  stepping::Entries counts = {}; ///< of the nominal step that ends here, if one does
};

std::string to_json(const RunState& state);
/// @throws FileError if the text is not what to_json wrote.
RunState run_state_from_json(const std::string& text);

/// The state, with number `id`, of a run of `solver` with this output. Collective. @throws FileError on every
/// rank.
stepping::State read_state(const FieldReader& read, GlobalIndex id, const stepping::Solver& solver,
                           const RunOutput& output);
/// Reads the fields of state `id` of a trajectory; `reader` must outlive it.
FieldReader fields_of(checkpoint::TrajectoryReader& reader, GlobalIndex id);

} // namespace recoil::app

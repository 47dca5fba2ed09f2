#pragma once

#include <array>
#include <string>

#include "recoil/base/phases.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Seconds of every phase since the processes began, the mean of all ranks. Collective.
std::array<double, num_phases> phase_times(const parallel::Communicator& comm);

/// phase_times() in words for the log, without phases that took less than a hundredth. Collective.
std::string describe_phase_times(const parallel::Communicator& comm);

} // namespace recoil::app

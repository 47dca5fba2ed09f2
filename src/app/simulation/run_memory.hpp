#pragma once

#include "recoil/app/simulation/load_geometry.hpp"

namespace recoil::app {

/// Refuses a scene whose run cannot fit into the memory of the machines that the ranks run on, before it is
/// distributed. Collective. @throws InputError on every rank.
void require_memory_of_run(const parallel::Communicator& comm, const LoadedScene& loaded);

} // namespace recoil::app

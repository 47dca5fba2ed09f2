#pragma once

#include <cstdio>

#include "recoil/base/error.hpp"
#include "recoil/linalg/petsc.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::bench {

enum class SceneArgument { required, optional };

/// main() of a bench whose only argument is a scene: calls run(communicator, path), with a null path where
/// the scene is optional and left out, and returns the exit code: 2, with a message, after a wrong command
/// line or a recoil::Error. Collective.
template <class Run>
int scene_main(int argc, char** argv, const char* name, SceneArgument argument, Run&& run) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  const bool required = argument == SceneArgument::required;
  try {
    if (argc > 2 || (required && argc < 2))
      throw InputError(std::string(name) + (required ? " scene.json" : " [scene.json]"));
    run(comm, argc > 1 ? argv[1] : nullptr);
  } catch (const Error& error) {
    if (comm.rank() == 0) std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}

} // namespace recoil::bench

// A solver of your own: discs that rotate, tied rim to rim by springs, fall on a floor.
//
// recoil knows solvers by interfaces alone. What is in this folder is all that one has to bring:
//
//   discs.hpp            the manifold of the positions, whose turns are no vectors; potentials; DiscSolver,
//                        which takes BDF steps by newton::minimize; DiscOutput, which says what is stored
//   dense_objective.hpp  the function that a step minimises, small enough for dense matrices
//   disc_kind.cpp        the keys of scenes with "solver": {"type": "discs"}: defaults, ranges, texts
//   disc_scene.hpp       what these keys say, typed
//   disc_step.hpp        the recorded step, from which sweeps make exact gradients (../exact_gradient.cpp)
//
// What it gets for that: checked scenes with messages that name the place, run folders, restarts with the
// same bits, ledgers of energies, signals, pictures by scripts/render.py. This program is `recoil simulate`
// with a solver more.
//
//     mpirun -n 2 discs scene.json run/
#include <cstdio>

#include "discs/disc_kind.hpp"
#include "recoil/app/run/simulate.hpp"
#include "recoil/app/solvers/elastodynamics/element_kind.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/linalg/petsc.hpp"

using namespace recoil;

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: discs scene.json run/"), exit_status(ExitCode::bad_input);
  InterruptSignals::hold_until_exit();
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  // Scenes that name no solver are of the first one in the list.
  const app::SolverKinds solvers({&app::elastodynamics, &discs::disc_kind});
  app::SimulateOptions options;
  options.scene = argv[1];
  options.output = argv[2];
  try {
    return exit_status(app::simulate(comm, options, solvers));
  } catch (const Error& error) {
    if (comm.rank() == 0) std::fprintf(stderr, "discs: %s\n", error.what());
    return exit_status(error.code());
  }
}

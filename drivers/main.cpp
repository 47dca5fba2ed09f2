#include <cstdlib>
#include <exception>
#include <iostream>

#include "commands.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/base/version.hpp"
#include "recoil/linalg/petsc.hpp"

namespace {

using recoil::ExitCode;

int parse(CLI::App& app, int argc, char** argv, bool speaks) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return speaks ? app.exit(error) : 0;
    if (speaks) app.exit(error);
    return static_cast<int>(ExitCode::bad_input);
  }
}

ExitCode run_command(const recoil::parallel::Communicator& comm, const recoil::drivers::Run& run) {
  try {
    return run(comm);
  } catch (const recoil::Error& error) {
    // Errors of the library are the same on all ranks; one of them tells.
    if (comm.rank() == 0) std::cerr << "recoil: " << error.what() << std::endl;
    return error.code();
  } catch (const std::bad_alloc&) {
    std::cerr << "recoil: out of memory on rank " << comm.rank() << "; use more ranks or nodes" << std::endl;
    MPI_Abort(comm.get(), static_cast<int>(ExitCode::internal));
  } catch (const std::exception& error) {
    std::cerr << "recoil: internal error on rank " << comm.rank() << ": " << error.what() << std::endl;
    MPI_Abort(comm.get(), static_cast<int>(ExitCode::internal));
  }
  return ExitCode::internal;
}

} // namespace

int main(int argc, char** argv) {
  // Before MPI and PETSc, which take a while to start.
  recoil::InterruptSignals::hold_until_exit();
  int petsc_argc = 1;
  recoil::linalg::PetscSession session(&petsc_argc, &argv);
  const recoil::parallel::Communicator comm(MPI_COMM_WORLD);
  CLI::App app("Deformable bodies in contact on many ranks: simulations and their gradients", "recoil");
  app.set_version_flag("--version", recoil::build_info());
  app.require_subcommand(1);
  recoil::drivers::Run run;
  recoil::drivers::add_simulate(app, run);
  recoil::drivers::add_gradient(app, run);
  recoil::drivers::add_validate(app, run);
  recoil::drivers::add_schema(app, run);
  recoil::drivers::add_info(app, run);
  if (const int code = parse(app, argc, argv, comm.rank() == 0); code >= 0) return code;
  return static_cast<int>(run_command(comm, run));
}

#include "commands.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/base/version.hpp"
#include "recoil/linalg/petsc.hpp"

namespace {

using recoil::ExitCode;

std::string failure_message(const CLI::App* app, const CLI::Error& error) {
  return std::string("recoil: ") + error.what() + "\n`" + app->get_display_name() + " --help` tells more.\n";
}

int parse(CLI::App& app, int argc, char** argv, bool speaks) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return speaks ? app.exit(error) : 0;
    if (speaks) app.exit(error);
    return recoil::exit_status(ExitCode::bad_input);
  }
}

} // namespace

int main(int argc, char** argv) {
  // Before MPI and PETSc, which take a while to start.
  recoil::InterruptSignals::hold_until_exit();
  recoil::drivers::prepare_process();
  recoil::OptionNames options = recoil::app::all_solvers().format().option_names();
  options.merge(recoil::app::study_option_names());
  recoil::set_option_names(std::move(options));
  int petsc_argc = 1;
  recoil::linalg::PetscSession session(&petsc_argc, &argv);
  const recoil::parallel::Communicator comm(MPI_COMM_WORLD);
  recoil::end_start_up();
  CLI::App app("Deformable bodies in contact on many ranks: simulations and their gradients", "recoil");
  app.set_version_flag("--version", recoil::build_info());
  app.require_subcommand(1);
  app.failure_message(&failure_message);
  recoil::drivers::Run run;
  recoil::drivers::add_simulate(app, run);
  recoil::drivers::add_gradient(app, run);
  recoil::drivers::add_optimize(app, run);
  recoil::drivers::add_fracture(app, run);
  recoil::drivers::add_impact(app, run);
  recoil::drivers::add_validate(app, run);
  recoil::drivers::add_schema(app, run);
  recoil::drivers::add_info(app, run);
  if (const int code = parse(app, argc, argv, comm.rank() == 0); code >= 0) return code;
  return recoil::drivers::run_command(comm, run);
}

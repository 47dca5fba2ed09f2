#include "recoil/app/simulate.hpp"

#include "app/simulation/forward_run.hpp"
#include "app/simulation/run_inputs.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

template <int dim>
ExitCode run(const parallel::Communicator& comm, const SimulateOptions& options, LoadedScene& loaded,
             checkpoint::RunFolder& folder) {
  const Stopwatch watch;
  std::unique_ptr<DiscreteScene<dim>> discrete;
  try {
    discrete =
        std::make_unique<DiscreteScene<dim>>(loaded.file.scene, distribute_geometry<dim>(comm, loaded));
    if (options.restart.empty()) discrete->start();
  } catch (const InputError&) {
    if (options.restart.empty()) {
      // The mended scene would be refused a folder that is not empty; its log file is closed first.
      start_log(comm, options.console);
      folder.discard();
    }
    throw;
  }
  ForwardRun<dim> run(comm, *discrete, folder, watch);
  if (!options.restart.empty()) return run.restart(options.steps);
  return run.start(run_inputs(comm, folder.scene(), input_files(loaded.file.scene)), options.steps);
}

/// Looks at what the run was begun with before anything of it is read.
void require_same_inputs(const parallel::Communicator& comm, const checkpoint::RunFolder& folder) {
  if (!checkpoint::TrajectoryReader::exists(comm, folder.trajectory())) return;
  if (require_run_inputs(comm, folder.scene(), folder.trajectory()))
    throw InputError(
        folder.root().string(),
        "is the run of a study, with values of its own; go on with recoil gradient --restart and "
        "the folder of the study");
}

} // namespace

ExitCode simulate(const parallel::Communicator& comm, const SimulateOptions& options) {
  const bool continues = !options.restart.empty();
  // A scene that cannot be read must not leave a folder behind.
  std::unique_ptr<checkpoint::RunFolder> folder;
  if (continues) {
    folder = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::open(comm, options.restart));
    require_same_inputs(comm, *folder);
  }
  LoadedScene loaded = load_scene(comm, continues ? folder->scene() : options.scene);
  if (!continues) {
    folder = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::create(comm, options.output));
    parallel::collectively(comm, [&] {
      if (comm.rank() == 0) write_file_atomically(folder->scene(), loaded.file.resolved);
    });
  }
  start_log(comm, options.console, folder->log());
  log_info(build_info());
  for (const std::string& warning : loaded.file.scene.warnings) log_warning(warning);
  for (const std::string& note : loaded.file.scene.notes) log_debug(note);
  return loaded.dim == 2 ? run<2>(comm, options, loaded, *folder) : run<3>(comm, options, loaded, *folder);
}

} // namespace recoil::app

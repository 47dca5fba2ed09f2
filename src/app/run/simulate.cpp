#include "recoil/app/run/simulate.hpp"

#include <nlohmann/json.hpp>

#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/run/solver_kind.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

ExitCode run(const parallel::Communicator& comm, const SimulateOptions& options, LoadedScene& loaded,
             checkpoint::RunFolder& folder, const Interrupts& interrupts) {
  const Stopwatch watch;
  const bool continues = !options.restart.empty() && folder.has_states(comm);
  if (!options.restart.empty() && !continues)
    log_info("the run was ended before its initial state was complete; it starts from the beginning");
  std::unique_ptr<SolverRun> made;
  try {
    interrupts.stop_if_pending();
    made = loaded.solver->make_run({comm, loaded, folder, continues, interrupts});
    interrupts.stop_if_pending();
  } catch (const InputError&) {
    if (options.restart.empty()) {
      // A corrected scene is to find an empty folder; the log file in it is closed first.
      start_log(comm, options.console);
      folder.discard();
    }
    throw;
  }
  const Scene& scene = loaded.file.scene;
  for (const std::string& line : made->describe()) log_info(line);
  ForwardRun run(comm, made->solver(), made->output(), run_options(scene), folder, interrupts, watch,
                 [&](const stepping::StepRecord& record, const auto&, const auto&) {
                   if (record.id > 0 && record.completes_nominal) made->after_step();
                 });
  run.before_steps([&]() -> RunOutput& {
    made->before_step();
    return made->output();
  });
  made->begin();
  if (continues) return run.restart(options.steps);
  const auto inputs = run_inputs(comm, folder.scene(), input_files(scene));
  return run.start(run_metadata(scene, loaded.dim, inputs), options.steps);
}

/// Looks at what the run was begun with before anything of it is read.
void require_same_inputs(const parallel::Communicator& comm, const checkpoint::RunFolder& folder) {
  if (!folder.has_states(comm)) return;
  if (require_run_inputs(comm, folder.scene(), folder.trajectory()))
    throw InputError(folder.root().string(), "is the run of a study, with values of its own; continue it "
                                             "with recoil gradient --restart and the folder of the study");
}

} // namespace

ExitCode simulate(const parallel::Communicator& comm, const SimulateOptions& options,
                  const SolverKinds& solvers) {
  const Interrupts interrupts(comm);
  const bool continues = !options.restart.empty();
  // A scene that cannot be read must not leave a folder behind.
  std::unique_ptr<checkpoint::RunFolder> folder;
  if (continues) {
    folder = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::open(comm, options.restart));
    require_same_inputs(comm, *folder);
  }
  LoadedScene loaded = continues ? load_scene(comm, folder->scene(), solvers)
                                 : load_scene(comm, options.scene, solvers, options.text);
  if (!continues) {
    folder = std::make_unique<checkpoint::RunFolder>(checkpoint::RunFolder::create(comm, options.output));
    folder->begin(comm, loaded.file.resolved);
  }
  start_log(comm, options.console, folder->log());
  log_info(build_info());
  for (const std::string& warning : loaded.file.scene.warnings) log_warning(warning);
  for (const std::string& note : loaded.file.scene.notes) log_debug(note);
  try {
    return run(comm, options, loaded, *folder, interrupts);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    log_warning(error.what());
    return error.code();
  }
}

} // namespace recoil::app

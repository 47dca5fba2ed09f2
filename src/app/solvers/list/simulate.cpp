#include "recoil/app/solvers/list/simulate.hpp"

#include <nlohmann/json.hpp>

#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/solvers/bonded_particles/particle_report.hpp"
#include "recoil/app/solvers/bonded_particles/particle_run.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

template <int dim>
ExitCode run(const parallel::Communicator& comm, const SimulateOptions& options, LoadedScene& loaded,
             checkpoint::RunFolder& folder, const Interrupts& interrupts) {
  const Stopwatch watch;
  const bool continues = !options.restart.empty() && folder.has_states(comm);
  if (!options.restart.empty() && !continues)
    log_info("the run was ended before its initial state was complete; it starts from the beginning");
  std::unique_ptr<DiscreteScene<dim>> discrete;
  try {
    interrupts.stop_if_pending();
    DistributedGeometry<dim> geometry = distribute_geometry<dim>(comm, loaded);
    interrupts.stop_if_pending();
    discrete = std::make_unique<DiscreteScene<dim>>(loaded.file.scene, std::move(geometry));
    interrupts.stop_if_pending();
    if (!continues) discrete->start();
    interrupts.stop_if_pending();
  } catch (const InputError&) {
    if (options.restart.empty()) {
      // The mended scene would be refused a folder that is not empty; its log file is closed first.
      start_log(comm, options.console);
      folder.discard();
    }
    throw;
  }
  const Scene& scene = loaded.file.scene;
  TrajectoryOutput<dim> output(discrete->solver(), scene.output.fields);
  ForwardRun run(comm, discrete->solver(), output, run_options(scene), folder, interrupts, watch);
  if (continues) return run.restart(options.steps);
  const auto inputs = run_inputs(comm, folder.scene(), input_files(scene));
  return run.start(run_metadata(scene, dim, inputs), options.steps);
}

/// As run(), of bonded particles.
ExitCode run_particles(const parallel::Communicator& comm, const SimulateOptions& options,
                       LoadedScene& loaded, checkpoint::RunFolder& folder, const Interrupts& interrupts) {
  const Stopwatch watch;
  const Scene& scene = loaded.file.scene;
  const bool continues = !options.restart.empty() && folder.has_states(comm);
  std::unique_ptr<ParticleRun> particles;
  try {
    interrupts.stop_if_pending();
    particles = std::make_unique<ParticleRun>(comm, loaded, folder, continues);
  } catch (const InputError&) {
    if (options.restart.empty()) {
      start_log(comm, options.console);
      folder.discard();
    }
    throw;
  }
  for (const std::string& line : describe_bodies(loaded, particles->solver().problem())) log_info(line);
  ForwardRun run(comm, particles->solver(), particles->output(), run_options(scene), folder, interrupts,
                 watch, [&](const stepping::StepRecord& record, const auto&, const auto&) {
                   if (record.id > 0 && record.completes_nominal) particles->tables().add_step();
                 });
  run.before_steps([&]() -> RunOutput& {
    particles->balance();
    return particles->output();
  });
  particles->tables().begin(particles->begin());
  if (continues) return run.restart(options.steps);
  const auto inputs = run_inputs(comm, folder.scene(), input_files(scene));
  return run.start(run_metadata(scene, 3, inputs), options.steps);
}

/// Looks at what the run was begun with before anything of it is read.
void require_same_inputs(const parallel::Communicator& comm, const checkpoint::RunFolder& folder) {
  if (!folder.has_states(comm)) return;
  if (require_run_inputs(comm, folder.scene(), folder.trajectory()))
    throw InputError(folder.root().string(), "is the run of a study, with values of its own; continue it "
                                             "with recoil gradient --restart and the folder of the study");
}

} // namespace

ExitCode simulate(const parallel::Communicator& comm, const SimulateOptions& options) {
  const Interrupts interrupts(comm);
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
    folder->begin(comm, loaded.file.resolved);
  }
  start_log(comm, options.console, folder->log());
  log_info(build_info());
  for (const std::string& warning : loaded.file.scene.warnings) log_warning(warning);
  for (const std::string& note : loaded.file.scene.notes) log_debug(note);
  try {
    if (loaded.file.scene.solver.type == SolverType::bonded_particles)
      return run_particles(comm, options, loaded, *folder, interrupts);
    return loaded.dim == 2 ? run<2>(comm, options, loaded, *folder, interrupts)
                           : run<3>(comm, options, loaded, *folder, interrupts);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    log_warning(error.what());
    return error.code();
  }
}

} // namespace recoil::app

#include <limits>

#include "commands.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/app/impact/impact.hpp"
#include "recoil/app/run/phase_times.hpp"
#include "recoil/app/run/simulate.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/fit/optimize.hpp"
#include "recoil/app/study/gradient/gradient.hpp"
#include "recoil/base/log.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::drivers {

namespace {

/// A command that works for long in a folder of its own, which it makes for an input file or continues.
template <class Options>
struct LongCommand {
  CLI::App* command;
  std::shared_ptr<Options> options = std::make_shared<Options>();
  std::shared_ptr<std::string> petsc = std::make_shared<std::string>();

  void add_folders(std::filesystem::path& input, const char* input_name, const char* input_text,
                   const char* output_text, const char* restart_text) {
    auto* file = command->add_option(input_name, input, input_text);
    auto* output = command->add_option("-o,--output", options->output, output_text);
    command->add_option("--restart", options->restart, restart_text)->excludes(file)->excludes(output);
  }
  /// What the console shows, and options for PETSc.
  void add_console_and_petsc() {
    app::ConsoleOptions& console = options->console;
    command->add_flag("-q,--quiet", console.quiet, "Only warnings and errors on the console");
    command->add_flag("--json-lines", console.json_lines, "Console lines as JSON objects");
    command->add_flag("-v,--verbose", console.verbose, "More detail");
    command->add_option("--petsc", *petsc, "PETSc options, e.g. \"-recoil_pc_type hypre -log_view\"");
  }
  /// `input`: the file in the options; `needs`: what is said where it or the folder is missing.
  template <class Work>
  void call(Run& run, std::filesystem::path Options::*input, const char* needs, Work work) {
    command->callback([options = options, petsc = petsc, input, needs, work, &run] {
      run = [=](const parallel::Communicator& comm) {
        if (options->restart.empty() && (((*options).*input).empty() || options->output.empty()))
          throw InputError(needs);
        if (!petsc->empty()) linalg::insert_options(*petsc);
        const ExitCode code = work(comm, *options);
        log_info(app::describe_phase_times(comm));
        return code;
      };
    });
  }
};

} // namespace

void add_simulate(CLI::App& app, Run& run) {
  LongCommand<app::SimulateOptions> simulate{
      app.add_subcommand("simulate", "Run a scene forward in time, or continue a run")};
  simulate.add_folders(simulate.options->scene, "scene", "Scene file (JSON)", "Run folder to make",
                       "Run folder to continue, on any number of ranks");
  simulate.command
      ->add_option("--steps", simulate.options->steps, "Stop when this many steps are done in all")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  simulate.add_console_and_petsc();
  simulate.call(run, &app::SimulateOptions::scene,
                "recoil simulate needs a scene and a run folder (recoil simulate scene.json -o run/), or "
                "--restart run/",
                [](const parallel::Communicator& comm, const app::SimulateOptions& options) {
                  return app::simulate(comm, options, app::all_solvers());
                });
}

void add_gradient(CLI::App& app, Run& run) {
  LongCommand<app::StudyOptions> gradient{
      app.add_subcommand("gradient", "Objective of a study and its gradient by all parameters")};
  gradient.add_folders(gradient.options->study, "study", "Study file (JSON)", "Folder to make",
                       "Folder of an earlier gradient, to continue");
  gradient.command->add_flag("--check", gradient.options->check,
                             "Taylor test and central differences of whole runs");
  gradient.add_console_and_petsc();
  gradient.call(run, &app::StudyOptions::study,
                "recoil gradient needs a study and a folder (recoil gradient study.json -o grad/), or "
                "--restart grad/",
                &app::gradient);
}

void add_optimize(CLI::App& app, Run& run) {
  LongCommand<app::StudyOptions> optimize{
      app.add_subcommand("optimize", "Estimate the parameters of a study from its experiments")};
  optimize.add_folders(optimize.options->study, "study", "Study file (JSON)", "Folder to make",
                       "Folder of an earlier optimisation, to continue");
  optimize.add_console_and_petsc();
  optimize.call(run, &app::StudyOptions::study,
                "recoil optimize needs a study and a folder (recoil optimize study.json -o fit/), or "
                "--restart fit/",
                &app::optimize);
}

void add_fracture(CLI::App& app, Run& run) {
  LongCommand<app::FractureOptions> fracture{
      app.add_subcommand("fracture", "Find how a shape breaks: its fracture modes, and pieces for impacts")};
  fracture.add_folders(fracture.options->shape, "shape", "Shape file (JSON)", "Folder to make",
                       "Folder of an earlier search, to continue, on any number of ranks");
  fracture.command->add_option(
      "--of-pieces", fracture.options->pieces,
      "Folder with piece_0.obj, ..: breaks these in the place of the mesh of the shape");
  fracture.add_console_and_petsc();
  fracture.call(run, &app::FractureOptions::shape,
                "recoil fracture needs a shape and a folder (recoil fracture shape.json -o modes/), or "
                "--restart modes/",
                &app::fracture);
}

void add_impact(CLI::App& app, Run& run) {
  LongCommand<app::ImpactCommand> impact{
      app.add_subcommand("impact", "Break a shape by impacts, with the modes of recoil fracture")};
  auto* modes = impact.command->add_option("modes", impact.options->modes, "Folder of recoil fracture");
  impact.add_folders(impact.options->impacts, "impacts", "File of impacts (JSON)", "Folder of pieces to make",
                     "Folder of pieces to complete, on any number of ranks");
  impact.command->get_option("--restart")->excludes(modes);
  impact.add_console_and_petsc();
  impact.call(
      run, &app::ImpactCommand::impacts,
      "recoil impact needs modes, impacts and a folder (recoil impact modes/ impacts.json -o pieces/), "
      "or --restart pieces/",
      &app::impact);
}

} // namespace recoil::drivers

#include <limits>

#include "commands.hpp"
#include "recoil/app/simulation/simulate.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::drivers {

void add_simulate(CLI::App& app, Run& run) {
  struct Arguments {
    app::SimulateOptions options;
    std::string petsc;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  CLI::App* command = app.add_subcommand("simulate", "Run a scene forward in time, or continue a run");
  auto* scene = command->add_option("scene", options.scene, "Scene file (JSON)");
  auto* output = command->add_option("-o,--output", options.output, "Run folder to make");
  auto* restart =
      command->add_option("--restart", options.restart, "Run folder to continue, on any number of ranks");
  restart->excludes(scene)->excludes(output);
  command->add_option("--steps", options.steps, "Stop when this many steps are done in all")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  add_console_and_petsc(*command, options.console, arguments->petsc);
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      const auto& chosen = arguments->options;
      if (chosen.restart.empty() && (chosen.scene.empty() || chosen.output.empty()))
        throw InputError(
            "recoil simulate needs a scene and a run folder (recoil simulate scene.json -o run/), or "
            "--restart run/");
      if (!arguments->petsc.empty()) linalg::insert_options(arguments->petsc);
      return app::simulate(comm, chosen);
    };
  });
}

} // namespace recoil::drivers

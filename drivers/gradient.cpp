#include "recoil/app/study/gradient.hpp"
#include "commands.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::drivers {

void add_gradient(CLI::App& app, Run& run) {
  struct Arguments {
    app::GradientOptions options;
    std::string petsc;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  CLI::App* command =
      app.add_subcommand("gradient", "Objective of a study and its gradient by all parameters");
  auto* study = command->add_option("study", options.study, "Study file (JSON)");
  auto* output = command->add_option("-o,--output", options.output, "Folder to make");
  auto* restart =
      command->add_option("--restart", options.restart, "Folder of an earlier gradient, to continue");
  restart->excludes(study)->excludes(output);
  command->add_flag("--check", options.check, "Taylor test and central differences of whole runs");
  add_console_and_petsc(*command, options.console, arguments->petsc);
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      const auto& chosen = arguments->options;
      if (chosen.restart.empty() && (chosen.study.empty() || chosen.output.empty()))
        throw InputError(
            "recoil gradient needs a study and a folder (recoil gradient study.json -o grad/), or "
            "--restart grad/");
      if (!arguments->petsc.empty()) linalg::insert_options(arguments->petsc);
      return app::gradient(comm, chosen);
    };
  });
}

} // namespace recoil::drivers

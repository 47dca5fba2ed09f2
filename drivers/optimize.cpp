#include "recoil/app/study/optimize.hpp"
#include "commands.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::drivers {

void add_optimize(CLI::App& app, Run& run) {
  struct Arguments {
    app::OptimizeOptions options;
    std::string petsc;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  CLI::App* command =
      app.add_subcommand("optimize", "Estimate the parameters of a study from its experiments");
  auto* study = command->add_option("study", options.study, "Study file (JSON)");
  auto* output = command->add_option("-o,--output", options.output, "Folder to make");
  auto* restart =
      command->add_option("--restart", options.restart, "Folder of an earlier optimisation, to continue");
  restart->excludes(study)->excludes(output);
  add_console_and_petsc(*command, options.console, arguments->petsc);
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      const auto& chosen = arguments->options;
      if (chosen.restart.empty() && (chosen.study.empty() || chosen.output.empty()))
        throw InputError(
            "recoil optimize needs a study and a folder (recoil optimize study.json -o fit/), or "
            "--restart fit/");
      if (!arguments->petsc.empty()) linalg::insert_options(arguments->petsc);
      return app::optimize(comm, chosen);
    };
  });
}

} // namespace recoil::drivers

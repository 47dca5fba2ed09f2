#include <iostream>

#include "commands.hpp"
#include "recoil/app/simulation/inspect.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::drivers {

void add_info(CLI::App& app, Run& run) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("info", "Tell what is in a run folder and whether its files are sound");
  command->add_option("folder", *folder, "Run folder")->required();
  command->callback([folder, &run] {
    run = [folder](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      const app::RunReport report = app::describe_run(comm, *folder);
      if (comm.rank() == 0) std::cout << report.text << std::flush;
      return report.sound ? ExitCode::done : ExitCode::file_error;
    };
  });
}

} // namespace recoil::drivers

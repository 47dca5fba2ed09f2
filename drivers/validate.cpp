#include <iostream>

#include "commands.hpp"
#include "recoil/app/simulation/inspect.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::drivers {

void add_validate(CLI::App& app, Run& run) {
  auto scenes = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("validate", "Check scenes, their meshes and initial states without solving");
  command->add_option("scene", *scenes, "Scene files (JSON)")->required();
  command->callback([scenes, &run] {
    run = [scenes](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      for (const std::string& scene : *scenes) std::cout << app::validate_scene(comm, scene) << std::flush;
      return ExitCode::done;
    };
  });
}

} // namespace recoil::drivers

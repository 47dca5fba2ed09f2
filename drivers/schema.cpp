#include <iostream>

#include "commands.hpp"
#include "recoil/app/scene/scene_documentation.hpp"

namespace recoil::drivers {

void add_schema(CLI::App& app, Run& run) {
  struct Arguments {
    std::string what;
    bool markdown = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of scene files");
  command->add_option("what", arguments->what, "scene")->required()->check(CLI::IsMember({"scene"}));
  command->add_flag("--markdown", arguments->markdown, "Print the reference (docs/scene.md) instead");
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      if (comm.rank() == 0)
        std::cout << (arguments->markdown ? app::scene_markdown() : app::scene_json_schema());
      return ExitCode::done;
    };
  });
}

} // namespace recoil::drivers

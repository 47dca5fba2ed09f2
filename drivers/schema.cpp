#include <iostream>

#include "commands.hpp"
#include "recoil/app/scene/scene_documentation.hpp"
#include "recoil/app/study/study_documentation.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::drivers {

void add_schema(CLI::App& app, Run& run) {
  struct Arguments {
    std::string what;
    bool markdown = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of scene or study files");
  command->add_option("what", arguments->what, "scene or study")
      ->required()
      ->check(CLI::IsMember({"scene", "study"}));
  command->add_flag("--markdown", arguments->markdown,
                    "Print the reference (docs/scene.md, docs/study.md) instead");
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      const bool study = arguments->what == "study";
      if (comm.rank() == 0 && arguments->markdown)
        std::cout << (study ? app::study_markdown() : app::scene_markdown());
      else if (comm.rank() == 0)
        std::cout << (study ? app::study_json_schema() : app::scene_json_schema());
      return ExitCode::done;
    };
  });
}

} // namespace recoil::drivers

#include <iostream>

#include "commands.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/app/scene/scene_format.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/input/read_study.hpp"
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
      for (const std::string& scene : *scenes)
        std::cout << app::validate_scene(comm, scene, app::all_solvers()) << std::flush;
      return ExitCode::done;
    };
  });
}

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
        std::cout << (study ? app::study_markdown() : app::scene_markdown(app::all_solvers().format()));
      else if (comm.rank() == 0)
        std::cout << (study ? app::study_json_schema() : app::scene_json_schema(app::all_solvers().format()));
      return ExitCode::done;
    };
  });
}

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

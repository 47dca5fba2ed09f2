#include <iostream>

#include "commands.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/app/impact/impact.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/app/scene/scene_format.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/gradient/gradient.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/base/signals.hpp"

namespace recoil::drivers {

namespace {

/// The JSON Schema of a kind of file, or its reference.
std::string schema_text(const std::string& kind, bool markdown) {
  if (kind == "study") return markdown ? app::study_markdown() : app::study_json_schema();
  if (kind == "fracture") return markdown ? app::fracture_markdown() : app::fracture_json_schema();
  if (kind == "impacts") return markdown ? app::impacts_markdown() : app::impacts_json_schema();
  const app::SceneFormat& format = app::all_solvers().format();
  return markdown ? app::scene_markdown(format) : app::scene_json_schema(format);
}

} // namespace

void add_validate(CLI::App& app, Run& run) {
  auto scenes = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("validate", "Check scenes, studies or shapes and their meshes without solving");
  command->add_option("scene", *scenes, "Files of scenes, studies or shapes (JSON)")->required();
  command->callback([scenes, &run] {
    run = [scenes](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      for (const std::string& scene : *scenes)
        std::cout << (app::is_shape_file(comm, scene) ? app::validate_shape(comm, scene)
                      : app::is_study_file(comm, scene)
                          ? app::validate_study(comm, scene)
                          : app::validate_scene(comm, scene, app::all_solvers()))
                  << std::flush;
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
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of a kind of file");
  command->add_option("what", arguments->what, "scene, study, fracture (files of shapes) or impacts")
      ->required()
      ->check(CLI::IsMember({"scene", "study", "fracture", "impacts"}));
  command->add_flag("--markdown", arguments->markdown, "Print the reference (docs/scene.md, ..) instead");
  command->callback([arguments, &run] {
    run = [arguments](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      if (comm.rank() == 0) std::cout << schema_text(arguments->what, arguments->markdown);
      return ExitCode::done;
    };
  });
}

void add_info(CLI::App& app, Run& run) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("info", "Tell what is in a folder of recoil and whether its files are sound");
  command->add_option("folder", *folder, "Folder of a run, of fracture modes or of pieces")->required();
  command->callback([folder, &run] {
    run = [folder](const parallel::Communicator& comm) {
      InterruptSignals::let_go();
      const app::RunReport report =
          app::is_fracture_folder(comm, *folder) ? app::describe_fracture(comm, *folder)
          : app::is_impact_folder(comm, *folder) ? app::describe_impacts(comm, *folder)
                                                 : app::describe_run(comm, *folder);
      if (comm.rank() == 0) std::cout << report.text << std::flush;
      return report.sound ? ExitCode::done : ExitCode::file_error;
    };
  });
}

} // namespace recoil::drivers

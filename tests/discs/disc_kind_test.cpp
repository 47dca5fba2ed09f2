#include "discs/disc_kind.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "recoil/app/run/inspect.hpp"
#include "recoil/app/run/simulate.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"
#include "support/temporary_folder.hpp"

/// A solver that recoil does not have is a file of its own and a line in the list of solvers.
namespace recoil::discs {
namespace disc_kind_test {

using nlohmann::json;
using ::testing::HasSubstr;

const json scene = json::parse(
    R"({"geometry": {"name": "row", "discs": 5}, "solver": {"type": "discs", "discs": {"mass": 1.5}},
                                   "time": {"dt": 0.05, "time_steps": 4}, "output": {"every": 2, "chunk": 2}})");

class DiscKind : public ::testing::Test {
protected:
  std::filesystem::path write(const json& scene) {
    const std::filesystem::path path = folder_ / "scene.json";
    if (comm_.rank() == 0) std::ofstream(path) << scene.dump(1);
    comm_.barrier();
    return path;
  }
  ExitCode simulate(const std::string& output, std::optional<std::int64_t> steps, bool restart) {
    app::SimulateOptions options;
    options.console.quiet = true;
    options.steps = steps;
    if (restart)
      options.restart = folder_ / output;
    else
      options.scene = folder_ / "scene.json", options.output = folder_ / output;
    return app::simulate(comm_, options, app::all_solvers());
  }
  std::string read(const std::string& file) { return read_file(folder_ / file); }
  /// What is said of a scene with these changes.
  std::string refusal_of(const char* merge_patch) {
    json wrong = scene;
    wrong.merge_patch(json::parse(merge_patch));
    try {
      app::parse_scene(wrong.dump(), "scene.json", "/", app::all_solvers().format());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  testing::TemporaryFolder folder_{comm_};
};

TEST_F(DiscKind, RunsAndContinues) {
  write(scene);
  ASSERT_EQ(simulate("whole", {}, false), ExitCode::done);
  ASSERT_EQ(simulate("parts", 3, false), ExitCode::done);
  ASSERT_EQ(simulate("parts", {}, true), ExitCode::done);
  const std::string ledger = read("whole/ledger.csv");
  EXPECT_THAT(ledger, HasSubstr("step,time,kinetic,elastic,barrier,gravity,dissipated_drag,"));
  if (comm_.size() == 1) {
    EXPECT_EQ(ledger, read("parts/ledger.csv"));
  }
  const json summary = json::parse(read("parts/summary.json"));
  EXPECT_EQ(summary["steps"], 4);
  EXPECT_EQ(summary["discs"], 5);
  EXPECT_GT(summary["newton_iterations"], 0);
  EXPECT_THAT(read("whole/trajectory/manifest.json"), HasSubstr("discs"));
  EXPECT_EQ(json::parse(read("whole/scene.json"))["solver"]["discs"]["stiffness"], reference[stiffness]);
}

TEST_F(DiscKind, IsValidated) {
  const std::string report = app::validate_scene(comm_, write(scene), app::all_solvers());
  if (comm_.rank() == 0) {
    EXPECT_THAT(report, HasSubstr("valid, 2D, 5 discs, 0 obstacle(s)"));
  }
}

TEST_F(DiscKind, RefusesKeysOfOthersAndIsRefusedByThem) {
  ASSERT_EQ(refusal_of("{}"), "");
  const std::string contact = refusal_of(R"({"contact": {"enabled": true}})");
  EXPECT_THAT(contact, HasSubstr("(/contact/enabled)"));
  EXPECT_THAT(contact,
              HasSubstr("is of finite elements and bonded particles, this is a scene of discs; leave it out: "
                        "discs have a barrier of their own"));
  const std::string order = refusal_of(R"({"space": {"discr_order": 2}})");
  EXPECT_THAT(order, HasSubstr("(/space/discr_order)"));
  EXPECT_THAT(order,
              HasSubstr("is of finite elements, this is a scene of discs; leave it out, or write \"solver\": "
                        "{\"type\": \"elastodynamics\"}"));
  EXPECT_THAT(refusal_of(R"({"materials": {"type": "NeoHookean", "E": 1, "nu": 0.3}})"),
              HasSubstr("(/materials/type)"));
  EXPECT_THAT(refusal_of(R"({"geometry": {"particles": {"radius": 1}}})"),
              HasSubstr("(/geometry/particles)"));
  EXPECT_THAT(refusal_of(R"({"solver": {"discs": {"mass": -1}}})"), HasSubstr("(/solver/discs/mass)"));
  const std::string elsewhere = refusal_of(R"({"solver": {"type": null}, "geometry": {"discs": null,
      "generator": {"type": "box", "size": [1, 1, 1], "divisions": 1}}, "materials": {"type": "NeoHookean", "E": 1, "nu": 0.3}})");
  EXPECT_THAT(elsewhere, HasSubstr("(/solver/discs/mass)"));
  EXPECT_THAT(elsewhere,
              HasSubstr("is of discs, this is a scene of finite elements; leave it out, or write \"solver\": "
                        "{\"type\": \"discs\"}"));
}

} // namespace disc_kind_test
} // namespace recoil::discs

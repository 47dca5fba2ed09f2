#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/app/study/gradient/gradient.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/inverse/reduced_objective.hpp"
#include "support/temporary_folder.hpp"

/// What studies know of a solver is a file of its own and a line in their list; objectives come with what the
/// solver lets them see.
namespace recoil::discs {
namespace disc_experiment_test {

using nlohmann::json;
using ::testing::HasSubstr;

const json scene = json::parse(R"({"geometry": {"name": "row", "discs": 5}, "solver": {"type": "discs"},
                                   "time": {"dt": 0.05, "time_steps": 12}})");
const json study = json::parse(R"({
    "experiments": {"name": "fall", "scene": "scene.json"},
    "parameters": [{"name": "rho", "quantity": "density", "initial": 2.6, "scale": "log"},
                   {"name": "E", "quantity": "young_modulus", "initial": 40}],
    "objectives": [{"name": "path", "type": "center_of_mass", "target": "centre.csv"},
                   {"name": "up", "type": "height", "axis": "y", "time": "final", "weight": 0.3}]})");

/// The only experiment of a study.
struct Studied {
  Studied(const parallel::Communicator& comm, const app::Study& study, const std::filesystem::path& scene)
      : interrupts(comm),
        model(app::ExperimentModel::create(comm, study, 0, app::load_scene(comm, scene, app::all_solvers()),
                                           interrupts)) {}
  app::Interrupts interrupts;
  std::unique_ptr<app::ExperimentModel> model;
};

/// Of fourth order, by every value.
app::ParameterValues differences(inverse::ReducedObjective& objective, const app::ParameterValues& q) {
  app::ParameterValues result;
  for (std::size_t k = 0; k < q.size(); ++k) {
    const auto at = [&](double share) {
      app::ParameterValues changed = q;
      changed[k][0] *= 1 + share;
      return objective.value(changed).objective;
    };
    const double h = 1e-3;
    result.push_back({(8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h * q[k][0])});
  }
  return result;
}

class DiscExperiment : public ::testing::Test {
protected:
  DiscExperiment() {
    if (comm_.rank() == 0) {
      std::ofstream(folder_ / "scene.json") << scene;
      std::ofstream(folder_ / "study.json") << study;
      std::ofstream(folder_ / "centre.csv") << "time,x,y,sd\n0,2,0.6,0.1\n0.3,2.02,1.1,0.1\n0.6,2,0.9,0.2\n";
    }
    comm_.barrier();
  }
  app::Study read(const json& document) {
    app::Study all = app::parse_study(document.dump(), "study.json", folder_.path()).study;
    const std::vector<app::Scene> scenes{
        app::read_scene(folder_ / "scene.json", app::all_solvers().format()).scene};
    const std::vector<int> dims{2};
    app::check_study_dimensions(all, dims);
    app::check_study_against_scenes(all, scenes);
    return all;
  }
  std::string refusal_of(const char* merge_patch) {
    json wrong = study;
    wrong.merge_patch(json::parse(merge_patch));
    try {
      read(wrong);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  testing::TemporaryFolder folder_{comm_};
};

/// The command does the whole of it, on one rank its own comparison with differences of runs included.
TEST_F(DiscExperiment, HasGradientsOfStudies) {
  app::StudyOptions options;
  options.study = folder_ / "study.json";
  options.output = folder_ / "out";
  options.check = comm_.size() == 1;
  options.console.quiet = true;
  ASSERT_EQ(app::gradient(comm_, options), ExitCode::done);
  const json report = json::parse(read_file(folder_ / "out" / "gradient.json"));
  EXPECT_GT(report["objective"], 0) << report.dump(1);
  EXPECT_THAT(read_file(folder_ / "out" / "fall" / "scene.json"), HasSubstr("discs"));
}

/// On one rank; on several ones those of one rank, since differences are most of the work.
TEST_F(DiscExperiment, GradientsAndTangentsAgreeWithDifferences) {
  const parallel::Communicator alone = comm_.split(comm_.rank());
  json squares = study;
  squares["objectives"].erase(1);
  for (const json& document : {study, squares}) {
    const app::Study all = read(document);
    const Studied on_all(comm_, all, folder_ / "scene.json"), here(alone, all, folder_ / "scene.json");
    const app::ParameterValues q = on_all.model->start_values();
    inverse::ReducedObjective objective(*on_all.model, {4, {}}), other(*here.model, {4, {}});
    const inverse::ObjectiveGradient gradient = objective.gradient(q);
    ASSERT_EQ(gradient.failure, "");
    const auto expected = comm_.size() > 1 ? other.gradient(q).values : differences(other, q);
    for (std::size_t k = 0; k < q.size(); ++k)
      EXPECT_NEAR(gradient.values[k][0], expected[k][0],
                  (comm_.size() > 1 ? 1e-10 : 1e-6) * std::abs(expected[k][0]))
          << on_all.model->parameter_name(k);
    if (document != squares) continue;
    ASSERT_EQ(on_all.model->check_start().why_not_least_squares, "");
    const inverse::ResidualChanges forward = objective.jacobian(q, {{{1}, {0}}, {{0}, {1}}});
    ASSERT_EQ(forward.failure, "");
    const std::vector<double> r = objective.residuals(q);
    for (std::size_t k = 0; k < q.size(); ++k) {
      double by_tangent = 0;
      for (std::size_t i = 0; i < r.size(); ++i) by_tangent += 2 * r[i] * forward.columns[k][i];
      EXPECT_NEAR(comm_.sum(by_tangent), gradient.values[k][0], 1e-10 * std::abs(gradient.values[k][0]));
    }
  }
}

TEST_F(DiscExperiment, RefusesWhatDiscsDoNotHave) {
  ASSERT_EQ(refusal_of("{}"), "");
  EXPECT_THAT(refusal_of(R"({"objectives": [{"name": "s", "type": "elastic_energy"}]})"),
              HasSubstr("elastic_energy asks for the elastic energy, which discs do not have; take "
                        "center_of_mass or height"));
  EXPECT_THAT(refusal_of(R"({"parameters": [{"name": "nu", "quantity": "poisson_ratio", "initial": 0.3}]})"),
              HasSubstr("poisson_ratio is no parameter of discs; take density or young_modulus"));
}

} // namespace disc_experiment_test
} // namespace recoil::discs

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app_study/study_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app::study_values_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string folder = RECOIL_TEST_DATA "/studies/";

TEST(StudyValues, Example) {
  const Study study = read_study(folder + "example.json").study;
  ASSERT_EQ(study.experiments.size(), 1u);
  EXPECT_EQ(study.experiments[0].name, "drop");
  EXPECT_EQ(study.experiments[0].scene, fs::path(folder + "drop.json").lexically_normal());
  ASSERT_EQ(study.parameters.size(), 3u);
  const ParameterSpec& E = study.parameters[0];
  EXPECT_EQ(E.kind, find_parameter_kind("young_modulus"));
  EXPECT_THAT(E.bodies, ElementsAre("ball"));
  EXPECT_THAT(E.experiments, ElementsAre(0));
  EXPECT_THAT(E.initial, ElementsAre(2e5));
  EXPECT_THAT(E.bounds.value(), ElementsAre(1e4, 1e7));
  EXPECT_EQ(E.scale.form, &parameters::Scaling::logarithm);
  EXPECT_EQ(E.per, Per::global);
  EXPECT_EQ(E.where.entry, folder + "example.json:2 (/parameters/0)");
  EXPECT_EQ(E.where.of("initial"), folder + "example.json:2 (/parameters/0/initial)");
  EXPECT_EQ(E.where.of("tie"), E.where.entry);
  EXPECT_THAT(study.parameters[1].bodies, ElementsAre("ball", "floor"));
  EXPECT_EQ(study.parameters[1].scale.form, &parameters::Scaling::linear);
  EXPECT_THAT(study.parameters[2].initial, ElementsAre(1, 0, 0));
  EXPECT_FALSE(study.parameters[2].bounds);
  ASSERT_EQ(study.objectives.size(), 1u);
  const ObjectiveSpec& path = *study.objectives[0];
  EXPECT_EQ(path.type, find_objective_type("center_of_mass"));
  EXPECT_THAT(path.files(), ElementsAre(fs::path(folder + "observed.csv").lexically_normal()));
  EXPECT_TRUE(std::holds_alternative<objectives::WholeTime>(path.time.value()));
  EXPECT_EQ(path.weight, 1);
  EXPECT_EQ(study.sweep.tolerance, 1e-10);
  EXPECT_EQ(study.optimizer.method, OptimizationMethod::automatic);
  EXPECT_TRUE(study.optimizer.stop_at_noise);
  EXPECT_FALSE(study.optimizer.starts);
  EXPECT_EQ(study.optimizer.on_failure, FailedRun::reject);
  EXPECT_TRUE(study.uncertainty.intervals);
  EXPECT_THAT(study.uncertainty.profile, IsEmpty());
  EXPECT_FALSE(study.sweep.state_budget);
  EXPECT_THAT(study.check.steps, ElementsAre(1e-3, 1e-4, 1e-5, 1e-6, 1e-7));
  EXPECT_THAT(study.warnings, IsEmpty());
}

TEST(StudyValues, ExampleAgreesWithItsScene) {
  const Study study = read_study(folder + "example.json").study;
  EXPECT_THAT(check_with_scene(study, read_scene(study.experiments[0].scene, all_solvers().format()).scene),
              IsEmpty());
}

/// The optimiser sees logarithms of what is above zero by nature, unless a bound, a prior or the study says
/// otherwise.
TEST(StudyValues, LogarithmsByDefault) {
  const auto form_of = [](const std::string& quantity, const std::string& more) {
    return parse_study(R"({"experiments": {"name": "x", "scene": "drop.json"},
                           "parameters": {"name": "q", "quantity": ")" +
                           quantity + R"(", "initial": 0.3)" + more + R"(},
                           "objectives": {"name": "o", "type": "height", "axis": "y"}})",
                       "study.json", folder)
        .study.parameters[0]
        .scale.form;
  };
  using parameters::Scaling;
  for (const char* quantity : {"young_modulus", "mu_lame", "density", "tensile_strength"}) {
    EXPECT_EQ(form_of(quantity, ""), &Scaling::logarithm) << quantity;
    EXPECT_EQ(form_of(quantity, R"(, "bounds": [0.1, 1])"), &Scaling::logarithm) << quantity;
    EXPECT_EQ(form_of(quantity, R"(, "scale": "linear")"), &Scaling::linear) << quantity;
    EXPECT_EQ(form_of(quantity, R"(, "prior": {"mean": 1, "sd": 0.2})"), &Scaling::linear) << quantity;
  }
  EXPECT_EQ(form_of("young_modulus", R"(, "per": "element")"), &Scaling::logarithm);
  for (const char* quantity : {"poisson_ratio", "lambda", "ogden_mu_1", "ogden_alpha_1", "damping_shear"})
    EXPECT_EQ(form_of(quantity, ""), &Scaling::linear) << quantity;
}

TEST(StudyValues, EveryKey) {
  const Study study = read_study(folder + "every_key.json").study;
  const auto& p = study.parameters;
  EXPECT_EQ(p[0].per, Per::body);
  EXPECT_EQ(p[0].scale.form, &parameters::Scaling::multiple);
  EXPECT_EQ(p[0].scale.factor, 1e5);
  EXPECT_THAT(p[0].initial, ElementsAre(2e5));
  EXPECT_EQ(p[1].tie, 0);
  EXPECT_THAT(p[1].initial, ElementsAre(2e5));
  EXPECT_THAT(p[1].bounds.value(), ElementsAre(1e4, 1e7));
  EXPECT_EQ(p[1].scale.factor, 1e5);
  EXPECT_THAT(p[1].experiments, ElementsAre(1));
  EXPECT_EQ(p[0].prior->of_variable(p[0].scale, 0).mean, 1);
  EXPECT_EQ(p[0].prior->of_variable(p[0].scale, 0).sd, 0.5);
  EXPECT_FALSE(p[1].prior);
  EXPECT_EQ(p[2].initial_file->file, fs::path(folder + "observed.csv").lexically_normal());
  EXPECT_EQ(p[2].initial_file->dataset, "k");
  EXPECT_THAT(p[2].initial, IsEmpty());
  EXPECT_NEAR(p[2].prior->of_variable(p[2].scale, 0).mean, std::log(1e6), 1e-14);
  EXPECT_NEAR(p[2].prior->of_variable(p[2].scale, 0).sd, 0.2, 1e-14);
  EXPECT_EQ(p[8].initial_file->parameter, "stretch");
  EXPECT_THAT(p[2].regions, ElementsAre(0, 4));
  EXPECT_EQ(p[2].per, Per::element);
  EXPECT_THAT(p[2].experiments, ElementsAre(0, 1));
  EXPECT_EQ(p[3].scale.form, &parameters::Scaling::logit);
  EXPECT_EQ(p[4].boundary, 1);
  EXPECT_TRUE(p[4].per_step);
  EXPECT_STREQ(p[7].basis->form->name, "box");
  EXPECT_NO_THROW(p[7].basis->check_dimension(3, ""));
  EXPECT_THROW(p[7].basis->check_dimension(2, ""), InputError);
  EXPECT_THAT(p[7].initial, IsEmpty());
  EXPECT_STREQ(p[8].basis->form->name, "affine");
  const auto& o = study.objectives;
  EXPECT_THAT(std::get<objectives::ChosenSteps>(o[0]->time.value()).steps, ElementsAre(0, 5, 10));
  EXPECT_EQ(o[0]->power, 0.5);
  EXPECT_EQ(o[1]->experiment, 1);
  EXPECT_THAT(std::get<objectives::ChosenTimes>(o[1]->time.value()).times, ElementsAre(0.025, 0.1));
  EXPECT_THAT(o[2]->files(), ElementsAre(fs::path(folder + "observed.csv").lexically_normal()));
  EXPECT_THAT(o[3]->files(), ElementsAre(fs::path(folder + "observed.csv").lexically_normal()));
  EXPECT_TRUE(std::holds_alternative<objectives::FinalState>(o[3]->time.value()));
  EXPECT_EQ(o[4]->weight, -2);
  EXPECT_THAT(o[5]->bodies, ElementsAre("ball", "plinth"));
  EXPECT_THAT(o[6]->files(), IsEmpty());
  EXPECT_TRUE(counts_observations_once(*o[8], false));
  EXPECT_EQ(o[8]->loss->type, objectives::RobustLoss::Type::cauchy);
  EXPECT_EQ(o[8]->loss->width, 3);
  EXPECT_FALSE(o[9]->loss);
  EXPECT_FALSE(counts_observations_once(*o[8], true));
  EXPECT_TRUE(counts_observations_once(*o[9], false));
  EXPECT_FALSE(counts_observations_once(*o[2], false));
  EXPECT_EQ(study.optimizer.method, OptimizationMethod::gauss_newton);
  EXPECT_FALSE(study.optimizer.stop_at_noise);
  EXPECT_EQ(study.optimizer.starts, 1);
  EXPECT_EQ(study.optimizer.seed, 5);
  EXPECT_EQ(study.optimizer.on_failure, FailedRun::drop);
  EXPECT_EQ(study.optimizer.on_bad_fit, BadFit::fail);
  EXPECT_FALSE(study.uncertainty.intervals);
  EXPECT_THAT(study.uncertainty.profile, ElementsAre(0, 3));
  EXPECT_THAT(study.markers[0].rest, ElementsAre(0, 0, 2.5));
  EXPECT_EQ(study.sweep.store_every, 4);
  EXPECT_EQ(study.sweep.state_budget, 8);
  EXPECT_THAT(study.warnings, IsEmpty());
  EXPECT_THAT(check_with_scene(study, changed_drop("{}")), IsEmpty());
}

TEST(StudyValues, ResolvedTextReadsBackToItself) {
  for (const char* name : {"example.json", "every_key.json"}) {
    const StudyFile first = read_study(folder + name);
    const StudyFile again = parse_study(first.resolved, "resolved.json", "/");
    EXPECT_EQ(again.resolved, first.resolved);
    EXPECT_EQ(again.study.objectives[0]->weight, first.study.objectives[0]->weight);
    EXPECT_EQ(again.study.check.steps, first.study.check.steps);
  }
}

TEST(StudyValues, AnotherRankNamesThePlacesOfTheFile) {
  const std::string path = folder + "every_key.json";
  const StudyFile written = read_study(path);
  const StudyFile read = read_resolved_study(written.resolved, written.locations, path);
  EXPECT_EQ(read.resolved, written.resolved);
  for (std::size_t i = 0; i < written.study.parameters.size(); ++i) {
    EXPECT_EQ(read.study.parameters[i].where.entry, written.study.parameters[i].where.entry);
    EXPECT_EQ(read.study.parameters[i].where.keys, written.study.parameters[i].where.keys);
  }
}

/// The clock on the wall is not in the units of the study.
TEST(StudyValues, TimeBudgetIsInSeconds) {
  for (const char* budget : {R"({"value": 1, "unit": "h"})", "3600000"})
    EXPECT_EQ(read_changed_study(R"({"units": {"time": "ms"}, "optimizer": {"time_budget": )" +
                                 std::string(budget) + "}}")
                  .study.optimizer.time_budget,
              3600);
  EXPECT_EQ(read_changed_study(R"({"optimizer": {"time_budget": 60}})").study.optimizer.time_budget, 60);
}

TEST(StudyValues, TimesThatAreNotWritten) {
  const Study study = read_changed_study(with_objectives(R"({"name": "a", "type": "elastic_energy"},
                                            {"name": "b", "type": "volume_bound", "limit": 1})"))
                          .study;
  using namespace objectives;
  EXPECT_TRUE(std::holds_alternative<WholeTime>(observed_times(*study.objectives[0], false)));
  EXPECT_TRUE(std::holds_alternative<FinalState>(observed_times(*study.objectives[0], true)));
  EXPECT_TRUE(std::holds_alternative<FinalState>(observed_times(*study.objectives[1], false)));
}

TEST(StudyWarnings, NameWhatIsProbablyNotMeant) {
  const Study study = read_changed_study(R"({
    "experiments": [{"name": "drop", "scene": "drop.json"}, {"name": "idle", "scene": "drop.json"}],
    "objectives": [{"name": "V", "type": "volume_bound", "experiment": "drop", "limit": 1}],
    "markers": [{"name": "top", "body": "ball", "rest": [0, 0, 0]}]})")
                          .study;
  EXPECT_THAT(study.warnings, ElementsAre(HasSubstr("'V' (volume_bound) is constant"),
                                          HasSubstr("no objective looks at experiment 'idle'")));
  const auto warnings =
      check_with_scene(study, changed_drop(R"({"solver": {"nonlinear": {"stop": "step"}}})"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("looks at 'top'"), HasSubstr("solver/nonlinear/stop"),
                                    HasSubstr("solver/nonlinear/stop")));
}

/// The material of the elements of a mesh file is known with the mesh; the check is the same then.
TEST(MaterialOnTheMesh, IsLeftToTheMeshWhereItIsNotKnown) {
  const Study study = read_changed_study(R"({"parameters": {"name": "E", "quantity": "young_modulus",
                                             "body": "ball", "initial": 1}})")
                          .study;
  Scene scene = changed_drop(R"({"materials": [{"id": 0, "type": "NeoHookean", "E": 1, "nu": 0},
                                               {"id": 1, "type": "MooneyRivlin", "c1": 1, "c2": 1, "k": 1}]})");
  scene.geometry[0].generator.reset();
  scene.geometry[0].mesh = "ball.msh";
  EXPECT_NO_THROW(check_with_scene(study, scene));
  EXPECT_NO_THROW(check_replaces_material(study.parameters[0], elements_of(scene).materials[0], "ball"));
  EXPECT_THROW(check_replaces_material(study.parameters[0], elements_of(scene).materials[1], "ball"),
               InputError);
}

} // namespace
} // namespace recoil::app::study_values_test

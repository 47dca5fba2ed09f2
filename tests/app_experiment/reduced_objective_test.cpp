#include "recoil/inverse/reduced_objective.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_experiment/experiment.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app::reduced_objective_test {
namespace {

using nlohmann::json;

/// A block that falls on a clamped one and slides on it, BDF2.
template <int dim>
json scene() {
  const json size = dim == 2 ? json::array({1, 0.5}) : json::array({1, 0.5, 0.6}),
             divisions = dim == 2 ? json::array({3, 2}) : json::array({2, 2, 1});
  const json box{{"type", dim == 2 ? "rectangle" : "box"}, {"size", size}, {"divisions", divisions}};
  json scene = json::parse(R"({
    "materials": [{"body": "lower", "type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 100},
                  {"body": "upper", "type": "NeoHookean", "E": 2e4, "nu": 0.2, "rho": 100, "psi": 1}],
    "contact": {"enabled": true, "dhat": 0.05, "friction_coefficient": 0.3, "epsv": 0.1},
    "solver": {"contact": {"barrier_stiffness": 1e4},
               "nonlinear": {"grad_norm_tol": 1e-13, "rel_grad_norm_tol": 0}},
    "time": {"dt": 0.01, "time_steps": 7, "integrator": {"type": "BDF", "steps": 2}}})");
  scene["boundary_conditions"]["dirichlet_boundary"] = {{"id", 1}, {"value", std::vector<double>(dim, 0.0)}};
  scene["geometry"] = json::array(
      {{{"name", "lower"},
        {"generator", box},
        {"surface_selection", {{{"id", 1}, {"axis", "-y"}, {"position", 0.01}}}}},
       {{"name", "upper"},
        {"generator", box},
        {"transformation",
         {{"translation", dim == 2 ? json::array({0.1, 0.53}) : json::array({0.1, 0.53, 0.05})}}}}});
  return scene;
}

template <int dim>
json study() {
  json study = json::parse(R"({
    "experiments": {"name": "run", "scene": "scene.json"},
    "parameters": [
      {"name": "E", "quantity": "young_modulus", "body": "upper", "initial": 2e4},
      {"name": "friction", "quantity": "friction", "bodies": ["upper", "lower"], "initial": 0.3}],
    "objectives": {"name": "path", "type": "center_of_mass", "experiment": "run", "body": "upper",
                   "target": "observed.csv", "time": "integral"}})");
  const json velocity = dim == 2 ? json::array({1.0, -1.5}) : json::array({1.0, -1.5, 0.3});
  study["parameters"].push_back(
      {{"name", "v0"}, {"quantity", "initial_velocity"}, {"body", "upper"}, {"initial", velocity}});
  return study;
}

/// The study on some ranks.
template <int dim>
class SlidingBlock {
public:
  explicit SlidingBlock(MPI_Comm ranks) : comm_(ranks), folder_(comm_), interrupts_(comm_) {
    if (comm_.rank() == 0) {
      std::ofstream(folder_ / "scene.json") << scene<dim>();
      std::ofstream(folder_ / "observed.csv") << (dim == 2 ? "time,x,y\n0,0.6,0.7\n0.07,0.7,0.6\n"
                                                           : "time,x,y,z\n0,0.6,0.7,0.3\n0.07,0.7,0.6,0.3\n");
    }
    comm_.barrier();
    study_ = parse_study(study<dim>().dump(), "study.json", folder_.path()).study;
    model_ = std::make_unique<ExperimentOnMesh<dim>>(
        comm_, study_, 0, load_scene(comm_, folder_ / "scene.json", all_solvers()), interrupts_);
  }

  const ExperimentOnMesh<dim>& model() const { return *model_; }

  /// The start values times `factor`.
  ParameterValues values(double factor) const {
    ParameterValues values = model_->start_values();
    for (auto& field : values)
      for (double& value : field) value *= factor;
    return values;
  }

private:
  parallel::Communicator comm_;
  testing::TemporaryFolder folder_;
  Interrupts interrupts_;
  Study study_;
  std::unique_ptr<ExperimentOnMesh<dim>> model_;
};

template <class Dim>
class ReducedObjectiveIn : public ::testing::Test {
protected:
  using Block = SlidingBlock<Dim::value>;
  Block block_{MPI_COMM_WORLD};
};
using Dimensions = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(ReducedObjectiveIn, Dimensions);

/// The derivative by entry i of parameter k, by differences of fourth order, with the step that agrees best.
void check_difference(inverse::ReducedObjective& objective, const ParameterValues& at, std::size_t k,
                      std::size_t i, double derivative) {
  double error = std::numeric_limits<double>::infinity();
  for (const double relative : {1e-3, 1e-4, 1e-5}) {
    const double h = relative * std::abs(at[k][i]);
    const auto value = [&](double by) {
      ParameterValues moved = at;
      moved[k][i] += by;
      return objective.value(moved).objective;
    };
    const double difference = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
    error = std::min(error, std::abs(difference - derivative) / std::abs(difference));
  }
  EXPECT_LE(error, 1e-6) << "parameter " << k << ", entry " << i;
}

// At two points, there and back: what an optimiser asks for.
TYPED_TEST(ReducedObjectiveIn, HasTheGradientOfDifferencesWhereverItIsAsked) {
  inverse::ReducedObjective objective(this->block_.model(), {});
  ParameterValues first;
  for (const double factor : {1.0, 1.1, 1.0}) {
    const ParameterValues at = this->block_.values(factor);
    const inverse::ObjectiveGradient gradient = objective.gradient(at);
    ASSERT_EQ(gradient.failure, "");
    if (!first.empty() && factor == 1) {
      EXPECT_EQ(gradient.values, first) << "other bits";
      break;
    }
    if (first.empty()) first = gradient.values;
    ParameterValues alone;
    if (!is_alone()) {
      const typename TestFixture::Block block(MPI_COMM_SELF);
      alone = inverse::ReducedObjective(block.model(), {}).gradient(at).values;
      ASSERT_EQ(alone.size(), at.size());
    }
    for (std::size_t k = 0; k < at.size(); ++k)
      for (std::size_t i = 0; i < at[k].size(); ++i) {
        SCOPED_TRACE(factor);
        const double found = gradient.values[k][i];
        if (is_alone())
          check_difference(objective, at, k, i, found);
        else
          EXPECT_NEAR(found, alone[k][i], 1e-8 * std::abs(alone[k][i]));
      }
  }
}

TYPED_TEST(ReducedObjectiveIn, RepeatsStepsToTheSameBits) {
  const auto gradient = [&](inverse::ReducedObjective::Options options) {
    const auto result =
        inverse::ReducedObjective(this->block_.model(), options).gradient(this->block_.values(1));
    EXPECT_EQ(result.failure, "");
    EXPECT_FALSE(result.values.empty());
    return result.values;
  };
  const ParameterValues all = gradient({});
  EXPECT_EQ(gradient({3, {}}), all);
  inverse::SweepSettings small;
  small.state_budget = 3;
  EXPECT_EQ(gradient({100, small}), all);
}

TYPED_TEST(ReducedObjectiveIn, SaysWhereThereIsNoSolution) {
  inverse::ReducedObjective objective(this->block_.model(), {});
  ParameterValues far = this->block_.values(1);
  far[2][1] = -1e7; // into the clamped block in one step
  EXPECT_NE(objective.value(far).failure, "");
  EXPECT_NE(objective.gradient(far).failure, "");
  EXPECT_EQ(objective.gradient(this->block_.values(1)).failure, "");
}

} // namespace
} // namespace recoil::app::reduced_objective_test

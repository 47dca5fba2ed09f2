#include <array>
#include <random>

#include "app_experiment/every_kind.hpp"
#include "app_experiment/experiment.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"

namespace recoil::app::least_squares_test {
namespace {

using nlohmann::json;
using namespace every_kind;

/// Squares of velocities and of a centre of mass, which see every body and its density and shape, and of
/// forces, which see the steps.
template <int dim>
json study(const json& parameter) {
  json result = json::parse(R"({
    "experiments": {"name": "run", "scene": "scene.json"},
    "objectives": [
      {"name": "motion", "type": "velocity", "time": {"times": [0.003, 0.016]}, "weight": 3},
      {"name": "path", "type": "center_of_mass", "body": ["upper", "lower"], "target": "observed.csv"},
      {"name": "clamp", "type": "reaction_force", "boundary": 1, "target": "force.csv", "weight": 1e-6,
       "time": {"steps": [0, 2, 4]}},
      {"name": "pusher", "type": "reaction_force", "obstacle": "pusher", "target": "force.csv",
       "weight": 1e-6, "time": {"steps": [1, 3, 4]}}]})");
  result["objectives"][2]["direction"] = vector<dim>(0.6, 1, 0.2);
  result["objectives"][3]["direction"] = vector<dim>(1, 0.8, 0.1);
  result["objectives"][0]["target"] = vector<dim>(0.1, -0.2, 0.05);
  result["parameters"] = {parameter};
  return result;
}

/// A run, with all of its states.
template <int dim>
class Run final : public adjoint::StateSource {
public:
  Run(const ExperimentOnMesh<dim>& model, const ParameterValues& values) : problem(model.at(values)) {
    stepping::Solver& solver = problem->solver();
    problem->keep_residuals();
    const auto see = [&](const stepping::StepRecord& record, const linalg::Vector& u,
                         const linalg::Vector& v) {
      records.push_back(record);
      states.push_back({record.id, u, v});
      problem->observe(record, u, v, {});
    };
    stepping::StepRecord start;
    start.time = solver.start_time();
    see(start, solver.history().newest().u, solver.history().newest().v);
    while (solver.step() < problem->num_steps())
      if (const auto outcome = solver.advance(see, 1); !outcome.accepted)
        throw std::runtime_error(outcome.failure);
  }
  const stepping::State& state(GlobalIndex id) override { return states.at(id); }

  std::unique_ptr<inverse::ForwardProblem> problem;
  std::vector<stepping::StepRecord> records;
  std::vector<stepping::State> states;
};

constexpr adjoint::SweepOptions tight{1e-13};

template <int dim>
std::vector<double> tangent(Run<dim>& run, const ParameterValues& change, int history) {
  const auto tangent = run.problem->tangent({change}, std::ssize(run.records));
  adjoint::TangentSweep sweep(tangent->step(), tangent->residuals(), history, tight);
  for (const stepping::StepRecord& record : run.records)
    EXPECT_EQ(sweep.advance(record, run.state(record.id).u, run.state(record.id).v), "");
  return tangent->change_of_residuals(0);
}

template <int dim>
ParameterValues transposed(Run<dim>& run, std::span<const double> y) {
  const auto adjoint = run.problem->residual_adjoint(y, std::ssize(run.records));
  adjoint::ReverseSweep sweep(run.records, run, adjoint->objective(), adjoint->step(), tight);
  while (sweep.next() >= 0)
    if (const std::string failure = sweep.advance(); !failure.empty()) throw std::runtime_error(failure);
  return adjoint->gradient();
}

/// |a - b| over all ranks.
double distance(const parallel::Communicator& comm, const std::vector<double>& a,
                const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(comm.sum(squares));
}

template <int dim>
class LeastSquares {
public:
  LeastSquares(MPI_Comm ranks, const json& scene, const json& parameter)
      : comm_(ranks), folder_(comm_), interrupts_(comm_) {
    if (comm_.rank() == 0) {
      std::ofstream(folder_ / "scene.json") << scene;
      std::ofstream(folder_ / "observed.csv")
          << (dim == 2 ? "time,x,y,sd\n0,0,0.01,0.02\n0.02,0.02,0,0.02\n"
                       : "time,x,y,z,sd\n0,0,0.01,0,0.02\n0.02,0.02,0,0.01,0.02\n");
      std::ofstream(folder_ / "force.csv") << "time,force\n0,3\n0.02,5\n";
    }
    comm_.barrier();
    study_ = parse_study(study<dim>(parameter).dump(), "study.json", folder_.path()).study;
    model_.emplace(comm_, study_, 0, load_scene(comm_, folder_ / "scene.json", all_solvers()), interrupts_);
  }

  /// The sum of squares of the residuals, that of their changes J w along a direction, and r' J w.
  std::array<double, 3> check() {
    Run<dim> run(*model_, model_->start_values());
    EXPECT_TRUE(run.problem->is_least_squares());
    const std::vector<double> r = run.problem->residuals();
    double squares = 0, objective = 0;
    for (const double entry : r) squares += entry * entry;
    for (const double term : run.problem->terms()) objective += term;
    EXPECT_NEAR(comm_.sum(squares), objective, 1e-12 * objective);

    ParameterValues change = along(1);
    for (std::size_t i = 0; i < change[0].size(); ++i) change[0][i] -= model_->start_values()[0][i];
    tangent_ = tangent(run, change, model_->history());
    EXPECT_EQ(tangent_.size(), r.size());
    check_transpose(run, tangent_);
    std::array<double, 3> sums{squares, 0, 0};
    for (std::size_t i = 0; i < std::min(r.size(), tangent_.size()); ++i) {
      sums[1] += tangent_[i] * tangent_[i];
      sums[2] += r[i] * tangent_[i];
    }
    comm_.sum(sums);
    return sums;
  }

  /// Compares the changes that check() found with differences. `largest_step`: in units of the values.
  void check_differences(double largest_step) {
    const std::vector<double>& Jw = tangent_;
    const double size = distance(comm_, Jw, std::vector<double>(Jw.size()));
    double error = std::numeric_limits<double>::infinity();
    for (const double h : {largest_step, 0.1 * largest_step, 0.01 * largest_step}) {
      const auto at = [&](double by) { return Run<dim>(*model_, along(by)).problem->residuals(); };
      const std::vector<double> a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
      std::vector<double> difference(Jw.size());
      for (std::size_t i = 0; i < Jw.size(); ++i)
        difference[i] = (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h);
      error = std::min(error, distance(comm_, difference, Jw));
      if (error <= 1e-6 * size) break;
    }
    EXPECT_LE(error, 1e-6 * size);
    EXPECT_GT(size, 0);
  }

private:
  ParameterValues along(double factor) const { return model_->values_along(direction_, factor); }

  void check_transpose(Run<dim>& run, const std::vector<double>& Jw) {
    std::mt19937 random(5 + comm_.rank());
    std::vector<double> y(Jw.size());
    double forward = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = std::uniform_real_distribution(-1.0, 1.0)(random);
      forward += y[i] * Jw[i];
      size += std::abs(y[i] * Jw[i]);
    }
    EXPECT_NEAR(model_->derivative(transposed(run, y), direction_), comm_.sum(forward),
                1e-12 * comm_.sum(size));
  }

  parallel::Communicator comm_;
  testing::TemporaryFolder folder_;
  Interrupts interrupts_;
  Study study_;
  std::optional<ExperimentOnMesh<dim>> model_;
  Direction direction_{3, -1};
  std::vector<double> tangent_; ///< J w
};

template <int dim>
void check_parameter(const json& scene, const json& parameter, double largest_step) {
  LeastSquares<dim> alone(MPI_COMM_SELF, scene, parameter);
  const auto expected = alone.check();
  if (is_alone()) {
    alone.check_differences(largest_step);
    return;
  }
  const auto found = LeastSquares<dim>(MPI_COMM_WORLD, scene, parameter).check();
  EXPECT_NEAR(found[0], expected[0], 1e-8 * expected[0]);
  EXPECT_NEAR(found[1], expected[1], 1e-7 * expected[1]);
  EXPECT_NEAR(found[2], expected[2], 1e-7 * std::sqrt(expected[0] * expected[1]));
}

/// Starts so far from rest that all constants of a law matter.
template <int dim>
json strained() {
  json value = {"-0.15 * (x - 0.063)", "0.05 * (y - 0.004)"};
  if (dim == 3) value.push_back("0.02 * (z - 0.017)");
  return {{{"body", "upper"}, {"value", value}}};
}

/// Every kind of parameter, with the slots that its values may have.
template <int dim>
void check_kinds() {
  for_each_kind<dim>([](const ParameterKind& kind) {
    json on = scene<dim>(law_for(kind));
    on["time"]["integrator"] = "BDF2";
    on["solver"]["nonlinear"] = {{"grad_norm_tol", 1e-13}, {"rel_grad_norm_tol", 0}};
    if (kind.is_elastic) on["initial_conditions"]["solution"] = strained<dim>();
    for (const json& parameter : entries_for_ranks<dim>(kind)) {
      // Modes are in a file of their own.
      if (parameter.contains("basis") && parameter["basis"].contains("modes")) continue;
      SCOPED_TRACE(parameter.dump());
      check_parameter<dim>(on, parameter, kind.changes(parameters::quantities::vertices) ? 1e-4 : 5e-2);
    }
  });
}
TEST(LeastSquares, ResidualsOfRunsHaveTangentsAndTheirTransposes2D) { check_kinds<2>(); }
TEST(LeastSquares, ResidualsOfRunsHaveTangentsAndTheirTransposes3D) { check_kinds<3>(); }

} // namespace
} // namespace recoil::app::least_squares_test

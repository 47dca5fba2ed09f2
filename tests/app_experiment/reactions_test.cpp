#include <gtest/gtest.h>

#include "app_experiment/every_kind.hpp"
#include "app_experiment/experiment.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"

namespace recoil::app::reactions_test {
namespace {

using nlohmann::json;
using namespace every_kind;

/// The force of a support along an axis, against zero with a deviation of 1 N: its residual is the force.
template <int dim>
json force(const std::string& key, const json& support, int axis) {
  json direction(std::vector<double>(dim, 0.0));
  direction[axis] = 1;
  return {{"name", key + std::to_string(axis)},
          {"type", "reaction_force"},
          {key, support},
          {"direction", direction},
          {"target", "none.csv"},
          {"time", {{"steps", {0, 1}}}}};
}

/// A scene and the forces of its supports, state by state.
template <int dim>
class Supports {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  /// `steps` of the scene; its objectives are those of force(), axis by axis for each support.
  Supports(json scene, int steps, json objectives)
      : steps_(steps),
        experiment_(MPI_COMM_WORLD, with_steps(std::move(scene), steps),
                    {{"objectives", at_all_steps(std::move(objectives), steps)},
                     {"parameters", {{{"name", "E"}, {"quantity", "young_modulus"}, {"initial", 1e5}}}}},
                    {{"none.csv", "time,force,sd\n-1,0,1\n100,0,1\n"}}),
        variant_(make_variant(experiment_.scene(), experiment_.geometry(), {}, {})),
        opened_(open_objectives(
            *make_specimen(experiment_.study(), 0, experiment_.scene(), experiment_.geometry().mesh))),
        observation_(opened_, *make_observables(*variant_.discrete)) {
    observation_.keep_residuals();
  }

  /// check(state) after each of the steps.
  template <class Check>
  void run(Check check) {
    auto& solver = variant_.discrete->solver();
    const auto see = [&](const stepping::StepRecord& record, const linalg::Vector& u,
                         const linalg::Vector& v) {
      observation_.see(record, u, v, {});
      states_.push_back(v);
      if (record.id > 0) check(record);
    };
    stepping::StepRecord start;
    see(start, solver.history().newest().u, solver.history().newest().v);
    while (solver.step() < steps_) ASSERT_TRUE(solver.advance(see, 1).accepted);
  }
  /// The force of support `number` in the last state.
  Point force_of(int number) const {
    Point result;
    for (int axis = 0; axis < dim; ++axis) {
      const std::size_t state = states_.size() - 1, term = number * dim + axis;
      const auto rows = observation_.rows_of(state, std::span<const double>(observation_.residuals));
      const double row =
          rows.empty() ? 0 : rows[term] / observation_.composition.residual_factor(term, state);
      result[axis] = experiment_.comm().sum(row);
    }
    return result;
  }
  /// d/dt momentum of the last step but for what is prescribed, and the sum of the loads on all there.
  Point momentum_rate(const stepping::StepRecord& record) const {
    linalg::Vector sum = states_.back(), forces(sum.shared_layout());
    for (int j = 0; j < record.coefficients.order; ++j)
      sum.add(record.coefficients.a[j], states_[record.predecessors()[j]]);
    problem().mass->add_product(sum.local(), 1 / record.coefficients.scaled_dt(record.dt),
                                forces.write_owned());
    problem().dirichlet->clear(forces.write_owned());
    return total(forces);
  }
  Point loads(const linalg::Vector& u) const {
    linalg::Vector forces(u.shared_layout());
    for (const auto& term : problem().terms)
      if (term.accounting == solvers::Accounting::work)
        term.potential->add_gradient(u.local(), -1, forces.write_owned());
    return total(forces);
  }
  DiscreteScene<dim>& discrete() { return *variant_.discrete; }

private:
  static json with_steps(json scene, int steps) {
    scene["time"]["time_steps"] = steps;
    return scene;
  }
  static json at_all_steps(json objectives, int steps) {
    json all = json::array();
    for (int i = 0; i <= steps; ++i) all.push_back(i);
    for (json& objective : objectives) objective["time"]["steps"] = all;
    return objectives;
  }
  const auto& problem() const { return variant_.discrete->solver().problem(); }
  Point total(const linalg::Vector& forces) const {
    std::array<double, dim> sum{};
    for (std::size_t i = 0; i < forces.owned().size(); ++i) sum[i % dim] += forces.owned()[i];
    experiment_.comm().sum(sum);
    return Eigen::Map<const Point>(sum.data());
  }

  int steps_;
  StudiedExperiment<dim> experiment_;
  Variant<dim> variant_;
  OpenObjectives<dim> opened_;
  Observation<dim> observation_;
  std::vector<linalg::Vector> states_; ///< velocities
};

/// All objectives of force() for a clamp and an obstacle.
template <int dim>
json clamp_and_obstacle(int id, const std::string& obstacle) {
  json all = json::array();
  for (int axis = 0; axis < dim; ++axis) all.push_back(force<dim>("boundary", id, axis));
  for (int axis = 0; axis < dim; ++axis) all.push_back(force<dim>("obstacle", obstacle, axis));
  return all;
}

/// What the supports exert and the loads are the rate of change of the momentum of what is not clamped, with
/// damping and friction.
template <int dim>
void check_balance(const std::string& integrator) {
  json scene = every_kind::scene<dim>(*potentials::find_law("NeoHookean"));
  scene["solver"]["nonlinear"] = {{"grad_norm_tol", 1e-12}, {"rel_grad_norm_tol", 0}};
  scene["time"]["integrator"] = integrator;
  scene["boundary_conditions"]["dirichlet_boundary"][0]["value"][0] = "0.001 + 0.5 * t";
  Supports<dim> supports(scene, 5, clamp_and_obstacle<dim>(1, "pusher"));
  double largest = 0;
  supports.run([&](const stepping::StepRecord& record) {
    const auto clamp = supports.force_of(0), pusher = supports.force_of(1);
    const auto rate = supports.momentum_rate(record);
    const auto loads = supports.loads(supports.discrete().solver().history().newest().u);
    EXPECT_LT((clamp + pusher + loads - rate).norm(), 1e-8 * (clamp.norm() + rate.norm())) << record.id;
    largest = std::max(largest, std::min(pusher.norm(), rate.norm()));
  });
  EXPECT_GT(largest, 1);
}
TEST(Reactions, BalanceLoadsAndMomentum2D) {
  check_balance<2>("BDF1");
  check_balance<2>("BDF3");
}
TEST(Reactions, BalanceLoadsAndMomentum3D) { check_balance<3>("BDF2"); }

/// A block under a load of 3 kN per metre on a floor that moves away below it, guided along x. In 3D it stays
/// on one triangle of the floor: normals across an edge would tilt.
template <int dim>
json slid_block(const json& time) {
  json block = box<dim>("block", {0.6, 0.3, 0.4}, {4, 2, 2}, {0, 0.154, 0}),
       floor = box<dim>("floor", {3, 0.2, 3}, {1, 1, 1}, {0, -0.1, 0.9});
  block["surface_selection"] = {{{"id", 1}, {"axis", "y"}, {"position", 0.303}}};
  floor.update({{"is_obstacle", true}, {"surface_selection", 7}});
  json guided = dim == 2 ? json::array({true, false}) : json::array({true, false, true});
  return {{"geometry", {block, floor}},
          {"materials", {{"type", "NeoHookean"}, {"E", 1e5}, {"nu", 0.3}, {"rho", 1000}}},
          {"contact", {{"enabled", true}, {"dhat", 0.01}, {"epsv", 0.05}, {"friction_coefficient", 0.4}}},
          {"solver",
           {{"contact", {{"barrier_stiffness", 1e6}}},
            {"nonlinear", {{"grad_norm_tol", 1e-11}, {"rel_grad_norm_tol", 0}}}}},
          {"boundary_conditions",
           {{"dirichlet_boundary", {{{"id", 1}, {"value", vector<dim>(0, 0, 0)}, {"dimension", guided}}}},
            {"neumann_boundary", {{{"id", 1}, {"value", vector<dim>(0, -5000, 0)}}}},
            {"obstacle_displacements", {{{"id", 7}, {"value", vector<dim>(0, 0, 0)}}}}}},
          {"time", time}};
}

/// The floor bears the load, and what slides on it is slowed by the coefficient times that.
template <int dim>
void check_coulomb() {
  json scene = slid_block<dim>({{"dt", 0.01}, {"quasistatic", true}});
  scene["boundary_conditions"]["obstacle_displacements"][0]["value"][0] = "0.5 * t";
  Supports<dim> supports(scene, 40, clamp_and_obstacle<dim>(1, "floor"));
  const double load = 5000 * 0.6 * (dim == 3 ? 0.4 : 1);
  supports.run([&](const stepping::StepRecord& record) {
    const auto clamp = supports.force_of(0), floor = supports.force_of(1);
    EXPECT_NEAR(floor[1], load, 1e-8 * load) << record.id;
    EXPECT_NEAR(clamp[1], 0, 1e-8 * load) << "free along y";
    EXPECT_NEAR(clamp[0] + floor[0], 0, 1e-8 * load) << record.id;
    // Normal forces of friction are those of the step before.
    if (record.id == 40) {
      EXPECT_NEAR(floor[0], 0.4 * load, 1e-6 * load);
    }
  });
}
TEST(Reactions, OfAFloorThatSlidesIsTheCoefficientTimesTheLoad2D) { check_coulomb<2>(); }
TEST(Reactions, OfAFloorThatSlidesIsTheCoefficientTimesTheLoad3D) { check_coulomb<3>(); }

} // namespace
} // namespace recoil::app::reactions_test

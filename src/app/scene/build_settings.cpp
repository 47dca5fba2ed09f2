#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "recoil/app/scene/build.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

constexpr const char* known_integrators = "ImplicitEuler, BDF1 .. BDF6, or {\"type\": \"BDF\", \"steps\": k}";

int bdf_order(const Item& integrator) {
  const auto type = integrator.is_text() ? integrator.text() : integrator["type"].text();
  const bool steps = integrator.is_object() && integrator.has("steps");
  if (type == "ImplicitNewmark")
    integrator.fail("ImplicitNewmark is not built; use " + std::string(known_integrators) +
                    (integrator.is_object() ? " (in this form PolyFEM moreover swaps beta and gamma)" : ""));
  if (steps && type != "BDF") integrator["steps"].fail("goes with \"type\": \"BDF\" only");
  if (type == "ImplicitEuler") return 1;
  if (type == "BDF") return steps ? integrator["steps"].integer() : 1;
  if (type.size() == 4 && type.starts_with("BDF") && type[3] >= '1' && type[3] <= '6') return type[3] - '0';
  integrator.fail("unknown integrator \"" + type + "\"; known are " + known_integrators);
}

/// Exactly two of tend, dt and time_steps say the third.
void build_steps(const Item& item, TimeSpec& time) {
  const bool has_end = item.has("tend"), has_dt = item.has("dt"), has_steps = item.has("time_steps");
  if (has_end + has_dt + has_steps < 2) item.fail("needs two of `tend`, `dt`, `time_steps`");
  const double end = has_end ? item["tend"].number() : 0.0;
  if (has_end && !(end > time.t0))
    item["tend"].fail("must be after t0 = " + item["t0"].dump() + ", is " + item["tend"].dump());
  if (has_dt) time.dt = item["dt"].number();
  if (has_steps) time.steps = item["time_steps"].integer();
  if (has_end && has_dt && has_steps) {
    if (std::abs(time.t0 + time.steps * time.dt - end) > 1e-12 * std::max(1.0, std::abs(end)))
      item.fail("`tend`, `dt` and `time_steps` contradict each other: t0 + time_steps*dt is not tend; drop "
                "one of them");
  } else if (has_end && has_dt) {
    const double steps = std::ceil((end - time.t0) / time.dt);
    if (!(steps <= std::numeric_limits<int>::max())) item["dt"].fail("gives more than 2147483647 steps");
    time.steps = static_cast<int>(steps);
  } else if (has_end) {
    time.dt = (end - time.t0) / time.steps;
  }
}

void build_contact(const Item& item, const Item& solver, Scene& scene) {
  auto& contact = scene.contact;
  contact.enabled = item["enabled"].flag();
  if (item.has("dhat") && item.has("dhat_relative"))
    item["dhat_relative"].fail("excludes `dhat` (given at " + item["dhat"].where() + "); keep one");
  if (item.has("dhat")) contact.dhat = item["dhat"].number();
  if (item.has("dhat_relative")) contact.dhat_relative = item["dhat_relative"].number();
  contact.epsv = item["epsv"].number();
  contact.friction_coefficient = item["friction_coefficient"].number();
  for (const auto& entry : item["friction_pairs"].items()) {
    const auto names = entry["bodies"].texts();
    contact.friction_pairs.push_back({{names[0], names[1]}, entry["coefficient"].number()});
  }
  contact.use_convergent_formulation = item["use_convergent_formulation"].flag();
  contact.use_area_weighting = item["use_area_weighting"].flag();
  contact.use_improved_max_operator = item["use_improved_max_operator"].flag();
  contact.use_physical_barrier = item["use_physical_barrier"].flag();
  const auto stiffness = solver["barrier_stiffness"];
  if (stiffness.is_number())
    contact.barrier_stiffness = stiffness.number();
  else if (stiffness.text() != "adaptive")
    stiffness.fail("must be a number or \"adaptive\", is " + stiffness.dump());
  contact.initial_barrier_stiffness = solver["initial_barrier_stiffness"].number();
  contact.friction_iterations = solver["friction_iterations"].integer();
  contact.friction_convergence_tol = solver["friction_convergence_tol"].number();
}

/// Friction pairs name two of the bodies, each pair once.
void check_friction_pairs(const Item& list, const Scene& scene) {
  auto known = deformable_names(scene);
  for (const auto& name : obstacle_names(scene)) known.push_back(name);
  std::set<std::set<std::string>> pairs;
  for (const auto& entry : list.items()) {
    const auto names = entry["bodies"].texts();
    for (const auto& name : names)
      if (std::find(known.begin(), known.end(), name) == known.end())
        entry["bodies"].fail("there is no body '" + name + "'" + did_you_mean(name, known));
    if (!pairs.insert({names[0], names[1]}).second)
      entry["bodies"].fail("this pair has a coefficient already; keep one entry");
  }
}

void build_solver(const Item& item, SolverSpec& solver) {
  const auto nonlinear = item["nonlinear"], advanced = item["advanced"];
  solver.stop = nonlinear["stop"].text() == "step" ? StopRule::step : StopRule::gradient;
  solver.norm = nonlinear["norm_type"].text() == "Euclidean" ? StopNorm::euclidean : StopNorm::l2;
  solver.grad_norm_tol = nonlinear["grad_norm_tol"].number();
  solver.rel_grad_norm_tol = nonlinear["rel_grad_norm_tol"].number();
  solver.first_grad_norm_tol = nonlinear["first_grad_norm_tol"].number();
  solver.step_tolerance = nonlinear["step_tolerance"].number();
  solver.max_iterations = nonlinear["max_iterations"].integer();
  solver.allow_out_of_iterations = nonlinear["allow_out_of_iterations"].flag();
  if (advanced.has("characteristic_length"))
    solver.characteristic_length = advanced["characteristic_length"].number();
  solver.characteristic_force_density = advanced["characteristic_force_density"].number();
  solver.lump_mass_matrix = advanced["lump_mass_matrix"].flag();
  solver.lagged_regularization_weight = advanced["lagged_regularization_weight"].number();
  solver.lagged_regularization_iterations = advanced["lagged_regularization_iterations"].integer();
}

void build_output(const Item& item, OutputSpec& output) {
  static const std::map<std::string, OutputField> fields = {{"stress", OutputField::stress},
                                                            {"von_mises", OutputField::von_mises},
                                                            {"strain_energy", OutputField::strain_energy},
                                                            {"contact_force", OutputField::contact_force},
                                                            {"friction_force", OutputField::friction_force}};
  output.every = item["every"].integer();
  output.chunk = item["chunk"].integer();
  std::set<std::string> seen;
  for (const auto& name : item["fields"].items()) {
    if (!seen.insert(name.text()).second) name.fail("is asked for twice");
    output.fields.push_back(fields.at(name.text()));
  }
}

void build_tests(const Item& item, TestsSpec& tests) {
  for (const char* name : {"err_l2", "err_lp", "err_linf", "err_h1", "err_h1_semi", "err_linf_grad"})
    if (item.has(name)) tests.norms.emplace_back(name, item[name].number());
  tests.margin = item["margin"].number();
  const auto steps = item["time_steps"];
  if (steps.is_number()) {
    tests.time_steps = steps.integer();
  } else {
    if (steps.text() != "all" && steps.text() != "static")
      steps.fail("must be a number of steps, \"all\" or \"static\", is " + steps.dump());
    tests.time_steps = steps.text();
  }
}

} // namespace

void build_time(const Item& root, Scene& scene) {
  if (!root.has("time")) return;
  const auto item = root["time"];
  auto& time = scene.time;
  time.kind = item["quasistatic"].flag() ? TimeKind::quasistatic : TimeKind::dynamic;
  time.t0 = item["t0"].number();
  time.bdf_order = bdf_order(item["integrator"]);
  time.max_retries = item["max_retries"].integer();
  build_steps(item, time);
}

void build_settings(const Item& root, Scene& scene) {
  build_contact(root["contact"], root["solver"]["contact"], scene);
  check_friction_pairs(root["contact"]["friction_pairs"], scene);
  build_solver(root["solver"], scene.solver);
  build_output(root["output"], scene.output);
  if (root.has("tests")) build_tests(root["tests"], scene.tests);
}

} // namespace recoil::app

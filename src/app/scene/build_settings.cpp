#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

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
    if (std::abs(time.t0 + time.steps * time.dt - end) > 1e-12 * std::max(std::abs(time.t0), std::abs(end)))
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

/// The steps of the geometric contact potential rise, and no other form is asked for.
void check_geometric_form(const Item& item, const ContactSpec& contact) {
  if (contact.use_convergent_formulation)
    item["use_gcp_formulation"].fail("excludes `use_convergent_formulation` (given at " +
                                     item["use_convergent_formulation"].where() + "); keep one");
  const auto check = [&](const char* beta, double alpha_value, double beta_value, const char* alpha) {
    if (beta_value <= -alpha_value)
      item[beta].fail(std::string("must be more than -`") + alpha + "`; leave it out for 0");
  };
  check("beta_t", contact.alpha_t, contact.beta_t, "alpha_t");
  check("beta_n", contact.alpha_n, contact.beta_n, "alpha_n");
}

/// Adhesion has its strength, and distances that rise from the barrier on.
void check_adhesion(const Item& item, const Item& solver, const ContactSpec& contact) {
  if (!contact.enabled) item["adhesion_enabled"].fail("needs contact; set `contact/enabled` to true");
  if (contact.use_gcp_formulation)
    item["adhesion_enabled"].fail("excludes `use_gcp_formulation`, whose pairs have no adhesion; keep one");
  if (!contact.adhesion_strength)
    item.fail("`adhesion_strength` is missing: the largest traction [Pa] with area weights, else force [N]");
  if (contact.adhesion_reach <= contact.adhesion_peak)
    item["dhat_a"].fail(fmt::format("must be more than `dhat_p` = {:g}, is {:g}", contact.adhesion_peak,
                                    contact.adhesion_reach));
  if (contact.tangential_adhesion.value_or(0) > 0 && contact.friction_iterations == 0)
    item["tangential_adhesion_coefficient"].fail("is lagged as friction is, which " +
                                                 solver["friction_iterations"].where() +
                                                 " = 0 switches off; make that 1 or -1, or leave this out");
}

void build_contact(const Item& item, const Item& solver, Scene& scene) {
  auto& contact = scene.contact;
  if (item.has("dhat") && item.has("dhat_relative"))
    item["dhat_relative"].fail("excludes `dhat` (given at " + item["dhat"].where() + "); keep one");
  if (contact.use_gcp_formulation) check_geometric_form(item, contact);
  if (contact.adhesion_enabled) check_adhesion(item["adhesion"], solver, contact);
  for (const auto& entry : item["friction_pairs"].items()) {
    const auto names = entry["bodies"].texts();
    contact.friction_pairs.push_back({{names[0], names[1]}, entry["coefficient"].number()});
  }
  const auto stiffness = solver["barrier_stiffness"];
  if (stiffness.is_number())
    contact.barrier_stiffness = stiffness.number();
  else if (stiffness.text() != "adaptive")
    stiffness.fail("must be a number or \"adaptive\", is " + stiffness.dump());
}

/// Friction pairs name two of the bodies, each pair once.
void check_friction_pairs(const Item& list, const Scene& scene) {
  auto known = deformable_names(scene);
  for (const auto& name : obstacle_names(scene)) known.push_back(name);
  std::set<std::set<std::string>> pairs;
  for (const auto& entry : list.items()) {
    const auto names = entry["bodies"].texts();
    for (const auto& name : names)
      if (!holds(known, name))
        entry["bodies"].fail("there is no body '" + name + "'" + did_you_mean(name, known));
    if (!pairs.insert({names[0], names[1]}).second)
      entry["bodies"].fail("this pair has a coefficient already; keep one entry");
  }
}

/// The steps that end at the times asked for.
void build_output_times(const Item& item, const TimeSpec& time, OutputSpec& output) {
  if (output.every != 1) item.fail("excludes `every`; keep one");
  if (time.kind == TimeKind::statics)
    item.fail("a static scene has one solution, which is stored; leave it out");
  for (const auto& entry : item.items()) {
    const double nearest = std::round((entry.number() - time.t0) / time.dt);
    const int step = int(std::clamp(nearest, 0.0, double(time.steps)));
    // Times are written with few digits, and a third of a second is no short number.
    if (nearest != step || std::abs(time.time_of_step(step) - entry.number()) > 1e-3 * time.dt)
      entry.fail(
          fmt::format("is not the end of a step; the nearest is {:.10g}, as steps are {:g} long and go from "
                      "{:g} to {:.10g}",
                      time.time_of_step(step), time.dt, time.t0, time.time_of_step(time.steps)));
    if (!output.steps.empty() && step <= output.steps.back())
      entry.fail("is no later than the entry before it; list times in ascending order, each once");
    output.steps.push_back(step);
  }
}

void build_output(const Item& item, OutputSpec& output) {
  std::set<std::string> seen;
  for (const auto& name : item["fields"].items()) {
    if (!seen.insert(name.text()).second) name.fail("is asked for twice");
    output.fields.push_back(value_of_name<OutputField>(name.text()));
  }
}

void check_tests(const Item& item) {
  const auto steps = item["time_steps"];
  if (steps.is_text() && steps.text() != "all" && steps.text() != "static")
    steps.fail("must be a number of steps, \"all\" or \"static\", is " + steps.dump());
}

} // namespace

void build_time(const Item& root, Scene& scene) {
  if (!root.has("time")) return;
  const auto item = root["time"];
  auto& time = scene.time;
  time.kind = item["quasistatic"].flag() ? TimeKind::quasistatic : TimeKind::dynamic;
  build_steps(item, time);
}

void build_settings(const Item& root, Scene& scene) {
  build_contact(root["contact"], root["solver"]["contact"], scene);
  check_friction_pairs(root["contact"]["friction_pairs"], scene);
  build_output(root["output"], scene.output);
  if (root["output"].has("times")) build_output_times(root["output"]["times"], scene.time, scene.output);
  if (root.has("tests")) check_tests(root["tests"]);
}

} // namespace recoil::app

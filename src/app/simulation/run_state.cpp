#include "app/simulation/run_state.hpp"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// JSON has no infinity.
constexpr double no_distance = std::numeric_limits<double>::max();

double finite(double distance) { return std::min(distance, no_distance); }

void get_distance(const nlohmann::json& json, double& distance) {
  json.get_to(distance);
  if (distance == no_distance) distance = std::numeric_limits<double>::infinity();
}

nlohmann::json to_json(const StepCounts& counts) {
  return {{"newton", counts.newton_iterations},   {"linear_iterations", counts.linear_iterations},
          {"active_pairs", counts.active_pairs},  {"min_distance", finite(counts.min_distance)},
          {"sticking", counts.friction.sticking}, {"sliding", counts.friction.sliding}};
}

StepCounts step_counts(const nlohmann::json& json) {
  StepCounts counts;
  json.at("newton").get_to(counts.newton_iterations);
  json.at("linear_iterations").get_to(counts.linear_iterations);
  json.at("active_pairs").get_to(counts.active_pairs);
  get_distance(json.at("min_distance"), counts.min_distance);
  json.at("sticking").get_to(counts.friction.sticking);
  json.at("sliding").get_to(counts.friction.sliding);
  return counts;
}

} // namespace

std::string to_json(const RunState& state) {
  const solvers::Ledger& ledger = state.ledger;
  nlohmann::json json{{"step", state.step},
                      {"usable_states", state.usable_states},
                      {"kinetic", ledger.kinetic},
                      {"elastic", ledger.elastic},
                      {"barrier", ledger.barrier},
                      {"external_work", ledger.external_work},
                      {"dissipated_friction", ledger.dissipated_friction},
                      {"dissipated_damping", ledger.dissipated_damping},
                      {"dissipated_integrator", ledger.dissipated_integrator},
                      {"linear_momentum", ledger.linear_momentum},
                      {"angular_momentum", ledger.angular_momentum},
                      {"min_distance", finite(state.contact.min_distance)},
                      {"max_active_pairs", state.contact.max_active_pairs},
                      {"intersections", state.contact.intersections}};
  if (state.counts) json["counts"] = to_json(*state.counts);
  return json.dump();
}

RunState run_state_from_json(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    RunState state;
    json.at("step").get_to(state.step);
    json.at("usable_states").get_to(state.usable_states);
    json.at("kinetic").get_to(state.ledger.kinetic);
    json.at("elastic").get_to(state.ledger.elastic);
    json.at("barrier").get_to(state.ledger.barrier);
    json.at("dissipated_friction").get_to(state.ledger.dissipated_friction);
    get_distance(json.at("min_distance"), state.contact.min_distance);
    if (json.contains("counts")) state.counts = step_counts(json["counts"]);
    json.at("max_active_pairs").get_to(state.contact.max_active_pairs);
    json.at("intersections").get_to(state.contact.intersections);
    json.at("external_work").get_to(state.ledger.external_work);
    json.at("dissipated_damping").get_to(state.ledger.dissipated_damping);
    json.at("dissipated_integrator").get_to(state.ledger.dissipated_integrator);
    json.at("linear_momentum").get_to(state.ledger.linear_momentum);
    json.at("angular_momentum").get_to(state.ledger.angular_momentum);
    return state;
  } catch (const nlohmann::json::exception&) {
    throw FileError(
        "the trajectory lacks what a restart needs; it was not written by recoil simulate of this version");
  }
}

} // namespace recoil::app

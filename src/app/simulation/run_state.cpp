#include "recoil/app/simulation/run_state.hpp"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// JSON has no infinity.
constexpr double no_distance = std::numeric_limits<double>::max();

/// Adds an entry to a JSON object.
struct Put {
  nlohmann::json& json;
  template <class Value>
  void operator()(const std::string& name, const Value& value) const {
    json[name] = value;
  }
  void operator()(const std::string& name, double value) const { json[name] = std::min(value, no_distance); }
};

/// Takes an entry from a JSON object.
struct Get {
  const nlohmann::json& json;
  template <class Value>
  void operator()(const std::string& name, Value& value) const {
    json.at(name).get_to(value);
  }
  void operator()(const std::string& name, double& value) const {
    json.at(name).get_to(value);
    if (value == no_distance) value = std::numeric_limits<double>::infinity();
  }
};

/// The entries of a state and of a const one.
template <class AnyRunState, class Visit>
void for_each_entry(AnyRunState& state, Visit visit) {
  visit("step", state.step);
  visit("usable_states", state.usable_states);
  for_each_energy(state.ledger, visit);
  for_each_momentum(state.ledger, [&](const char* name, auto& momentum) {
    visit(std::string(name) + "_momentum", momentum);
  });
  for_each_entry(state.contact, visit);
}

} // namespace

std::string to_json(const RunState& state) {
  nlohmann::json json;
  for_each_entry(state, Put{json});
  if (state.counts) for_each_count(*state.counts, Put{json["counts"]});
  return json.dump();
}

RunState run_state_from_json(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    RunState state;
    for_each_entry(state, Get{json});
    if (json.contains("counts")) for_each_count(state.counts.emplace(), Get{json["counts"]});
    return state;
  } catch (const nlohmann::json::exception&) {
    throw FileError(
        "the trajectory lacks what a restart needs; it was not written by recoil simulate of this version");
  }
}

} // namespace recoil::app

#include "recoil/app/run/run_state.hpp"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// JSON has no infinity.
constexpr double largest = std::numeric_limits<double>::max();

void put(nlohmann::json& json, const stepping::Entries& entries) {
  for (const auto& [name, value] : entries)
    std::visit([&json, &key = name](const auto& content) { json[key] = content; }, value);
  for (auto& value : json)
    if (value.is_number_float()) value = std::min(value.get<double>(), largest);
}

stepping::Entries entries_of(const nlohmann::json& json) {
  stepping::Entries entries;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number_integer())
      entries.push_back({name, value.get<GlobalIndex>()});
    else if (value.is_number_float() && value == largest)
      entries.push_back({name, std::numeric_limits<double>::infinity()});
    else if (value.is_number_float())
      entries.push_back({name, value.get<double>()});
    else if (value.is_string())
      entries.push_back({name, value.get<std::string>()});
    else if (value.is_array())
      entries.push_back({name, value.get<std::array<double, 3>>()});
  }
  return entries;
}

} // namespace

std::string to_json(const RunState& state) {
  nlohmann::json json{{"step", state.restart.step}, {"usable_states", state.restart.num_states}};
  put(json, state.restart.entries);
  if (!state.counts.empty()) put(json["counts"], state.counts);
  return json.dump();
}

RunState run_state_from_json(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    RunState state{{json.at("step"), json.at("usable_states"), entries_of(json)}};
    if (json.contains("counts")) state.counts = entries_of(json["counts"]);
    return state;
  } catch (const nlohmann::json::exception&) {
    throw FileError(
        "the trajectory lacks what a restart needs; it was not written by recoil simulate of this version");
  }
}

stepping::State read_state(const FieldReader& read, GlobalIndex id, const stepping::Solver& solver,
                           const RunOutput& output) {
  return {id,
          {solver.layout(), read("u", output.nodes())},
          {solver.tangent_layout(), read("v", output.nodes())},
          output.internal(read)};
}

FieldReader fields_of(checkpoint::TrajectoryReader& reader, GlobalIndex id) {
  return [&reader, id](const std::string& name, const io::BlockLayout& layout) {
    return reader.read(id, name, layout);
  };
}

} // namespace recoil::app

#include "app/study/build_study.hpp"
#include "app/study/objectives/objective_type.hpp"

namespace recoil::app {
namespace {

int experiment_of(const Item& entry, const Study& study) {
  std::vector<std::string> names;
  for (const Experiment& experiment : study.experiments) names.push_back(experiment.name);
  if (entry.has("experiment")) return index_of(entry["experiment"], names, "experiment");
  if (names.size() > 1)
    entry.fail("needs `experiment`: the study has " + std::to_string(names.size()) + ", from '" +
               names.front() + "' to '" + names.back() + "'");
  return 0;
}

template <class Value>
void require_ascending(const Item& list, const std::vector<Value>& values) {
  for (std::size_t i = 1; i < values.size(); ++i)
    if (!(values[i] > values[i - 1]))
      list.items()[i].fail("must be ascending: " + list.items()[i].dump() + " comes after " +
                           list.items()[i - 1].dump());
}

/// {"times": "data"}
bool asks_for_observations(const Item& time) {
  return time.is_object() && time.has("times") && time["times"].is_text();
}

objectives::TimeSelection times_from(const Item& item) {
  if (item.is_text() && item.text() == "final") return objectives::FinalState{};
  if (item.is_text()) return objectives::WholeTime{};
  if (item.has("steps") == item.has("times"))
    item.fail("needs one of {\"steps\": [..]} and {\"times\": [..]}");
  if (item.has("steps")) {
    const std::vector<int> steps = item["steps"].integers();
    require_ascending(item["steps"], steps);
    return objectives::ChosenSteps{{steps.begin(), steps.end()}};
  }
  objectives::ChosenTimes list{item["times"].numbers()};
  require_ascending(item["times"], list.times);
  return list;
}

std::shared_ptr<const ObjectiveSpec> objective_from(const Item& entry, const Study& study) {
  const ObjectiveType& type = *find_objective_type(entry["type"].text());
  if (entry.has("time") && !type.takes_time())
    entry["time"].fail(std::string(type.name) +
                       " is one of rest shapes and materials, which do not change in time; leave `time` out");
  check_keys(entry, type.name, {"name", "type", "experiment", "weight", "power"}, type.takes(), type.needs());
  const int experiment = experiment_of(entry, study);
  std::optional<objectives::TimeSelection> time;
  const bool once = entry.has("time") && asks_for_observations(entry["time"]);
  if (once && !type.observes)
    entry["time"].fail(
        std::string(type.name) +
        " is not compared with a CSV file, whose times \"data\" stands for; take \"integral\", "
        "\"final\", {\"steps\": [..]} or {\"times\": [..]}");
  if (entry.has("time") && !once) time = times_from(entry["time"]);
  std::unique_ptr<ObjectiveSpec> objective = type.read(entry);
  objective->type = &type;
  objective->name = entry["name"].text();
  objective->where = places_of(entry);
  objective->experiment = experiment;
  if (entry.has("body")) objective->bodies = entry["body"].texts();
  objective->weight = entry["weight"].number();
  objective->power = entry["power"].number();
  objective->time = std::move(time);
  objective->once_per_observation = once;
  if (type.uses_markers && study.markers.empty())
    entry.fail("the study has no `markers`; say where each marker of the CSV file sits: {\"name\": .., "
               "\"body\": .., \"rest\": [x, y, z]}");
  return objective;
}

} // namespace

void build_objectives(const Item& list, Study& study) {
  const auto entries = list.items();
  unique_names(entries, "objective");
  for (const Item& entry : entries) study.objectives.push_back(objective_from(entry, study));
}

} // namespace recoil::app

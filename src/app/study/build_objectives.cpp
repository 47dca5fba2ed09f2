#include <algorithm>

#include "app/study/build_study.hpp"

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

ObservedTimes times_from(const Item& item) {
  if (item.is_text()) return item.text() == "final" ? ObservedTimes(FinalTime{}) : TimeIntegral{};
  if (item.has("steps") == item.has("times"))
    item.fail("needs one of {\"steps\": [..]} and {\"times\": [..]}");
  if (item.has("steps")) {
    StepList list{item["steps"].integers()};
    require_ascending(item["steps"], list.steps);
    return list;
  }
  TimeList list{item["times"].numbers()};
  require_ascending(item["times"], list.times);
  return list;
}

void build_target(const Item& target, ObjectiveSpec& objective) {
  const bool vector = objective.type == ObjectiveType::velocity;
  if (vector != target.is_list())
    target.fail(vector ? "the target of a velocity is a vector, such as [1, 0, 0], is " + target.dump()
                       : "the target of " + std::string(info(objective.type).name) +
                             " is a CSV file, such as \"observed.csv\", is " + target.dump());
  if (vector)
    objective.target_velocity = target.numbers();
  else
    objective.target = target.text();
}

void build_reference(const Item& reference, ObjectiveSpec& objective) {
  objective.reference = reference.text();
  if (std::filesystem::is_directory(objective.reference) &&
      !std::filesystem::exists(objective.reference / "scene.json"))
    reference.fail(objective.reference.string() +
                   " is not a run folder (it holds no scene.json); give the folder named by `recoil simulate "
                   "-o`, or an HDF5 file");
}

void build_measure(const Item& entry, ObjectiveSpec& objective) {
  if (entry.has("p")) objective.p = entry["p"].number();
  if (entry.has("stress"))
    objective.stress = entry["stress"].text() == "cauchy" ? StressKind::cauchy : StressKind::first_piola;
  if (entry.has("limit")) objective.limit = entry["limit"].number();
  if (entry.has("over")) objective.over = entry["over"].text() == "boundary" ? Over::boundary : Over::volume;
  if (entry.has("reference")) build_reference(entry["reference"], objective);
  if (entry.has("target")) build_target(entry["target"], objective);
  if (entry.has("axis")) objective.axis = entry["axis"].text().front() - 'x';
}

ObjectiveSpec objective_from(const Item& entry, const Study& study) {
  const ObjectiveInfo& type = *find_objective_type(entry["type"].text());
  if (entry.has("time") && !type.takes_time())
    entry["time"].fail(std::string(type.name) +
                       " is one of rest shapes and materials, which do not change in time; leave `time` out");
  check_keys(entry, type.name, {"name", "type", "experiment", "weight", "power"}, type.takes, type.needs);
  ObjectiveSpec objective;
  objective.name = entry["name"].text();
  objective.type = type.type;
  objective.where = places_of(entry);
  objective.experiment = experiment_of(entry, study);
  if (entry.has("body")) objective.bodies = entry["body"].texts();
  objective.weight = entry["weight"].number();
  objective.power = entry["power"].number();
  if (entry.has("time")) objective.time = times_from(entry["time"]);
  build_measure(entry, objective);
  if (type.type == ObjectiveType::markers && study.markers.empty())
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

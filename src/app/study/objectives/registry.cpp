#include <algorithm>
#include <cmath>
#include <deque>

#include "recoil/app/study/base/entries.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

/// The rows of the sources of this folder.
std::vector<ObjectiveType> stress_objectives(), target_objectives(), surface_target_objectives(),
    observed_points_objectives(), motion_objectives(), regularization_objectives(), distances_objectives(),
    forces_objectives();

/// In the order of docs/study.md.
std::span<const ObjectiveType> objective_types() {
  static const std::vector<ObjectiveType> all = [] {
    std::vector<ObjectiveType> rows;
    for (const auto group :
         {stress_objectives, target_objectives, surface_target_objectives, observed_points_objectives,
          motion_objectives, regularization_objectives, distances_objectives, forces_objectives})
      for (ObjectiveType& row : group()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

const ObjectiveType* find_objective_type(const std::string& name) {
  for (const ObjectiveType& row : objective_types())
    if (name == row.name) return &row;
  return nullptr;
}

namespace {

constexpr const char* of_objective = "/objectives/*/";

std::string name_of_key(const Key& key) { return key.pattern + std::string_view(of_objective).size(); }

/// Rows of all types, or whose meaning is the same for all that take them.
std::vector<Key> shared_objective_keys() {
  static const std::string names = names_as_json(objective_types());
  return {
      {.pattern = "/objectives",
       .types = one_or_list,
       .items = object,
       .length = {1, 1 << 30},
       .required = true,
       .doc = "The terms of the objective, which is the sum of weight * (sum over time)^power."},
      {.pattern = "/objectives/*/name", .types = text, .required = true, .doc = "Unique name."},
      {.pattern = "/objectives/*/type",
       .types = text,
       .required = true,
       .choices = names.c_str(),
       .doc = "See the table above."},
      {.pattern = "/objectives/*/experiment",
       .types = text,
       .implied = "the only one",
       .doc = "Experiment that is looked at."},
      body_key,
      {.pattern = "/objectives/*/weight",
       .types = number,
       .fallback = "1",
       .doc = "Factor; negative to maximise."},
      {.pattern = "/objectives/*/power",
       .types = number,
       .fallback = "1",
       .range = positive,
       .doc = "Exponent applied to the sum over time."},
      {.pattern = "/objectives/*/loss",
       .types = object,
       .implied = "none",
       .doc = "In place of the squares of the misfits r of data, in their standard deviations: what leaves a "
              "few wrong data little weight, see [below](#outliers). For data with `sd`."},
      {.pattern = "/objectives/*/loss/type",
       .types = text,
       .required = true,
       .choices = "[\"huber\", \"soft_l1\", \"cauchy\"]",
       .doc = "`huber`: r^2 up to |r| = k, then 2 k |r| - k^2; `soft_l1`: 2 k^2 (sqrt(1 + r^2 / k^2) - 1); "
              "`cauchy`: k^2 log(1 + r^2 / k^2)."},
      {.pattern = "/objectives/*/loss/width",
       .types = number,
       .implied = "1.345, of `cauchy` 2.385",
       .range = positive,
       .doc = "k, in standard deviations: with these values a fit to noise alone is 95 % as exact as least "
              "squares."},
      {.pattern = "/objectives/*/sd_factor",
       .types = text,
       .implied = "none",
       .doc =
           "The standard deviations of its data, `sd` of the file or 1 in the unit of what is observed, are "
           "known but for a factor of this name, which `recoil optimize` estimates with the parameters; "
           "objectives with the same name share it, see [below](#unknown-standard-deviations)."},
      time_key,
      {.pattern = "/objectives/*/time/steps",
       .types = list,
       .items = integer,
       .length = {1, 1 << 30},
       .range = Range{0, 2147483647, false, false},
       .doc = "Numbers of steps, ascending; 0 is the initial state."},
      {.pattern = "/objectives/*/time/times",
       .types = list | text,
       .items = number,
       .length = {1, 1 << 30},
       .unit = "s",
       .choices = "[\"data\"]",
       .doc = "Times, ascending; the value of the objective there is linear between those of the two states "
              "around each. `data`: each observation of the CSV file within the run counts once, see "
              "[below](#observations)."},
  };
}

bool holds_numbers(const Key& key) { return ((key.types | key.items) & (number | integer)) != 0; }

/// Unit of the key of a type for which other types have another unit. There is no more than one.
const char* unit_by_type(const std::string& type) {
  const ObjectiveType* row = find_objective_type(type);
  if (!row) return nullptr;
  for (const Key& key : row->keys)
    for (const Key& merged : objective_keys())
      if (merged.unit_by && name_of_key(merged) == name_of_key(key)) return key.unit;
  return nullptr;
}

/// Adds what another type says of a key.
void merge_key(Key& row, const Key& other) {
  if (!holds_numbers(row)) {
    row.unit = other.unit;
    row.range = other.range;
  } else if (holds_numbers(other) &&
             std::string(row.unit ? row.unit : "") != (other.unit ? other.unit : "")) {
    row.unit = nullptr;
    row.unit_by = "type";
    row.unit_for = unit_by_type;
  }
  if (!row.items) row.length = other.length;
  row.types |= other.types;
  row.items |= other.items;
  if (!row.reason) row.reason = other.reason;
}

/// What each type says of a key: the text alone where all say the same, else by the names of the types.
std::string merged_doc(const std::string& key) {
  std::vector<std::pair<std::string, std::string>> names_and_docs;
  for (const ObjectiveType& type : objective_types())
    for (const Key& own : type.keys) {
      if (name_of_key(own) != key) continue;
      const std::string name = "`" + std::string(type.name) + "`";
      const auto same =
          std::ranges::find(names_and_docs, own.doc, [](const auto& entry) { return entry.second; });
      if (same == names_and_docs.end())
        names_and_docs.emplace_back(name, own.doc);
      else
        same->first += ", " + name;
    }
  if (names_and_docs.size() == 1) return names_and_docs[0].second;
  std::string text;
  for (const auto& [names, doc] : names_and_docs) text += (text.empty() ? "" : " ") + names + ": " + doc;
  return text;
}

} // namespace

std::span<const Key> objective_keys() {
  static std::deque<std::string> docs;
  static const std::vector<Key> keys = [] {
    std::vector<Key> rows = shared_objective_keys();
    const std::ptrdiff_t num_shared = std::ssize(rows);
    for (const ObjectiveType& type : objective_types())
      for (const Key& key : type.keys) {
        const auto same = std::ranges::find(rows, std::string(key.pattern), &Key::pattern);
        if (same == rows.end()) {
          rows.push_back(key);
          rows.back().required = false;
          rows.back().doc = docs.emplace_back(merged_doc(name_of_key(key))).c_str();
        } else if (same - rows.begin() >= num_shared) {
          merge_key(*same, key);
        }
      }
    return rows;
  }();
  return keys;
}

std::vector<std::string> ObjectiveType::takes() const {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(name_of_key(key));
  return names;
}

std::vector<std::string> ObjectiveType::needs() const {
  std::vector<std::string> names;
  for (const Key& key : keys)
    if (key.required) names.push_back(name_of_key(key));
  return names;
}

bool ObjectiveType::takes_time() const {
  return std::ranges::any_of(keys, [](const Key& key) { return name_of_key(key) == "time"; });
}

Key limit_key(const char* unit) {
  return {.pattern = "/objectives/*/limit",
          .types = number,
          .required = true,
          .range = positive,
          .unit = unit,
          .doc = "What is not to be exceeded [Pa] or [m^3]."};
}

Key required(Key key) {
  key.required = true;
  return key;
}

std::filesystem::path target_file(const Item& entry, const std::string& what) {
  const Item target = entry["target"];
  if (target.is_list())
    target.fail("the target of " + entry["type"].text() + " is " + what + ", is " + target.dump());
  return target.text();
}

std::filesystem::path observations_of(const Item& entry) {
  return target_file(entry, "a CSV file, such as \"observed.csv\"");
}

potentials::FacetSelection facets_of(const Item& entry) {
  if (!entry.has("boundary")) return {true, {}};
  return {false, entry["boundary"].integers()};
}

void require_surface_ids(const ExperimentScene& at, const ObjectiveSpec& spec,
                         const potentials::FacetSelection& facets) {
  const KnownIds known = surface_ids(at.scene);
  for (const int id : facets.ids)
    if (!known.may_hold(id))
      at.fail(spec.where, "boundary",
              "no facet has the surface id " + std::to_string(id) +
                  "; ids in this scene: " + list_of(known.ids));
}

objectives::TimeSelection observed_times(const ObjectiveSpec& objective, bool is_static) {
  if (objective.time) return *objective.time;
  if (is_static || !objective.type->takes_time()) return objectives::FinalState{};
  return objectives::WholeTime{};
}

bool counts_observations_once(const ObjectiveSpec& objective, bool is_static) {
  return objective.once_per_observation || (objective.type->is_sampled && !objective.time && !is_static);
}

std::array<double, 2> observed_interval(const ObjectiveSpec& spec, const TimeSpec& time) {
  const bool is_static = time.kind == TimeKind::statics;
  const auto at = [&](int step) { return is_static && step == 0 ? 0 : time.time_of_step(step); };
  const objectives::TimeSelection times = observed_times(spec, is_static);
  if (std::holds_alternative<objectives::FinalState>(times)) return {at(time.steps), at(time.steps)};
  if (const auto* list = std::get_if<objectives::ChosenSteps>(&times))
    return {at(list->steps.front()), at(list->steps.back())};
  if (const auto* list = std::get_if<objectives::ChosenTimes>(&times)) {
    // Values between two states come from both.
    const auto position = [&](double t) { return (t - time.t0) / time.dt; };
    const int first = std::floor(position(list->times.front()) + 1e-6);
    const int last = std::ceil(position(list->times.back()) - 1e-6);
    return {at(std::max(first, 0)), at(std::min(last, time.steps))};
  }
  return {at(0), at(time.steps)};
}

} // namespace recoil::app

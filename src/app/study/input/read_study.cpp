#include "recoil/app/study/input/read_study.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/input/build_study.hpp"
#include "recoil/app/scene/document.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

/// Each value compares with the next one.
template <class Value, class Compare>
void require_sorted(const Item& list, const std::vector<Value>& values, Compare compare, const char* how) {
  for (std::size_t i = 1; i < values.size(); ++i)
    if (!compare(values[i - 1], values[i]))
      list.items()[i].fail(fmt::format("must be {}: {} comes after {}", how, list.items()[i].dump(),
                                       list.items()[i - 1].dump()));
}

void build_experiments(const Item& list, Study& study) {
  const auto entries = list.items();
  unique_names(entries, "experiment");
  for (const Item& entry : entries)
    study.experiments.push_back(
        {entry["name"].text(), entry["scene"].text(), entry["candidate"].flag(), places_of(entry)});
  if (std::ranges::all_of(study.experiments, &Experiment::is_candidate))
    list.fail("all experiments are candidates for the next one; leave `candidate` out where there are data");
}

void build_markers(const Item& list, Study& study) {
  const auto entries = list.items();
  unique_names(entries, "marker");
  for (const Item& entry : entries) {
    if (entry.has("rest") == entry.has("id"))
      entry.fail(
          "needs one of `rest`, the position of a point, and `id`, of bonded particles whose mean it is");
    MarkerSpec& marker = study.markers.emplace_back();
    marker.name = entry["name"].text();
    marker.body = entry["body"].text();
    if (entry.has("rest")) marker.rest = entry["rest"].numbers();
    if (entry.has("id")) marker.id = entry["id"].integer();
    marker.where = places_of(entry);
  }
}

void build_sweep(const Item& item, SweepSpec& sweep) {
  sweep.store_every = item["store_every"].integer();
  if (const Item budget = item["state_budget"]; !budget.is_null()) {
    sweep.state_budget = budget.integer();
    sweep.where_budget = budget.where();
  }
  sweep.tolerance = item["tolerance"].number();
}

void build_check(const Item& item, CheckSpec& check) {
  check.directions = item["directions"].integer();
  check.steps = item["steps"].numbers();
  require_sorted(item["steps"], check.steps, std::greater(), "descending");
}

void build_optimizer(const Item& item, const UnitSystem& units, OptimizerSpec& optimizer) {
  static const std::map<std::string, OptimizationMethod> methods{
      {"auto", OptimizationMethod::automatic},
      {"quasi_newton", OptimizationMethod::quasi_newton},
      {"gauss_newton", OptimizationMethod::gauss_newton},
      {"conjugate_gradients", OptimizationMethod::conjugate_gradients}};
  optimizer.method = methods.at(item["method"].text());
  optimizer.where_method = item["method"].where();
  optimizer.max_iterations = item["max_iterations"].integer();
  optimizer.gradient_tolerance = item["gradient_tolerance"].number();
  optimizer.step_tolerance = item["step_tolerance"].number();
  if (const Item lowest = item["objective_tolerance"]; !lowest.is_null())
    optimizer.objective_tolerance = lowest.number();
  optimizer.stop_at_noise = item["stop_at_noise"].flag();
  if (const Item starts = item["starts"]; starts.is_number()) optimizer.starts = starts.integer();
  optimizer.seed = item["seed"].integer();
  optimizer.warm_start = item["warm_start"].flag();
  optimizer.match_peaks = item["match_peaks"].flag();
  optimizer.where_match_peaks = item["match_peaks"].where();
  optimizer.min_quality = item["min_quality"].number();
  optimizer.renew_quality = item["renew_quality"].number();
  optimizer.gmsh = {item["gmsh"].text(), item["gmsh_time_limit"].number()};
  if (item["on_failure"].text() == "drop") optimizer.on_failure = FailedRun::drop;
  if (item["on_bad_fit"].text() == "fail") optimizer.on_bad_fit = BadFit::fail;
  if (const Item groups = item["groups"]; groups.is_number()) optimizer.groups = groups.integer();
  // It is in the unit of the study as all times are, the clock is not.
  if (const Item budget = item["time_budget"]; !budget.is_null())
    optimizer.time_budget = budget.number() / units.per("s");
}

/// Peaks are those of forces, and strengths are what is matched.
void require_strengths_of_peaks(const Item& optimizer, const Study& study) {
  if (!study.optimizer.match_peaks) return;
  const auto is_strength = [](const ParameterSpec& parameter) { return parameter.kind->is_strength; };
  if (std::ranges::none_of(study.parameters, is_strength))
    optimizer["match_peaks"].fail(
        "scales strengths of bonds, and no parameter is one; add tensile_strength or "
        "shear_strength, or leave this out");
  for (const ParameterSpec& parameter : study.parameters) {
    const auto sees = [&](const auto& objective) {
      return objective->type->name == std::string("reaction_force") &&
             parameter.acts_in(objective->experiment);
    };
    if (is_strength(parameter) && std::ranges::none_of(study.objectives, sees))
      optimizer["match_peaks"].fail(
          "takes the peaks of reaction forces, and no objective reaction_force is of an "
          "experiment that '" +
          parameter.name + "' acts in; add one, or leave this out");
  }
}

/// Start points are spread over an interval of every value.
void require_bounds_of_starts(const Item& optimizer, const Study& study) {
  if (study.optimizer.starts.value_or(1) == 1) return;
  for (const ParameterSpec& parameter : study.parameters)
    if (!parameter.is_bounded())
      optimizer["starts"].fail(
          "the starts after the first lie between the bounds of all values, and '" + parameter.name +
          (parameter.component_bounds.empty() ? "' has none; give it `bounds`, or `component_bounds`"
                                              : "' has none for some of its components; replace null in "
                                                "`component_bounds`, or hold these by `held`"));
}

void build_uncertainty(const Item& item, const Study& study, UncertaintySpec& uncertainty) {
  uncertainty.intervals = item["intervals"].flag();
  uncertainty.samples = item["samples"].integer();
  uncertainty.seed = item["seed"].integer();
  uncertainty.bands = item["bands"].flag();
  const std::vector<std::string> names = names_of(study.parameters);
  uncertainty.where_profile = item["profile"].where();
  for (const Item& name : item["profile"].items()) {
    const int index = index_of(name, names, "parameter");
    const ParameterSpec& parameter = study.parameters[index];
    if (holds(uncertainty.profile, index)) name.fail("'" + parameter.name + "' stands here twice; keep one");
    if (parameter.tie)
      name.fail("'" + parameter.name + "' has the value of '" + names[*parameter.tie] + "'; name that one");
    if (is_per_place(parameter.per) || parameter.per_step || parameter.basis)
      name.fail("a profile takes a fit for every point of every value, and '" + parameter.name +
                "' has values per element, vertex, node, bond or step; name parameters with few values");
    uncertainty.profile.push_back(index);
  }
}

int experiment_of(const Item& entry, const Study& study) {
  const std::vector<std::string> names = names_of(study.experiments);
  if (entry.has("experiment")) return index_of(entry["experiment"], names, "experiment");
  if (names.size() > 1)
    entry.fail("needs `experiment`: the study has " + std::to_string(names.size()) + ", from '" +
               names.front() + "' to '" + names.back() + "'");
  return 0;
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
    require_sorted(item["steps"], steps, std::less(), "ascending");
    return objectives::ChosenSteps{{steps.begin(), steps.end()}};
  }
  objectives::ChosenTimes list{item["times"].numbers()};
  require_sorted(item["times"], list.times, std::less(), "ascending");
  return list;
}

objectives::RobustLoss loss_from(const Item& entry, const ObjectiveType& type) {
  const Item loss = entry["loss"];
  if (!type.observes)
    loss.fail(std::string(type.name) +
              " is no sum of squares of data, which a loss takes the place of; leave it out");
  if (entry["power"].number() != 1 || entry["weight"].number() < 0)
    loss.fail("the objective is no sum of squares with this weight and power; take a `weight` > 0 and a "
              "`power` of 1, or leave the loss out");
  static const std::map<std::string, objectives::RobustLoss::Type> types{
      {"huber", objectives::RobustLoss::Type::huber},
      {"soft_l1", objectives::RobustLoss::Type::soft_l1},
      {"cauchy", objectives::RobustLoss::Type::cauchy}};
  objectives::RobustLoss result;
  result.type = types.at(loss["type"].text());
  result.width =
      loss.has("width") ? loss["width"].number() : objectives::RobustLoss::usual_width(result.type);
  return result;
}

/// The index of a factor on standard deviations, which is new or that of an earlier objective, too.
int sd_factor_from(const Item& entry, const ObjectiveType& type, Study& study) {
  const Item name = entry["sd_factor"];
  if (name.text().empty()) name.fail("must not be empty: objectives with the same name share a factor");
  if (!type.observes)
    name.fail(std::string(type.name) +
              " is not compared with data, whose standard deviations it is the factor "
              "of; leave it out");
  if (entry.has("loss"))
    name.fail("does not go with a `loss`, whose width is in standard deviations that are known: keep one of "
              "them, the loss where the file has a good `sd`");
  if (entry["power"].number() != 1 || entry["weight"].number() != 1)
    name.fail("says how much the data count, as `weight` and `power` would: leave these out");
  const auto found = std::ranges::find(study.sd_factors, name.text());
  if (found != study.sd_factors.end()) return static_cast<int>(found - study.sd_factors.begin());
  study.sd_factors.push_back(name.text());
  return static_cast<int>(std::ssize(study.sd_factors)) - 1;
}

std::shared_ptr<const ObjectiveSpec> objective_from(const Item& entry, Study& study) {
  const ObjectiveType& type = *find_objective_type(entry["type"].text());
  if (entry.has("time") && !type.takes_time())
    entry["time"].fail(std::string(type.name) +
                       " is one of rest shapes and materials, which do not change in time; leave `time` out");
  check_keys(entry, type.name, {"name", "type", "experiment", "weight", "power", "loss", "sd_factor"},
             type.takes(), type.needs());
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
  if (entry.has("loss")) objective->loss = loss_from(entry, type);
  if (entry.has("sd_factor")) objective->sd_factor = sd_factor_from(entry, type, study);
  if (type.uses_markers && study.markers.empty())
    entry.fail("the study has no `markers`; say where each marker of the CSV file sits: {\"name\": .., "
               "\"body\": .., \"rest\": [x, y, z]}");
  return objective;
}

/// Of data that have not been measured yet, only the factor of others can be known.
void require_fitted_factor(const Item& name, int factor, const Study& study) {
  const auto is_fitted = [&](const auto& other) {
    return other->sd_factor == factor && !study.experiments[other->experiment].is_candidate;
  };
  if (std::ranges::none_of(study.objectives, is_fitted))
    name.fail("'" + name.text() +
              "' is a factor of candidates alone, which have no data to estimate it from; "
              "take that of an objective of the fit, or leave it out and give the `sd` to be "
              "expected");
}

void build_objectives(const Item& list, Study& study) {
  const auto entries = list.items();
  unique_names(entries, "objective");
  for (const Item& entry : entries) study.objectives.push_back(objective_from(entry, study));
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (const ObjectiveSpec& spec = *study.objectives[k];
        spec.sd_factor && study.experiments[spec.experiment].is_candidate)
      require_fitted_factor(entries[k]["sd_factor"], *spec.sd_factor, study);
}

StudyFile study_from(Document document) {
  StudyFile result;
  Study& study = result.study;
  if (document.root.contains("geometry") && !document.root.contains("experiments"))
    throw InputError(document.file.string(),
                     "is a scene, which `recoil simulate` runs; a study names it under "
                     "/experiments/0/scene");
  std::vector<std::string> no_notes;
  resolve_against_keys(document, study_keys(), no_notes);
  const Item root(document.root, "", document.locations);
  study.units = document.units;
  build_experiments(root["experiments"], study);
  build_markers(root["markers"], study);
  build_parameters(root["parameters"], study);
  build_objectives(root["objectives"], study);
  build_sweep(root["sweep"], study.sweep);
  build_check(root["check"], study.check);
  build_optimizer(root["optimizer"], study.units, study.optimizer);
  require_bounds_of_starts(root["optimizer"], study);
  require_strengths_of_peaks(root["optimizer"], study);
  build_uncertainty(root["uncertainty"], study, study.uncertainty);
  check_study(study);
  result.resolved = document.root.dump(2) + "\n";
  result.locations = document.locations.to_text();
  return result;
}

} // namespace

StudyFile read_study(const std::filesystem::path& path) {
  return study_from(load_document(path, study_keys()));
}

StudyFile parse_study(const std::string& text, const std::string& name, const std::filesystem::path& folder) {
  return study_from(document_from_text(text, name, folder, study_keys()));
}

StudyFile read_resolved_study(const std::string& resolved, const std::string& locations,
                              const std::filesystem::path& path) {
  return study_from(resolved_document(resolved, locations, path));
}

} // namespace recoil::app

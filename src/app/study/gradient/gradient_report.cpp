#include "app/study/gradient/gradient_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

struct Place {
  std::size_t experiment;
  int field;
};

bool counts(const Study& study, std::size_t experiment) {
  return !study.experiments[experiment].is_candidate;
}

/// The field of parameter `owner` that the values of a tied one in `experiment` belong to: in the same
/// experiment, or in the first one where it acts.
Place place_of_owner(const Study& study, const GradientJobs& experiments, std::size_t experiment, int owner) {
  const ParameterSpec& spec = study.parameters[owner];
  const std::size_t e = spec.acts_in(experiment) ? experiment : spec.experiments.front();
  return {e, place_in(experiments[e]->model().parameters(), owner)};
}

/// Names of the bodies or obstacles whose values field `field` of an experiment has, in the order of its
/// values; of a tied parameter those of its owner, to whose values its own belong by their order. Empty where
/// there is no value per body. Not collective.
std::vector<std::string> bodies_of_values(const Study& study, const GradientJobs& experiments,
                                          std::size_t experiment, std::size_t field) {
  const int parameter = experiments[experiment]->model().parameters()[field];
  const auto& tie = study.parameters[parameter].tie;
  if (!tie) return experiments[experiment]->model().bodies(field);
  const Place owner = place_of_owner(study, experiments, experiment, *tie);
  return experiments[owner.experiment]->model().bodies(owner.field);
}

/// Groups of gradient.h5 that belong to a parameter.
Json groups_of(const Study& study, const ParameterSpec& spec) {
  Json groups = Json::array();
  for (const int e : spec.experiments)
    if (counts(study, e)) groups.push_back(study.experiments[e].name + "/" + spec.name);
  return groups;
}

/// A parameter over all experiments.
struct Summed {
  std::vector<std::string> bodies; ///< of which `values` and `gradient` hold the same number of entries each
  std::vector<double> values, gradient;
};

/// Adds the derivatives of one experiment, whose bodies may be others or in another order.
void add(const std::vector<std::string>& bodies, const std::vector<double>& values,
         const std::vector<double>& gradient, Summed& sum) {
  const std::size_t width = bodies.empty() ? gradient.size() : gradient.size() / bodies.size();
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    std::size_t place = i;
    if (!bodies.empty()) {
      const std::string& body = bodies[i / width];
      const auto found = std::ranges::find(sum.bodies, body);
      place = (found - sum.bodies.begin()) * width + i % width;
      if (found == sum.bodies.end()) sum.bodies.push_back(body);
    }
    if (place >= sum.gradient.size()) {
      sum.gradient.resize(place + 1, 0.0);
      sum.values.resize(place + 1, 0.0);
    }
    sum.gradient[place] += gradient[i];
    sum.values[place] = values[i];
  }
}

Json describe_parameters(const Study& study, const GradientJobs& experiments) {
  Json result;
  std::vector<Summed> sums(study.parameters.size());
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    if (!counts(study, e)) continue;
    const ExperimentModel& model = experiments[e]->model();
    for (std::size_t k = 0; k < model.parameters().size(); ++k) {
      if (!model.is_replicated(k)) continue;
      const int parameter = model.parameters()[k];
      add(bodies_of_values(study, experiments, e, k), model.start_values()[k],
          experiments[e]->swept().values[k], sums[study.parameters[parameter].tie.value_or(parameter)]);
    }
  }
  for (int i = 0; i < std::ssize(study.parameters); ++i) {
    const ParameterSpec& spec = study.parameters[i];
    const auto& [bodies, values, gradient] = sums[spec.tie.value_or(i)];
    if (gradient.empty()) {
      result[spec.name] = {
          {"unit", unit_of(spec)}, {"file", "gradient.h5"}, {"groups", groups_of(study, spec)}};
      continue;
    }
    std::vector<double> scaled = gradient;
    for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] = scaled_derivative(spec, values[k], scaled[k]);
    result[spec.name] = {{"value", value_or_list(values)},
                         {"unit", unit_of(spec)},
                         {"gradient", value_or_list(gradient)},
                         {"gradient_scaled", value_or_list(scaled)}};
    if (!bodies.empty()) result[spec.name]["bodies"] = bodies;
  }
  return result;
}

/// Relative error of a derivative that is worth a warning.
constexpr double noticeable = 1e-3;
/// Below this share of all derivatives the estimate is of other bodies or of rounding rather than of one of
/// them.
constexpr double negligible = 1e-7;

/// Empty if the steps of an experiment are solved well enough. The error of the objective changes with the
/// parameters as much as it has of its own size, so that over the derivative by relative changes it is about
/// the relative error of that.
std::string warn_of_loose_steps(GradientJob& experiment) {
  const ExperimentModel& model = experiment.model();
  const SweepResult& sweep = experiment.swept();
  const double error = std::abs(sweep.objective_correction);
  std::string names;
  double worst = 0, all = 0;
  for (std::size_t k = 0; k < model.parameters().size(); ++k) {
    const double sensitivity = model.sensitivity(sweep.values, k);
    all = std::hypot(all, sensitivity);
    if (!(error > noticeable * sensitivity)) continue;
    names += (names.empty() ? "'" : ", '") + model.parameter_name(k) + "'";
    worst = std::max(worst, error / sensitivity);
  }
  if (names.empty() || error <= negligible * all) return "";
  return fmt::format(
      "{}: the gradient is that of loosely solved steps: to solve them exactly would change the "
      "objective by {:.1e}, and derivatives (by {}) by up to about {:.1g} of their size; tighten {}",
      model.name(), sweep.objective_correction, names, worst, model.tolerance_keys());
}

} // namespace

CountedJobs counted_jobs(const Study& study, const GradientJobs& experiments) {
  CountedJobs counted;
  for (std::size_t e = 0; e < experiments.size(); ++e)
    if (counts(study, e)) counted.push_back(experiments[e].get());
  return counted;
}

Json describe_gradient(const Study& study, const GradientJobs& experiments) {
  Json json;
  double objective = 0, forward_seconds = 0, sweep_seconds = 0, residual = 0, objective_error = 0;
  GlobalIndex newton = 0, linear = 0;
  std::vector<std::size_t> next(experiments.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t e = spec->experiment;
    if (!counts(study, e)) continue;
    json["per_objective"][spec->name] = experiments[e]->forward().terms[next[e]++];
  }
  for (GradientJob* experiment : counted_jobs(study, experiments)) {
    const ForwardResult& forward = experiment->forward();
    const SweepResult& sweep = experiment->swept();
    objective += forward.objective;
    forward_seconds += forward.seconds;
    sweep_seconds += sweep.seconds;
    newton += forward.newton_iterations;
    linear += sweep.linear_iterations;
    residual = std::max(residual, sweep.largest_relative_residual);
    objective_error += std::abs(sweep.objective_correction);
  }
  json["objective"] = objective;
  json["parameters"] = describe_parameters(study, experiments);
  json["forward_s"] = forward_seconds;
  json["sweep_s"] = sweep_seconds;
  json["newton_iterations"] = newton;
  json["sweep_linear_iterations"] = linear;
  json["sweep_relative_residual"] = residual;
  json["objective_error"] = objective_error;
  return json;
}

std::vector<std::string> gradient_warnings(const CountedJobs& experiments, const Json& frozen) {
  std::vector<std::string> warnings;
  for (const auto& [name, stiffness] : frozen.items())
    warnings.push_back(fmt::format("{}: the gradient is that of the frozen barrier stiffness {:g}; where it "
                                   "adapts to the parameters, runs have "
                                   "another one, and differences of them another value (8 % were seen). Give "
                                   "solver/contact/barrier_stiffness in the scene to run with the same",
                                   name, stiffness.get<double>()));
  for (GradientJob* experiment : experiments)
    if (std::string warning = warn_of_loose_steps(*experiment); !warning.empty())
      warnings.push_back(std::move(warning));
  return warnings;
}

void write_gradient_fields(const parallel::Communicator& comm, const Study& study,
                           const GradientJobs& experiments, const std::filesystem::path& path) {
  std::vector<std::pair<GradientJob*, std::size_t>> fields;
  for (GradientJob* experiment : counted_jobs(study, experiments))
    for (std::size_t k = 0; k < experiment->model().parameters().size(); ++k)
      if (!experiment->model().is_replicated(k)) fields.emplace_back(experiment, k);
  if (fields.empty()) return;
  write_arrays_aside(comm, path, [&](io::Hdf5Writer& file) {
    for (const auto& [experiment, k] : fields) {
      const ExperimentModel& model = experiment->model();
      const std::string group = model.name() + "/" + model.parameter_name(k);
      model.write_field(file, group, k, experiment->swept().values);
      file.write_attribute(group, "unit", unit_of(study.parameters[model.parameters()[k]]));
    }
  });
}

void check_ties(const Study& study, const GradientJobs& experiments) {
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    const std::vector<int> parameters = experiments[e]->model().parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const ParameterSpec& spec = study.parameters[parameters[k]];
      if (!spec.tie) continue;
      const Place owner = place_of_owner(study, experiments, e, *spec.tie);
      const std::size_t own = experiments[e]->model().start_values()[k].size();
      const std::size_t other = experiments[owner.experiment]->model().start_values()[owner.field].size();
      if (own == other) continue;
      throw InputError(
          spec.where.of("tie"),
          fmt::format(
              "'{}' has {} values in experiment '{}', '{}' has {} in experiment '{}'; tie values of the "
              "same number of bodies and steps",
              spec.name, own, study.experiments[e].name, study.parameters[*spec.tie].name, other,
              study.experiments[owner.experiment].name));
    }
  }
}

} // namespace recoil::app

#include "app/study/gradient_report.hpp"
#include "app/study/parameters/parameter_kind.hpp"

#include <algorithm>
#include <cmath>

#include "app/study/file_order.hpp"
#include "app/study/tied_values.hpp"
#include "recoil/base/atomic_file.hpp"

namespace recoil::app {

namespace {

using Json = nlohmann::ordered_json;

Json number_or_list(const std::vector<double>& values) {
  if (values.size() == 1) return values.front();
  return values;
}

const char* unit_of(const ParameterSpec& spec) {
  const char* unit = spec.kind->unit;
  return unit != nullptr ? unit : "1";
}

/// Groups of gradient.h5 that belong to a parameter.
Json groups_of(const Study& study, const ParameterSpec& spec) {
  Json groups = Json::array();
  for (const int e : spec.experiments) groups.push_back(study.experiments[e].name + "/" + spec.name);
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

Json describe_parameters(const Study& study, const GradientStages& stages) {
  Json result;
  std::vector<Summed> sums(study.parameters.size());
  for (std::size_t e = 0; e < stages.experiments.size(); ++e) {
    const ExperimentModel& experiment = stages.experiments[e]->model();
    const std::vector<int> parameters = experiment.parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (!experiment.is_replicated(k)) continue;
      const std::size_t index = parameters[k];
      const std::size_t owner = study.parameters[index].tie.value_or(parameters[k]);
      add(bodies_of_values(study, stages.experiments, e, k), experiment.start_values()[k],
          stages.sweeps[e].values[k], sums[owner]);
    }
  }
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    const ParameterSpec& spec = study.parameters[i];
    const std::size_t owner = spec.tie.value_or(static_cast<int>(i));
    const auto& [bodies, values, gradient] = sums[owner];
    if (gradient.empty()) {
      result[spec.name] = {
          {"unit", unit_of(spec)}, {"file", "gradient.h5"}, {"groups", groups_of(study, spec)}};
      continue;
    }
    std::vector<double> scaled = gradient;
    for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] = scaled_derivative(spec, values[k], scaled[k]);
    result[spec.name] = {{"value", number_or_list(values)},
                         {"unit", unit_of(spec)},
                         {"gradient", number_or_list(gradient)},
                         {"gradient_scaled", number_or_list(scaled)}};
    if (!bodies.empty()) result[spec.name]["bodies"] = bodies;
  }
  return result;
}

} // namespace

nlohmann::ordered_json describe_gradient(const Study& study, const GradientStages& stages) {
  Json json;
  double objective = 0, forward_seconds = 0, sweep_seconds = 0, residual = 0, objective_error = 0;
  GlobalIndex newton = 0, linear = 0;
  std::vector<std::size_t> next(stages.experiments.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t e = spec->experiment;
    json["per_objective"][spec->name] = stages.forward[e].terms[next[e]++];
  }
  for (std::size_t e = 0; e < stages.experiments.size(); ++e) {
    objective += stages.forward[e].objective;
    forward_seconds += stages.forward[e].seconds;
    sweep_seconds += stages.sweeps[e].seconds;
    newton += stages.forward[e].newton_iterations;
    linear += stages.sweeps[e].linear_iterations;
    residual = std::max(residual, stages.sweeps[e].largest_relative_residual);
    objective_error += std::abs(stages.sweeps[e].objective_correction);
  }
  json["objective"] = objective;
  json["parameters"] = describe_parameters(study, stages);
  json["forward_s"] = forward_seconds;
  json["sweep_s"] = sweep_seconds;
  json["newton_iterations"] = newton;
  json["sweep_linear_iterations"] = linear;
  json["sweep_relative_residual"] = residual;
  json["objective_error"] = objective_error;
  return json;
}

nlohmann::ordered_json describe_check(const std::vector<GradientCheck>& checks) {
  Json result;
  for (const GradientCheck& check : checks)
    result[check.name] = {{"slope", std::isnan(check.slope) ? Json() : Json(check.slope)},
                          {"relative_error", check.relative_error},
                          {"verdict", check.verdict},
                          {"derivative", check.derivative},
                          {"difference", check.difference},
                          {"noise", check.errors.noise},
                          {"steps", check.steps},
                          {"differences", check.differences},
                          {"relative_errors", check.relative_errors},
                          {"uncertainties", check.uncertainties},
                          {"remainders", check.remainders}};
  return result;
}

void write_gradient_fields(const parallel::Communicator& comm, const Study& study,
                           const GradientStages& stages, const std::filesystem::path& path) {
  const bool any = std::ranges::any_of(stages.experiments, [](const auto& experiment) {
    for (std::size_t k = 0; k < experiment->model().parameters().size(); ++k)
      if (!experiment->model().is_replicated(k)) return true;
    return false;
  });
  if (!any) return;
  const std::filesystem::path aside = path.string() + ".part";
  io::Hdf5Writer file(comm, aside);
  for (std::size_t e = 0; e < stages.experiments.size(); ++e) {
    const ExperimentModel& experiment = stages.experiments[e]->model();
    const std::vector<int> parameters = experiment.parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (experiment.is_replicated(k)) continue;
      const ParameterSpec& spec = study.parameters[parameters[k]];
      const std::string group = study.experiments[e].name + "/" + spec.name;
      experiment.write_field(file, group, k, stages.sweeps[e].values);
      file.write_attribute(group, "unit", unit_of(spec));
    }
  }
  file.close();
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) rename_durably(aside, path);
  });
}

} // namespace recoil::app

#include "app/study/experiment_objectives.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/simulation/conventions.hpp"
#include "app/simulation/materials.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/center_of_mass.hpp"
#include "recoil/objectives/contact_force_norm.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/shape.hpp"
#include "recoil/objectives/stress.hpp"
#include "recoil/objectives/target.hpp"

namespace recoil::app {

namespace {

objectives::TimeSelection selection_of(const ObservedTimes& times) {
  if (std::holds_alternative<FinalTime>(times)) return objectives::FinalState{};
  if (const auto* list = std::get_if<StepList>(&times))
    return objectives::ChosenSteps{{list->steps.begin(), list->steps.end()}};
  if (const auto* list = std::get_if<TimeList>(&times)) return objectives::ChosenTimes{list->times};
  return objectives::WholeTime{};
}

template <int dim>
class ObjectiveBuilder {
public:
  using Pointer = std::unique_ptr<objectives::Objective<dim>>;

  ObjectiveBuilder(const Study& study, const MarkerPoints<dim>& points,
                   const NodalReferences<dim>& references, DiscreteScene<dim>& discrete)
      : study_(study), points_(points), references_(references), discrete_(discrete),
        problem_(discrete.solver().problem()) {
    for (const auto& potential : problem_.elastic) elastic_.push_back(potential.get());
  }

  /// @throws InputError on every rank also where the objective has no value at a time at which it is needed.
  Pointer build_checked(const ObjectiveSpec& spec) const {
    Pointer objective = build(spec);
    if (!info(spec.type).takes_time()) return objective;
    try {
      for (const double time : observed_interval(spec)) objective->check_time(time);
    } catch (const InputError& missing) {
      throw InputError(spec.where.of("target"),
                       std::string(missing.what()) +
                           "; add observations, or look at other states with `time`");
    }
    return objective;
  }

private:
  Pointer build(const ObjectiveSpec& spec) const {
    using enum ObjectiveType;
    switch (spec.type) {
    case stress_norm:
      return objectives::make_stress_norm<dim>(region(spec), elastic_, spec.p, measure(spec));
    case stress_bound:
      return objectives::make_stress_bound<dim>(region(spec), elastic_, spec.limit, measure(spec));
    case target_displacement:
      return objectives::make_target_displacement<dim>(region(spec), reference(spec), facets(spec));
    case target_position:
      return objectives::make_target_position<dim>(region(spec), reference(spec), facets(spec));
    case markers:
      return build_markers(spec);
    case center_of_mass:
      return objectives::make_center_of_mass<dim>(
          region(spec), problem_.density, objectives::read_track<dim>(discrete_.space().comm(), spec.target));
    case height:
      return objectives::make_height<dim>(region(spec), problem_.density, spec.axis);
    case volume_bound:
      return objectives::make_volume_bound<dim>(region(spec), spec.limit);
    case elastic_energy:
      return objectives::make_elastic_energy<dim>(region(spec), elastic_);
    case contact_force_norm:
      return build_contact_force_norm(spec);
    case velocity: {
      Eigen::Matrix<double, dim, 1> target;
      for (std::size_t i = 0; i < dim; ++i) target[static_cast<Eigen::Index>(i)] = spec.target_velocity[i];
      return objectives::make_velocity<dim>(region(spec), target);
    }
    case boundary_smoothing:
      return objectives::make_boundary_smoothing<dim>(region(spec), spec.p);
    case material_smoothing:
      break;
    }
    return build_material_smoothing(spec);
  }

  objectives::Region<dim> region(const ObjectiveSpec& spec) const {
    std::vector<std::int32_t> bodies;
    const auto& names = discrete_.mesh().body_names;
    for (const std::string& name : spec.bodies) {
      const auto found = std::ranges::find(names, name);
      if (found == names.end())
        throw InputError(spec.where.of("body"), "there is no deformable body '" + name + "'");
      bodies.push_back(static_cast<std::int32_t>(found - names.begin()));
    }
    return objectives::make_region<dim>(discrete_.space(), problem_.geometry, std::move(bodies));
  }

  /// Times of the first and the last state that the objective looks at.
  std::array<double, 2> observed_interval(const ObjectiveSpec& spec) const {
    const TimeSpec& time = discrete_.scene().time;
    const bool is_static = time.kind == TimeKind::statics;
    const auto at = [&](int step) { return is_static && step == 0 ? 0 : time.time_of_step(step); };
    const ObservedTimes times = observed_times(spec, is_static);
    if (std::holds_alternative<FinalTime>(times)) return {at(time.steps), at(time.steps)};
    if (const auto* list = std::get_if<StepList>(&times))
      return {at(list->steps.front()), at(list->steps.back())};
    if (const auto* list = std::get_if<TimeList>(&times)) {
      // Values between two states come from both.
      const auto position = [&](double t) { return (t - time.t0) / time.dt; };
      const auto first = static_cast<int>(std::floor(position(list->times.front()) + 1e-6));
      const auto last = static_cast<int>(std::ceil(position(list->times.back()) - 1e-6));
      return {at(std::max(first, 0)), at(std::min(last, time.steps))};
    }
    return {at(0), at(time.steps)};
  }

  static objectives::StressMeasure measure(const ObjectiveSpec& spec) {
    return spec.stress == StressKind::cauchy ? objectives::StressMeasure::cauchy
                                             : objectives::StressMeasure::first_piola;
  }

  static std::optional<potentials::FacetSelection> facets(const ObjectiveSpec& spec) {
    if (spec.over == Over::volume) return {};
    return potentials::FacetSelection{true, {}};
  }

  objectives::ReferenceField reference(const ObjectiveSpec& spec) const {
    const auto number = static_cast<std::size_t>(&spec - study_.objectives.data());
    const NodalReference<dim>& found = *references_.at(number);
    found.check_interval(observed_interval(spec));
    return found.on(discrete_.space());
  }

  Pointer build_markers(const ObjectiveSpec& spec) const {
    std::vector<std::string> names;
    for (const auto& [number, point] : points_) names.push_back(study_.markers[number].name);
    auto tracks = objectives::read_marker_tracks<dim>(discrete_.space().comm(), spec.target, names);
    std::vector<objectives::Marker<dim>> markers;
    for (const auto& [number, point] : points_)
      markers.push_back({point, std::move(tracks.at(study_.markers[number].name))});
    return objectives::make_markers<dim>(discrete_.space(), std::move(markers));
  }

  Pointer build_contact_force_norm(const ObjectiveSpec& spec) const {
    if (!problem_.contact) throw InputError(spec.where.of("type"), "the scene has no contact");
    const Scene& scene = discrete_.scene();
    const double unit = stiffness_unit(scene, problem_.contact->parameters().dhat);
    return objectives::make_contact_force_norm<dim>(
        region(spec), *problem_.contact, *scene.contact.barrier_stiffness / unit,
        [motion = &problem_.obstacle_motion](double time) { return (*motion)(time, 1); });
  }

  Pointer build_material_smoothing(const ObjectiveSpec& spec) const {
    const Scene& scene = discrete_.scene();
    const objectives::Region<dim> cells = region(spec);
    const auto lame =
        cell_lame_constants(scene, discrete_.space(), discrete_.materials(), discrete_.overrides());
    objectives::CellConstants constants{{"lambda", "mu"}, {}, {}};
    parallel::collectively(discrete_.space().comm(), [&] {
      for (std::size_t cell = 0; cell < lame.size(); ++cell) {
        const MaterialEntry& entry = scene.materials[static_cast<std::size_t>(discrete_.materials()[cell])];
        if (!entry.law->lame && cells.selects(static_cast<LocalIndex>(cell)))
          throw InputError(spec.where.of("type"),
                           "material_smoothing compares lambda and mu, which the material at " + entry.where +
                               " does not have; name the bodies of other materials in `body`");
        constants.law.push_back(static_cast<int>(entry.law - potentials::laws().data()));
        constants.values.insert(constants.values.end(), lame[cell].begin(), lame[cell].end());
      }
    });
    return objectives::make_material_smoothing<dim>(cells, std::move(constants));
  }

  const Study& study_;
  const MarkerPoints<dim>& points_;
  const NodalReferences<dim>& references_;
  DiscreteScene<dim>& discrete_;
  const solvers::ElastodynamicsProblem<dim>& problem_;
  objectives::ElasticPotentials<dim> elastic_;
};

} // namespace

template <int dim>
MarkerPoints<dim> locate_markers(const Study& study, int experiment, const mesh::DistributedMesh<dim>& mesh) {
  MarkerPoints<dim> points;
  if (std::ranges::none_of(study.objectives, [&](const ObjectiveSpec& spec) {
        return spec.experiment == experiment && spec.type == ObjectiveType::markers;
      }))
    return points;
  for (std::size_t number = 0; number < study.markers.size(); ++number) {
    const MarkerSpec& marker = study.markers[number];
    const auto body = std::ranges::find(mesh.body_names, marker.body);
    if (body == mesh.body_names.end()) continue;
    Eigen::Matrix<double, dim, 1> rest;
    for (std::size_t i = 0; i < dim; ++i) rest[static_cast<Eigen::Index>(i)] = marker.rest[i];
    try {
      points[number] = objectives::locate<dim>(
          mesh, static_cast<std::int32_t>(body - mesh.body_names.begin()), rest, marker.name);
    } catch (const InputError& outside) {
      throw InputError(marker.where.of("rest"), outside.what());
    }
  }
  return points;
}

template <int dim>
ExperimentObjectives<dim> make_objectives(const Study& study, int experiment, const MarkerPoints<dim>& points,
                                          const NodalReferences<dim>& references,
                                          DiscreteScene<dim>& discrete) {
  const ObjectiveBuilder<dim> builder(study, points, references, discrete);
  const bool is_static = discrete.scene().time.kind == TimeKind::statics;
  ExperimentObjectives<dim> result;
  for (const ObjectiveSpec& spec : study.objectives) {
    if (spec.experiment != experiment) continue;
    result.objectives.push_back(builder.build_checked(spec));
    result.terms.push_back(
        {spec.where.of("power"), spec.weight, spec.power, selection_of(observed_times(spec, is_static))});
  }
  return result;
}

std::vector<double> observed_state_times(const TimeSpec& time) {
  if (time.kind == TimeKind::statics) return {0, 1};
  std::vector<double> times;
  for (int n = 0; n <= time.steps; ++n) times.push_back(time.t0 + n * time.dt);
  return times;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template MarkerPoints<dim> locate_markers(const Study&, int, const mesh::DistributedMesh<dim>&);           \
  template ExperimentObjectives<dim> make_objectives(const Study&, int, const MarkerPoints<dim>&,            \
                                                     const NodalReferences<dim>&, DiscreteScene<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app

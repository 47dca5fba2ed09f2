#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/objectives/camera.hpp"
#include "recoil/objectives/displacement_files.hpp"

namespace recoil::app {
namespace {

/// A point of the study. Collective. @throws InputError at `where` on every rank, naming `what`, for one
/// outside of the body.
template <int dim>
objectives::MaterialPoint<dim> locate_at_rest(const Specimen<dim>& at, const std::string& body,
                                              const std::vector<double>& rest, const std::string& what,
                                              const std::string& where) {
  try {
    return at.locate(body, Eigen::Map<const Eigen::Matrix<double, dim, 1>>(rest.data()), what);
  } catch (const InputError& outside) {
    throw InputError(where, outside.what());
  }
}

struct Markers final : ObservedObjectiveOf<Markers> {
  using ObservedObjectiveOf::ObservedObjectiveOf;

  void check(const ExperimentScene& at) const override {
    const auto bodies = deformable_names(at.scene);
    const bool found = std::ranges::any_of(
        at.study.markers, [&](const MarkerSpec& marker) { return holds(bodies, marker.body); });
    if (!found)
      at.fail(where, "type",
              "no marker sits on a body of this experiment; bodies there: '" + bodies.front() +
                  (bodies.size() > 1 ? "' to '" + bodies.back() + "'" : "'"));
  }

  /// Markers on the bodies of the experiment, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const std::vector<std::string> bodies = deformable_names(at.scene);
    std::vector<std::string> names;
    std::vector<PointGroup<dim>> groups;
    for (const MarkerSpec& marker : at.study.markers) {
      if (!holds(bodies, marker.body)) continue;
      names.push_back(marker.name);
      groups.push_back(marker.id ? at.select(marker.body, *marker.id, marker.where.of("id"))
                                 : PointGroup<dim>{locate_at_rest(at, marker.body, marker.rest,
                                                                  "marker '" + marker.name + "'",
                                                                  marker.where.of("rest"))});
    }
    return [this, names, groups](const Observables<dim>& at) {
      auto tracks = objectives::read_marker_tracks<dim>(at.comm(), target, names, at.scene().units);
      objectives::Comparison<dim> observed{{names, {"x", "y", "z"}}, {}};
      for (const std::string& name : names)
        observed.tracks.push_back(as_observed(*this, at.scene().time, std::move(tracks.at(name))));
      return objectives::make_misfit<dim>(type->name, at.points(objectives::PointVector::position, groups),
                                          std::move(observed));
    };
  }
};

/// A digital image correlation.
struct DisplacementField final : ObjectiveOf<DisplacementField> {
  explicit DisplacementField(const Item& entry)
      : drops_outside(entry.has("outside") && entry["outside"].text() == "drop") {
    if (entry["body"].size() != 1)
      entry["body"].fail("the points of a displacement field lie in one body, here are " +
                         std::to_string(entry["body"].size()));
    read_files(entry);
    if (entry.has("sd")) from.sd = entry["sd"].number();
    if (entry.has("unit")) from.unit = entry["unit"].text();
    sees = !entry.has("pose")                 ? Sees::in_axes_of_scene
           : entry["pose"].text() == "fitted" ? Sees::from_fitted_pose
                                              : Sees::from_pose;
    for (const char* key : {"camera_rotation", "camera_translation"})
      if (entry.has(key) && sees == Sees::in_axes_of_scene)
        entry[key].fail(
            "is the pose of a camera; write \"pose\": \"fixed\" where it is known, or \"fitted\"");
    if (entry.has("camera_rotation"))
      turn = entry["camera_rotation"].is_list() ? entry["camera_rotation"].numbers()
                                                : std::vector{entry["camera_rotation"].number()};
    if (entry.has("camera_translation")) shift = entry["camera_translation"].numbers();
  }

  std::vector<std::filesystem::path> files() const override { return from.files; }
  void check_dimension(int dim) const override {
    if (!shift.empty())
      require_count(shift.size(), dim, dim, where.of("camera_translation"), "where a camera stands");
    if (!turn.empty() && std::ssize(turn) != (dim == 2 ? 1 : 3))
      throw InputError(where.of("camera_rotation"),
                       dim == 2 ? "in 2D a rotation is one angle [rad], a number"
                                : "in 3D a rotation is a list of 3 numbers, the axis times the angle [rad]");
  }
  /// Points of the body, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    objectives::DisplacementFiles files = from;
    files.has_one_time = at.scene.time.kind == TimeKind::statics;
    auto seen = objectives::read_displacement_files<dim>(at.comm(), files, at.scene.units);
    objectives::CameraView<dim> view{pose<dim>(), sees == Sees::from_fitted_pose, {}, {}};
    std::vector<Eigen::Matrix<double, dim, 1>> rests;
    for (const auto& point : seen)
      rests.push_back(view.pose.rotation.transpose() * (point.rest - view.pose.translation));
    const auto places = at.locate(bodies.front(), rests);
    std::vector<PointGroup<dim>> groups;
    objectives::Comparison<dim> observed{{{}, {"ux", "uy", "uz"}}, {}};
    std::vector<std::size_t> outside;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!places[i]) {
        outside.push_back(i);
        continue;
      }
      groups.push_back({*places[i]});
      observed.tracks.push_back(as_observed(*this, at.scene.time, std::move(seen[i].track)));
      observed.names.points.push_back(fmt::format("({:g})", fmt::join(seen[i].rest, ", ")));
      view.rest.push_back(seen[i].rest);
    }
    if (!outside.empty()) {
      const auto& first = rests[outside.front()];
      report_outside(outside.size(), seen.size(), std::vector<double>(first.begin(), first.end()));
    }
    if (sees == Sees::in_axes_of_scene)
      return [this, groups, observed](const Observables<dim>& at) {
        return objectives::make_misfit<dim>(
            type->name, at.points(objectives::PointVector::displacement, groups), observed);
      };
    view.tracks = observed.tracks;
    return [this, groups, observed, view](const Observables<dim>& at) {
      return objectives::make_misfit<dim>(
          type->name,
          objectives::observe_by_camera<dim>(at.points(objectives::PointVector::position, groups), view),
          observed);
    };
  }

  /// @throws InputError unless such points are dropped.
  void report_outside(std::size_t count, std::size_t all, const std::vector<double>& first) const {
    const std::string what = fmt::format("{} of {} points lie outside of body '{}', the first one at ({})",
                                         count, all, bodies.front(), fmt::join(first, ", "));
    if (!drops_outside || count == all)
      throw InputError(where.of("target"),
                       what + (count == all ? "; positions are those at rest in the scene, in metres unless "
                                              "the header has a unit"
                                            : "; mend them, or leave them out with \"outside\": \"drop\""));
    log_warning(fmt::format("{}: {}; they are left out", where.entry, what));
  }

  bool drops_outside;

private:
  enum class Sees { in_axes_of_scene, from_pose, from_fitted_pose };

  void read_files(const Item& entry) {
    if (entry.has("target") == entry.has("stages"))
      entry.fail("needs one of `target` (a CSV file) and `stages` (a list of files, one for each of the "
                 "`times`): what was observed");
    if (entry.has("target")) {
      from.files = {observations_of(entry)};
      if (entry.has("times"))
        entry["times"].fail("are those of `stages`; in a `target` the column `time` says");
      return;
    }
    for (const std::string& file : entry["stages"].texts()) from.files.emplace_back(file);
    if (!entry.has("times"))
      entry["stages"].fail("need `times`, a list with the time of each file [s]; for a static scene take one "
                           "file, as `target`");
    from.times = entry["times"].numbers();
    if (from.times.size() != from.files.size())
      entry["times"].fail("there are " + std::to_string(from.times.size()) + " times for " +
                          std::to_string(from.files.size()) + " files in `stages`");
    if (std::ranges::adjacent_find(from.times, std::greater_equal<>()) != from.times.end())
      entry["times"].fail("must increase, as must the stages");
  }
  template <int dim>
  objectives::CameraPose<dim> pose() const {
    objectives::CameraPose<dim> result;
    if (!turn.empty()) result.rotation = objectives::camera_rotation<dim>(turn);
    if (!shift.empty()) result.translation = Eigen::Map<const Eigen::Matrix<double, dim, 1>>(shift.data());
    return result;
  }

  objectives::DisplacementFiles from;
  Sees sees;
  std::vector<double> turn, shift;
};

struct StrainAt final : ObservedObjectiveOf<StrainAt> {
  explicit StrainAt(const Item& entry)
      : ObservedObjectiveOf(entry), rest(entry["rest"].numbers()), direction(entry["direction"].numbers()) {
    if (entry["body"].size() != 1)
      entry["body"].fail("a strain gauge sits on one body, here are " + std::to_string(entry["body"].size()));
    if (std::ranges::all_of(direction, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  void check_dimension(int dim) const override {
    require_count(rest.size(), dim, dim, where.of("rest"), "the position of a strain gauge");
    require_count(direction.size(), dim, dim, where.of("direction"), "the direction of a strain gauge");
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const auto point =
        locate_at_rest(at, bodies.front(), rest, "strain gauge '" + name + "'", where.of("rest"));
    return [this, point](const Observables<dim>& at) {
      objectives::Comparison<1> observed{{{}, {"strain"}}, {}, objectives::Measured::strain};
      observed.tracks.push_back(as_observed(
          *this, at.scene().time,
          objectives::read_track<1>(at.comm(), target, {"strain"}, observed.measured, at.scene().units)));
      return objectives::make_misfit<dim>(
          type->name, at.strain(point, Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction.data())),
          std::move(observed));
    };
  }

  std::vector<double> rest, direction;
};

} // namespace

std::vector<ObjectiveType> observed_points_objectives() {
  const Key outside_key{.pattern = "/objectives/*/outside",
                        .types = text,
                        .implied = "`refuse`",
                        .choices = "[\"refuse\", \"drop\"]",
                        .doc = "Points outside of the body: an error, or left out with a warning."};
  Key file_key = observations_key;
  file_key.required = false;
  const Key stages_key{.pattern = "/objectives/*/stages",
                       .types = list,
                       .items = path,
                       .length = {1, 1 << 30},
                       .doc = "In place of `target`: a CSV file without the column `time` for each of the "
                              "`times`."};
  const Key times_key{.pattern = "/objectives/*/times",
                      .types = list,
                      .items = number,
                      .length = {1, 1 << 30},
                      .unit = "s",
                      .doc = "Those of the `stages`, ascending."};
  const Key sd_key{.pattern = "/objectives/*/sd",
                   .types = number,
                   .implied = "unknown, counted as 1",
                   .range = positive,
                   .unit = "m",
                   .doc = "Standard deviation of each component where the files have no column for it."};
  const Key unit_key{.pattern = "/objectives/*/unit",
                     .types = text,
                     .implied = "that of the study",
                     .choices = "[\"m\", \"cm\", \"mm\", \"um\", \"nm\", \"km\", \"in\"]",
                     .doc = "Unit of lengths in files whose header says none."};
  const Key pose_key{
      .pattern = "/objectives/*/pose",
      .types = text,
      .implied = "axes of the scene",
      .choices = "[\"fixed\", \"fitted\"]",
      .doc = "The files are in the axes of a camera, which sees the point x of the scene at Q x + "
             "c. `fixed`: Q and c are known; `fitted`: they are those of the least misfit, found "
             "anew for every observation, see [below](#image-correlation)."};
  const Key camera_rotation_key{.pattern = "/objectives/*/camera_rotation",
                                .types = number | list,
                                .items = number,
                                .length = {1, 3},
                                .implied = "none",
                                .doc = "Q, in 2D an angle [rad], in 3D the axis times the angle."};
  const Key camera_translation_key{.pattern = "/objectives/*/camera_translation",
                                   .types = list,
                                   .items = number,
                                   .length = {2, 3},
                                   .implied = "none",
                                   .unit = "m",
                                   .doc = "c."};
  const Key rest_key{
      .pattern = "/objectives/*/rest",
      .types = list,
      .items = number,
      .length = {2, 3},
      .required = true,
      .unit = "m",
      .doc = "Position at rest of a point that moves with the body, before a shape has moved anything."};
  return {
      {.name = "markers",
       .doc = "sum over the markers of |x - y|^2 / sd^2, y and sd from a CSV file.",
       .keys = {time_key, observations_key},
       .read = Markers::read,
       .asks = ObservableKind::points,
       .observes = true,
       .uses_markers = true,
       .keeps_mesh = true,
       .sees_place = true},
      {.name = "displacement_field",
       .doc =
           "sum over the points of |u - y|^2 / sd^2, y the displacements of points of one body, as from "
           "a digital image correlation, and sd from CSV files with the columns "
           "`time,x,y[,z],ux,uy[,uz][,sd]` or [those of an export](#image-correlation). Without `time` each "
           "observation counts once, in statics the final state.",
       .keys = {required(body_key), time_key, file_key, stages_key, times_key, sd_key, unit_key, outside_key,
                pose_key, camera_rotation_key, camera_translation_key},
       .read = DisplacementField::read,
       .asks = ObservableKind::points,
       .observes = true,
       .is_sampled = true,
       .keeps_mesh = true,
       .sees_place = true},
      {.name = "strain_at",
       .doc =
           "(e - y)^2 / sd^2, e = |F d| - 1 the engineering strain along `direction` at a point of one body, "
           "y "
           "and sd from a CSV file with the columns `time,strain[,sd]`. Between elements that of the one "
           "with "
           "the smallest number counts.",
       .keys = {required(body_key), time_key, observations_key, rest_key, direction_key},
       .read = StrainAt::read,
       .asks = ObservableKind::strain,
       .observes = true,
       .keeps_mesh = true}};
}

} // namespace recoil::app

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

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
struct DisplacementField final : ObservedObjectiveOf<DisplacementField> {
  explicit DisplacementField(const Item& entry)
      : ObservedObjectiveOf(entry), drops_outside(entry.has("outside") && entry["outside"].text() == "drop") {
    if (entry["body"].size() != 1)
      entry["body"].fail("the points of a displacement field lie in one body, here are " +
                         std::to_string(entry["body"].size()));
  }

  /// Points of the body, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    auto seen = objectives::read_displacement_field<dim>(at.comm(), target, at.scene.units);
    std::vector<Eigen::Matrix<double, dim, 1>> rests;
    for (const auto& point : seen) rests.push_back(point.rest);
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
      observed.names.points.push_back(fmt::format("({:g})", fmt::join(rests[i], ", ")));
    }
    if (!outside.empty()) {
      const auto& first = rests[outside.front()];
      report_outside(outside.size(), seen.size(), std::vector<double>(first.begin(), first.end()));
    }
    return [this, groups, observed](const Observables<dim>& at) {
      return objectives::make_misfit<dim>(type->name,
                                          at.points(objectives::PointVector::displacement, groups), observed);
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
       .doc = "sum over the points of |u - y|^2 / sd^2, y the displacements of points of one body, as from "
              "a digital image correlation, and sd from a CSV file with the columns "
              "`time,x,y[,z],ux,uy[,uz][,sd]`. Without `time` each observation counts once, in statics the "
              "final state.",
       .keys = {required(body_key), time_key, observations_key, outside_key},
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

#include "recoil/objectives/markers.hpp"

#include <algorithm>

#include "app/study/objectives/objective_type.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

class Markers final : public ObjectiveOf<Markers> {
public:
  explicit Markers(const Item& entry) : target_(observations_of(entry)) {}
  std::vector<std::filesystem::path> files() const override { return {target_}; }

  void check(const ExperimentScene& at) const override {
    const auto bodies = deformable_names(at.scene);
    const bool found = std::ranges::any_of(at.study.markers, [&](const MarkerSpec& marker) {
      return std::ranges::find(bodies, marker.body) != bodies.end();
    });
    if (!found)
      at.fail(where, "type",
              "no marker sits on a body of this experiment; bodies there: '" + bodies.front() +
                  (bodies.size() > 1 ? "' to '" + bodies.back() + "'" : "'"));
  }

  /// Markers on the bodies of the experiment, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    std::vector<std::string> names;
    std::vector<objectives::MaterialPoint<dim>> points;
    for (const MarkerSpec& marker : at.study.markers) {
      const auto& bodies = at.mesh.body_names;
      if (std::ranges::find(bodies, marker.body) == bodies.end()) continue;
      names.push_back(marker.name);
      points.push_back(locate_at_rest(at.mesh, marker.body, marker.rest, "marker '" + marker.name + "'",
                                      marker.where.of("rest")));
    }
    return [this, names, points](DiscreteScene<dim>& discrete) {
      auto tracks = objectives::read_marker_tracks<dim>(discrete.space().comm(), target_, names);
      std::vector<objectives::Marker<dim>> markers;
      for (std::size_t i = 0; i < names.size(); ++i)
        markers.push_back(
            {points[i], as_observed(*this, discrete.scene().time, std::move(tracks.at(names[i])))});
      return objectives::make_markers<dim>(discrete.space(), std::move(markers));
    };
  }

private:
  std::filesystem::path target_;
};

} // namespace

ObjectiveType markers_objective() {
  return {.name = "markers",
          .doc = "sum over the markers of |x - y|^2 / sd^2, y and sd from a CSV file.",
          .keys = {time_key(), observations_key()},
          .read = Markers::read,
          .observes = true,
          .uses_markers = true};
}

} // namespace recoil::app

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {
namespace {

/// A digital image correlation.
class DisplacementField final : public ObjectiveOf<DisplacementField> {
public:
  explicit DisplacementField(const Item& entry)
      : target_(observations_of(entry)),
        drops_outside_(entry.has("outside") && entry["outside"].text() == "drop") {
    if (entry["body"].size() != 1)
      entry["body"].fail("the points of a displacement field lie in one body, here are " +
                         std::to_string(entry["body"].size()));
  }
  std::vector<std::filesystem::path> files() const override { return {target_}; }

  /// Points of the body, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    auto seen = objectives::read_displacement_field<dim>(*at.mesh.comm, target_);
    std::vector<Eigen::Matrix<double, dim, 1>> rests;
    for (const auto& point : seen) rests.push_back(point.rest);
    const auto body = std::ranges::find(at.mesh.body_names, bodies.front()) - at.mesh.body_names.begin();
    const auto places = objectives::locate_all<dim>(at.mesh, static_cast<std::int32_t>(body), rests);
    std::vector<objectives::Marker<dim>> points;
    std::vector<std::size_t> outside;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (places[i])
        points.push_back({*places[i], as_observed(*this, at.scene.time, std::move(seen[i].track))});
      else
        outside.push_back(i);
    if (!outside.empty()) {
      const auto& first = rests[outside.front()];
      report_outside(outside.size(), seen.size(), std::vector<double>(first.begin(), first.end()));
    }
    return [points](DiscreteScene<dim>& discrete) {
      return objectives::make_displacement_field<dim>(discrete.space(), points);
    };
  }

private:
  /// @throws InputError unless such points are dropped.
  void report_outside(std::size_t count, std::size_t all, const std::vector<double>& first) const {
    const std::string what = fmt::format("{} of {} points lie outside of body '{}', the first one at ({})",
                                         count, all, bodies.front(), fmt::join(first, ", "));
    if (!drops_outside_ || count == all)
      throw InputError(where.of("target"),
                       what + (count == all ? "; positions are those at rest in the scene, in metres unless "
                                              "the header has a unit"
                                            : "; mend them, or leave them out with \"outside\": \"drop\""));
    log_warning(fmt::format("{}: {}; they are left out", where.entry, what));
  }

  std::filesystem::path target_;
  bool drops_outside_;
};

} // namespace

ObjectiveType displacement_field_objective() {
  const Key outside_key{.pattern = "/objectives/*/outside",
                        .types = text,
                        .implied = "`refuse`",
                        .choices = "[\"refuse\", \"drop\"]",
                        .doc = "Points outside of the body: an error, or left out with a warning."};
  return {.name = "displacement_field",
          .doc =
              "sum over the points of |u - y|^2 / sd^2, y the displacements of points of one body, as from "
              "a digital image correlation, and sd from a CSV file with the columns "
              "`time,x,y[,z],ux,uy[,uz][,sd]`. Without `time` each observation counts once, in statics the "
              "final state.",
          .keys = {required(body_key()), time_key(), observations_key(), outside_key},
          .read = DisplacementField::read,
          .observes = true,
          .is_sampled = true};
}

} // namespace recoil::app

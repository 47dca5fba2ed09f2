#include "recoil/objectives/min_distance.hpp"

#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/build_contact.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/objectives/rest_separation.hpp"

namespace recoil::app {
namespace {

class MinDistance final : public ObjectiveOf<MinDistance> {
public:
  explicit MinDistance(const Item& entry)
      : bodies_(entry["bodies"].texts()), limit_(entry["limit"].number()), p_(entry["p"].number()) {}

  void check(const ExperimentScene& at) const override {
    if (!at.scene.contact.enabled)
      at.fail(where, "type",
              "min_distance needs contact, without which bodies may overlap and have no distance: set "
              "contact/enabled to true in " +
                  at.scene.file.string());
    const auto obstacles = obstacle_names(at.scene);
    auto all = deformable_names(at.scene);
    all.insert(all.end(), obstacles.begin(), obstacles.end());
    for (const std::string& name : bodies_)
      if (!holds(all, name))
        at.fail(where, "bodies",
                "there is no body or obstacle '" + name + "'" +
                    (did_you_mean(name, all).empty() ? "; there are " + list_names(all, "and")
                                                     : did_you_mean(name, all)));
    if (bodies_[0] == bodies_[1])
      at.fail(where, "bodies",
              "a body has no distance from itself; rest_separation keeps the parts of a shape apart");
    if (holds(obstacles, bodies_[0]) && holds(obstacles, bodies_[1]))
      at.fail(where, "bodies",
              "'" + bodies_[0] + "' and '" + bodies_[1] + "' are obstacles; name a deformable body");
    const auto* steps = time ? std::get_if<objectives::ChosenSteps>(&*time) : nullptr;
    if (at.scene.time.kind == TimeKind::statics && steps && steps->steps.front() == 0)
      at.fail(where, "time",
              "min_distance is known for the solution of a static scene only, step 1, not for its start");
  }

  template <int dim>
  auto make(const Observables<dim>& at) const {
    DiscreteScene<dim>& discrete = elements_of(at);
    const auto& problem = discrete.solver().problem();
    if (!problem.contact) throw InputError(where.of("type"), "the scene has no contact");
    return objectives::make_min_distance<dim>(
        problem.contact->surface(), problem.contact->parameters().planes,
        {{number_of(discrete, bodies_[0]), number_of(discrete, bodies_[1])}, limit_, p_},
        [motion = &problem.obstacle_motion](double at) { return (*motion)(at, 1); });
  }

private:
  /// As contact counts them: bodies, meshes of obstacles, planes.
  template <int dim>
  static std::int32_t number_of(const DiscreteScene<dim>& discrete, const std::string& name) {
    std::vector<std::string> all = discrete.mesh().body_names;
    all.insert(all.end(), discrete.obstacles().names.begin(), discrete.obstacles().names.end());
    for (const PlaneObstacle& plane : discrete.scene().planes) all.push_back(plane.name);
    return place_in(all, name);
  }

  std::vector<std::string> bodies_;
  double limit_, p_;
};

struct RestSeparation final : ObjectiveOf<RestSeparation> {
  explicit RestSeparation(const Item& entry) : distance(entry["distance"].number()) {}

  template <int dim>
  auto make(const Observables<dim>& at) const {
    DiscreteScene<dim>& discrete = elements_of(at);
    const auto& obstacles = discrete.obstacles();
    auto surface = fem::collision_surface<dim>(discrete.space(), obstacles,
                                               discrete.solver().problem().dirichlet->flags());
    return objectives::make_rest_separation<dim>(
        region_of(at, bodies), std::move(surface),
        build_planes<dim>(discrete.scene(), discrete.mesh().body_names.size() + obstacles.names.size()),
        distance);
  }

  double distance;
};

} // namespace

std::vector<ObjectiveType> distances_objectives() {
  const Key distance_key{.pattern = "/objectives/*/distance",
                         .types = number,
                         .required = true,
                         .range = positive,
                         .unit = "m",
                         .doc =
                             "Within which shapes push each other away. Longer than the shortest edge of "
                             "a surface, parts of it push that are no neighbours but close by themselves."};
  const Key bodies_key{.pattern = "/objectives/*/bodies",
                       .types = list,
                       .items = text,
                       .length = {2, 2},
                       .required = true,
                       .reason = "the two bodies, or a body and an obstacle, that are to keep a distance",
                       .doc = "Names of two bodies, or of a body and an obstacle."};
  Key distance_limit = limit_key("m");
  distance_limit.doc = "Distance below which they are too close [m].";
  return {
      {.name = "rest_separation",
       .doc = "sum of b(d^2) over pairs of surface primitives that are closer than `distance` at rest, b "
              "the barrier of contact with dhat = `distance`: of the bodies among and with themselves and "
              "with obstacles, as in contact but with equal weights. Shapes that touch are refused.",
       .keys = {body_key, distance_key},
       .read = RestSeparation::read,
       .asks = ObservableKind::surfaces},
      {.name = "min_distance",
       .doc = "max(limit - d, 0)^2, d the least distance between two bodies, or a body and an obstacle, "
              "in a smooth form: (sum over pairs of their surface primitives of max(limit - d, 0)^p)^(2/p), "
              "which is never less, and the nearer the larger p is. Costs as much as there are pairs "
              "within `limit`.",
       .keys = {bodies_key, time_key, exponent_key, distance_limit},
       .read = MinDistance::read,
       .asks = ObservableKind::surfaces}};
}

} // namespace recoil::app

#include <cmath>
#include <map>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

struct ContactForceNorm final : ObjectiveOf<ContactForceNorm> {
  explicit ContactForceNorm(const Item& entry) {
    if (entry.has("boundary")) facets = facets_of(entry);
    if (entry.has("distance")) distance = entry["distance"].number();
  }

  std::map<std::string, ObservableKind> asks_also() const override {
    std::map<std::string, ObservableKind> more;
    if (facets) more.emplace("boundary", ObservableKind::boundary);
    if (distance) more.emplace("distance", ObservableKind::surfaces);
    return more;
  }
  void check(const ExperimentScene& at) const override {
    if (facets) require_surface_ids(at, *this, *facets);
    if (!at.scene.contact.enabled)
      at.fail(where, "type",
              "contact_force_norm needs contact: set contact/enabled to true in " + at.scene.file.string());
    const auto* list = time ? std::get_if<objectives::ChosenSteps>(&*time) : nullptr;
    if (at.scene.time.kind == TimeKind::statics && list && list->steps.front() == 0)
      at.fail(
          where, "time",
          "contact_force_norm is known for the solution of a static scene only, step 1, not for its start");
  }

  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_square<dim>(type->name, at.contact_forces({bodies, facets, distance}));
  }

  std::optional<potentials::FacetSelection> facets;
  std::optional<double> distance;
};

class ReactionForce final : public ObservedObjectiveOf<ReactionForce> {
public:
  explicit ReactionForce(const Item& entry)
      : ObservedObjectiveOf(entry), direction_(entry["direction"].numbers()) {
    if (entry.has("boundary") == entry.has("obstacle"))
      entry.fail(
          "needs one of `boundary` (the id of a boundary with prescribed displacements) and `obstacle` "
          "(the name of an obstacle): whose force is observed");
    if (entry.has("boundary") && entry["boundary"].is_list())
      entry["boundary"].fail("the force is that of one boundary: one id, not a list; is " +
                             entry["boundary"].dump());
    if (entry.has("boundary")) boundary_ = entry["boundary"].integer();
    if (entry.has("obstacle")) obstacle_ = entry["obstacle"].text();
    if (std::ranges::all_of(direction_, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  void check_dimension(int dim) const override {
    require_count(direction_.size(), dim, dim, where.of("direction"), "the direction of a force");
  }
  void check(const ExperimentScene& at) const override {
    boundary_ ? check_boundary(at) : check_obstacle(at);
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const objectives::Track<1> track = objectives::read_forces(at.comm(), target, at.scene.units);
    track.is_load_curve ? check_load_curve(at.study, at.scene) : check_observed_times(at.scene.time, track);
    return [this, track = as_observed(*this, at.scene.time, track)](const Observables<dim>& at) {
      const Support<dim> support{
          Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction_.data()).normalized(), boundary_,
          obstacle_.value_or(""), where};
      objectives::Comparison<1> observed{{{}, {"force"}}, {track}, objectives::Measured::force};
      if (track.is_load_curve) {
        observed.travel = travel_of(at, support);
        check_reach(at.scene().time, track, observed.travel);
      }
      return objectives::make_misfit<dim>(type->name, at.support_force(support), std::move(observed));
    };
  }

private:
  /// The observed force at a displacement has a derivative by it that the objective does not know.
  void check_load_curve(const Study& study, const Scene& scene) const {
    for (const ParameterSpec& parameter : study.parameters)
      if (parameter.acts_in(experiment) && parameter.kind->moves_supports &&
          parameter.kind->takes_key("boundary") == boundary_.has_value())
        throw InputError(
            where.of("target"),
            "forces are given over the displacement, which has no derivative by the parameter '" +
                parameter.name + "' (" + parameter.kind->name +
                "); give them over `time`, or leave the parameter out of this experiment");
    if (counts_observations_once(*this, scene.time.kind == TimeKind::statics))
      throw InputError(where.of("time"),
                       "a load-displacement curve has no times; take {\"steps\": [..]} with the steps whose "
                       "forces count");
  }

  /// The force between two states would be that of bodies on a straight way, which contact forbids.
  void check_observed_times(const TimeSpec& time, const objectives::Track<1>& track) const {
    if (!counts_observations_once(*this, time.kind == TimeKind::statics)) return;
    const std::vector<double> states = observed_state_times(time);
    const double slack = 1e-9 * std::max(std::abs(states.front()), std::abs(states.back()));
    for (const double t : track.observation_times()) {
      if (t < states.front() - slack || t > states.back() + slack) continue;
      const double step = (t - time.t0) / time.dt;
      if (std::abs(std::round(step) - step) * time.dt > slack)
        throw InputError(where.of("target"), "there is an observation at t = " + nlohmann::json(t).dump() +
                                                 ", between two states, and forces are known at states only; "
                                                 "choose steps that end at the observations");
    }
  }

  /// @throws InputError where a state that counts is beyond the curve.
  void check_reach(const TimeSpec& time, const objectives::Track<1>& track,
                   const objectives::Travel& travel) const {
    const auto [first, last] = observed_interval(*this, time);
    for (const double t : observed_state_times(time))
      if (t >= first && t <= last) try {
          track.at(travel(t));
        } catch (const InputError& missing) {
          throw InputError(where.of("target"),
                           std::string(missing.what()) +
                               ", and the support is there at t = " + nlohmann::json(t).dump() +
                               "; add observations, or look at other states with `time`");
        }
  }

  /// Where the support is at the states, and between them.
  template <int dim>
  objectives::Travel travel_of(const Observables<dim>& at, const Support<dim>& support) const {
    std::map<double, double> at_states;
    for (const double t : observed_state_times(at.scene().time)) at_states[t] = at.travel(support, t);
    return [at_states = std::move(at_states)](double t) {
      const auto after = at_states.lower_bound(t);
      if (after == at_states.begin()) return after->second;
      if (after == at_states.end()) return std::prev(after)->second;
      const auto before = std::prev(after);
      const double share = (t - before->first) / (after->first - before->first);
      return (1 - share) * before->second + share * after->second;
    };
  }

  void check_boundary(const ExperimentScene& at) const {
    const auto& conditions = at.scene.boundary_conditions.dirichlet;
    if (std::ranges::any_of(conditions, [&](const auto& entry) { return acts_on(entry, *boundary_); }))
      return;
    at.fail(where, "boundary",
            "no displacement is prescribed on boundary " + std::to_string(*boundary_) +
                ", so that nothing there bears a force; name an id of "
                "boundary_conditions/dirichlet_boundary");
  }
  void check_obstacle(const ExperimentScene& at) const {
    if (!at.scene.contact.enabled)
      at.fail(where, "obstacle",
              "obstacles bear forces in contact only: set contact/enabled to true in " +
                  at.scene.file.string());
    const std::vector<std::string> names = obstacle_names(at.scene);
    if (!holds(names, *obstacle_))
      at.fail(where, "obstacle",
              "'" + *obstacle_ + "' is no obstacle of this experiment; there are " +
                  list_names(names, "and"));
  }

  std::vector<double> direction_;
  std::optional<int> boundary_;
  std::optional<std::string> obstacle_;
};

} // namespace

std::vector<ObjectiveType> forces_objectives() {
  const Key clamp_key{.pattern = "/objectives/*/boundary",
                      .types = integer,
                      .doc = "Id of a boundary with prescribed displacements."},
      obstacle_key{.pattern = "/objectives/*/obstacle", .types = text, .doc = "Name of an obstacle."};
  Key facets_key = boundary_key;
  facets_key.doc = "Surface id, or list of them, of the nodes that count.";
  const Key distance_key{
      .pattern = "/objectives/*/distance",
      .types = number,
      .implied = "the contact of the run",
      .range = positive,
      .unit = "m",
      .doc =
          "Forces of another barrier are taken: the plain one with this dhat and stiffness 1, which bodies "
          "feel before they touch."};
  return {
      {.name = "contact_force_norm",
       .doc = "sum over the nodes of |f|^2, f the force of contact without friction, or of another barrier "
              "with a `distance` of its own.",
       .keys = {body_key, facets_key, time_key, distance_key},
       .read = ContactForceNorm::read,
       .asks = ObservableKind::contact_forces},
      {.name = "reaction_force",
       .doc = "(R - y)^2 / sd^2, R the force along `direction` that the clamps of a `boundary`, or an "
              "`obstacle`, exert on the bodies, y and sd from a CSV file with the columns "
              "`time,force[,sd]`, or `displacement,force[,sd]` for the force at the displacement of the "
              "boundary or obstacle along `direction` (the mean over its vertices). That of clamps balances "
              "elastic forces (of bonds), contact, friction, damping and loads at the nodes of the boundary, "
              "or at the particles, not their inertia; that of an obstacle is contact and friction. At the "
              "start of a run there is no damping and friction.",
       .keys = {clamp_key, obstacle_key, direction_key, time_key, observations_key},
       .read = ReactionForce::read,
       .asks = ObservableKind::support_force,
       .observes = true}};
}

} // namespace recoil::app

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

struct CenterOfMass final : ObservedObjectiveOf<CenterOfMass> {
  using ObservedObjectiveOf::ObservedObjectiveOf;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    objectives::Comparison<dim> observed{{{}, {"x", "y", "z"}}, {}};
    observed.tracks.push_back(
        as_observed(*this, at.scene().time,
                    objectives::read_track<dim>(at.comm(), target, {"x", "y", "z"},
                                                objectives::Measured::length, at.scene().units)));
    return objectives::make_misfit<dim>(type->name, at.center_of_mass(type->name, bodies),
                                        std::move(observed));
  }
};

Key axis_key(const char* doc) {
  return {.pattern = "/objectives/*/axis",
          .types = text,
          .required = true,
          .choices = "[\"x\", \"y\", \"z\"]",
          .doc = doc};
}

/// Base of those that look at one coordinate.
template <class Type>
struct AlongAxis : ObjectiveOf<Type> {
  explicit AlongAxis(const Item& entry) : axis(entry["axis"].text().front() - 'x') {}
  void check_dimension(int dim) const override {
    if (axis >= dim)
      throw InputError(this->where.of("axis"), "there is no z axis in 2D; take \"x\" or \"y\"");
  }

  int axis;
};

struct Height final : AlongAxis<Height> {
  using AlongAxis::AlongAxis;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_component<dim>(type->name, at.center_of_mass(type->name, bodies), axis, -1);
  }
};

struct PositionIntegral final : AlongAxis<PositionIntegral> {
  using AlongAxis::AlongAxis;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_component<dim>(type->name, at.volume_moment(bodies), axis);
  }
};

struct VelocityTarget final : ObjectiveOf<VelocityTarget> {
  explicit VelocityTarget(const Item& entry) {
    const Item vector = entry["target"];
    if (!vector.is_list())
      vector.fail("the target of a velocity is a vector, such as [1, 0, 0], is " + vector.dump());
    target = vector.numbers();
  }
  void check_dimension(int dim) const override {
    require_count(target.size(), dim, dim, where.of("target"), "the target velocity");
  }
  void check(const ExperimentScene& at) const override {
    if (at.scene.time.kind != TimeKind::dynamic)
      at.fail(where, "type",
              "velocity needs a scene that moves in time, this one is " +
                  std::string(at.scene.time.kind == TimeKind::statics ? "static" : "quasistatic"));
  }
  template <int dim>
  auto make(const Observables<dim>& at) const {
    const linalg::Vector field(at.node_vectors());
    std::vector<double> values(field.local().size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = target[i % dim];
    return objectives::make_square<dim>(type->name,
                                        at.deviation(type->name, bodies, objectives::VectorField::velocity,
                                                     objectives::constant_reference(std::move(values))));
  }

  std::vector<double> target; ///< [m/s]
};

} // namespace

std::vector<ObjectiveType> motion_objectives() {
  const Key target_key{.pattern = "/objectives/*/target",
                       .types = list,
                       .items = number,
                       .length = {2, 3},
                       .required = true,
                       .unit = "m/s",
                       .reason = "a velocity has one value per component",
                       .doc = "the vector."};
  return {{.name = "center_of_mass",
           .doc = "|c - y|^2 / sd^2, c the centre of mass, y and sd from a CSV file.",
           .keys = {body_key, time_key, observations_key},
           .read = CenterOfMass::read,
           .asks = ObservableKind::center_of_mass,
           .observes = true,
           .weighs = true,
           .sees_place = true},
          {.name = "height",
           .doc = "-c along the axis, c the centre of mass: minimising it lifts.",
           .keys = {body_key, time_key, axis_key("Direction that counts as upwards.")},
           .read = Height::read,
           .asks = ObservableKind::center_of_mass,
           .weighs = true,
           .sees_place = true},
          {.name = "velocity",
           .doc = "int |v - target|^2 over the rest volume.",
           .keys = {body_key, time_key, target_key},
           .read = VelocityTarget::read,
           .asks = ObservableKind::field},
          {.name = "position_integral",
           .doc = "int (X + u) along the axis over the rest volume, not divided by it and without density.",
           .keys = {body_key, time_key, axis_key("the coordinate.")},
           .read = PositionIntegral::read,
           .asks = ObservableKind::volume_moment,
           .sees_place = true}};
}

} // namespace recoil::app

#include "app/study/objectives/along_axis.hpp"
#include "recoil/app/study/objectives/particle_objectives.hpp"
#include "recoil/objectives/center_of_mass.hpp"
#include "recoil/objectives/target.hpp"

namespace recoil::app {
namespace {

struct CenterOfMass final : ObservedObjectiveOf<CenterOfMass> {
  using ObservedObjectiveOf::ObservedObjectiveOf;
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_center_of_mass<dim>(
        region_of(*this, discrete), discrete.solver().problem().density,
        as_observed(*this, discrete.scene().time,
                    objectives::read_track<dim>(discrete.space().comm(), target)));
  }
  std::unique_ptr<objectives::Objective<3>> make_on(const ParticleScene& at) const override {
    return make_particle_center(
        at.problem, bodies,
        as_observed(*this, at.scene.time,
                    objectives::read_track<3>(*at.problem.particles->points->comm, target)));
  }
};

struct Height final : AlongAxis<Height> {
  using AlongAxis::AlongAxis;
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_height<dim>(region_of(*this, discrete), discrete.solver().problem().density,
                                        axis);
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
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_velocity<dim>(region_of(*this, discrete),
                                          Eigen::Map<const Eigen::Matrix<double, dim, 1>>(target.data()));
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
           .observes = true,
           .weighs = true,
           .sees_particles = true,
           .sees_place = true},
          {.name = "height",
           .doc = "-c along the axis, c the centre of mass: minimising it lifts.",
           .keys = {body_key, time_key, axis_key("Direction that counts as upwards.")},
           .read = Height::read,
           .weighs = true,
           .sees_place = true},
          {.name = "velocity",
           .doc = "int |v - target|^2 over the rest volume.",
           .keys = {body_key, time_key, target_key},
           .read = VelocityTarget::read}};
}

} // namespace recoil::app

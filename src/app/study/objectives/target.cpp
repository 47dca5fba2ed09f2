#include "recoil/objectives/target.hpp"

#include <algorithm>
#include <system_error>

#include "app/study/nodal_reference.hpp"
#include "app/study/objectives/objective_type.hpp"
#include "app/study/parameters/parameter_kind.hpp"

namespace recoil::app {
namespace {

/// target_displacement, target_position.
class NodalTarget final : public ObjectiveOf<NodalTarget> {
public:
  explicit NodalTarget(const Item& entry)
      : positions_(entry["type"].text() == "target_position"), reference_(entry["reference"].text()) {
    if (entry.has("over") && entry["over"].text() == "boundary")
      facets_ = potentials::FacetSelection{true, {}};
    if (std::filesystem::is_directory(reference_) && !std::filesystem::exists(reference_ / "scene.json"))
      entry["reference"].fail(
          reference_.string() +
          " is not a run folder (it holds no scene.json); give the folder named by `recoil simulate "
          "-o`, or an HDF5 file");
  }

  std::vector<std::filesystem::path> files() const override {
    std::error_code error;
    if (std::filesystem::is_directory(reference_, error))
      return {reference_ / "trajectory" / "manifest.json"};
    return {reference_};
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    const bool shape = std::ranges::any_of(at.study.parameters, [&](const ParameterSpec& parameter) {
      return parameter.kind->changes(parameters::quantities::vertices) && parameter.acts_in(at.experiment);
    });
    const std::shared_ptr<const NodalReference<dim>> reference = open_reference<dim>(
        reference_, where.of("reference"), at.scene, at.mesh, positions_, positions_ && shape);
    return [this, reference](DiscreteScene<dim>& discrete) {
      reference->check_interval(observed_interval(*this, discrete.scene().time));
      const auto make =
          positions_ ? objectives::make_target_position<dim> : objectives::make_target_displacement<dim>;
      return make(region_of(*this, discrete), reference->on(discrete.space()), facets_);
    };
  }

private:
  bool positions_;
  std::filesystem::path reference_; ///< run folder or HDF5 file
  std::optional<potentials::FacetSelection> facets_;
};

class VelocityTarget final : public ObjectiveOf<VelocityTarget> {
public:
  explicit VelocityTarget(const Item& entry) {
    const Item target = entry["target"];
    if (!target.is_list())
      target.fail("the target of a velocity is a vector, such as [1, 0, 0], is " + target.dump());
    target_ = target.numbers();
  }
  void check_dimension(int dim) const override {
    require_count(target_.size(), dim, dim, where.of("target"), "the target velocity");
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
                                          Eigen::Map<const Eigen::Matrix<double, dim, 1>>(target_.data()));
  }

private:
  std::vector<double> target_; ///< [m/s]
};

std::vector<Key> nodal_target_keys() {
  return {body_key(),
          time_key(),
          {.pattern = "/objectives/*/over",
           .types = text,
           .implied = "`volume`",
           .choices = "[\"volume\", \"boundary\"]",
           .doc = "Where the difference is integrated."},
          {.pattern = "/objectives/*/reference",
           .types = path | folder,
           .required = true,
           .doc =
               "Run folder with the displacements aimed at, or HDF5 file with an array `u` of them [m], one "
               "row per node in [file order](#file-order), for all times; see [below](#references)."}};
}

} // namespace

ObjectiveType target_displacement_objective() {
  return {.name = "target_displacement",
          .doc = "int |u - u*|^2 with the displacement u* of the reference.",
          .keys = nodal_target_keys(),
          .read = NodalTarget::read};
}

ObjectiveType target_position_objective() {
  return {.name = "target_position",
          .doc = "int |X + u - x*|^2 with the position x* of the reference.",
          .keys = nodal_target_keys(),
          .read = NodalTarget::read};
}

ObjectiveType velocity_objective() {
  const Key target_key{.pattern = "/objectives/*/target",
                       .types = list,
                       .items = number,
                       .length = {2, 3},
                       .required = true,
                       .unit = "m/s",
                       .reason = "a velocity has one value per component",
                       .doc = "the vector."};
  return {.name = "velocity",
          .doc = "int |v - target|^2 over the rest volume.",
          .keys = {body_key(), time_key(), target_key},
          .read = VelocityTarget::read};
}

} // namespace recoil::app

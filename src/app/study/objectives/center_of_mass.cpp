#include "recoil/objectives/center_of_mass.hpp"

#include "app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

class CenterOfMass final : public ObjectiveOf<CenterOfMass> {
public:
  explicit CenterOfMass(const Item& entry) : target_(observations_of(entry)) {}
  std::vector<std::filesystem::path> files() const override { return {target_}; }
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_center_of_mass<dim>(
        region_of(*this, discrete), discrete.solver().problem().density,
        as_observed(*this, discrete.scene().time,
                    objectives::read_track<dim>(discrete.space().comm(), target_)));
  }

private:
  std::filesystem::path target_;
};

class Height final : public ObjectiveOf<Height> {
public:
  explicit Height(const Item& entry) : axis_(entry["axis"].text().front() - 'x') {}
  void check_dimension(int dim) const override {
    if (axis_ >= dim) throw InputError(where.of("axis"), "there is no z axis in 2D; take \"x\" or \"y\"");
  }
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_height<dim>(region_of(*this, discrete), discrete.solver().problem().density,
                                        axis_);
  }

private:
  int axis_;
};

} // namespace

ObjectiveType center_of_mass_objective() {
  return {.name = "center_of_mass",
          .doc = "|c - y|^2 / sd^2, c the centre of mass, y and sd from a CSV file.",
          .keys = {body_key(), time_key(), observations_key()},
          .read = CenterOfMass::read,
          .observes = true,
          .weighs = true};
}

ObjectiveType height_objective() {
  const Key axis_key{.pattern = "/objectives/*/axis",
                     .types = text,
                     .required = true,
                     .choices = "[\"x\", \"y\", \"z\"]",
                     .doc = "Direction that counts as upwards."};
  return {.name = "height",
          .doc = "-c along the axis, c the centre of mass: minimising it lifts.",
          .keys = {body_key(), time_key(), axis_key},
          .read = Height::read,
          .weighs = true};
}

} // namespace recoil::app

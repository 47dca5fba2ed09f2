#include "recoil/objectives/position_integral.hpp"

#include "app/study/objectives/along_axis.hpp"

namespace recoil::app {
namespace {

struct PositionIntegral final : AlongAxis<PositionIntegral> {
  using AlongAxis::AlongAxis;
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_position_integral<dim>(region_of(*this, discrete), axis);
  }
};

} // namespace

std::vector<ObjectiveType> position_integral_objectives() {
  return {{.name = "position_integral",
           .doc = "int (X + u) along the axis over the rest volume, not divided by it and without density.",
           .keys = {body_key, time_key, axis_key("the coordinate.")},
           .read = PositionIntegral::read,
           .sees_place = true}};
}

} // namespace recoil::app

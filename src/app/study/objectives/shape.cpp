#include "recoil/objectives/shape.hpp"

#include "app/study/objectives/objective_type.hpp"

namespace recoil::app {
namespace {

class VolumeBound final : public ObjectiveOf<VolumeBound> {
public:
  explicit VolumeBound(const Item& entry) : limit_(entry["limit"].number()) {}
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_volume_bound<dim>(region_of(*this, discrete), limit_);
  }

private:
  double limit_;
};

class BoundarySmoothing final : public ObjectiveOf<BoundarySmoothing> {
public:
  explicit BoundarySmoothing(const Item& entry) : p_(entry["p"].number()) {}
  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    return objectives::make_boundary_smoothing<dim>(region_of(*this, discrete), p_);
  }

private:
  double p_;
};

} // namespace

ObjectiveType volume_bound_objective() {
  return {.name = "volume_bound",
          .doc = "max(V - limit, 0)^2, V the rest volume (2D: area).",
          .keys = {body_key(), limit_key("m^3")},
          .read = VolumeBound::read};
}

ObjectiveType boundary_smoothing_objective() {
  return {
      .name = "boundary_smoothing",
      .doc =
          "sum over boundary vertices of |s|^p, s the offset from the neighbours by their distance, at rest.",
      .keys = {body_key(), exponent_key()},
      .read = BoundarySmoothing::read};
}

} // namespace recoil::app

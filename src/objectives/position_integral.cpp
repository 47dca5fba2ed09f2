#include "recoil/objectives/position_integral.hpp"

#include <string>

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class PositionIntegral final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  PositionIntegral(const Region<dim>& region, int axis)
      : space_(region.space), points_(region), axis_(axis) {}

  std::string_view name() const override { return "position_integral"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }

  double value(const ObservedState& state) override {
    double sum = 0;
    points_.visit(false, [&](const auto& point) { sum += point.weight * coordinate(point, state); });
    return space_->comm().sum(sum);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    const Point along = factor * Point::Unit(axis_);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      point.add_to_nodes(point.weight * along, space_->num_owned_nodes(), du);
      if (by_vertex && point.owned)
        point.add_to_vertices(1, factor * coordinate(point, state), along, *by_vertex);
    });
  }

private:
  double coordinate(const IntegrationPoint<dim>& point, const ObservedState& state) const {
    return point.rest[axis_] + point.interpolate(state.u)[axis_];
  }

  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  int axis_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_position_integral(Region<dim> region, int axis) {
  if (axis < 0 || axis >= dim)
    throw InputError("position_integral: axis " + std::to_string(axis) + "; there are axes 0 to " +
                     std::to_string(dim - 1));
  return std::make_unique<PositionIntegral<dim>>(region, axis);
}

template std::unique_ptr<Objective<2>> make_position_integral(Region<2>, int);
template std::unique_ptr<Objective<3>> make_position_integral(Region<3>, int);

} // namespace recoil::objectives

#include "recoil/objectives/center_of_mass.hpp"

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/dirichlet.hpp"

namespace recoil::objectives {

namespace {

/// A function of the centre of mass.
template <int dim>
class OfCenterOfMass : public Objective<dim> {
protected:
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  OfCenterOfMass(std::string_view name, const Region<dim>& region, potentials::Density density)
      : name_(name), space_(region.space), points_(region), density_(std::move(density)) {
    double mass = 0;
    points_.visit(false, [&](const auto& point) { mass += point.weight * density_at(point); });
    mass_ = space_->comm().sum(mass);
    if (!(mass_ > 0)) throw InputError(std::string(name_) + ": the bodies of the objective have no mass");
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::density, quantities::vertices};
  }
  double value(const ObservedState& state) override { return value(center(state.u), state.time); }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    const Point c = center(state.u);
    const Point by_moment = by_center(c, state.time) / mass_;
    auto& by_density = g.numbers(quantities::density);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const double rho = density_at(point);
      point.add_to_nodes(factor * point.weight * rho * by_moment, space_->num_owned_nodes(), du);
      if (!point.owned) return;
      // d(moment / mass): the moment about the centre itself.
      const double share = by_moment.dot(point.rest + point.interpolate(state.u) - c);
      by_density[point.cell] += factor * point.weight * share;
      if (by_vertex) point.add_to_vertices(factor, rho * share, rho * by_moment, *by_vertex);
    });
  }

protected:
  virtual double value(const Point& center, double time) const = 0;
  virtual Point by_center(const Point& center, double time) const = 0;

private:
  double density_at(const IntegrationPoint<dim>& point) const {
    return density_(point.cell, fem::expression_point<dim>(point.rest, 0));
  }
  Point center(std::span<const double> u) const {
    Point moment = Point::Zero();
    points_.visit(false, [&](const auto& point) {
      moment += point.weight * density_at(point) * (point.rest + point.interpolate(u));
    });
    space_->comm().sum(std::span<double>(moment.data(), dim));
    return moment / mass_;
  }

  std::string_view name_;
  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  potentials::Density density_;
  double mass_ = 0;
};

template <int dim>
class CenterOfMass final : public OfCenterOfMass<dim> {
  using typename OfCenterOfMass<dim>::Point;

public:
  CenterOfMass(const Region<dim>& region, potentials::Density density, Track<dim> target)
      : OfCenterOfMass<dim>("center_of_mass", region, std::move(density)), target_(std::move(target)) {}
  void check_time(double time) const override { target_.at(time); }
  std::vector<double> observation_times() const override { return target_.observation_times(); }

private:
  double value(const Point& center, double time) const override {
    const auto target = target_.at(time);
    return target.inverse_sd.cwiseProduct(center - target.position).squaredNorm();
  }
  Point by_center(const Point& center, double time) const override {
    const auto target = target_.at(time);
    return 2 * target.inverse_sd.cwiseAbs2().cwiseProduct(center - target.position);
  }
  Track<dim> target_;
};

template <int dim>
class Height final : public OfCenterOfMass<dim> {
  using typename OfCenterOfMass<dim>::Point;

public:
  Height(const Region<dim>& region, potentials::Density density, int axis)
      : OfCenterOfMass<dim>("height", region, std::move(density)), axis_(axis) {}

private:
  double value(const Point& center, double) const override { return -center[axis_]; }
  Point by_center(const Point&, double) const override { return -Point::Unit(axis_); }
  int axis_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_center_of_mass(Region<dim> region, potentials::Density density,
                                                    Track<dim> target) {
  return std::make_unique<CenterOfMass<dim>>(region, std::move(density), std::move(target));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_height(Region<dim> region, potentials::Density density, int axis) {
  if (axis < 0 || axis >= dim)
    throw InputError("height: axis " + std::to_string(axis) + "; there are axes 0 to " +
                     std::to_string(dim - 1));
  return std::make_unique<Height<dim>>(region, std::move(density), axis);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_center_of_mass(Region<dim>, potentials::Density,             \
                                                               Track<dim>);                                  \
  template std::unique_ptr<Objective<dim>> make_height(Region<dim>, potentials::Density, int);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

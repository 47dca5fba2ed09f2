#include "recoil/objectives/moments.hpp"

#include "objectives/integration_points.hpp"
#include "recoil/fem/dirichlet.hpp"

namespace recoil::objectives {

namespace {

/// int rho x dX / m, with the mass m = int rho dX, or with rho = m = 1 without a density.
template <int dim>
class FirstMoment final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  FirstMoment(const Region<dim>& region, potentials::Density density)
      : Observable<dim>(region.comm(), dim, this->one_point(region.comm())), space_(region.space),
        points_(region), density_(std::move(density)) {
    if (!density_) return;
    mass_ = 0;
    points_.visit(false, [&](const auto& point) { mass_ += point.weight * density_at(point); });
    mass_ = space_->comm().sum(mass_);
  }
  double mass() const { return mass_; }

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> all{quantities::displacement, quantities::vertices};
    if (density_) all.push_back(quantities::density);
    return all;
  }

  std::vector<double> values(const ObservedState& state) override { return this->on_first(at(state.u)); }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    const Point about = pivot(state.u);
    const auto* by_density = density_ ? dq.find_numbers(quantities::density) : nullptr;
    const auto* moved = dq.rest_positions();
    Point sum = Point::Zero();
    points_.visit(false, [&](const auto& point) {
      const double rho = density_at(point);
      const Point arm = point.rest + point.interpolate(state.u) - about;
      Point change = rho * point.interpolate(du);
      if (by_density) change += (*by_density)[point.cell] * arm;
      if (moved) change += rho * (point.interpolate_vertices(*moved) + point.divergence(*moved) * arm);
      sum += point.weight * change;
    });
    this->comm().sum(std::span<double>(sum.data(), dim));
    return this->on_first(Point(sum / mass_));
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    const std::vector<double> by_value = this->on_all(y);
    const Point by_moment = Eigen::Map<const Point>(by_value.data()) / mass_, about = pivot(state.u);
    auto* by_density = density_ ? &g.numbers(quantities::density) : nullptr;
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const double rho = density_at(point);
      point.add_to_nodes(point.weight * rho * by_moment, space_->num_owned_nodes(), du);
      if (!point.owned) return;
      const double share = by_moment.dot(point.rest + point.interpolate(state.u) - about);
      if (by_density) (*by_density)[point.cell] += point.weight * share;
      if (by_vertex) point.add_to_vertices(1, rho * share, rho * by_moment, *by_vertex);
    });
  }

private:
  double density_at(const IntegrationPoint<dim>& point) const {
    return density_ ? density_(point.cell, fem::expression_point<dim>(point.rest, 0)) : 1;
  }
  Point at(std::span<const double> u) const {
    Point moment = Point::Zero();
    points_.visit(false, [&](const auto& point) {
      moment += point.weight * density_at(point) * (point.rest + point.interpolate(u));
    });
    this->comm().sum(std::span<double>(moment.data(), dim));
    return moment / mass_;
  }
  /// d(moment / mass) is the moment about the centre itself, over the mass.
  Point pivot(std::span<const double> u) const { return density_ ? at(u) : Point(Point::Zero()); }

  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  potentials::Density density_;
  double mass_ = 1;
};

} // namespace

template <int dim>
std::unique_ptr<Observable<dim>> observe_center_of_mass(std::string_view name, const Region<dim>& region,
                                                        potentials::Density density) {
  auto moment = std::make_unique<FirstMoment<dim>>(region, std::move(density));
  if (!(moment->mass() > 0))
    throw InputError(std::string(name) + ": the bodies of the objective have no mass");
  return moment;
}

template <int dim>
std::unique_ptr<Observable<dim>> observe_volume_moment(const Region<dim>& region) {
  return std::make_unique<FirstMoment<dim>>(region, nullptr);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Observable<dim>> observe_center_of_mass(std::string_view, const Region<dim>&,     \
                                                                   potentials::Density);                     \
  template std::unique_ptr<Observable<dim>> observe_volume_moment(const Region<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

#include "recoil/objectives/center_of_mass.hpp"

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/dirichlet.hpp"

namespace recoil::objectives {

namespace {

/// The centre of mass of a region and its derivatives.
template <int dim>
class MassCenter {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// @param name of the objective, for messages. Collective.
  MassCenter(std::string_view name, const Region<dim>& region, potentials::Density density)
      : space_(region.space), points_(region), density_(std::move(density)) {
    double mass = 0;
    points_.visit(false, [&](const auto& point) { mass += point.weight * density_at(point); });
    mass_ = space_->comm().sum(mass);
    if (!(mass_ > 0)) throw InputError(std::string(name) + ": the bodies of the objective have no mass");
  }

  static std::vector<Quantity> depends_on() {
    return {quantities::displacement, quantities::density, quantities::vertices};
  }
  const parallel::Communicator& comm() const { return space_->comm(); }

  /// c. Collective.
  Point at(std::span<const double> u) const {
    Point moment = Point::Zero();
    points_.visit(false, [&](const auto& point) {
      moment += point.weight * density_at(point) * (point.rest + point.interpolate(u));
    });
    comm().sum(std::span<double>(moment.data(), dim));
    return moment / mass_;
  }

  /// dc along changes of u, density and rest positions. Collective.
  Point tangent(std::span<const double> u, std::span<const double> du,
                const parameters::PhysicalDirection<dim>& dq) const {
    const Point c = at(u);
    const auto* by_density = dq.find_numbers(quantities::density);
    const auto* moved = dq.rest_positions();
    Point sum = Point::Zero();
    points_.visit(false, [&](const auto& point) {
      const double rho = density_at(point);
      // d(moment / mass): the moment about the centre itself.
      const Point arm = point.rest + point.interpolate(u) - c;
      Point change = rho * point.interpolate(du);
      if (by_density) change += (*by_density)[point.cell] * arm;
      if (moved) change += rho * (point.interpolate_vertices(*moved) + point.divergence(*moved) * arm);
      sum += point.weight * change;
    });
    comm().sum(std::span<double>(sum.data(), dim));
    return sum / mass_;
  }

  /// Adds the products with `by_center`, which all ranks have. Collective.
  void add_products(std::span<const double> u, const Point& by_center, std::span<double> du,
                    parameters::PhysicalGradient<dim>& g) const {
    const Point c = at(u), by_moment = by_center / mass_;
    auto& by_density = g.numbers(quantities::density);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const double rho = density_at(point);
      point.add_to_nodes(point.weight * rho * by_moment, space_->num_owned_nodes(), du);
      if (!point.owned) return;
      const double share = by_moment.dot(point.rest + point.interpolate(u) - c);
      by_density[point.cell] += point.weight * share;
      if (by_vertex) point.add_to_vertices(1, rho * share, rho * by_moment, *by_vertex);
    });
  }

private:
  double density_at(const IntegrationPoint<dim>& point) const {
    return density_(point.cell, fem::expression_point<dim>(point.rest, 0));
  }

  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  potentials::Density density_;
  double mass_ = 0;
};

template <int dim>
class CenterOfMass final : public LeastSquaresObjective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  CenterOfMass(const Region<dim>& region, potentials::Density density, Track<dim> target)
      : LeastSquaresObjective<dim>(region.comm()), center_("center_of_mass", region, std::move(density)),
        target_(std::move(target)) {}

  std::string_view name() const override { return "center_of_mass"; }
  std::vector<Quantity> depends_on() const override { return center_.depends_on(); }
  void check_time(double time) const override { target_.at(time); }
  bool has_deviations() const override { return target_.has_sd; }
  std::vector<double> observation_times() const override { return target_.observation_times(); }

  /// dim rows on the first rank.
  std::size_t num_residuals() const override { return center_.comm().rank() == 0 ? dim : 0; }
  ObservationNames observation_names() const override {
    ObservationNames names{{}, {"x", "y", "z"}};
    names.components.resize(dim);
    return names;
  }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    std::vector<ResidualLabel> labels;
    const Point inverse_sd = target_.at(time).inverse_sd;
    for (int i = 0; i < static_cast<int>(num_residuals()); ++i)
      labels.push_back({0, i, time, inverse_sd[i] != 0, target_.line_at(time)});
    return labels;
  }
  std::vector<double> residuals(const ObservedState& state) override {
    const auto target = target_.at(state.time);
    return rows(target.inverse_sd.cwiseProduct(center_.at(state.u) - target.position));
  }
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    return rows(target_.at(state.time).inverse_sd.cwiseProduct(center_.tangent(state.u, du, dq)));
  }
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    const Point inverse_sd = target_.at(state.time).inverse_sd;
    Point by_center = Point::Zero();
    for (std::size_t i = 0; i < y.size(); ++i) by_center[i] = y[i] * inverse_sd[i];
    center_.comm().sum(std::span<double>(by_center.data(), dim));
    center_.add_products(state.u, by_center, du, g);
  }

private:
  std::vector<double> rows(const Point& r) const { return {r.begin(), r.begin() + num_residuals()}; }

  MassCenter<dim> center_;
  Track<dim> target_;
};

template <int dim>
class Height final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  Height(const Region<dim>& region, potentials::Density density, int axis)
      : center_("height", region, std::move(density)), axis_(axis) {}

  std::string_view name() const override { return "height"; }
  std::vector<Quantity> depends_on() const override { return center_.depends_on(); }
  double value(const ObservedState& state) override { return -center_.at(state.u)[axis_]; }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    center_.add_products(state.u, -factor * Point::Unit(axis_), du, g);
  }

private:
  MassCenter<dim> center_;
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

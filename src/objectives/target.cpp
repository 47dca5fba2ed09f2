#include "recoil/objectives/target.hpp"

#include <cmath>

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

/// What is compared with the target.
enum class Observed { displacement, position, velocity };

/// J = int |f|^2, f = the compared components of the observed field minus the reference, with the residuals
/// r = sqrt(weight) f at the quadrature points.
template <int dim>
class Misfit final : public LeastSquaresObjective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  Misfit(std::string_view name, const fem::FunctionSpace<dim>& space, IntegrationPoints<dim> points,
         Observed observed, ReferenceField reference, std::vector<int> components)
      : LeastSquaresObjective<dim>(space.comm()), name_(name), space_(&space), points_(std::move(points)),
        observed_(observed), reference_(std::move(reference)), components_(std::move(components)) {
    points_.require_any(name_);
    if (components_.empty())
      for (int i = 0; i < dim; ++i) components_.push_back(i);
    for (const int i : components_) {
      if (i < 0 || i >= dim)
        throw InputError(std::string(name_) + ": component " + std::to_string(i) + "; there are 0 to " +
                         std::to_string(dim - 1));
      mask_[i] = 1;
    }
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    return {observed_ == Observed::velocity ? quantities::velocity : quantities::displacement,
            quantities::vertices};
  }

  /// A row per quadrature point and compared component.
  std::size_t num_residuals() const override { return components_.size() * points_.num_owned_points(); }

  std::vector<double> residuals(const ObservedState& state) override {
    const auto reference = reference_at(state.time);
    std::vector<double> rows;
    rows.reserve(num_residuals());
    points_.visit(false, [&](const auto& point) {
      const Point f = misfit(point, state, reference);
      for (const int i : components_) rows.push_back(std::sqrt(point.weight) * f[i]);
    });
    return rows;
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    const auto reference = reference_at(state.time);
    const auto* moved = dq.rest_positions();
    std::vector<double> rows;
    rows.reserve(num_residuals());
    points_.visit(false, [&](const auto& point) {
      Point df = point.interpolate(observed_ == Observed::velocity ? dv : du);
      if (moved) {
        if (observed_ == Observed::position) df += point.interpolate_vertices(*moved);
        df += 0.5 * point.divergence(*moved) * misfit(point, state, reference);
      }
      for (const int i : components_) rows.push_back(std::sqrt(point.weight) * df[i]);
    });
    return rows;
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    const auto reference = reference_at(state.time);
    auto* by_vertex = g.rest_positions();
    linalg::Vector by_node(space_->layout());
    const std::span<double> field = by_node.write_local();
    const double* next = y.data();
    points_.visit(false, [&](const auto& point) {
      Point row = Point::Zero();
      for (const int i : components_) row[i] = *next++;
      const double root = std::sqrt(point.weight);
      point.add_to_nodes(root * row, space_->num_nodes(), field);
      if (by_vertex)
        point.add_to_vertices(1 / root, 0.5 * row.dot(misfit(point, state, reference)),
                              observed_ == Observed::position ? row : Point(Point::Zero()), *by_vertex);
    });
    add_to_owned(by_node, observed_ == Observed::velocity ? dv : du);
  }

  /// In one pass over owned and ghost cells, without rows and without messages: sweeps ask for it at every
  /// state.
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    const auto reference = reference_at(state.time);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const Point f = misfit(point, state, reference);
      point.add_to_nodes(2 * factor * point.weight * f, space_->num_owned_nodes(),
                         observed_ == Observed::velocity ? dv : du);
      if (by_vertex && point.owned)
        point.add_to_vertices(factor, f.squaredNorm(),
                              observed_ == Observed::position ? Point(2 * f) : Point(Point::Zero()),
                              *by_vertex);
    });
  }

private:
  std::span<const double> reference_at(double time) const {
    const auto values = reference_(time);
    RECOIL_ASSERT(std::ssize(values) == space_->num_nodes() * dim);
    return values;
  }
  Point misfit(const IntegrationPoint<dim>& point, const ObservedState& state,
               std::span<const double> reference) const {
    Point f =
        point.interpolate(observed_ == Observed::velocity ? state.v : state.u) - point.interpolate(reference);
    if (observed_ == Observed::position) f += point.rest;
    return f.cwiseProduct(mask_);
  }

  std::string_view name_;
  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  Observed observed_;
  ReferenceField reference_;
  std::vector<int> components_; ///< those that are compared
  Point mask_ = Point::Zero();  ///< 1 at each of them
};

template <int dim>
std::unique_ptr<Objective<dim>>
make_misfit(std::string_view name, const Region<dim>& region, Observed observed, ReferenceField reference,
            const std::optional<potentials::FacetSelection>& facets, std::vector<int> components) {
  return std::make_unique<Misfit<dim>>(
      name, *region.space, facets ? IntegrationPoints<dim>(region, *facets) : IntegrationPoints<dim>(region),
      observed, std::move(reference), std::move(components));
}

} // namespace

ReferenceField constant_reference(std::vector<double> nodal_values) {
  return [values = std::move(nodal_values)](double) { return std::span<const double>(values); };
}

template <int dim>
ReferenceField nodal_reference(
    const fem::FunctionSpace<dim>& space,
    std::function<Eigen::Matrix<double, dim, 1>(const Eigen::Matrix<double, dim, 1>&, double)> value) {
  auto values = std::make_shared<std::vector<double>>();
  return [&space, value = std::move(value), values](double time) {
    values->clear();
    for (const auto& rest : space.node_positions()) {
      const Eigen::Matrix<double, dim, 1> at_node = value(rest, time);
      values->insert(values->end(), at_node.begin(), at_node.end());
    }
    return std::span<const double>(*values);
  };
}

template <int dim>
std::unique_ptr<Objective<dim>> make_target_displacement(Region<dim> region, ReferenceField reference,
                                                         std::optional<potentials::FacetSelection> facets,
                                                         std::vector<int> components) {
  return make_misfit("target_displacement", region, Observed::displacement, std::move(reference), facets,
                     std::move(components));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_target_position(Region<dim> region, ReferenceField reference,
                                                     std::optional<potentials::FacetSelection> facets,
                                                     std::vector<int> components) {
  return make_misfit("target_position", region, Observed::position, std::move(reference), facets,
                     std::move(components));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_velocity(Region<dim> region, Eigen::Matrix<double, dim, 1> target) {
  auto reference = nodal_reference<dim>(*region.space, [target](const auto&, double) { return target; });
  return make_misfit("velocity", region, Observed::velocity, std::move(reference), {}, {});
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template ReferenceField nodal_reference(                                                                   \
      const fem::FunctionSpace<dim>&,                                                                        \
      std::function<Eigen::Matrix<double, dim, 1>(const Eigen::Matrix<double, dim, 1>&, double)>);           \
  template std::unique_ptr<Objective<dim>> make_target_displacement(                                         \
      Region<dim>, ReferenceField, std::optional<potentials::FacetSelection>, std::vector<int>);             \
  template std::unique_ptr<Objective<dim>> make_target_position(                                             \
      Region<dim>, ReferenceField, std::optional<potentials::FacetSelection>, std::vector<int>);             \
  template std::unique_ptr<Objective<dim>> make_velocity(Region<dim>, Eigen::Matrix<double, dim, 1>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

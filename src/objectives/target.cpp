#include "recoil/objectives/target.hpp"

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

/// What is compared with the target.
enum class Observed { displacement, position, velocity };

/// J = int |r|^2, r = the observed field minus the reference.
template <int dim>
class Misfit final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  Misfit(std::string_view name, const fem::FunctionSpace<dim>& space, IntegrationPoints<dim> points,
         Observed observed, ReferenceField reference)
      : name_(name), space_(&space), points_(std::move(points)), observed_(observed),
        reference_(std::move(reference)) {
    if (space_->comm().sum(points_.num_owned()) == 0)
      throw InputError(std::string(name_) + ": no boundary facet of the bodies is selected");
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    return {observed_ == Observed::velocity ? quantities::velocity : quantities::displacement,
            quantities::vertices};
  }

  double value(const ObservedState& state) override {
    const auto reference = reference_at(state.time);
    double sum = 0;
    points_.visit(false, [&](const auto& point) {
      sum += point.weight * residual(point, state, reference).squaredNorm();
    });
    return space_->comm().sum(sum);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    const auto reference = reference_at(state.time);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const Point r = residual(point, state, reference);
      point.add_to_nodes(2 * factor * point.weight * r, space_->num_owned_nodes(),
                         observed_ == Observed::velocity ? dv : du);
      if (point.owned && by_vertex)
        point.add_to_vertices(factor, r.squaredNorm(),
                              observed_ == Observed::position ? Point(2 * r) : Point(Point::Zero()),
                              *by_vertex);
    });
  }

private:
  std::span<const double> reference_at(double time) const {
    const auto values = reference_(time);
    RECOIL_ASSERT(std::ssize(values) == space_->num_nodes() * dim);
    return values;
  }
  Point residual(const IntegrationPoint<dim>& point, const ObservedState& state,
                 std::span<const double> reference) const {
    Point r =
        point.interpolate(observed_ == Observed::velocity ? state.v : state.u) - point.interpolate(reference);
    if (observed_ == Observed::position) r += point.rest;
    return r;
  }

  std::string_view name_;
  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  Observed observed_;
  ReferenceField reference_;
};

template <int dim>
std::unique_ptr<Objective<dim>> make_misfit(std::string_view name, const Region<dim>& region,
                                            Observed observed, ReferenceField reference,
                                            const std::optional<potentials::FacetSelection>& facets) {
  return std::make_unique<Misfit<dim>>(
      name, *region.space, facets ? IntegrationPoints<dim>(region, *facets) : IntegrationPoints<dim>(region),
      observed, std::move(reference));
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
                                                         std::optional<potentials::FacetSelection> facets) {
  return make_misfit("target_displacement", region, Observed::displacement, std::move(reference), facets);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_target_position(Region<dim> region, ReferenceField reference,
                                                     std::optional<potentials::FacetSelection> facets) {
  return make_misfit("target_position", region, Observed::position, std::move(reference), facets);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_velocity(Region<dim> region, Eigen::Matrix<double, dim, 1> target) {
  auto reference = nodal_reference<dim>(*region.space, [target](const auto&, double) { return target; });
  return make_misfit("velocity", region, Observed::velocity, std::move(reference), {});
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template ReferenceField nodal_reference(                                                                   \
      const fem::FunctionSpace<dim>&,                                                                        \
      std::function<Eigen::Matrix<double, dim, 1>(const Eigen::Matrix<double, dim, 1>&, double)>);           \
  template std::unique_ptr<Objective<dim>> make_target_displacement(                                         \
      Region<dim>, ReferenceField, std::optional<potentials::FacetSelection>);                               \
  template std::unique_ptr<Objective<dim>> make_target_position(Region<dim>, ReferenceField,                 \
                                                                std::optional<potentials::FacetSelection>);  \
  template std::unique_ptr<Objective<dim>> make_velocity(Region<dim>, Eigen::Matrix<double, dim, 1>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

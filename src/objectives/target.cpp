#include "recoil/objectives/target.hpp"

#include <cmath>

#include "objectives/integration_points.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class Deviation final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  /// @param components at least one.
  Deviation(const fem::FunctionSpace<dim>& space, IntegrationPoints<dim> points, VectorField field,
            ReferenceField reference, std::vector<int> components)
      : Observable<dim>(space.comm(), components.size(), this->count(points.num_owned_points())),
        space_(&space), points_(std::move(points)), compared_(field), reference_(std::move(reference)),
        components_(std::move(components)) {
    for (const int i : components_) mask_[i] = 1;
  }

  std::vector<Quantity> depends_on() const override {
    return {sees_velocity() ? quantities::velocity : quantities::displacement, quantities::vertices};
  }

  std::vector<double> values(const ObservedState& state) override {
    const auto reference = reference_at(state.time);
    std::vector<double> rows;
    rows.reserve(this->num_values());
    points_.visit(false, [&](const auto& point) {
      const Point f = misfit(point, state, reference);
      for (const int i : components_) rows.push_back(std::sqrt(point.weight) * f[i]);
    });
    return rows;
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du,
                              std::span<const double> dv,
                              const parameters::PhysicalDirection<dim>& dq) override {
    const auto reference = reference_at(state.time);
    const auto* moved = dq.rest_positions();
    std::vector<double> rows;
    rows.reserve(this->num_values());
    points_.visit(false, [&](const auto& point) {
      Point df = point.interpolate(sees_velocity() ? dv : du);
      if (moved) {
        if (sees_position()) df += point.interpolate_vertices(*moved);
        df += 0.5 * point.divergence(*moved) * misfit(point, state, reference);
      }
      for (const int i : components_) rows.push_back(std::sqrt(point.weight) * df[i]);
    });
    return rows;
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
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
                              sees_position() ? row : Point(Point::Zero()), *by_vertex);
    });
    add_to_owned(by_node, sees_velocity() ? dv : du);
  }

  /// In one pass over owned and ghost cells, without rows and without messages: sweeps ask for it at every
  /// state.
  void add_square_derivatives(const ObservedState& state, double factor, std::span<double> du,
                              std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    const auto reference = reference_at(state.time);
    auto* by_vertex = g.rest_positions();
    points_.visit(true, [&](const auto& point) {
      const Point f = misfit(point, state, reference);
      point.add_to_nodes(2 * factor * point.weight * f, space_->num_owned_nodes(), sees_velocity() ? dv : du);
      if (by_vertex && point.owned)
        point.add_to_vertices(factor, f.squaredNorm(), sees_position() ? Point(2 * f) : Point(Point::Zero()),
                              *by_vertex);
    });
  }

private:
  bool sees_velocity() const { return compared_ == VectorField::velocity; }
  bool sees_position() const { return compared_ == VectorField::position; }
  std::span<const double> reference_at(double time) const {
    const auto values = reference_(time);
    RECOIL_ASSERT(std::ssize(values) == space_->num_nodes() * dim);
    return values;
  }
  Point misfit(const IntegrationPoint<dim>& point, const ObservedState& state,
               std::span<const double> reference) const {
    Point f = point.interpolate(sees_velocity() ? state.v : state.u) - point.interpolate(reference);
    if (sees_position()) f += point.rest;
    return f.cwiseProduct(mask_);
  }

  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  VectorField compared_;
  ReferenceField reference_;
  std::vector<int> components_; ///< those that are compared
  Point mask_ = Point::Zero();  ///< 1 at each of them
};

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
std::unique_ptr<Observable<dim>> observe_deviation(std::string_view name, const Region<dim>& region,
                                                   VectorField field, ReferenceField reference,
                                                   const std::optional<potentials::FacetSelection>& facets,
                                                   std::vector<int> components) {
  auto points = facets ? IntegrationPoints<dim>(region, *facets) : IntegrationPoints<dim>(region);
  points.require_any(name);
  for (const int i : components)
    if (i < 0 || i >= dim)
      throw InputError(std::string(name) + ": component " + std::to_string(i) + "; there are 0 to " +
                       std::to_string(dim - 1));
  if (components.empty())
    for (int i = 0; i < dim; ++i) components.push_back(i);
  return std::make_unique<Deviation<dim>>(*region.space, std::move(points), field, std::move(reference),
                                          std::move(components));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template ReferenceField nodal_reference(                                                                   \
      const fem::FunctionSpace<dim>&,                                                                        \
      std::function<Eigen::Matrix<double, dim, 1>(const Eigen::Matrix<double, dim, 1>&, double)>);           \
  template std::unique_ptr<Observable<dim>> observe_deviation(                                               \
      std::string_view, const Region<dim>&, VectorField, ReferenceField,                                     \
      const std::optional<potentials::FacetSelection>&, std::vector<int>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives

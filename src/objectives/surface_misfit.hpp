#pragma once

#include <cmath>

#include "objectives/integration_points.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::objectives {

/// J = int |f(x)|^2 dA over boundary facets of the rest mesh, x = X + u the place of their points, by the
/// quadrature of the nodes of a facet. The residuals are sqrt(weight) f at the quadrature points.
/// @tparam Field has `num_components` and at(x), which gives f as `value` and df/dx as `gradient`.
template <int dim, class Field>
class SurfaceMisfit final : public LeastSquaresObjective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Value = Eigen::Matrix<double, Field::num_components, 1>;

public:
  /// @throws InputError on every rank where no facet of the region is selected. Collective.
  SurfaceMisfit(std::string_view name, const Region<dim>& region, const potentials::FacetSelection& facets,
                std::shared_ptr<const Field> field)
      : LeastSquaresObjective<dim>(region.comm()), name_(name), space_(region.space), points_(region, facets),
        field_(std::move(field)) {
    points_.require_any(name_);
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }
  std::size_t num_residuals() const override { return Field::num_components * points_.num_owned_points(); }

  std::vector<double> residuals(const ObservedState& state) override {
    std::vector<double> rows;
    rows.reserve(num_residuals());
    points_.visit(false, [&](const auto& point) {
      append(std::sqrt(point.weight) * field_->at(place(point, state)).value, rows);
    });
    return rows;
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    const auto* moved = dq.rest_positions();
    std::vector<double> rows;
    rows.reserve(num_residuals());
    points_.visit(false, [&](const auto& point) {
      const auto [value, gradient] = field_->at(place(point, state));
      Point dx = point.interpolate(du);
      if (moved) dx += point.interpolate_vertices(*moved);
      Value df = gradient * dx;
      if (moved) df += 0.5 * point.divergence(*moved) * value;
      append(std::sqrt(point.weight) * df, rows);
    });
    return rows;
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = g.rest_positions();
    linalg::Vector by_node(space_->layout());
    const std::span<double> nodes = by_node.write_local();
    const double* next = y.data();
    points_.visit(false, [&](const auto& point) {
      const Value row = Eigen::Map<const Value>(next);
      next += Field::num_components;
      const auto [value, gradient] = field_->at(place(point, state));
      const Point by_place = gradient.transpose() * row;
      const double root = std::sqrt(point.weight);
      point.add_to_nodes(root * by_place, space_->num_nodes(), nodes);
      if (by_vertex) point.add_to_vertices(1 / root, 0.5 * row.dot(value), by_place, *by_vertex);
    });
    add_to_owned(by_node, du);
  }

private:
  static Point place(const IntegrationPoint<dim>& point, const ObservedState& state) {
    return point.rest + point.interpolate(state.u);
  }
  static void append(const Value& r, std::vector<double>& rows) {
    rows.insert(rows.end(), r.begin(), r.end());
  }

  std::string_view name_;
  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  std::shared_ptr<const Field> field_;
};

} // namespace recoil::objectives

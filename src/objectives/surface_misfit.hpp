#pragma once

#include <cmath>

#include "objectives/integration_points.hpp"
#include "recoil/objectives/observable.hpp"

namespace recoil::objectives {

/// sqrt(w) f(x) at the quadrature points of boundary facets of the rest mesh, x = X + u their place and w
/// their weights.
/// @tparam Field has `num_components` and at(x), which gives f as `value` and df/dx as `gradient`.
template <int dim, class Field>
class SurfaceMisfit final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Value = Eigen::Matrix<double, Field::num_components, 1>;

public:
  SurfaceMisfit(const fem::FunctionSpace<dim>& space, IntegrationPoints<dim> points,
                std::shared_ptr<const Field> field)
      : Observable<dim>(space.comm(), Field::num_components, this->count(points.num_owned_points())),
        space_(&space), points_(std::move(points)), field_(std::move(field)) {}

  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }

  std::vector<double> values(const ObservedState& state) override {
    std::vector<double> rows;
    rows.reserve(this->num_values());
    points_.visit(false, [&](const auto& point) {
      append(std::sqrt(point.weight) * field_->at(place(point, state)).value, rows);
    });
    return rows;
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    const auto* moved = dq.rest_positions();
    std::vector<double> rows;
    rows.reserve(this->num_values());
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

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
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

  const fem::FunctionSpace<dim>* space_;
  IntegrationPoints<dim> points_;
  std::shared_ptr<const Field> field_;
};

/// J = int |f(x)|^2 dA over boundary facets of the rest mesh. Collective. @throws InputError on every rank
/// where no facet of the region is selected.
template <int dim, class Field>
std::unique_ptr<Objective<dim>> make_surface_misfit(std::string_view name, const Region<dim>& region,
                                                    const potentials::FacetSelection& facets,
                                                    std::shared_ptr<const Field> field) {
  IntegrationPoints<dim> points(region, facets);
  points.require_any(name);
  return make_square<dim>(
      name, std::make_unique<SurfaceMisfit<dim, Field>>(*region.space, std::move(points), std::move(field)));
}

} // namespace recoil::objectives

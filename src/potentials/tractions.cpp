#include <utility>

#include "potentials/shape_products.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::potentials {

namespace {

/// A quadrature point of a chosen facet; facets of ghost cells are among them.
template <int dim>
struct FacetPoint {
  std::size_t index; ///< in FunctionSpace::boundary_facets()
  const fem::BoundaryFacet& facet;
  const FacetElement<dim>& element;
  int point;
  double weight; ///< on the rest facet [m^(dim - 1)]
  ExpressionPoint position;

  const double* basis() const { return element.table->value(point); }
};

/// The chosen facets of a space with their quadrature, exact to degree 2k.
template <int dim>
class LoadedFacets {
public:
  LoadedFacets(const fem::FunctionSpace<dim>& space, FacetSelection selection)
      : space_(&space), selection_(std::move(selection)), tables_({0, 2, 4, 6, 8}) {}

  const fem::FunctionSpace<dim>& space() const { return *space_; }
  bool is_owned(const fem::BoundaryFacet& facet) const { return facet.cell < space_->mesh().num_owned_cells; }

  /// act(FacetPoint) at every point.
  /// @param geometry for FacetElement::outward; without it that is not known.
  template <class Act>
  void for_points(double time, const fem::CellGeometry<dim>* geometry, Act act) const {
    const auto& facets = space_->boundary_facets();
    for (std::size_t i = 0; i < facets.size(); ++i) {
      if (!fem::selects(selection_.all, selection_.ids, facets[i].id)) continue;
      const double determinant = geometry != nullptr ? geometry->edge_determinant[facets[i].cell] : 1.0;
      const FacetElement<dim> element = tables_.element(*space_, facets[i], determinant);
      std::vector<Eigen::Matrix<double, dim, 1>> X;
      for (const LocalIndex node : element.nodes) X.push_back(space_->node_positions()[node]);
      for (int q = 0; q < element.table->num_points; ++q) {
        const double area = area_vector<dim>(facet_tangents(element, q, X)).norm();
        const auto position = rest_position<dim>(*space_, element.nodes, element.table->value(q));
        act(FacetPoint<dim>{i, facets[i], element, q, area * element.table->weights[q],
                            fem::expression_point<dim>(position, time)});
      }
    }
  }

private:
  const fem::FunctionSpace<dim>* space_;
  FacetSelection selection_;
  FacetTables<dim> tables_;
};

template <int dim>
class TractionForces final : public NodalForces<dim> {
  using Vector = Eigen::Matrix<double, dim, 1>;

public:
  TractionForces(const fem::FunctionSpace<dim>& space, FacetSelection facets, LoadField<dim> traction,
                 LoadHistory<dim> history)
      : facets_(space, std::move(facets)), traction_(std::move(traction)), history_(std::move(history)) {}

  void add(const StepContext& context, std::span<double> force) const override {
    const Vector factors = factors_at(context.time);
    facets_.for_points(context.time, nullptr, [&](const FacetPoint<dim>& at) {
      add_to_nodes<dim>(facets_.space(), at.element.nodes, at.basis(),
                        at.weight * factors.cwiseProduct(traction_.value(at.position)), force);
    });
  }

  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::traction, parameters::quantities::vertices};
  }

  void add_parameter_products(const StepContext& context, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    auto& tractions = g.vectors(parameters::quantities::traction);
    auto* by_vertex = g.rest_positions();
    const Vector factors = factors_at(context.time);
    facets_.for_points(context.time, nullptr, [&](const FacetPoint<dim>& at) {
      if (!facets_.is_owned(at.facet)) return;
      const Vector by_traction = factor * at.weight * interpolate<dim>(at.element.nodes, at.basis(), p);
      tractions[at.index] += by_traction;
      if (by_vertex)
        add_facet_measure_product<dim>(facets_.space(), at.facet,
                                       factors.cwiseProduct(traction_.value(at.position)).dot(by_traction),
                                       *by_vertex);
    });
  }

  void add_parameter_tangent(const StepContext& context, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    const auto* tractions = dq.find_vectors(parameters::quantities::traction);
    const auto* vertices = dq.rest_positions();
    if (!tractions && !vertices) return;
    const Vector factors = factors_at(context.time);
    facets_.for_points(context.time, nullptr, [&](const FacetPoint<dim>& at) {
      Vector change = Vector::Zero();
      if (tractions) change = (*tractions)[at.index];
      if (vertices)
        change += facet_measure_change<dim>(facets_.space(), at.facet, *vertices) *
                  factors.cwiseProduct(traction_.value(at.position));
      add_to_nodes<dim>(facets_.space(), at.element.nodes, at.basis(), factor * at.weight * change, y);
    });
  }

private:
  Vector factors_at(double time) const { return history_ ? history_(time) : Vector::Ones(); }

  LoadedFacets<dim> facets_;
  LoadField<dim> traction_;
  LoadHistory<dim> history_;
};

/// Tractions along the normal n = a / |a| of the shape x = X + u_previous, or of the rest shape x = X; a is
/// the area vector of its facets, which may be curved.
template <int dim>
class NormalTractionForces final : public NodalForces<dim> {
  using Vector = Eigen::Matrix<double, dim, 1>;

public:
  NormalTractionForces(const fem::FunctionSpace<dim>& space,
                       std::shared_ptr<const fem::CellGeometry<dim>> geometry, FacetSelection facets,
                       std::function<double(const ExpressionPoint&)> magnitude, LoadNormals normals)
      : facets_(space, std::move(facets)), geometry_(std::move(geometry)), magnitude_(std::move(magnitude)),
        normals_(normals) {}

  void add(const StepContext& context, std::span<double> force) const override {
    for_points(context, [&](const FacetPoint<dim>& at, const auto& tangents) {
      const Vector normal = at.element.outward * area_vector<dim>(tangents).normalized();
      add_to_nodes<dim>(facets_.space(), at.element.nodes, at.basis(),
                        at.weight * magnitude_(at.position) * normal, force);
    });
  }

  void add_previous_product(const StepContext& context, std::span<const double> p, double factor,
                            std::span<double> y) const override {
    if (normals_ == LoadNormals::rest) return;
    for_points(context, [&](const FacetPoint<dim>& at, const auto& tangents) {
      for_nodes(at, tangents, p, factor, [&](std::size_t a, const Vector& product) {
        const LocalIndex node = at.element.nodes[a];
        if (node >= facets_.space().num_owned_nodes()) return;
        fem::node_block<dim>(y, node) += product;
      });
    });
  }

  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::pressure, parameters::quantities::vertices};
  }

  void add_parameter_products(const StepContext& context, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    auto& pressures = g.numbers(parameters::quantities::pressure);
    auto* by_vertex = g.rest_positions();
    for_points(context, [&](const FacetPoint<dim>& at, const auto& tangents) {
      if (!facets_.is_owned(at.facet)) return;
      const Vector normal = at.element.outward * area_vector<dim>(tangents).normalized();
      const double by_magnitude =
          factor * at.weight * normal.dot(interpolate<dim>(at.element.nodes, at.basis(), p));
      pressures[at.index] += by_magnitude;
      if (!by_vertex) return;
      add_facet_measure_product<dim>(facets_.space(), at.facet, magnitude_(at.position) * by_magnitude,
                                     *by_vertex);
      for_nodes(at, tangents, p, factor, [&](std::size_t a, const Vector& product) {
        add_node_product<dim>(facets_.space(), at.facet.cell, at.element.cell_nodes[a], product, *by_vertex);
      });
    });
  }

  void add_previous_tangent(const StepContext& context, std::span<const double> x, double factor,
                            std::span<double> y) const override {
    if (normals_ == LoadNormals::rest) return;
    for_points(context, [&](const FacetPoint<dim>& at, const auto& tangents) {
      const Vector change = by_positions(at, tangents, [&](std::size_t a) -> Vector {
        return fem::node_block<dim>(x, at.element.nodes[a]);
      });
      add_to_nodes<dim>(facets_.space(), at.element.nodes, at.basis(), factor * at.weight * change, y);
    });
  }

  void add_parameter_tangent(const StepContext& context, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    const auto* pressures = dq.find_numbers(parameters::quantities::pressure);
    const auto* vertices = dq.rest_positions();
    if (!pressures && !vertices) return;
    for_points(context, [&](const FacetPoint<dim>& at, const auto& tangents) {
      const fem::FunctionSpace<dim>& space = facets_.space();
      double magnitude = pressures ? (*pressures)[at.index] : 0;
      if (vertices)
        magnitude += magnitude_(at.position) * facet_measure_change<dim>(space, at.facet, *vertices);
      Vector change = magnitude * at.element.outward * area_vector<dim>(tangents).normalized();
      if (vertices)
        change += by_positions(at, tangents, [&](std::size_t a) {
          return node_change<dim>(space, at.facet.cell, at.element.cell_nodes[a], *vertices);
        });
      add_to_nodes<dim>(space, at.element.nodes, at.basis(), factor * at.weight * change, y);
    });
  }

private:
  /// act(FacetPoint, tangents of the shape whose normals are meant).
  template <class Act>
  void for_points(const StepContext& context, Act act) const {
    facets_.for_points(context.time, geometry_.get(), [&](const FacetPoint<dim>& at) {
      std::vector<Vector> x;
      for (const LocalIndex node : at.element.nodes) {
        x.push_back(facets_.space().node_positions()[node]);
        if (normals_ == LoadNormals::step_start) x.back() += fem::node_block<dim>(context.previous, node);
      }
      act(at, facet_tangents(at.element, at.point, x));
    });
  }

  /// act(a, derivative of factor * weight * s n.p by the position x_a of the a-th node of the facet), through
  /// the normal: dn = (I - n n') da / |a|.
  template <class Act>
  void for_nodes(const FacetPoint<dim>& at, const Eigen::Matrix<double, dim, dim - 1>& tangents,
                 std::span<const double> p, double factor, Act act) const {
    const Vector area = area_vector<dim>(tangents), normal = area.normalized();
    const Vector p_point = interpolate<dim>(at.element.nodes, at.basis(), p);
    const double scale = factor * at.weight * magnitude_(at.position) * at.element.outward / area.norm();
    const auto by_tangents =
        area_vector_product<dim>(tangents, scale * (p_point - normal.dot(p_point) * normal));
    const double* gradients = at.element.table->gradient(at.point);
    for (std::size_t a = 0; a < at.element.nodes.size(); ++a) {
      Vector product = Vector::Zero();
      for (int j = 0; j < dim - 1; ++j) product += gradients[a * (dim - 1) + j] * by_tangents.col(j);
      act(a, product);
    }
  }

  /// Change of s n where the nodes of the facet move by motion(a).
  template <class Motion>
  Vector by_positions(const FacetPoint<dim>& at, const Eigen::Matrix<double, dim, dim - 1>& tangents,
                      Motion motion) const {
    std::vector<Vector> motions;
    for (std::size_t a = 0; a < at.element.nodes.size(); ++a) motions.push_back(motion(a));
    const Vector area = area_vector<dim>(tangents), normal = area.normalized();
    const Vector change = area_vector_change<dim>(tangents, facet_tangents(at.element, at.point, motions));
    return magnitude_(at.position) * at.element.outward / area.norm() *
           (change - normal.dot(change) * normal);
  }

  LoadedFacets<dim> facets_;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::function<double(const ExpressionPoint&)> magnitude_;
  LoadNormals normals_;
};

} // namespace

template <int dim>
std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>& space, FacetSelection facets,
                                             LoadField<dim> traction, LoadHistory<dim> history) {
  const bool changes = traction.time_dependent || history;
  return std::make_unique<DeadLoad<dim>>("traction", space,
                                         std::make_unique<TractionForces<dim>>(space, std::move(facets),
                                                                               std::move(traction),
                                                                               std::move(history)),
                                         changes);
}

template <int dim>
std::unique_ptr<DeadLoad<dim>>
make_normal_traction(const fem::FunctionSpace<dim>& space,
                     std::shared_ptr<const fem::CellGeometry<dim>> geometry, FacetSelection facets,
                     std::function<double(const ExpressionPoint&)> magnitude, LoadNormals normals) {
  return std::make_unique<DeadLoad<dim>>(
      normals == LoadNormals::rest ? "rest_pressure" : "normal_traction", space,
      std::make_unique<NormalTractionForces<dim>>(space, std::move(geometry), std::move(facets),
                                                  std::move(magnitude), normals),
      true);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>&, FacetSelection,      \
                                                        LoadField<dim>, LoadHistory<dim>);                   \
  template std::unique_ptr<DeadLoad<dim>> make_normal_traction(                                              \
      const fem::FunctionSpace<dim>&, std::shared_ptr<const fem::CellGeometry<dim>>, FacetSelection,         \
      std::function<double(const ExpressionPoint&)>, LoadNormals);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials

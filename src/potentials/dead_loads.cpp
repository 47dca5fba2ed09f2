#include "recoil/potentials/dead_loads.hpp"

#include <utility>

#include "potentials/facet_loop.hpp"
#include "recoil/fem/reference/tabulation.hpp"

namespace recoil::potentials {

namespace {

constexpr std::array<int, 5> load_degrees{0, 2, 4, 6, 8};

/// Adds weight * value * phi_a to the forces of owned nodes.
template <int dim>
void add_to_nodes(const fem::FunctionSpace<dim>& space, std::span<const LocalIndex> nodes,
                  const double* basis, const Eigen::Matrix<double, dim, 1>& weighted_value,
                  std::span<double> force) {
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (nodes[a] >= space.num_owned_nodes()) continue;
    for (int i = 0; i < dim; ++i)
      force[static_cast<std::size_t>(nodes[a] * dim + i)] += basis[a] * weighted_value[i];
  }
}

template <int dim>
std::vector<Eigen::Matrix<double, dim, 1>> rest_positions(const fem::FunctionSpace<dim>& space,
                                                          std::span<const LocalIndex> nodes) {
  std::vector<Eigen::Matrix<double, dim, 1>> positions;
  for (const LocalIndex node : nodes)
    positions.push_back(space.node_positions()[static_cast<std::size_t>(node)]);
  return positions;
}

template <int dim>
Eigen::Matrix<double, dim, 1> interpolate(const std::vector<Eigen::Matrix<double, dim, 1>>& values,
                                          const double* basis) {
  Eigen::Matrix<double, dim, 1> sum = Eigen::Matrix<double, dim, 1>::Zero();
  for (std::size_t a = 0; a < values.size(); ++a) sum += basis[a] * values[a];
  return sum;
}

/// For every quadrature point of the selected facets: act(element, point, rest positions of the nodes, weight
/// on the rest facet, rest position). Facets of ghost cells are included, rows of ghost nodes are skipped by
/// add_to_nodes.
template <int dim, class Act>
void on_facet_points(const fem::FunctionSpace<dim>& space, const FacetTables<dim>& tables,
                     const FacetSelection& selection, const fem::CellGeometry<dim>* geometry, Act act) {
  for (const fem::BoundaryFacet& facet : space.boundary_facets()) {
    if (!fem::selects(selection.all, selection.ids, facet.id)) continue;
    const double determinant =
        geometry != nullptr ? geometry->edge_determinant[static_cast<std::size_t>(facet.cell)] : 1.0;
    const FacetElement<dim> element = tables.element(space, facet, determinant);
    const auto X = rest_positions(space, element.nodes);
    for (int q = 0; q < element.table->num_points; ++q) {
      const double area = area_vector<dim>(facet_tangents(element, q, X)).norm();
      act(element, q, X, area * element.table->weights[static_cast<std::size_t>(q)],
          interpolate<dim>(X, element.table->value(q)));
    }
  }
}

} // namespace

template <int dim>
DeadLoad<dim>::DeadLoad(std::string name, const fem::FunctionSpace<dim>& space, Assemble assemble,
                        bool changes)
    : name_(std::move(name)), assemble_(std::move(assemble)), changes_(changes),
      force_(static_cast<std::size_t>(space.num_owned_nodes()) * dim, 0.0) {}

template <int dim>
void DeadLoad<dim>::begin_step(const StepContext& context) {
  load_factor_ = context.load_factor;
  if (assembled_ && !changes_) return;
  force_.assign(force_.size(), 0.0);
  assemble_(context, force_);
  assembled_ = true;
}

template <int dim>
double DeadLoad<dim>::value(std::span<const double> u) const {
  double work = 0;
  for (std::size_t i = 0; i < force_.size(); ++i) work += force_[i] * u[i];
  return -load_factor_ * work;
}

template <int dim>
void DeadLoad<dim>::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  for (std::size_t i = 0; i < force_.size(); ++i) g[i] -= factor * load_factor_ * force_[i];
}

template <int dim>
std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>& space,
                                               std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                               Density density, LoadField<dim> acceleration) {
  const bool changes = acceleration.time_dependent;
  auto assemble = [&space, geometry = std::move(geometry), density = std::move(density),
                   acceleration = std::move(acceleration)](const StepContext& context,
                                                           std::span<double> force) {
    for (int order = 1; order <= space.max_order(); ++order) {
      if (space.cells_of_order(order).empty()) continue;
      const auto table = fem::tabulate(space.basis(order), fem::simplex_quadrature<dim>(2 * order));
      for (const LocalIndex cell : space.cells_of_order(order)) {
        const auto nodes = space.cell_nodes(cell);
        const auto X = rest_positions(space, nodes);
        for (int q = 0; q < table.num_points; ++q) {
          const auto point = fem::expression_point<dim>(interpolate<dim>(X, table.value(q)), context.time);
          const double weight = geometry->weight_factor(cell) * table.weights[static_cast<std::size_t>(q)];
          add_to_nodes<dim>(space, nodes, table.value(q),
                            weight * density(cell, point) * acceleration.value(point), force);
        }
      }
    }
  };
  return std::make_unique<DeadLoad<dim>>("body_force", space, std::move(assemble), changes);
}

template <int dim>
std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>& space, FacetSelection facets,
                                             LoadField<dim> traction) {
  const bool changes = traction.time_dependent;
  auto assemble = [&space, facets = std::move(facets), traction = std::move(traction),
                   tables = FacetTables<dim>(load_degrees)](const StepContext& context,
                                                            std::span<double> force) {
    on_facet_points<dim>(space, tables, facets, nullptr,
                         [&](const auto& element, int q, const auto&, double weight, const auto& position) {
                           const auto point = fem::expression_point<dim>(position, context.time);
                           add_to_nodes<dim>(space, element.nodes, element.table->value(q),
                                             weight * traction.value(point), force);
                         });
  };
  return std::make_unique<DeadLoad<dim>>("traction", space, std::move(assemble), changes);
}

template <int dim>
std::unique_ptr<DeadLoad<dim>> make_normal_traction(const fem::FunctionSpace<dim>& space,
                                                    std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                                    FacetSelection facets,
                                                    std::function<double(const ExpressionPoint&)> magnitude) {
  auto assemble = [&space, geometry = std::move(geometry), facets = std::move(facets),
                   magnitude = std::move(magnitude), tables = FacetTables<dim>(load_degrees)](
                      const StepContext& context, std::span<double> force) {
    on_facet_points<dim>(space, tables, facets, geometry.get(),
                         [&](const auto& element, int q, auto x, double weight, const auto& position) {
                           for (std::size_t a = 0; a < x.size(); ++a)
                             for (int i = 0; i < dim; ++i)
                               x[a][i] +=
                                   context.previous[static_cast<std::size_t>(element.nodes[a] * dim + i)];
                           const auto normal = area_vector<dim>(facet_tangents(element, q, x)).normalized();
                           const auto point = fem::expression_point<dim>(position, context.time);
                           add_to_nodes<dim>(space, element.nodes, element.table->value(q),
                                             weight * magnitude(point) * element.outward * normal, force);
                         });
  };
  return std::make_unique<DeadLoad<dim>>("normal_traction", space, std::move(assemble), true);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class DeadLoad<dim>;                                                                              \
  template std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>&,                    \
                                                          std::shared_ptr<const fem::CellGeometry<dim>>,     \
                                                          Density, LoadField<dim>);                          \
  template std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>&, FacetSelection,      \
                                                        LoadField<dim>);                                     \
  template std::unique_ptr<DeadLoad<dim>> make_normal_traction(                                              \
      const fem::FunctionSpace<dim>&, std::shared_ptr<const fem::CellGeometry<dim>>, FacetSelection,         \
      std::function<double(const ExpressionPoint&)>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials

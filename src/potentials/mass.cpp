#include "recoil/potentials/mass.hpp"

#include <algorithm>

#include "potentials/shape_products.hpp"
#include "recoil/base/error.hpp"

namespace recoil::potentials {

namespace {

/// p . a at a quadrature point: of the interpolated fields, or the interpolated product where the mass is
/// lumped.
template <int dim>
double point_product(std::span<const LocalIndex> nodes, const double* basis, MassLumping lumping,
                     std::span<const double> p, std::span<const double> a) {
  if (lumping == MassLumping::consistent)
    return interpolate<dim>(nodes, basis, p).dot(interpolate<dim>(nodes, basis, a));
  double sum = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k)
    sum += basis[k] * fem::node_block<dim>(p, nodes[k]).dot(fem::node_block<dim>(a, nodes[k]));
  return sum;
}

/// y += mass * (d point_product / dp) of x for the owned nodes.
template <int dim>
void add_point_mass(const fem::FunctionSpace<dim>& space, std::span<const LocalIndex> nodes,
                    const double* basis, MassLumping lumping, double mass, std::span<const double> x,
                    std::span<double> y) {
  if (lumping == MassLumping::consistent)
    return add_to_nodes<dim>(space, nodes, basis, mass * interpolate<dim>(nodes, basis, x), y);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    if (nodes[k] < space.num_owned_nodes())
      fem::node_block<dim>(y, nodes[k]) += mass * basis[k] * fem::node_block<dim>(x, nodes[k]);
}

} // namespace

template <int dim>
MassMatrix<dim>::MassMatrix(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                            const Density& density, MassLumping lumping)
    : space_(&space), geometry_(&geometry), density_(density), lumping_(lumping) {
  const linalg::NodeGraph& graph = *space.graph();
  const linalg::VectorLayout& layout = *space.layout();
  entries_.assign(graph.neighbours.size(), 0.0);
  const auto global = [&](LocalIndex node) { return layout.global(node); };
  const auto entry = [&](LocalIndex row, LocalIndex column) -> double& {
    const auto begin = graph.neighbours.begin() + graph.offsets[row];
    const auto end = graph.neighbours.begin() + graph.offsets[row + 1];
    const auto found = std::lower_bound(
        begin, end, global(column), [&](LocalIndex node, GlobalIndex value) { return global(node) < value; });
    return entries_[found - graph.neighbours.begin()];
  };
  for (int order = 1; order <= space.max_order(); ++order) {
    if (space.cells_of_order(order).empty()) continue;
    const fem::Tabulation<dim> table = mass_table<dim>(order);
    for (const LocalIndex cell : space.cells_of_order(order)) {
      const auto nodes = space.cell_nodes(cell);
      std::vector<double> weights;
      for (int q = 0; q < table.num_points; ++q) {
        const auto position = rest_position<dim>(space, nodes, table.value(q));
        weights.push_back(geometry.weight_factor(cell) * table.weights[q] *
                          density(cell, fem::expression_point<dim>(position, 0)));
      }
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        if (nodes[a] >= layout.num_owned) continue;
        for (std::size_t b = 0; b < nodes.size(); ++b) {
          double mass = 0;
          for (int q = 0; q < table.num_points; ++q)
            mass += weights[q] * table.value(q)[a] * table.value(q)[b];
          entry(nodes[a], lumping == MassLumping::row_sum ? nodes[a] : nodes[b]) += mass;
        }
      }
    }
  }
}

template <int dim>
MassMatrix<dim>::MassMatrix(const fem::FunctionSpace<dim>& space, double diagonal) : space_(&space) {
  const linalg::NodeGraph& graph = *space.graph();
  entries_.assign(graph.neighbours.size(), 0.0);
  for (LocalIndex row = 0; row < space.num_owned_nodes(); ++row)
    for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      if (graph.neighbours[k] == row) entries_[k] = diagonal;
}

template <int dim>
void MassMatrix<dim>::add_product(std::span<const double> x, double factor, std::span<double> y) const {
  const linalg::NodeGraph& graph = *space_->graph();
  for (LocalIndex row = 0; row < space_->num_owned_nodes(); ++row) {
    Eigen::Matrix<double, dim, 1> sum = Eigen::Matrix<double, dim, 1>::Zero();
    for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      sum += entries_[k] * fem::node_block<dim>(x, graph.neighbours[k]);
    fem::node_block<dim>(y, row) += factor * sum;
  }
}

template <int dim>
void MassMatrix<dim>::multiply(std::span<const double> x, std::span<double> y) const {
  std::ranges::fill(y, 0.0);
  add_product(x, 1, y);
}

template <int dim>
double MassMatrix<dim>::product(std::span<const double> x, std::span<const double> y) const {
  std::vector<double> weighted(std::size_t{dim} * space_->num_owned_nodes());
  multiply(y, weighted);
  double sum = 0;
  for (std::size_t i = 0; i < weighted.size(); ++i) sum += x[i] * weighted[i];
  return sum;
}

template <int dim>
void MassMatrix<dim>::add_parameter_products(std::span<const double> p, std::span<const double> a,
                                             double factor, parameters::PhysicalGradient<dim>& g) const {
  if (!density_) return;
  auto& densities = g.numbers(parameters::quantities::density);
  auto* by_vertex = g.rest_positions();
  const auto act = [&](LocalIndex cell, auto nodes, const double* basis, double weight, const auto& at) {
    const double density = density_(cell, at);
    const double product = factor * weight * point_product<dim>(nodes, basis, lumping_, p, a);
    densities[cell] += product;
    if (by_vertex)
      add_cell_product<dim>(*space_, *geometry_, cell,
                            density * product * Eigen::Matrix<double, dim, dim>::Identity(), *by_vertex);
  };
  for_mass_points(*space_, *geometry_, 0, true, act);
}

template <int dim>
void MassMatrix<dim>::add_parameter_tangent(std::span<const double> x,
                                            const parameters::PhysicalDirection<dim>& dq, double factor,
                                            std::span<double> y) const {
  const auto* densities = dq.find_numbers(parameters::quantities::density);
  const auto* vertices = dq.rest_positions();
  if (!density_ || (!densities && !vertices)) return;
  const auto act = [&](LocalIndex cell, auto nodes, const double* basis, double weight, const auto& at) {
    const double density = density_(cell, at);
    double change = densities ? (*densities)[cell] : 0;
    if (vertices) change += density * cell_gradient<dim>(*space_, *geometry_, cell, *vertices).trace();
    add_point_mass<dim>(*space_, nodes, basis, lumping_, factor * weight * change, x, y);
  };
  for_mass_points(*space_, *geometry_, 0, false, act);
}

template <int dim>
std::vector<double> Inertia<dim>::from_predictor(std::span<const double> u) const {
  std::vector<double> result(u.begin(), u.end());
  const auto predictor = predictor_->local();
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= predictor[i];
  return result;
}

template <int dim>
double Inertia<dim>::value(std::span<const double> u) const {
  const std::vector<double> w = from_predictor(u);
  return 0.5 * mass_->product(w, w);
}

template <int dim>
void Inertia<dim>::add_gradient(std::span<const double> u, double factor, std::span<double> g) const {
  mass_->add_product(from_predictor(u), factor, g);
}

template <int dim>
void Inertia<dim>::add_hessian(std::span<const double>, double factor, Projection,
                               const linalg::HessianSink& H) const {
  H.elements->add_identities(mass_->entries(), factor);
}

template <int dim>
void Inertia<dim>::add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                                          parameters::PhysicalGradient<dim>& g) const {
  mass_->add_parameter_products(p, from_predictor(u), factor, g);
}

template <int dim>
void Inertia<dim>::add_parameter_tangent(std::span<const double> u,
                                         const parameters::PhysicalDirection<dim>& dq, double factor,
                                         std::span<double> y) const {
  mass_->add_parameter_tangent(from_predictor(u), dq, factor, y);
}

template <int dim>
std::vector<double> lumped_volumes(const fem::FunctionSpace<dim>& space,
                                   const fem::CellGeometry<dim>& geometry) {
  std::vector<double> volumes(space.num_owned_nodes(), 0.0);
  for (int order = 1; order <= space.max_order(); ++order) {
    if (space.cells_of_order(order).empty()) continue;
    const fem::Tabulation<dim> table = mass_table<dim>(order);
    std::vector<double> share(table.num_nodes, 0.0);
    double total = 0, measure = 0;
    for (int q = 0; q < table.num_points; ++q) {
      measure += table.weights[q];
      for (std::size_t a = 0; a < share.size(); ++a)
        share[a] += table.weights[q] * table.value(q)[a] * (order == 1 ? 1 : table.value(q)[a]);
    }
    for (const double value : share) total += value;
    for (const LocalIndex cell : space.cells_of_order(order)) {
      const auto nodes = space.cell_nodes(cell);
      for (std::size_t a = 0; a < share.size(); ++a)
        if (nodes[a] < space.num_owned_nodes())
          volumes[nodes[a]] += geometry.weight_factor(cell) * measure * share[a] / total;
    }
  }
  return volumes;
}

template class MassMatrix<2>;
template class MassMatrix<3>;
template class Inertia<2>;
template class Inertia<3>;
template std::vector<double> lumped_volumes(const fem::FunctionSpace<2>&, const fem::CellGeometry<2>&);
template std::vector<double> lumped_volumes(const fem::FunctionSpace<3>&, const fem::CellGeometry<3>&);

} // namespace recoil::potentials

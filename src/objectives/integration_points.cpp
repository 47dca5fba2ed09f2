#include "objectives/integration_points.hpp"

#include <algorithm>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "recoil/base/error.hpp"
#include "recoil/fem/dirichlet.hpp"

namespace recoil::objectives {

template <int dim>
template <int element_dim>
void IntegrationPoints<dim>::tabulate() {
  for (int order = 1; order <= space_->max_order(); ++order) {
    const auto rule = fem::simplex_quadrature<element_dim>(2 * order);
    const auto nodes = fem::tabulate(fem::LagrangeBasis<element_dim>(order), rule);
    tables_[order] = {nodes.num_points, nodes.values,
                      fem::tabulate(fem::LagrangeBasis<element_dim>(1), rule).values, nodes.weights};
  }
}

template <int dim>
IntegrationPoints<dim>::IntegrationPoints(const Region<dim>& region)
    : space_(region.space), geometry_(region.geometry) {
  for (LocalIndex cell = 0; cell < region.mesh().num_cells(); ++cell)
    if (region.selects(cell)) elements_.push_back({cell, -1});
  tabulate<dim>();
}

template <int dim>
IntegrationPoints<dim>::IntegrationPoints(const Region<dim>& region, const potentials::FacetSelection& facets)
    : space_(region.space), geometry_(region.geometry) {
  for (const fem::BoundaryFacet& facet : space_->boundary_facets())
    if (region.selects(facet.cell) && (facets.all || fem::selects(false, facets.ids, facet.id)))
      elements_.push_back({facet.cell, facet.facet});
  tabulate<dim - 1>();
}

template <int dim>
void IntegrationPoints<dim>::require_any(std::string_view objective) const {
  if (!space_->comm().any(num_owned_points() > 0))
    throw InputError(std::string(objective) +
                     ": no boundary facet of the bodies is selected; take surface ids (`boundary`) that the "
                     "bodies of the objective have");
}

template <int dim>
std::size_t IntegrationPoints<dim>::num_owned_points() const {
  std::size_t count = 0;
  for (const Element& element : elements_)
    if (element.cell < space_->mesh().num_owned_cells)
      count += tables_[space_->order(element.cell)].num_points;
  return count;
}

template <int dim>
std::span<const LocalIndex>
IntegrationPoints<dim>::element_nodes(const Element& element, std::vector<LocalIndex>& facet_nodes) const {
  const auto cell_nodes = space_->cell_nodes(element.cell);
  if (element.facet < 0) return cell_nodes;
  facet_nodes.clear();
  for (const int node : space_->basis(space_->order(element.cell)).facet_nodes(element.facet))
    facet_nodes.push_back(cell_nodes[node]);
  return facet_nodes;
}

template <int dim>
typename IntegrationPoints<dim>::Simplex
IntegrationPoints<dim>::element_simplex(const Element& element) const {
  const mesh::DistributedMesh<dim>& mesh = space_->mesh();
  const std::size_t cell = element.cell;
  Simplex simplex{};
  if (element.facet < 0) {
    simplex.size = dim + 1;
    simplex.vertices = mesh.cells[cell];
    simplex.weight_factor = geometry_->weight_factor(element.cell);
    for (int i = 0; i < dim; ++i)
      simplex.gradients[i + 1] = geometry_->inverse_edges[cell].row(i).transpose();
  } else {
    simplex.size = dim;
    const auto of_facet = fem::facet_vertices<dim>(element.facet);
    for (std::size_t i = 0; i < dim; ++i) simplex.vertices[i] = mesh.cells[cell][of_facet[i]];
    Eigen::Matrix<double, dim, dim - 1> tangents;
    for (std::size_t i = 1; i < dim; ++i)
      tangents.col(i - 1) = mesh.vertices[simplex.vertices[i]] - mesh.vertices[simplex.vertices[0]];
    if constexpr (dim == 2)
      simplex.weight_factor = tangents.norm();
    else
      simplex.weight_factor = tangents.col(0).cross(tangents.col(1)).norm();
    // Gradients along the facet are what the derivative of its measure is made of: d ln|f| / dX_b.
    const Eigen::Matrix<double, dim - 1, dim - 1> metric = tangents.transpose() * tangents;
    const Eigen::Matrix<double, dim - 1, dim> pseudo_inverse = metric.inverse() * tangents.transpose();
    for (int i = 0; i < dim - 1; ++i) simplex.gradients[i + 1] = pseudo_inverse.row(i).transpose();
  }
  simplex.gradients[0].setZero();
  for (int i = 1; i < simplex.size; ++i) simplex.gradients[0] -= simplex.gradients[i];
  return simplex;
}

template class IntegrationPoints<2>;
template class IntegrationPoints<3>;

} // namespace recoil::objectives

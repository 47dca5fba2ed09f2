#pragma once

#include "potentials/quadrature_points.hpp"

/// Derivatives by the rest positions of the vertices, from those by what moves with them, and the other way
/// round: how things change when the vertices move. `vertices`: one per local mesh vertex, ghosts included.
namespace recoil::potentials {

template <int dim>
using VertexProducts = std::span<Eigen::Matrix<double, dim, 1>>;
template <int dim>
using VertexChanges = std::span<const Eigen::Matrix<double, dim, 1>>;

/// vertices_b += T grad xi^b, xi^b the linear basis: for a cell's share of an integral that changes by
/// T : grad dX when the rest mesh moves by dX.
template <int dim>
void add_cell_product(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                      LocalIndex cell, const Eigen::Matrix<double, dim, dim>& T,
                      VertexProducts<dim> vertices) {
  const auto& corners = space.mesh().cells[cell];
  // The rows of D^-1 are the gradients of xi^1 .. xi^dim, which sum to -grad xi^0.
  const Eigen::Matrix<double, dim, dim> products = T * geometry.inverse_edges[cell].transpose();
  for (int b = 0; b < dim; ++b) {
    vertices[corners[b + 1]] += products.col(b);
    vertices[corners[0]] -= products.col(b);
  }
}

/// grad dX in a cell where the vertices move by dX.
template <int dim>
Eigen::Matrix<double, dim, dim> cell_gradient(const fem::FunctionSpace<dim>& space,
                                              const fem::CellGeometry<dim>& geometry, LocalIndex cell,
                                              VertexChanges<dim> vertices) {
  const auto& corners = space.mesh().cells[cell];
  Eigen::Matrix<double, dim, dim> edges;
  for (int b = 0; b < dim; ++b) edges.col(b) = vertices[corners[b + 1]] - vertices[corners[0]];
  return edges * geometry.inverse_edges[cell];
}

/// Derivative by the position of a node of a cell, shared among the vertices that carry the node.
/// @param node number in the cell.
template <int dim>
void add_node_product(const fem::FunctionSpace<dim>& space, LocalIndex cell, int node,
                      const Eigen::Matrix<double, dim, 1>& product, VertexProducts<dim> vertices) {
  const int order = space.order(cell);
  const auto& weights = space.basis(order).multi_index(node);
  const auto& corners = space.mesh().cells[cell];
  for (std::size_t b = 0; b < corners.size(); ++b)
    if (weights[b] != 0) vertices[corners[b]] += weights[b] * product / order;
}

/// How a node of a cell moves with the vertices that carry it.
template <int dim>
Eigen::Matrix<double, dim, 1> node_change(const fem::FunctionSpace<dim>& space, LocalIndex cell, int node,
                                          VertexChanges<dim> vertices) {
  const int order = space.order(cell);
  const auto& weights = space.basis(order).multi_index(node);
  const auto& corners = space.mesh().cells[cell];
  Eigen::Matrix<double, dim, 1> change = Eigen::Matrix<double, dim, 1>::Zero();
  for (std::size_t b = 0; b < corners.size(); ++b)
    if (weights[b] != 0) change += weights[b] * vertices[corners[b]] / order;
  return change;
}

/// d(c . area_vector)/d(tangents).
template <int dim>
Eigen::Matrix<double, dim, dim - 1> area_vector_product(const Eigen::Matrix<double, dim, dim - 1>& tangents,
                                                        const Eigen::Matrix<double, dim, 1>& c) {
  Eigen::Matrix<double, dim, dim - 1> product;
  if constexpr (dim == 2) {
    product << -c[1], c[0];
  } else {
    product.col(0) = tangents.col(1).cross(c);
    product.col(1) = c.cross(tangents.col(0));
  }
  return product;
}

/// Change of area_vector with the tangents.
template <int dim>
Eigen::Matrix<double, dim, 1> area_vector_change(const Eigen::Matrix<double, dim, dim - 1>& tangents,
                                                 const Eigen::Matrix<double, dim, dim - 1>& change) {
  if constexpr (dim == 2)
    return area_vector<2>(change);
  else
    return change.col(0).cross(tangents.col(1)) + tangents.col(0).cross(change.col(1));
}

template <int dim>
std::array<LocalIndex, dim> facet_corners(const fem::FunctionSpace<dim>& space,
                                          const fem::BoundaryFacet& facet) {
  const auto& corners = space.mesh().cells[facet.cell];
  std::array<LocalIndex, dim> vertex;
  for (std::size_t b = 0; b < dim; ++b) vertex[b] = corners[fem::facet_vertices<dim>(facet.facet)[b]];
  return vertex;
}

/// Differences of a field of the vertices from the first corner of a facet to the others; of the rest
/// positions: its edges.
template <int dim>
Eigen::Matrix<double, dim, dim - 1> facet_edges(const std::array<LocalIndex, dim>& corners,
                                                VertexChanges<dim> vertices) {
  Eigen::Matrix<double, dim, dim - 1> edges;
  for (int j = 0; j < dim - 1; ++j) edges.col(j) = vertices[corners[j + 1]] - vertices[corners[0]];
  return edges;
}

/// Derivative of integral * A(X) / A, A the measure of a boundary facet at rest: how an integral over the
/// facet changes through its surface element.
template <int dim>
void add_facet_measure_product(const fem::FunctionSpace<dim>& space, const fem::BoundaryFacet& facet,
                               double integral, VertexProducts<dim> vertices) {
  const auto vertex = facet_corners<dim>(space, facet);
  const auto edges = facet_edges<dim>(vertex, space.mesh().vertices);
  const Eigen::Matrix<double, dim, 1> area = area_vector<dim>(edges);
  const auto products = area_vector_product<dim>(edges, integral / area.squaredNorm() * area);
  for (int j = 0; j < dim - 1; ++j) {
    vertices[vertex[j + 1]] += products.col(j);
    vertices[vertex[0]] -= products.col(j);
  }
}

/// dA / A of a boundary facet at rest.
template <int dim>
double facet_measure_change(const fem::FunctionSpace<dim>& space, const fem::BoundaryFacet& facet,
                            VertexChanges<dim> vertices) {
  const auto corners = facet_corners<dim>(space, facet);
  const auto edges = facet_edges<dim>(corners, space.mesh().vertices);
  const Eigen::Matrix<double, dim, 1> area = area_vector<dim>(edges);
  return area.dot(area_vector_change<dim>(edges, facet_edges<dim>(corners, vertices))) / area.squaredNorm();
}

} // namespace recoil::potentials

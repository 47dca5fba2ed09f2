#pragma once

#include <span>

#include <Eigen/Core>

#include "potentials/facet_loop.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/function_space.hpp"

/// Derivatives by the rest positions of the vertices, from those by what moves with them. `vertices`: one per
/// local mesh vertex, ghosts included.
namespace recoil::potentials {

template <int dim>
using VertexProducts = std::span<Eigen::Matrix<double, dim, 1>>;

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

/// Derivative of integral * A(X) / A, A the measure of a boundary facet at rest: how an integral over the
/// facet changes through its surface element.
template <int dim>
void add_facet_measure_product(const fem::FunctionSpace<dim>& space, const fem::BoundaryFacet& facet,
                               double integral, VertexProducts<dim> vertices) {
  const auto& corners = space.mesh().cells[facet.cell];
  std::array<std::size_t, dim> vertex;
  for (std::size_t b = 0; b < dim; ++b) vertex[b] = corners[fem::facet_vertices<dim>(facet.facet)[b]];
  Eigen::Matrix<double, dim, dim - 1> edges;
  for (int j = 0; j < dim - 1; ++j)
    edges.col(j) = space.mesh().vertices[vertex[j + 1]] - space.mesh().vertices[vertex[0]];
  const Eigen::Matrix<double, dim, 1> area = area_vector<dim>(edges);
  const auto products = area_vector_product<dim>(edges, integral / area.squaredNorm() * area);
  for (int j = 0; j < dim - 1; ++j) {
    vertices[vertex[j + 1]] += products.col(j);
    vertices[vertex[0]] -= products.col(j);
  }
}

} // namespace recoil::potentials

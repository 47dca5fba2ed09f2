#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::objectives {

/// A quadrature point of a cell or of a boundary facet, with the basis of the nodes and of the vertices
/// there.
template <int dim>
struct IntegrationPoint {
  using Point = Eigen::Matrix<double, dim, 1>;

  LocalIndex cell;
  bool owned; ///< the cell is: its share of sums and of derivatives by q counts here
  std::span<const LocalIndex> nodes;
  const double* basis; ///< phi_a, per node
  std::span<const LocalIndex> vertices;
  const double* barycentric; ///< xi^b, per vertex
  const Point* gradients;    ///< grad xi^b along the cell or facet, per vertex [1/m]
  double weight;             ///< on the rest mesh [m^dim or m^(dim-1)]
  Point rest;                ///< [m]

  /// A nodal field here.
  Point interpolate(std::span<const double> field) const {
    Point sum = Point::Zero();
    for (std::size_t a = 0; a < nodes.size(); ++a) sum += basis[a] * fem::node_block<dim>(field, nodes[a]);
    return sum;
  }
  /// A field with a value per local vertex here.
  Point interpolate_vertices(const std::vector<Point>& field) const {
    Point sum = Point::Zero();
    for (std::size_t b = 0; b < vertices.size(); ++b) sum += barycentric[b] * field[vertices[b]];
    return sum;
  }
  /// The divergence of a field along the cell or facet: the relative change of the weight where the vertices
  /// move so.
  double divergence(const std::vector<Point>& field) const {
    double sum = 0;
    for (std::size_t b = 0; b < vertices.size(); ++b) sum += gradients[b].dot(field[vertices[b]]);
    return sum;
  }
  /// Adds phi_a * by_value to the first `num_nodes` entries of a nodal field.
  void add_to_nodes(const Point& by_value, LocalIndex num_nodes, std::span<double> field) const {
    for (std::size_t a = 0; a < nodes.size(); ++a)
      if (nodes[a] < num_nodes) fem::node_block<dim>(field, nodes[a]) += basis[a] * by_value;
  }
  /// Derivative of factor * weight * j(rest position) by the vertices: through the position (j_X) and the
  /// measure (j) [Huang et al. 2024, section 8].
  void add_to_vertices(double factor, double j, const Point& j_X, std::vector<Point>& by_vertices) const {
    for (std::size_t b = 0; b < vertices.size(); ++b)
      by_vertices[vertices[b]] += factor * weight * (barycentric[b] * j_X + j * gradients[b]);
  }
};

/// The quadrature points of the cells of a region, or of boundary facets of it, exact to degree 2k.
template <int dim>
class IntegrationPoints {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// The volume.
  explicit IntegrationPoints(const Region<dim>& region);
  /// Boundary facets: `all` of them, those without an id too, or those with one of the ids. Not collective.
  IntegrationPoints(const Region<dim>& region, const potentials::FacetSelection& facets);

  /// @throws InputError on every rank where there is no point at all. Collective.
  void require_any(std::string_view objective) const;
  /// Number of quadrature points of owned cells or facets.
  std::size_t num_owned_points() const;

  /// act(point) at every point; those of ghost cells too where `with_ghosts`, which complete sums at owned
  /// nodes.
  template <class Act>
  void visit(bool with_ghosts, Act&& act) const {
    std::vector<LocalIndex> facet_nodes;
    for (const Element& element : elements_) {
      const bool owned = element.cell < space_->mesh().num_owned_cells;
      if (!owned && !with_ghosts) continue;
      const std::size_t order = space_->order(element.cell);
      const std::span<const LocalIndex> nodes = element_nodes(element, facet_nodes);
      const Simplex simplex = element_simplex(element);
      const Tables& tables = tables_[order];
      for (int q = 0; q < tables.num_points; ++q) {
        const double* barycentric = tables.barycentric.data() + q * simplex.size;
        IntegrationPoint<dim> point{element.cell,
                                    owned,
                                    nodes,
                                    tables.basis.data() + q * nodes.size(),
                                    std::span(simplex.vertices).first(simplex.size),
                                    barycentric,
                                    simplex.gradients.data(),
                                    simplex.weight_factor * tables.weights[q],
                                    Point::Zero()};
        for (std::size_t b = 0; b < point.vertices.size(); ++b)
          point.rest += barycentric[b] * space_->mesh().vertices[point.vertices[b]];
        act(std::as_const(point));
      }
    }
  }

private:
  struct Element {
    LocalIndex cell;
    int facet; ///< -1 = the cell itself
  };
  struct Tables {
    int num_points = 0;
    std::vector<double> basis, barycentric, weights;
  };
  struct Simplex {
    int size; ///< number of vertices
    std::array<LocalIndex, dim + 1> vertices;
    std::array<Point, dim + 1> gradients;
    double weight_factor; ///< from reference weights to those on the rest mesh
  };
  template <int element_dim>
  void tabulate();
  /// A facet's are written to `facet_nodes`, which keeps its memory from element to element.
  std::span<const LocalIndex> element_nodes(const Element& element,
                                            std::vector<LocalIndex>& facet_nodes) const;
  Simplex element_simplex(const Element& element) const;

  const fem::FunctionSpace<dim>* space_;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::vector<Element> elements_;
  std::array<Tables, 5> tables_; ///< by order
};

} // namespace recoil::objectives

#include "recoil/potentials/loads.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "potentials/shape_products.hpp"
#include "recoil/base/error.hpp"

namespace recoil::potentials {

namespace {

/// Exact degree of x.(x_,1 x x_,2) in 3D (3k - 2) and of x x x_,1 in 2D (2k - 1).
template <int dim>
constexpr std::array<int, 5> volume_degrees() {
  if constexpr (dim == 2) return {0, 1, 3, 5, 7};
  return {0, 1, 4, 7, 10};
}

template <int dim>
using Vector = Eigen::Matrix<double, dim, 1>;
template <int dim>
using Block = Eigen::Matrix<double, dim, dim>;

Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v) {
  Eigen::Matrix3d matrix;
  matrix << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
  return matrix;
}

/// Rotation by -90 degrees: area_vector of a tangent.
Eigen::Matrix2d quarter_turn() { return (Eigen::Matrix2d() << 0, 1, -1, 0).finished(); }

/// Volume of the cone from the origin over one facet and its derivatives with respect to the node positions.
template <int dim>
struct Cone {
  const FacetElement<dim>& element;
  const std::vector<Vector<dim>>& x;

  double value() const {
    double volume = 0;
    for_points([&](int, double weight, const Vector<dim>& position, const auto& tangents) {
      volume += weight * position.dot(area_vector<dim>(tangents));
    });
    return volume;
  }

  /// dV/dx_a, one per node.
  std::vector<Vector<dim>> gradient() const {
    std::vector<Vector<dim>> g(x.size(), Vector<dim>::Zero());
    for_points([&](int q, double weight, const Vector<dim>& position, const auto& tangents) {
      const double *phi = element.table->value(q), *dphi = element.table->gradient(q);
      const Vector<dim> normal = area_vector<dim>(tangents);
      for (std::size_t a = 0; a < x.size(); ++a) {
        g[a] += weight * phi[a] * normal;
        if constexpr (dim == 2) {
          g[a] += weight * dphi[a] * (quarter_turn().transpose() * position);
        } else {
          g[a] += weight * (dphi[2 * a] * tangents.col(1).cross(position) +
                            dphi[2 * a + 1] * position.cross(tangents.col(0)));
        }
      }
    });
    return g;
  }

  /// d2V/dx_a dx_b.
  Block<dim> hessian(std::size_t a, std::size_t b) const {
    Block<dim> H = Block<dim>::Zero();
    for_points([&](int q, double weight, const Vector<dim>& position, const auto& tangents) {
      const double *phi = element.table->value(q), *d = element.table->gradient(q);
      if constexpr (dim == 2) {
        H += weight * (phi[a] * d[b] * quarter_turn() + d[a] * phi[b] * quarter_turn().transpose());
      } else {
        const Eigen::Vector3d s = tangents.col(0), t = tangents.col(1);
        const double a1 = d[2 * a], a2 = d[2 * a + 1], b1 = d[2 * b], b2 = d[2 * b + 1];
        // Derivatives of phi_a (s x t) + a1 (t x p) + a2 (p x s) along x_b.
        H += weight * (phi[a] * (b2 * cross_matrix(s) - b1 * cross_matrix(t)) +
                       a1 * (phi[b] * cross_matrix(t) - b2 * cross_matrix(position)) +
                       a2 * (b1 * cross_matrix(position) - phi[b] * cross_matrix(s)));
      }
    });
    return H;
  }

private:
  template <class Act>
  void for_points(Act act) const {
    for (int q = 0; q < element.table->num_points; ++q) {
      Vector<dim> position = Vector<dim>::Zero();
      for (std::size_t a = 0; a < x.size(); ++a) position += element.table->value(q)[a] * x[a];
      act(q, element.outward * element.table->weights[q] / dim, position, facet_tangents(element, q, x));
    }
  }
};

template <int dim>
class Pressure final : public ElementPotential<dim> {
public:
  Pressure(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
           const FacetSelection& facets, std::function<double(double)> pressure)
      : ElementPotential<dim>(space), pressure_(std::move(pressure)), tables_(volume_degrees<dim>()) {
    for (std::size_t i = 0; i < space.boundary_facets().size(); ++i) {
      const fem::BoundaryFacet& facet = space.boundary_facets()[i];
      if (!fem::selects(facets.all, facets.ids, facet.id)) continue;
      facets_.push_back(i);
      elements_.push_back(tables_.element(space, facet, geometry.edge_determinant[facet.cell]));
    }
  }

  std::string_view name() const override { return "pressure"; }
  void begin_step(const StepContext& context) override {
    load_factor_ = context.load_factor;
    magnitude_ = load_factor_ * pressure_(context.time);
  }

  double value(std::span<const double> u) const override {
    double volume = 0;
    for (std::size_t k = 0; k < elements_.size(); ++k)
      if (is_owned(k)) {
        const auto x = positions(elements_[k], u);
        volume += Cone<dim>{elements_[k], x}.value();
      }
    return -magnitude_ * volume;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for (const FacetElement<dim>& element : elements_) {
      const auto x = positions(element, u);
      const auto force = Cone<dim>{element, x}.gradient();
      for (std::size_t a = 0; a < element.nodes.size(); ++a)
        if (element.nodes[a] < this->space().num_owned_nodes())
          fem::node_block<dim>(g, element.nodes[a]) -= factor * magnitude_ * force[a];
    }
  }

  /// Indefinite by nature; with `per_element` projection it is left out, which keeps the sum positive
  /// semi-definite.
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    if (projection == Projection::per_element) return;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      const auto x = positions(elements_[k], u);
      const Cone<dim> cone{elements_[k], x};
      for (std::size_t a = 0; a < x.size(); ++a)
        for (std::size_t b = 0; b < x.size(); ++b) {
          const Eigen::Matrix<double, dim, dim, Eigen::RowMajor> block =
              -factor * magnitude_ * cone.hessian(a, b);
          H.elements->add_element_block(cell(k), elements_[k].cell_nodes[a], elements_[k].cell_nodes[b],
                                        block.data());
        }
    }
  }

  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::pressure, parameters::quantities::vertices};
  }
  /// The force on one facet is that of its cone: only sums over the whole surface are those of p n.
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    auto& pressures = g.numbers(parameters::quantities::pressure);
    auto* by_vertex = g.rest_positions();
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      if (!is_owned(k)) continue;
      const auto x = positions(elements_[k], u), p_facet = values(elements_[k], p);
      const Cone<dim> cone{elements_[k], x};
      const auto by_position = cone.gradient();
      double change = 0;
      for (std::size_t a = 0; a < x.size(); ++a) change += by_position[a].dot(p_facet[a]);
      pressures[facets_[k]] -= factor * load_factor_ * change;
      if (!by_vertex) continue;
      // Current positions are x = X + u: the derivative by X is the Hessian's product.
      for (std::size_t a = 0; a < x.size(); ++a) {
        Vector<dim> product = Vector<dim>::Zero();
        for (std::size_t b = 0; b < x.size(); ++b) product += cone.hessian(a, b) * p_facet[b];
        add_node_product<dim>(this->space(), cell(k), elements_[k].cell_nodes[a],
                              -factor * magnitude_ * product, *by_vertex);
      }
    }
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    const auto* pressures = dq.find_numbers(parameters::quantities::pressure);
    const auto* vertices = dq.rest_positions();
    if (!pressures && !vertices) return;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      const FacetElement<dim>& element = elements_[k];
      const auto x = positions(element, u);
      const Cone<dim> cone{element, x};
      auto change = cone.gradient();
      for (auto& force : change) force *= pressures ? load_factor_ * (*pressures)[facets_[k]] : 0;
      for (std::size_t b = 0; vertices && b < x.size(); ++b) {
        const Vector<dim> motion =
            magnitude_ * node_change<dim>(this->space(), cell(k), element.cell_nodes[b], *vertices);
        for (std::size_t a = 0; a < x.size(); ++a) change[a] += cone.hessian(a, b) * motion;
      }
      for (std::size_t a = 0; a < x.size(); ++a)
        if (element.nodes[a] < this->space().num_owned_nodes())
          fem::node_block<dim>(y, element.nodes[a]) -= factor * change[a];
    }
  }

private:
  LocalIndex cell(std::size_t k) const { return this->space().boundary_facets()[facets_[k]].cell; }
  bool is_owned(std::size_t k) const { return cell(k) < this->space().mesh().num_owned_cells; }

  static std::vector<Vector<dim>> values(const FacetElement<dim>& element, std::span<const double> v) {
    std::vector<Vector<dim>> entries;
    for (const LocalIndex node : element.nodes) entries.push_back(fem::node_block<dim>(v, node));
    return entries;
  }

  std::vector<Vector<dim>> positions(const FacetElement<dim>& element, std::span<const double> u) const {
    std::vector<Vector<dim>> x = values(element, u);
    for (std::size_t a = 0; a < x.size(); ++a) x[a] += this->space().node_positions()[element.nodes[a]];
    return x;
  }

  std::function<double(double)> pressure_;
  FacetTables<dim> tables_;
  std::vector<std::size_t> facets_; ///< positions in FunctionSpace::boundary_facets()
  std::vector<FacetElement<dim>> elements_;
  double load_factor_ = 1, magnitude_ = 0; ///< without and with the pressure
};

/// A point on the rim of the chosen facets that may move, as text; empty if there is none among the owned
/// facets.
template <int dim>
std::string free_rim(const fem::FunctionSpace<dim>& space, const FacetSelection& facets,
                     std::span<const char> prescribed) {
  const auto& mesh = space.mesh();
  // A ridge (vertex in 2D, edge in 3D) is on the rim if an odd number of chosen facets meets there. Ridges
  // whose first vertex is owned have all their facets on this rank.
  std::map<std::array<LocalIndex, 2>, int> ridges;
  for (const fem::BoundaryFacet& facet : space.boundary_facets()) {
    if (!fem::selects(facets.all, facets.ids, facet.id)) continue;
    const auto corners = fem::facet_vertices<dim>(facet.facet);
    const auto& cell = mesh.cells[facet.cell];
    for (std::size_t i = 0; i < dim; ++i)
      for (std::size_t j = i + 1; j < dim; ++j) {
        const LocalIndex a = cell[corners[i]], b = cell[corners[j]];
        if constexpr (dim == 2) {
          ++ridges[{a, a}];
          ++ridges[{b, b}];
        } else {
          ++ridges[{a, b}];
        }
      }
  }
  for (const auto& [ridge, count] : ridges) {
    if (count % 2 == 0) continue;
    for (const LocalIndex vertex : ridge) {
      if (ridge[0] >= mesh.num_owned_vertices) continue;
      for (int i = 0; i < dim; ++i)
        if (prescribed[space.node_of_vertex(vertex) * dim + i] == 0) {
          std::string text = "(";
          for (int axis = 0; axis < dim; ++axis)
            text += (axis > 0 ? ", " : "") + std::to_string(mesh.vertices[vertex][axis]);
          return text + ")";
        }
    }
  }
  return "";
}

} // namespace

template <int dim>
std::unique_ptr<Potential<dim>>
make_pressure(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
              FacetSelection facets, std::function<double(double time)> pressure,
              std::span<const char> prescribed, const std::string& where) {
  std::string rim = free_rim(space, facets, prescribed);
  if (!rim.empty())
    rim = where + ": the surface under pressure is open and its rim is free to move, for example at " + rim +
          "; such a pressure has no potential. Close the surface, or hold all components of its rim by "
          "<dirichlet_boundary>, or use <neumann_boundary>";
  parallel::agree(space.comm(), static_cast<int>(ExitCode::bad_input), rim);
  return std::make_unique<Pressure<dim>>(space, *geometry, facets, std::move(pressure));
}

template std::unique_ptr<Potential<2>> make_pressure(const fem::FunctionSpace<2>&,
                                                     std::shared_ptr<const fem::CellGeometry<2>>,
                                                     FacetSelection, std::function<double(double)>,
                                                     std::span<const char>, const std::string&);
template std::unique_ptr<Potential<3>> make_pressure(const fem::FunctionSpace<3>&,
                                                     std::shared_ptr<const fem::CellGeometry<3>>,
                                                     FacetSelection, std::function<double(double)>,
                                                     std::span<const char>, const std::string&);

} // namespace recoil::potentials

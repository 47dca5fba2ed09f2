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

/// Volume that one facet sweeps on the straight way from node positions y to x,
///
///     S = int (x - y).A dxi,   A = int_0^1 a(y + s (x - y)) ds, a(.) the area vector,
///
/// and its derivatives. Without y: from the origin, the volume of the cone over the facet.
template <int dim>
struct SweptVolume {
  const FacetElement<dim>& element;
  const std::vector<Vector<dim>>&x, &y; ///< y may be empty

  double value() const {
    double volume = 0;
    for_points([&](const Point& at) { volume += at.weight * at.way.dot(at.area); });
    return volume;
  }

  /// dS/dx_a, one per node.
  std::vector<Vector<dim>> gradient() const {
    std::vector<Vector<dim>> g(x.size(), Vector<dim>::Zero());
    for_points([&](const Point& at) {
      for (std::size_t a = 0; a < x.size(); ++a) {
        g[a] += at.weight * at.phi[a] * at.area;
        const double* d = at.dphi + a * (dim - 1);
        if constexpr (dim == 2)
          g[a] += 0.5 * at.weight * d[0] * (quarter_turn().transpose() * at.way);
        else
          g[a] += at.weight * (d[0] * at.by_end.col(1).cross(at.way) + d[1] * at.way.cross(at.by_end.col(0)));
      }
    });
    return g;
  }

  /// d2S/dx_a dx_b.
  Block<dim> hessian(std::size_t a, std::size_t b) const { return derivative(a, b, true); }
  /// d2S/dx_a dy_b.
  Block<dim> by_start(std::size_t a, std::size_t b) const { return derivative(a, b, false); }

private:
  using Tangents = Eigen::Matrix<double, dim, dim - 1>;
  struct Point {
    double weight;
    const double *phi, *dphi;
    Vector<dim> way, area;     ///< x - y and A
    Tangents by_end, by_start; ///< 3D: A changes by dx_,1 x by_end_2 + by_end_1 x dx_,2, with y likewise
  };

  Block<dim> derivative(std::size_t a, std::size_t b, bool by_x) const {
    Block<dim> D = Block<dim>::Zero();
    const double sign = by_x ? 1 : -1; // of the change of the way
    for_points([&](const Point& at) {
      const double phi_b = sign * at.phi[b];
      const double *da = at.dphi + a * (dim - 1), *db = at.dphi + b * (dim - 1);
      if constexpr (dim == 2) {
        D += 0.5 * at.weight *
             (at.phi[a] * db[0] * quarter_turn() + da[0] * phi_b * quarter_turn().transpose());
      } else {
        // Derivatives of phi_a A + da_1 (C_2 x way) + da_2 (way x C_1), C = by_end, along the nodes b.
        const Tangents& of_area = by_x ? at.by_end : at.by_start;
        const double share = by_x ? 1.0 / 3 : 1.0 / 6; // of tangents in C
        const auto turn = [](const auto& v) { return cross_matrix(v); };
        D += at.weight * (at.phi[a] * (db[1] * turn(of_area.col(0)) - db[0] * turn(of_area.col(1))) +
                          da[0] * (phi_b * turn(at.by_end.col(1)) - share * db[1] * turn(at.way)) +
                          da[1] * (share * db[0] * turn(at.way) - phi_b * turn(at.by_end.col(0))));
      }
    });
    return D;
  }

  template <class Act>
  void for_points(Act act) const {
    for (int q = 0; q < element.table->num_points; ++q) {
      Point at{element.outward * element.table->weights[q],
               element.table->value(q),
               element.table->gradient(q),
               Vector<dim>::Zero(),
               Vector<dim>::Zero(),
               Tangents::Zero(),
               Tangents::Zero()};
      for (std::size_t a = 0; a < x.size(); ++a) at.way += at.phi[a] * (y.empty() ? x[a] : x[a] - y[a]);
      const Tangents end = facet_tangents(element, q, x);
      const Tangents start = y.empty() ? Tangents(Tangents::Zero()) : facet_tangents(element, q, y);
      if constexpr (dim == 2) {
        at.area = area_vector<2>((end + start) / 2);
      } else {
        at.by_end = end / 3 + start / 6;
        at.by_start = start / 3 + end / 6;
        at.area = end.col(0).cross(at.by_end.col(1)) + start.col(0).cross(at.by_start.col(1));
      }
      act(at);
    }
  }
};

template <int dim>
class Pressure final : public ElementPotential<dim> {
public:
  Pressure(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
           const FacetSelection& facets, std::function<double(double)> pressure, bool rim_moves)
      : ElementPotential<dim>(space), pressure_(std::move(pressure)), tables_(volume_degrees<dim>()),
        rim_moves_(rim_moves) {
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
    previous_ = context.previous;
  }

  double value(std::span<const double> u) const override {
    double volume = 0;
    for (std::size_t k = 0; k < elements_.size(); ++k)
      if (is_owned(k)) {
        const auto x = positions(elements_[k], u), y = start(elements_[k]);
        volume += SweptVolume<dim>{elements_[k], x, y}.value();
      }
    return -magnitude_ * volume;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for (const FacetElement<dim>& element : elements_) {
      const auto x = positions(element, u), y = start(element);
      const auto force = SweptVolume<dim>{element, x, y}.gradient();
      add_forces(element, -factor * magnitude_, force, g);
    }
  }

  /// Indefinite by nature; with `per_element` projection it is left out, which keeps the sum positive
  /// semi-definite.
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    if (projection == Projection::per_element) return;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      const auto x = positions(elements_[k], u), y = start(elements_[k]);
      const SweptVolume<dim> volume{elements_[k], x, y};
      for (std::size_t a = 0; a < x.size(); ++a)
        for (std::size_t b = 0; b < x.size(); ++b) {
          const Eigen::Matrix<double, dim, dim, Eigen::RowMajor> block =
              -factor * magnitude_ * volume.hessian(a, b);
          H.elements->add_element_block(cell(k), elements_[k].cell_nodes[a], elements_[k].cell_nodes[b],
                                        block.data());
        }
    }
  }

  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override {
    if (rim_moves_) add_by_start(u, p, factor, true, y);
  }
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override {
    if (rim_moves_) add_by_start(u, x, factor, false, y);
  }

  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::pressure, parameters::quantities::vertices};
  }
  /// The force on one facet is that of its own volume: only sums over the whole surface are those of p n.
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    auto& pressures = g.numbers(parameters::quantities::pressure);
    auto* by_vertex = g.rest_positions();
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      if (!is_owned(k)) continue;
      const auto x = positions(elements_[k], u), y = start(elements_[k]), p_facet = values(elements_[k], p);
      const SweptVolume<dim> volume{elements_[k], x, y};
      const auto by_position = volume.gradient();
      double change = 0;
      for (std::size_t a = 0; a < x.size(); ++a) change += by_position[a].dot(p_facet[a]);
      pressures[facets_[k]] -= factor * load_factor_ * change;
      if (!by_vertex) continue;
      // Positions are X + u: the derivative by X is that by all positions.
      for (std::size_t a = 0; a < x.size(); ++a) {
        Vector<dim> product = Vector<dim>::Zero();
        for (std::size_t b = 0; b < x.size(); ++b) product += by_rest(volume, b, a).transpose() * p_facet[b];
        add_node_product<dim>(this->space(), cell(k), elements_[k].cell_nodes[a],
                              -factor * magnitude_ * product, *by_vertex);
      }
    }
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> result) const override {
    const auto* pressures = dq.find_numbers(parameters::quantities::pressure);
    const auto* vertices = dq.rest_positions();
    if (!pressures && !vertices) return;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      const FacetElement<dim>& element = elements_[k];
      const auto x = positions(element, u), y = start(element);
      const SweptVolume<dim> volume{element, x, y};
      auto change = volume.gradient();
      for (auto& force : change) force *= pressures ? load_factor_ * (*pressures)[facets_[k]] : 0;
      for (std::size_t b = 0; vertices && b < x.size(); ++b) {
        const Vector<dim> motion =
            magnitude_ * node_change<dim>(this->space(), cell(k), element.cell_nodes[b], *vertices);
        for (std::size_t a = 0; a < x.size(); ++a) change[a] += by_rest(volume, a, b) * motion;
      }
      add_forces(element, -factor, change, result);
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

  /// Positions at the start of the step where the rim moves, else none.
  std::vector<Vector<dim>> start(const FacetElement<dim>& element) const {
    return rim_moves_ ? positions(element, previous_) : std::vector<Vector<dim>>();
  }

  /// Derivative of dS/dx_a by the rest position of node b.
  Block<dim> by_rest(const SweptVolume<dim>& volume, std::size_t a, std::size_t b) const {
    Block<dim> D = volume.hessian(a, b);
    if (rim_moves_) D += volume.by_start(a, b);
    return D;
  }

  void add_forces(const FacetElement<dim>& element, double factor, const std::vector<Vector<dim>>& forces,
                  std::span<double> result) const {
    for (std::size_t a = 0; a < element.nodes.size(); ++a)
      if (element.nodes[a] < this->space().num_owned_nodes())
        fem::node_block<dim>(result, element.nodes[a]) += factor * forces[a];
  }

  /// Product of the derivative of the gradient by the positions at the start with `field`, or its transpose.
  void add_by_start(std::span<const double> u, std::span<const double> field, double factor, bool transposed,
                    std::span<double> result) const {
    for (const FacetElement<dim>& element : elements_) {
      const auto x = positions(element, u), y = start(element), of_facet = values(element, field);
      const SweptVolume<dim> volume{element, x, y};
      std::vector<Vector<dim>> products(x.size(), Vector<dim>::Zero());
      for (std::size_t a = 0; a < x.size(); ++a)
        for (std::size_t b = 0; b < x.size(); ++b)
          if (transposed)
            products[b] += volume.by_start(a, b).transpose() * of_facet[a];
          else
            products[a] += volume.by_start(a, b) * of_facet[b];
      add_forces(element, -factor * magnitude_, products, result);
    }
  }

  std::function<double(double)> pressure_;
  FacetTables<dim> tables_;
  bool rim_moves_;
  std::span<const double> previous_; ///< displacement at the start of the step
  std::vector<std::size_t> facets_;  ///< positions in FunctionSpace::boundary_facets()
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
              std::span<const char> prescribed, bool has_steps, const std::string& where) {
  const std::string rim = free_rim(space, facets, prescribed);
  const bool rim_moves = space.comm().any(!rim.empty());
  std::string refused;
  if (!rim.empty() && !has_steps)
    refused = where + ": the surface under pressure is open and its rim is free to move, for example at " +
              rim +
              "; such a pressure has no potential, and a static solve has no steps in which it could follow. "
              "Give the scene time (<quasistatic>, say), close the surface, hold all components of its rim "
              "by <dirichlet_boundary>, or use <rest_pressure_boundary>, which does not follow";
  parallel::agree(space.comm(), static_cast<int>(ExitCode::bad_input), refused);
  return std::make_unique<Pressure<dim>>(space, *geometry, facets, std::move(pressure), rim_moves);
}

template std::unique_ptr<Potential<2>> make_pressure(const fem::FunctionSpace<2>&,
                                                     std::shared_ptr<const fem::CellGeometry<2>>,
                                                     FacetSelection, std::function<double(double)>,
                                                     std::span<const char>, bool, const std::string&);
template std::unique_ptr<Potential<3>> make_pressure(const fem::FunctionSpace<3>&,
                                                     std::shared_ptr<const fem::CellGeometry<3>>,
                                                     FacetSelection, std::function<double(double)>,
                                                     std::span<const char>, bool, const std::string&);

} // namespace recoil::potentials

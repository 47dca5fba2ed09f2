#include "recoil/potentials/damping.hpp"

#include "potentials/cell_loop.hpp"
#include "potentials/damping_derivatives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/psd_projection.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/endpoint_rate_damping.hpp"
#include "recoil/potentials/laws/strain_rate_damping.hpp"

namespace recoil::potentials {

namespace {

template <int dim, int order, class Law>
class Damping final : public ElementPotential<dim> {
  static constexpr int nodes = fem::num_lagrange_nodes(dim, order);
  using Kernel = CellKernel<dim, nodes>;

public:
  Damping(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
          std::vector<LocalIndex> cells, parameters::CellField viscosities)
      : ElementPotential<dim>(space), geometry_(std::move(geometry)), cells_(std::move(cells)),
        viscosities_(std::move(viscosities)),
        table_(
            fem::tabulate(space.basis(order), cell_quadrature(space, order, viscosities_.points_per_cell))) {}

  std::string_view name() const override { return "damping"; }
  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::damping_shear, parameters::quantities::damping_bulk,
            parameters::quantities::vertices};
  }
  void begin_step(const StepContext& context) override {
    previous_ = context.previous;
    dt_ = context.dt;
  }

  double value(std::span<const double> u) const override {
    double sum = 0;
    for_points(u,
               [&](std::size_t k, int q, double weight, const auto&, const auto& F, const auto& F_previous) {
                 if (cells_[k] < this->space().mesh().num_owned_cells)
                   sum += weight * Law::energy_density(F, F_previous, dt_, viscosities_.at<2>(k, q));
               });
    return sum;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for_points(
        u, [&](std::size_t k, int q, double weight, const auto& G, const auto& F, const auto& F_previous) {
          const auto P = Law::first_piola(F, F_previous, dt_, viscosities_.at<2>(k, q));
          const typename Kernel::Values force = G * (weight * factor * P).transpose();
          Kernel::scatter(this->space().cell_nodes(cells_[k]), this->space().num_owned_nodes(), force, g);
        });
  }

  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    typename Kernel::Hessian K;
    for_points(
        u, [&](std::size_t k, int q, double weight, const auto& G, const auto& F, const auto& F_previous) {
          if (q == 0) K.setZero();
          Tangent<dim> A;
          Law::tangent(F, F_previous, dt_, viscosities_.at<2>(k, q), A);
          if (projection == Projection::per_element) geometry::project_psd(A);
          add_tangent_hessian(G, factor * weight, A, K);
          if (q + 1 == table_.num_points) H.elements->add_element(cells_[k], K.data());
        });
  }

  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override {
    add_damping_previous_product<Law>(points(), {viscosities_, u, previous_, dt_}, p, factor, y);
  }

  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    add_damping_parameter_products<Law>(points(), {viscosities_, u, previous_, dt_}, p, factor, g);
  }

  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override {
    add_damping_previous_tangent<Law>(points(), {viscosities_, u, previous_, dt_}, x, factor, y);
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    add_damping_parameter_tangent<Law>(points(), {viscosities_, u, previous_, dt_}, dq, factor, y);
  }

private:
  CellPoints<dim> points() const { return {this->space(), *geometry_, cells_, table_}; }

  template <class Act>
  void for_points(std::span<const double> u, Act act) const {
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const LocalIndex cell = cells_[k];
      const auto values = Kernel::gather(this->space().cell_nodes(cell), u);
      const auto previous = Kernel::gather(this->space().cell_nodes(cell), previous_);
      for (int q = 0; q < table_.num_points; ++q) {
        const auto G = Kernel::gradients(table_, q, geometry_->inverse_edges[cell]);
        act(k, q, geometry_->weight_factor(cell) * table_.weights[q], G,
            Kernel::deformation_gradient(values, G), Kernel::deformation_gradient(previous, G));
      }
    }
  }

  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::vector<LocalIndex> cells_;
  parameters::CellField viscosities_;
  fem::Tabulation<dim> table_;
  std::span<const double> previous_;
  double dt_ = 1;
};

template <int dim, class Law>
std::unique_ptr<Potential<dim>>
make_damping_of(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                int order, std::vector<LocalIndex> cells, parameters::CellField viscosities) {
  const auto make = [&]<int k>() -> std::unique_ptr<Potential<dim>> {
    return std::make_unique<Damping<dim, k, Law>>(space, std::move(geometry), std::move(cells),
                                                  std::move(viscosities));
  };
  return of_order(order, make);
}

} // namespace

template <int dim>
std::unique_ptr<Potential<dim>>
make_damping(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
             int order, std::vector<LocalIndex> cells, parameters::CellField viscosities, DampingRate rate) {
  const auto make = rate == DampingRate::endpoint ? make_damping_of<dim, EndpointRateDamping<dim>>
                                                  : make_damping_of<dim, StrainRateDamping<dim>>;
  return make(space, std::move(geometry), order, std::move(cells), std::move(viscosities));
}

template std::unique_ptr<Potential<2>> make_damping(const fem::FunctionSpace<2>&,
                                                    std::shared_ptr<const fem::CellGeometry<2>>, int,
                                                    std::vector<LocalIndex>, parameters::CellField,
                                                    DampingRate);
template std::unique_ptr<Potential<3>> make_damping(const fem::FunctionSpace<3>&,
                                                    std::shared_ptr<const fem::CellGeometry<3>>, int,
                                                    std::vector<LocalIndex>, parameters::CellField,
                                                    DampingRate);

} // namespace recoil::potentials

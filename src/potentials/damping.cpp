#include "recoil/potentials/damping.hpp"

#include "potentials/cell_loop.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/psd_projection.hpp"
#include "recoil/potentials/laws/damping.hpp"
#include "recoil/potentials/laws/element_hessian.hpp"

namespace recoil::potentials {

namespace {

// The derivatives by parameters and by the start of the step are compiled once per law, as those of the
// elastic laws.

/// The two ends of a step with damping.
template <int dim>
struct DampingStep {
  std::span<const double> u, previous;
  double dt;
};

/// y_a += factor * product(grad x, A') grad phi_a with A' = dP/dF_previous.
template <class Law, int dim, class Product>
void add_damping_previous(const CellPoints<dim>& points, const DampingStep<dim>& step,
                          std::span<const double> x, double factor, std::span<double> y, Product product) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, step.u);
      const Matrix F_previous = Matrix::Identity() + points.gradient(cell, q, step.previous);
      Tangent<dim> A;
      Law::tangent_previous(F, F_previous, step.dt, points.constants.template at<2>(k, q), A);
      const Matrix S = product(points.gradient(cell, q, x), A);
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

/// See Potential::add_parameter_products. F_previous changes with the rest mesh too: its term in the shape
/// derivative is -Gu_previous' (Gp : A').
template <class Law, int dim>
void add_damping_parameter_products(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                    std::span<const double> p, double factor,
                                    parameters::PhysicalGradient<dim>& g) {
  using Matrix = SquareMatrix<dim>;
  const std::array by_viscosity{&g.numbers(parameters::quantities::damping_shear),
                                &g.numbers(parameters::quantities::damping_bulk)};
  auto* by_vertex = g.rest_positions();
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell)) continue;
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, step.u), F = Matrix::Identity() + Gu;
      const Matrix Gu_previous = points.gradient(cell, q, step.previous),
                   F_previous = Matrix::Identity() + Gu_previous;
      const Matrix Gp = points.gradient(cell, q, p);
      const auto viscosities = points.constants.template at<2>(k, q);
      const double weight = factor * points.weight(cell, q);
      const auto stresses = Law::stress_derivatives(F, F_previous, step.dt, viscosities);
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_viscosity[i])[cell] += weight * inner_product<dim>(stresses[i], Gp);
      if (!by_vertex) continue;
      const Matrix P = Law::first_piola(F, F_previous, step.dt, viscosities);
      Tangent<dim> A;
      Law::tangent(F, F_previous, step.dt, viscosities, A);
      shape += weight * virtual_work_shape_term<dim>(P, contract<dim>(Gp, A), Gp, Gu);
      Law::tangent_previous(F, F_previous, step.dt, viscosities, A);
      shape -= weight * (Gu_previous.transpose() * contract<dim>(Gp, A));
    }
    if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
  }
}

/// See Potential::add_parameter_tangent.
template <class Law, int dim>
void add_damping_parameter_tangent(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                   const parameters::PhysicalDirection<dim>& dq, double factor,
                                   std::span<double> y) {
  using Matrix = SquareMatrix<dim>;
  const CellChanges<2> viscosity_changes{dq.find_numbers(parameters::quantities::damping_shear),
                                         dq.find_numbers(parameters::quantities::damping_bulk)};
  const auto* vertices = dq.rest_positions();
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, step.u), F = Matrix::Identity() + Gu;
      const Matrix Gu_previous = points.gradient(cell, q, step.previous),
                   F_previous = Matrix::Identity() + Gu_previous;
      const auto viscosities = points.constants.template at<2>(k, q);
      Matrix S = stress_change<dim>(Law::stress_derivatives(F, F_previous, step.dt, viscosities),
                                    viscosity_changes, cell);
      if (vertices) {
        const Matrix D = cell_gradient<dim>(points.space, points.geometry, cell, *vertices);
        Tangent<dim> A;
        Law::tangent(F, F_previous, step.dt, viscosities, A);
        S += stress_shape_term<dim>(Law::first_piola(F, F_previous, step.dt, viscosities), A, Gu, D);
        Law::tangent_previous(F, F_previous, step.dt, viscosities, A);
        S -= contract<dim>(A, Matrix(Gu_previous * D));
      }
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

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
    add_damping_previous<Law>(points(), step(u), p, factor, y,
                              [](const auto& Gp, const auto& A) { return contract<dim>(Gp, A); });
  }

  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    add_damping_parameter_products<Law>(points(), step(u), p, factor, g);
  }

  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override {
    add_damping_previous<Law>(points(), step(u), x, factor, y,
                              [](const auto& Gx, const auto& A) { return contract<dim>(A, Gx); });
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    add_damping_parameter_tangent<Law>(points(), step(u), dq, factor, y);
  }

private:
  CellPoints<dim> points() const { return {this->space(), *geometry_, cells_, table_, viscosities_}; }
  DampingStep<dim> step(std::span<const double> u) const { return {u, previous_, dt_}; }

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

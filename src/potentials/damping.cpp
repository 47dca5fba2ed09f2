#include "recoil/potentials/damping.hpp"

#include "potentials/cell_loop.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/psd_projection.hpp"
#include "recoil/potentials/laws/damping.hpp"
#include "recoil/potentials/laws/element_hessian.hpp"

namespace recoil::potentials {

namespace {

/// The functions of a law of damping (laws/damping.hpp) of F, F_previous, dt and the viscosities.
template <int dim>
struct DampingLaw {
  using Matrix = SquareMatrix<dim>;
  using Viscosities = std::array<double, 2>;
  double (*energy_density)(const Matrix&, const Matrix&, double, const Viscosities&);
  Matrix (*first_piola)(const Matrix&, const Matrix&, double, const Viscosities&);
  void (*tangent)(const Matrix&, const Matrix&, double, const Viscosities&, Tangent<dim>&);
  void (*tangent_previous)(const Matrix&, const Matrix&, double, const Viscosities&, Tangent<dim>&);
  std::array<Matrix, 2> (*stress_derivatives)(const Matrix&, const Matrix&, double, const Viscosities&);
};

template <class Law>
constexpr DampingLaw<Law::dimension> damping_law{Law::energy_density, Law::first_piola, Law::tangent,
                                                 Law::tangent_previous, Law::stress_derivatives};

/// The two ends of a step with damping.
template <int dim>
struct DampingStep {
  const DampingLaw<dim>& law;
  std::span<const double> u, previous;
  double dt;
};

/// y_a += factor * product(grad x, A') grad phi_a with A' = dP/dF_previous.
template <int dim, class Product>
void add_damping_previous(const CellPoints<dim>& points, const DampingStep<dim>& step,
                          std::span<const double> x, double factor, std::span<double> y, Product product) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, step.u);
      const Matrix F_previous = Matrix::Identity() + points.gradient(cell, q, step.previous);
      Tangent<dim> A;
      step.law.tangent_previous(F, F_previous, step.dt, points.constants.template at<2>(k, q), A);
      const Matrix S = product(points.gradient(cell, q, x), A);
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

/// See Potential::add_parameter_products. F_previous changes with the rest mesh too: its term in the shape
/// derivative is -Gu_previous' (Gp : A').
template <int dim>
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
      const auto stresses = step.law.stress_derivatives(F, F_previous, step.dt, viscosities);
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_viscosity[i])[cell] += weight * inner_product<dim>(stresses[i], Gp);
      if (!by_vertex) continue;
      const Matrix P = step.law.first_piola(F, F_previous, step.dt, viscosities);
      Tangent<dim> A;
      step.law.tangent(F, F_previous, step.dt, viscosities, A);
      shape += weight * virtual_work_shape_term<dim>(P, contract<dim>(Gp, A), Gp, Gu);
      step.law.tangent_previous(F, F_previous, step.dt, viscosities, A);
      shape -= weight * (Gu_previous.transpose() * contract<dim>(Gp, A));
    }
    if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
  }
}

/// See Potential::add_parameter_tangent.
template <int dim>
void add_damping_parameter_tangent(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                   const parameters::PhysicalDirection<dim>& dq, double factor,
                                   std::span<double> y) {
  using Matrix = SquareMatrix<dim>;
  const std::array viscosity_changes{dq.find_numbers(parameters::quantities::damping_shear),
                                     dq.find_numbers(parameters::quantities::damping_bulk)};
  const auto* vertices = dq.rest_positions();
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, step.u), F = Matrix::Identity() + Gu;
      const Matrix Gu_previous = points.gradient(cell, q, step.previous),
                   F_previous = Matrix::Identity() + Gu_previous;
      const auto viscosities = points.constants.template at<2>(k, q);
      Matrix S = stress_change<dim>(step.law.stress_derivatives(F, F_previous, step.dt, viscosities),
                                    viscosity_changes, cell);
      if (vertices) {
        const Matrix D = cell_gradient<dim>(points.space, points.geometry, cell, *vertices);
        Tangent<dim> A;
        step.law.tangent(F, F_previous, step.dt, viscosities, A);
        S += stress_shape_term<dim>(step.law.first_piola(F, F_previous, step.dt, viscosities), A, Gu, D);
        step.law.tangent_previous(F, F_previous, step.dt, viscosities, A);
        S -= contract<dim>(A, Matrix(Gu_previous * D));
      }
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

/// The order of the cells and the law are known at run time alone: fewer instantiations, and a call per point
/// is lost in what an element matrix takes.
template <int dim>
class Damping final : public ElementPotential<dim> {
  using Matrix = SquareMatrix<dim>;
  using Gradients = Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor, max_element_nodes, dim>;
  using Hessian = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor,
                                dim * max_element_nodes, dim * max_element_nodes>;

public:
  Damping(const DampingLaw<dim>& law, const fem::FunctionSpace<dim>& space,
          std::shared_ptr<const fem::CellGeometry<dim>> geometry, int order, std::vector<LocalIndex> cells,
          parameters::CellField viscosities)
      : ElementPotential<dim>(space), law_(law), geometry_(std::move(geometry)), cells_(std::move(cells)),
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
    for_points(u, [&](LocalIndex cell, int, double weight, const Matrix& F, const Matrix& F_previous,
                      const auto& viscosities) {
      if (points().is_owned(cell)) sum += weight * law_.energy_density(F, F_previous, dt_, viscosities);
    });
    return sum;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for_points(u, [&](LocalIndex cell, int q, double weight, const Matrix& F, const Matrix& F_previous,
                      const auto& viscosities) {
      points().scatter(cell, q, weight * factor * law_.first_piola(F, F_previous, dt_, viscosities), g);
    });
  }

  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    Hessian K;
    for_points(u, [&](LocalIndex cell, int q, double weight, const Matrix& F, const Matrix& F_previous,
                      const auto& viscosities) {
      const auto nodes = std::ssize(this->space().cell_nodes(cell));
      if (q == 0) K.setZero(dim * nodes, dim * nodes);
      Tangent<dim> A;
      law_.tangent(F, F_previous, dt_, viscosities, A);
      if (projection == Projection::per_element) geometry::project_psd(A);
      const Gradients gradients =
          Eigen::Map<const Gradients>(table_.gradient(q), nodes, dim) * geometry_->inverse_edges[cell];
      add_tangent_hessian(gradients, factor * weight, A, K);
      if (q + 1 == table_.num_points) H.elements->add_element(cell, K.data());
    });
  }

  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override {
    add_damping_previous<dim>(points(), step(u), p, factor, y,
                              [](const auto& Gp, const auto& A) { return contract<dim>(Gp, A); });
  }

  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    add_damping_parameter_products<dim>(points(), step(u), p, factor, g);
  }

  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override {
    add_damping_previous<dim>(points(), step(u), x, factor, y,
                              [](const auto& Gx, const auto& A) { return contract<dim>(A, Gx); });
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    add_damping_parameter_tangent<dim>(points(), step(u), dq, factor, y);
  }

private:
  CellPoints<dim> points() const { return {this->space(), *geometry_, cells_, table_, viscosities_}; }
  DampingStep<dim> step(std::span<const double> u) const { return {law_, u, previous_, dt_}; }

  /// act(cell, q, weight, F, F_previous, viscosities) at all points of the local cells.
  template <class Act>
  void for_points(std::span<const double> u, Act act) const {
    const CellPoints<dim> at = points();
    for (std::size_t k = 0; k < cells_.size(); ++k)
      for (int q = 0; q < table_.num_points; ++q) {
        const Matrix F = Matrix::Identity() + at.gradient(cells_[k], q, u);
        const Matrix F_previous = Matrix::Identity() + at.gradient(cells_[k], q, previous_);
        act(cells_[k], q, at.weight(cells_[k], q), F, F_previous, viscosities_.at<2>(k, q));
      }
  }

  DampingLaw<dim> law_;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::vector<LocalIndex> cells_;
  parameters::CellField viscosities_;
  fem::Tabulation<dim> table_;
  std::span<const double> previous_;
  double dt_ = 1;
};

} // namespace

template <int dim>
std::unique_ptr<Potential<dim>>
make_damping(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
             int order, std::vector<LocalIndex> cells, parameters::CellField viscosities, DampingRate rate) {
  const DampingLaw<dim>& law = rate == DampingRate::endpoint ? damping_law<EndpointRateDamping<dim>>
                                                             : damping_law<StrainRateDamping<dim>>;
  return std::make_unique<Damping<dim>>(law, space, std::move(geometry), order, std::move(cells),
                                        std::move(viscosities));
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

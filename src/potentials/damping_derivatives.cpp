#include "potentials/damping_derivatives.hpp"

#include "recoil/potentials/laws/endpoint_rate_damping.hpp"
#include "recoil/potentials/laws/strain_rate_damping.hpp"

namespace recoil::potentials {

namespace {

/// y_a += factor * product(grad x, A') grad phi_a.
template <class Law, int dim, class Product>
void add_previous(const CellPoints<dim>& points, const DampingStep<dim>& step, std::span<const double> x,
                  double factor, std::span<double> y, Product product) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, step.u);
      const Matrix F_previous = Matrix::Identity() + points.gradient(cell, q, step.previous);
      Tangent<dim> A;
      Law::tangent_previous(F, F_previous, step.dt, step.viscosities.template at<2>(k, q), A);
      const Matrix S = product(points.gradient(cell, q, x), A);
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

} // namespace

template <class Law, int dim>
void add_damping_previous_product(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                  std::span<const double> p, double factor, std::span<double> y) {
  add_previous<Law>(points, step, p, factor, y,
                    [](const auto& Gp, const auto& A) { return contract<dim>(Gp, A); });
}

template <class Law, int dim>
void add_damping_previous_tangent(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                  std::span<const double> x, double factor, std::span<double> y) {
  add_previous<Law>(points, step, x, factor, y,
                    [](const auto& Gx, const auto& A) { return contract<dim>(A, Gx); });
}

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
      const auto viscosities = step.viscosities.template at<2>(k, q);
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
      const auto viscosities = step.viscosities.template at<2>(k, q);
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

#define RECOIL_INSTANTIATE(Law, dim)                                                                         \
  template void add_damping_previous_product<Law<dim>>(const CellPoints<dim>&, const DampingStep<dim>&,      \
                                                       std::span<const double>, double, std::span<double>);  \
  template void add_damping_previous_tangent<Law<dim>>(const CellPoints<dim>&, const DampingStep<dim>&,      \
                                                       std::span<const double>, double, std::span<double>);  \
  template void add_damping_parameter_products<Law<dim>>(const CellPoints<dim>&, const DampingStep<dim>&,    \
                                                         std::span<const double>, double,                    \
                                                         parameters::PhysicalGradient<dim>&);                \
  template void add_damping_parameter_tangent<Law<dim>>(const CellPoints<dim>&, const DampingStep<dim>&,     \
                                                        const parameters::PhysicalDirection<dim>&, double,   \
                                                        std::span<double>);
RECOIL_INSTANTIATE(StrainRateDamping, 2)
RECOIL_INSTANTIATE(StrainRateDamping, 3)
RECOIL_INSTANTIATE(EndpointRateDamping, 2)
RECOIL_INSTANTIATE(EndpointRateDamping, 3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials

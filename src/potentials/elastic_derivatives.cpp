#include "potentials/elastic_derivatives.hpp"

#include "recoil/potentials/laws/fixed_corotational.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"
#include "recoil/potentials/laws/mooney_rivlin.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/laws/saint_venant.hpp"

namespace recoil::potentials {

namespace {

template <class Law, int dim = Law::dimension>
PointState<dim> point_state(const SquareMatrix<dim>& F, const typename Law::Parameters& constants) {
  return {F, Law::first_piola(F, constants), Law::energy_density(F, constants), Law::small_strain};
}

/// dj/dF through F, P and W together: by_F + by_P : A + by_W P, with the exact tangent.
template <class Law, int dim = Law::dimension>
SquareMatrix<dim> total_derivative(const PointState<dim>& point,
                                   const typename PointFunction<dim>::Derivatives& j,
                                   const typename Law::Parameters& constants) {
  Tangent<dim> A;
  Law::tangent(point.F, constants, A);
  return j.by_F + contract<dim>(j.by_P, A) + j.by_W * point.P;
}

bool is_selected(std::span<const char> selected, LocalIndex cell) {
  return selected.empty() || selected[static_cast<std::size_t>(cell)] != 0;
}

} // namespace

template <class Law, int dim>
void add_elastic_parameter_products(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                    std::span<const double> u, std::span<const double> p, double factor,
                                    parameters::PhysicalGradient<dim>& g) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell)) continue;
    auto& by_constants = g.law[static_cast<std::size_t>(cell)];
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, u), Gp = points.gradient(cell, q, p);
      const Matrix F = Matrix::Identity() + Gu;
      const double weight = factor * points.weight(cell, q);
      const auto stresses = Law::stress_derivatives(F, constants.at(k, q));
      for (std::size_t i = 0; i < stresses.size(); ++i)
        by_constants[i] += weight * inner_product<dim>(stresses[i], Gp);
      if (!g.wants_shape) continue;
      Tangent<dim> A;
      Law::tangent(F, constants.at(k, q), A);
      shape += weight * virtual_work_shape_term<dim>(Law::first_piola(F, constants.at(k, q)),
                                                     contract<dim>(Gp, A), Gp, Gu);
    }
    if (g.wants_shape) add_cell_product<dim>(points.space, points.geometry, cell, shape, g.vertices);
  }
}

template <class Law, int dim>
double integrate_point_function(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                std::span<const double> u, const PointFunction<dim>& j,
                                std::span<const char> selected) {
  using Matrix = SquareMatrix<dim>;
  double sum = 0;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
      sum += points.weight(cell, q) * j.value(point_state<Law>(F, constants.at(k, q)));
    }
  }
  return sum;
}

template <class Law, int dim>
void add_point_function_gradient(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                 std::span<const double> u, const PointFunction<dim>& j,
                                 std::span<const char> selected, double factor, std::span<double> g) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!is_selected(selected, cell)) continue;
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
      const PointState<dim> point = point_state<Law>(F, constants.at(k, q));
      const Matrix by_F = total_derivative<Law>(point, j.derivatives(point), constants.at(k, q));
      points.scatter(cell, q, factor * points.weight(cell, q) * by_F, g);
    }
  }
}

template <class Law, int dim>
void add_point_function_parameter_products(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                           std::span<const double> u, const PointFunction<dim>& j,
                                           std::span<const char> selected, double factor,
                                           parameters::PhysicalGradient<dim>& g) {
  using Matrix = SquareMatrix<dim>;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
    auto& by_constants = g.law[static_cast<std::size_t>(cell)];
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, u), F = Matrix::Identity() + Gu;
      const double weight = factor * points.weight(cell, q);
      const PointState<dim> point = point_state<Law>(F, constants.at(k, q));
      const auto derivatives = j.derivatives(point);
      const auto stresses = Law::stress_derivatives(F, constants.at(k, q));
      for (std::size_t i = 0; i < stresses.size(); ++i) {
        // Laws are linear in their constants.
        typename Law::Parameters unit{};
        unit[i] = 1;
        by_constants[i] += weight * (inner_product<dim>(derivatives.by_P, stresses[i]) +
                                     derivatives.by_W * Law::energy_density(F, unit));
      }
      if (!g.wants_shape) continue;
      shape += weight * (j.value(point) * Matrix::Identity() -
                         Gu.transpose() * total_derivative<Law>(point, derivatives, constants.at(k, q)));
    }
    if (g.wants_shape) add_cell_product<dim>(points.space, points.geometry, cell, shape, g.vertices);
  }
}

#define RECOIL_INSTANTIATE_LAW(Law, dim)                                                                     \
  template void add_elastic_parameter_products<Law<dim>>(                                                    \
      const CellPoints<dim>&, const LawConstants<Law<dim>>&, std::span<const double>,                        \
      std::span<const double>, double, parameters::PhysicalGradient<dim>&);                                  \
  template double integrate_point_function<Law<dim>>(const CellPoints<dim>&, const LawConstants<Law<dim>>&,  \
                                                     std::span<const double>, const PointFunction<dim>&,     \
                                                     std::span<const char>);                                 \
  template void add_point_function_gradient<Law<dim>>(const CellPoints<dim>&, const LawConstants<Law<dim>>&, \
                                                      std::span<const double>, const PointFunction<dim>&,    \
                                                      std::span<const char>, double, std::span<double>);     \
  template void add_point_function_parameter_products<Law<dim>>(                                             \
      const CellPoints<dim>&, const LawConstants<Law<dim>>&, std::span<const double>,                        \
      const PointFunction<dim>&, std::span<const char>, double, parameters::PhysicalGradient<dim>&);
#define RECOIL_INSTANTIATE(Law)                                                                              \
  RECOIL_INSTANTIATE_LAW(Law, 2)                                                                             \
  RECOIL_INSTANTIATE_LAW(Law, 3)
RECOIL_INSTANTIATE(LinearElasticity)
RECOIL_INSTANTIATE(SaintVenant)
RECOIL_INSTANTIATE(NeoHookean)
RECOIL_INSTANTIATE(FixedCorotational)
RECOIL_INSTANTIATE(MooneyRivlin)
#undef RECOIL_INSTANTIATE
#undef RECOIL_INSTANTIATE_LAW

} // namespace recoil::potentials

#include <algorithm>

#include "potentials/elastic_units.hpp"
#include "recoil/base/error.hpp"
#include "recoil/potentials/laws/all.hpp"

namespace recoil::potentials {

namespace {

/// The arrays in which derivatives by the parameters of a law are gathered.
template <int dim>
std::vector<std::vector<double>*> arrays_of(const LawInfo& law, parameters::PhysicalGradient<dim>& g) {
  std::vector<std::vector<double>*> arrays;
  for (const LawParameter& parameter : law.parameters) arrays.push_back(&g.numbers(parameter.name));
  return arrays;
}

template <class Law>
typename Law::Parameters constants_at(const CellPoints<Law::dimension>& points, std::size_t k, int q) {
  return points.constants.template at<num_parameters<Law>>(k, q);
}

template <class Law, int dim = Law::dimension>
LawAtPoint<dim> law_at_point() {
  using Points = CellPoints<dim>;
  using Matrix = SquareMatrix<dim>;
  return {.state = [](const Points& points, std::size_t k, int q, const Matrix& F) -> PointState<dim> {
            const auto constants = constants_at<Law>(points, k, q);
            return {F, Law::first_piola(F, constants), Law::energy_density(F, constants), Law::small_strain};
          },
          .tangent = [](const Points& points, std::size_t k, int q, const Matrix& F,
                        Tangent<dim>& A) { Law::tangent(F, constants_at<Law>(points, k, q), A); },
          .by_parameters =
              [](const Points& points, std::size_t k, int q, const Matrix& F, std::span<Matrix> stresses,
                 std::span<double> energies) {
                const auto constants = constants_at<Law>(points, k, q);
                std::ranges::copy(Law::stress_derivatives(F, constants), stresses.begin());
                if (!energies.empty())
                  std::ranges::copy(energy_derivatives<Law>(F, constants), energies.begin());
              }};
}

} // namespace

template <int dim>
std::vector<parameters::Quantity> ElasticDerivatives<dim>::quantities() const {
  std::vector<parameters::Quantity> result{parameters::quantities::vertices};
  for (const LawParameter& parameter : law_.parameters)
    result.push_back({parameter.name, parameters::Place::cell, false,
                      parameter.constant->unit ? parameter.constant->unit : ""});
  return result;
}

template <int dim>
void ElasticDerivatives<dim>::add_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                                                     std::span<const double> p, double factor,
                                                     parameters::PhysicalGradient<dim>& g) const {
  const auto by_parameters = arrays_of<dim>(law_, g);
  auto* by_vertex = g.rest_positions();
  std::vector<Matrix> stresses(by_parameters.size());
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell)) continue;
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, u), Gp = points.gradient(cell, q, p);
      const Matrix F = Matrix::Identity() + Gu;
      const double weight = factor * points.weight(cell, q);
      at_.by_parameters(points, k, q, F, stresses, {});
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_parameters[i])[cell] += weight * inner_product<dim>(stresses[i], Gp);
      if (!by_vertex) continue;
      shape += weight * virtual_work_shape_term<dim>(at_.state(points, k, q, F).P,
                                                     contract<dim>(Gp, tangent(points, k, q, F)), Gp, Gu);
    }
    if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
  }
}

template <int dim>
void ElasticDerivatives<dim>::add_parameter_tangent(const CellPoints<dim>& points, std::span<const double> u,
                                                    const parameters::PhysicalDirection<dim>& dq,
                                                    double factor, std::span<double> y) const {
  std::vector<const std::vector<double>*> changes;
  for (const LawParameter& parameter : law_.parameters) changes.push_back(dq.find_numbers(parameter.name));
  const auto* vertices = dq.rest_positions();
  std::vector<Matrix> stresses(changes.size());
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, u), F = Matrix::Identity() + Gu;
      at_.by_parameters(points, k, q, F, stresses, {});
      Matrix S = stress_change<dim>(stresses, changes, cell);
      if (vertices)
        S += stress_shape_term<dim>(at_.state(points, k, q, F).P, tangent(points, k, q, F), Gu,
                                    cell_gradient<dim>(points.space, points.geometry, cell, *vertices));
      points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
    }
  }
}

template <int dim>
double ElasticDerivatives<dim>::integrate(const CellPoints<dim>& points, std::span<const double> u,
                                          const PointFunction<dim>& j, std::span<const char> selected) const {
  double sum = 0;
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
      sum += points.weight(cell, q) * j.value(at_.state(points, k, q, F));
    }
  }
  return sum;
}

template <int dim>
void ElasticDerivatives<dim>::add_integral_gradient(const CellPoints<dim>& points, std::span<const double> u,
                                                    const PointFunction<dim>& j,
                                                    std::span<const char> selected, double factor,
                                                    std::span<double> g) const {
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!is_selected(selected, cell)) continue;
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
      const PointState<dim> point = at_.state(points, k, q, F);
      const Matrix by_F = total_derivative(points, k, q, point, j.derivatives(point));
      points.scatter(cell, q, factor * points.weight(cell, q) * by_F, g);
    }
  }
}

template <int dim>
void ElasticDerivatives<dim>::add_integral_parameter_products(const CellPoints<dim>& points,
                                                              std::span<const double> u,
                                                              const PointFunction<dim>& j,
                                                              std::span<const char> selected, double factor,
                                                              parameters::PhysicalGradient<dim>& g) const {
  const auto by_parameters = arrays_of<dim>(law_, g);
  auto* by_vertex = g.rest_positions();
  std::vector<Matrix> stresses(by_parameters.size());
  std::vector<double> energies(by_parameters.size());
  for (std::size_t k = 0; k < points.cells.size(); ++k) {
    const LocalIndex cell = points.cells[k];
    if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < points.table.num_points; ++q) {
      const Matrix Gu = points.gradient(cell, q, u), F = Matrix::Identity() + Gu;
      const double weight = factor * points.weight(cell, q);
      const PointState<dim> point = at_.state(points, k, q, F);
      const auto derivatives = j.derivatives(point);
      at_.by_parameters(points, k, q, F, stresses, energies);
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_parameters[i])[cell] +=
            weight * (inner_product<dim>(derivatives.by_P, stresses[i]) + derivatives.by_W * energies[i]);
      if (!by_vertex) continue;
      shape += weight * (j.value(point) * Matrix::Identity() -
                         Gu.transpose() * total_derivative(points, k, q, point, derivatives));
    }
    if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
  }
}

template <int dim>
const ElasticDerivatives<dim>& elastic_derivatives(const LawInfo& law) {
  const ElasticDerivatives<dim>* found = nullptr;
  for_each_law<dim>([&]<class Law>() {
    static const ElasticDerivatives<dim> derivatives(*find_law(Law::name), law_at_point<Law>());
    if (law.name == Law::name) found = &derivatives;
  });
  RECOIL_ASSERT(found != nullptr);
  return *found;
}

template class ElasticDerivatives<2>;
template class ElasticDerivatives<3>;
template const ElasticDerivatives<2>& elastic_derivatives(const LawInfo&);
template const ElasticDerivatives<3>& elastic_derivatives(const LawInfo&);

} // namespace recoil::potentials

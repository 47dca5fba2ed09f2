#include "potentials/elastic_units.hpp"
#include "recoil/base/error.hpp"
#include "recoil/potentials/laws/all.hpp"

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
  return selected.empty() || selected[cell] != 0;
}

template <class Law>
class DerivativesOf final : public ElasticDerivatives<Law::dimension> {
  static constexpr int dim = Law::dimension;
  using Matrix = SquareMatrix<dim>;

public:
  std::vector<parameters::Quantity> quantities() const override {
    std::vector<parameters::Quantity> result{parameters::quantities::vertices};
    for (const LawParameter& parameter : find_law(Law::name)->parameters)
      result.push_back({parameter.name, parameters::Place::cell, false,
                        parameter.constant->unit ? parameter.constant->unit : ""});
    return result;
  }

  void add_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                              std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    const auto by_parameters = arrays_of(g);
    auto* by_vertex = g.rest_positions();
    for (std::size_t k = 0; k < points.cells.size(); ++k) {
      const LocalIndex cell = points.cells[k];
      if (!points.is_owned(cell)) continue;
      Matrix shape = Matrix::Zero();
      for (int q = 0; q < points.table.num_points; ++q) {
        const Matrix Gu = points.gradient(cell, q, u), Gp = points.gradient(cell, q, p);
        const Matrix F = Matrix::Identity() + Gu;
        const double weight = factor * points.weight(cell, q);
        const auto stresses = Law::stress_derivatives(F, parameters_at(points, k, q));
        for (std::size_t i = 0; i < stresses.size(); ++i)
          (*by_parameters[i])[cell] += weight * inner_product<dim>(stresses[i], Gp);
        if (!by_vertex) continue;
        Tangent<dim> A;
        Law::tangent(F, parameters_at(points, k, q), A);
        shape += weight * virtual_work_shape_term<dim>(Law::first_piola(F, parameters_at(points, k, q)),
                                                       contract<dim>(Gp, A), Gp, Gu);
      }
      if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
    }
  }

  void add_parameter_tangent(const CellPoints<dim>& points, std::span<const double> u,
                             const parameters::PhysicalDirection<dim>& dq, double factor,
                             std::span<double> y) const override {
    const auto changes = changes_in(dq);
    const auto* vertices = dq.rest_positions();
    for (std::size_t k = 0; k < points.cells.size(); ++k) {
      const LocalIndex cell = points.cells[k];
      for (int q = 0; q < points.table.num_points; ++q) {
        const Matrix Gu = points.gradient(cell, q, u), F = Matrix::Identity() + Gu;
        const auto at = parameters_at(points, k, q);
        Matrix S = stress_change<dim>(Law::stress_derivatives(F, at), changes, cell);
        if (vertices) {
          Tangent<dim> A;
          Law::tangent(F, at, A);
          S += stress_shape_term<dim>(Law::first_piola(F, at), A, Gu,
                                      cell_gradient<dim>(points.space, points.geometry, cell, *vertices));
        }
        points.scatter(cell, q, factor * points.weight(cell, q) * S, y);
      }
    }
  }

  double integrate(const CellPoints<dim>& points, std::span<const double> u, const PointFunction<dim>& j,
                   std::span<const char> selected) const override {
    double sum = 0;
    for (std::size_t k = 0; k < points.cells.size(); ++k) {
      const LocalIndex cell = points.cells[k];
      if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
      for (int q = 0; q < points.table.num_points; ++q) {
        const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
        sum += points.weight(cell, q) * j.value(point_state<Law>(F, parameters_at(points, k, q)));
      }
    }
    return sum;
  }

  void add_integral_gradient(const CellPoints<dim>& points, std::span<const double> u,
                             const PointFunction<dim>& j, std::span<const char> selected, double factor,
                             std::span<double> g) const override {
    for (std::size_t k = 0; k < points.cells.size(); ++k) {
      const LocalIndex cell = points.cells[k];
      if (!is_selected(selected, cell)) continue;
      for (int q = 0; q < points.table.num_points; ++q) {
        const Matrix F = Matrix::Identity() + points.gradient(cell, q, u);
        const PointState<dim> point = point_state<Law>(F, parameters_at(points, k, q));
        const Matrix by_F = total_derivative<Law>(point, j.derivatives(point), parameters_at(points, k, q));
        points.scatter(cell, q, factor * points.weight(cell, q) * by_F, g);
      }
    }
  }

  void add_integral_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                                       const PointFunction<dim>& j, std::span<const char> selected,
                                       double factor, parameters::PhysicalGradient<dim>& g) const override {
    const auto by_parameters = arrays_of(g);
    auto* by_vertex = g.rest_positions();
    for (std::size_t k = 0; k < points.cells.size(); ++k) {
      const LocalIndex cell = points.cells[k];
      if (!points.is_owned(cell) || !is_selected(selected, cell)) continue;
      Matrix shape = Matrix::Zero();
      for (int q = 0; q < points.table.num_points; ++q) {
        const Matrix Gu = points.gradient(cell, q, u), F = Matrix::Identity() + Gu;
        const double weight = factor * points.weight(cell, q);
        const PointState<dim> point = point_state<Law>(F, parameters_at(points, k, q));
        const auto derivatives = j.derivatives(point);
        const auto stresses = Law::stress_derivatives(F, parameters_at(points, k, q));
        const auto energies = energy_derivatives<Law>(F, parameters_at(points, k, q));
        for (std::size_t i = 0; i < stresses.size(); ++i)
          (*by_parameters[i])[cell] +=
              weight * (inner_product<dim>(derivatives.by_P, stresses[i]) + derivatives.by_W * energies[i]);
        if (!by_vertex) continue;
        shape += weight *
                 (j.value(point) * Matrix::Identity() -
                  Gu.transpose() * total_derivative<Law>(point, derivatives, parameters_at(points, k, q)));
      }
      if (by_vertex) add_cell_product<dim>(points.space, points.geometry, cell, shape, *by_vertex);
    }
  }

private:
  /// Where derivatives by the parameters of the law are gathered.
  static std::array<std::vector<double>*, num_parameters<Law>>
  arrays_of(parameters::PhysicalGradient<dim>& g) {
    std::array<std::vector<double>*, num_parameters<Law>> arrays;
    const LawInfo& law = *find_law(Law::name);
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = &g.numbers(law.parameters[i].name);
    return arrays;
  }
  /// How the parameters of the law change.
  static CellChanges<num_parameters<Law>> changes_in(const parameters::PhysicalDirection<dim>& dq) {
    CellChanges<num_parameters<Law>> changes;
    const LawInfo& law = *find_law(Law::name);
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] = dq.find_numbers(law.parameters[i].name);
    return changes;
  }
  static typename Law::Parameters parameters_at(const CellPoints<dim>& points, std::size_t k, int point) {
    return points.constants.template at<num_parameters<Law>>(k, point);
  }
};

} // namespace

template <int dim>
const ElasticDerivatives<dim>& elastic_derivatives(const LawInfo& law) {
  const ElasticDerivatives<dim>* found = nullptr;
  for_each_law<dim>([&]<class Law>() {
    static const DerivativesOf<Law> derivatives;
    if (law.name == Law::name) found = &derivatives;
  });
  RECOIL_ASSERT(found != nullptr);
  return *found;
}

template const ElasticDerivatives<2>& elastic_derivatives(const LawInfo&);
template const ElasticDerivatives<3>& elastic_derivatives(const LawInfo&);

} // namespace recoil::potentials

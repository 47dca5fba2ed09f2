#pragma once

#include <limits>

#include "potentials/elastic_units.hpp"
#include "recoil/geometry/inversion.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/potentials/laws/projected_tangent.hpp"
#include "recoil/potentials/laws/stress.hpp"

namespace recoil::potentials {

inline constexpr int any_order = 0;

/// A law on the cells of one order, known at compile time where it is 1 or 2. Cells of a higher order take so
/// long that loops over as many nodes as there are cost nothing beside them: they have the fixed order
/// `any_order`.
template <int dim, class Law, int fixed_order>
class ElasticOnCells final : public ElasticPotential<dim> {
  using Kernel =
      CellKernel<dim, fixed_order == any_order ? Eigen::Dynamic : fem::num_lagrange_nodes(dim, fixed_order)>;
  using Matrix = SquareMatrix<dim>;

public:
  ElasticOnCells(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                 std::shared_ptr<const fem::CellGeometry<dim>> geometry, int order,
                 std::vector<LocalIndex> cells, parameters::CellField of_law)
      : ElasticPotential<dim>(space), geometry_(std::move(geometry)), cells_(std::move(cells)),
        constants_(std::move(of_law)), derivatives_(elastic_derivatives<dim>(law)),
        table_(fem::tabulate(this->space().basis(order),
                             cell_quadrature(this->space(), order, constants_.points_per_cell))),
        positivity_(order) {
    Tangent<dim> A;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      Law::tangent(Matrix::Identity(), constants(k, 0), A);
      stiffness_.push_back(geometry_->weight_factor(cells_[k]) * A.diagonal().maxCoeff());
    }
  }

  std::string_view name() const override { return Law::name; }
  const std::vector<LocalIndex>& cells() const override { return cells_; }

  double value(std::span<const double> u) const override {
    double sum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const LocalIndex cell = cells_[k];
      const typename Kernel::Values values = Kernel::gather(this->space().cell_nodes(cell), u);
      // Ghost cells are looked at by their owners.
      if (cell >= this->space().mesh().num_owned_cells) continue;
      if (!is_uninverted(cell, values)) return std::numeric_limits<double>::infinity();
      const double factor = geometry_->weight_factor(cell);
      for (int q = 0; q < table_.num_points; ++q) {
        const Matrix F = Kernel::deformation_gradient(values, gradients(cell, q));
        sum += factor * table_.weights[q] * Law::energy_density(F, constants(k, q));
      }
    }
    return sum;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const LocalIndex cell = cells_[k];
      const auto cell_nodes = this->space().cell_nodes(cell);
      const typename Kernel::Values values = Kernel::gather(cell_nodes, u);
      typename Kernel::Values force = Kernel::Values::Zero(values.rows(), dim);
      for (int q = 0; q < table_.num_points; ++q) {
        const typename Kernel::Gradients G = gradients(cell, q);
        const Matrix P = Law::first_piola(Kernel::deformation_gradient(values, G), constants(k, q));
        force.noalias() += G * (weight(cell, q) * factor * P).transpose();
      }
      Kernel::scatter(cell_nodes, this->space().num_owned_nodes(), force, g);
    }
  }

  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    typename Kernel::Hessian K;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const LocalIndex cell = cells_[k];
      const typename Kernel::Values values = Kernel::gather(this->space().cell_nodes(cell), u);
      if (projection == Projection::none)
        exact_hessian(k, values, factor, K);
      else
        projected_hessian(k, values, factor, K);
      H.elements->add_element(cell, K.data());
    }
  }

  double max_step(std::span<const double> u, std::span<const double> du) const override {
    double step = 1;
    // Curved cells are judged at the trial states themselves, by value().
    if constexpr (fixed_order == 1 && !Law::small_strain)
      for (const LocalIndex cell : cells_) {
        if (cell >= this->space().mesh().num_owned_cells) continue;
        const auto cell_nodes = this->space().cell_nodes(cell);
        const typename Kernel::Gradients G = gradients(cell, 0);
        const Matrix F = Kernel::deformation_gradient(Kernel::gather(cell_nodes, u), G);
        const Matrix dF = Kernel::gather(cell_nodes, du).transpose() * G;
        step = std::min(step, geometry::inversion_free_step<dim>(F, dF));
      }
    return step;
  }

  double squared_round_off(std::span<const double> u) const override {
    double sum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const LocalIndex cell = cells_[k];
      if (cell >= this->space().mesh().num_owned_cells) continue;
      const Matrix F =
          Kernel::deformation_gradient(Kernel::gather(this->space().cell_nodes(cell), u), gradients(cell, 0));
      const double size = stiffness_[k] * std::min(1.0, (F - Matrix::Identity()).squaredNorm());
      sum += size * size;
    }
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    return epsilon * epsilon * sum;
  }

  std::vector<PointStress<dim>> stress(std::span<const double> u, std::size_t index) const override {
    const LocalIndex cell = cells_[index];
    const typename Kernel::Values values = Kernel::gather(this->space().cell_nodes(cell), u);
    std::vector<PointStress<dim>> points;
    for (int q = 0; q < table_.num_points; ++q) {
      const Matrix F = Kernel::deformation_gradient(values, gradients(cell, q));
      const auto parameters = constants(index, q);
      points.push_back(
          {cauchy_stress<Law>(F, parameters), Law::energy_density(F, parameters), weight(cell, q)});
    }
    return points;
  }

  std::vector<parameters::Quantity> quantities() const override { return derivatives_.quantities(); }

  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    derivatives_.add_parameter_products(points(), u, p, factor, g);
  }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    derivatives_.add_parameter_tangent(points(), u, dq, factor, y);
  }

  double integrate(std::span<const double> u, const PointFunction<dim>& j,
                   std::span<const char> selected) const override {
    return derivatives_.integrate(points(), u, j, selected);
  }

  void add_integral_gradient(std::span<const double> u, const PointFunction<dim>& j,
                             std::span<const char> selected, double factor,
                             std::span<double> g) const override {
    derivatives_.add_integral_gradient(points(), u, j, selected, factor, g);
  }

  void add_integral_parameter_products(std::span<const double> u, const PointFunction<dim>& j,
                                       std::span<const char> selected, double factor,
                                       parameters::PhysicalGradient<dim>& g) const override {
    derivatives_.add_integral_parameter_products(points(), u, j, selected, factor, g);
  }

private:
  CellPoints<dim> points() const { return {this->space(), *geometry_, cells_, table_, constants_}; }
  typename Law::Parameters constants(std::size_t k, int point) const {
    return constants_.template at<num_parameters<Law>>(k, point);
  }

  // Flattened: the compiler stops inlining in large translation units, where calls cost as much as the work.
  [[gnu::flatten]] void exact_hessian(std::size_t k, const typename Kernel::Values& values, double factor,
                                      typename Kernel::Hessian& K) const {
    const LocalIndex cell = cells_[k];
    if constexpr (fixed_order == 1)
      if (table_.num_points == 1) {
        const typename Kernel::Gradients G = gradients(cell, 0);
        assign_hessian<Law>(G, factor * weight(cell, 0), Kernel::deformation_gradient(values, G),
                            constants(k, 0), K);
        return;
      }
    K.setZero(dim * values.rows(), dim * values.rows());
    for (int q = 0; q < table_.num_points; ++q) {
      const typename Kernel::Gradients G = gradients(cell, q);
      Law::add_hessian(G, factor * weight(cell, q), Kernel::deformation_gradient(values, G), constants(k, q),
                       K);
    }
  }

  // Out of line: inlined it would slow down the loop over exact Hessians around it.
  [[gnu::noinline]] void projected_hessian(std::size_t k, const typename Kernel::Values& values,
                                           double factor, typename Kernel::Hessian& K) const {
    K.setZero(dim * values.rows(), dim * values.rows());
    for (int q = 0; q < table_.num_points; ++q) {
      const typename Kernel::Gradients G = gradients(cells_[k], q);
      Tangent<dim> A;
      projected_tangent<Law>(Kernel::deformation_gradient(values, G), constants(k, q), A);
      add_tangent_hessian(G, factor * weight(cells_[k], q), A, K);
    }
  }

  typename Kernel::Gradients gradients(LocalIndex cell, int point) const {
    return Kernel::gradients(table_, point, geometry_->inverse_edges[cell]);
  }
  double weight(LocalIndex cell, int point) const {
    return geometry_->weight_factor(cell) * table_.weights[point];
  }

  bool is_uninverted(LocalIndex cell, const typename Kernel::Values& u) const {
    if constexpr (Law::small_strain) {
      return true;
    } else if constexpr (fixed_order == 1) {
      const Matrix F = Kernel::deformation_gradient(u, gradients(cell, 0));
      return determinant<dim>(F, cofactor<dim>(F)) > 0;
    } else {
      typename Kernel::Values positions = u;
      const auto cell_nodes = this->space().cell_nodes(cell);
      for (Eigen::Index a = 0; a < u.rows(); ++a)
        positions.row(a) += this->space().node_positions()[cell_nodes[a]].transpose();
      return positivity_.is_positive(positions.data(), geometry_->edge_determinant[cell]);
    }
  }

  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::vector<LocalIndex> cells_;
  parameters::CellField constants_;
  const ElasticDerivatives<dim>& derivatives_;
  std::vector<double> stiffness_; ///< modulus times measure of each cell [J]
  fem::Tabulation<dim> table_;
  geometry::JacobianPositivity<dim> positivity_;
};

template <int dim>
std::unique_ptr<ElasticPotential<dim>> make_elastic(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                                                    std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                                    int order, std::vector<LocalIndex> cells,
                                                    parameters::CellField constants) {
  std::unique_ptr<ElasticPotential<dim>> made;
  for_each_law<dim>([&]<class Law>() {
    if (law.name != Law::name) return;
    const auto of_order = [&]<int fixed_order>() {
      made = std::make_unique<ElasticOnCells<dim, Law, fixed_order>>(law, space, std::move(geometry), order,
                                                                     std::move(cells), std::move(constants));
    };
    if (order == 1)
      of_order.template operator()<1>();
    else if (order == 2)
      of_order.template operator()<2>();
    else
      of_order.template operator()<any_order>();
  });
  RECOIL_ASSERT(made != nullptr);
  return made;
}

} // namespace recoil::potentials

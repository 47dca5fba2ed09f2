#pragma once

#include "potentials/cell_loop.hpp"
#include "recoil/potentials/elastic.hpp"

/// What the translation units of the elastic laws know of each other. Newton's loops compile in a unit per
/// dimension, whose laws share most of their expressions; the derivatives by parameters and of integrals
/// compile in one of their own: beside the loops they would change what the compiler inlines there.
namespace recoil::potentials {

/// Whether an integral has this cell: one flag per local cell, none if it has all.
inline bool is_selected(std::span<const char> selected, LocalIndex cell) {
  return selected.empty() || selected[cell] != 0;
}

/// A law at the deformation gradient F of quadrature point q of the k-th cell, behind pointers to functions:
/// the loops over points that are no part of Newton's method are compiled once, not once per law.
template <int dim>
struct LawAtPoint {
  using Matrix = SquareMatrix<dim>;
  /// F, P and W.
  PointState<dim> (*state)(const CellPoints<dim>& points, std::size_t k, int q, const Matrix& F);
  /// A = dP/dF.
  void (*tangent)(const CellPoints<dim>& points, std::size_t k, int q, const Matrix& F, Tangent<dim>& A);
  /// dP/dq_i and, unless `energies` is empty, dW/dq_i for the parameters of the law.
  void (*by_parameters)(const CellPoints<dim>& points, std::size_t k, int q, const Matrix& F,
                        std::span<Matrix> stresses, std::span<double> energies);
};

/// The derivatives of an elastic energy by parameters and of integrals over it.
template <int dim>
class ElasticDerivatives {
public:
  ElasticDerivatives(const LawInfo& law, const LawAtPoint<dim>& at) : law_(law), at_(at) {}

  const LawAtPoint<dim>& at() const { return at_; }
  /// See Potential::quantities.
  std::vector<parameters::Quantity> quantities() const;
  /// See Potential::add_parameter_products.
  void add_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                              std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const;
  /// See Potential::add_parameter_tangent.
  void add_parameter_tangent(const CellPoints<dim>& points, std::span<const double> u,
                             const parameters::PhysicalDirection<dim>& dq, double factor,
                             std::span<double> y) const;
  /// See ElasticPotential::integrate.
  double integrate(const CellPoints<dim>& points, std::span<const double> u, const PointFunction<dim>& j,
                   std::span<const char> selected) const;
  /// See ElasticPotential::add_integral_gradient.
  void add_integral_gradient(const CellPoints<dim>& points, std::span<const double> u,
                             const PointFunction<dim>& j, std::span<const char> selected, double factor,
                             std::span<double> g) const;
  /// See ElasticPotential::add_integral_parameter_products. The change of j dX through the rest mesh is
  /// (j I - Gu' dj/dF) : grad dX.
  void add_integral_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                                       const PointFunction<dim>& j, std::span<const char> selected,
                                       double factor, parameters::PhysicalGradient<dim>& g) const;

private:
  using Matrix = SquareMatrix<dim>;

  Tangent<dim> tangent(const CellPoints<dim>& points, std::size_t k, int q, const Matrix& F) const {
    Tangent<dim> A;
    at_.tangent(points, k, q, F, A);
    return A;
  }
  /// dj/dF through F, P and W together: by_F + by_P : A + by_W P, with the exact tangent.
  Matrix total_derivative(const CellPoints<dim>& points, std::size_t k, int q, const PointState<dim>& point,
                          const typename PointFunction<dim>::Derivatives& j) const {
    return j.by_F + contract<dim>(j.by_P, tangent(points, k, q, point.F)) + j.by_W * point.P;
  }

  const LawInfo& law_;
  LawAtPoint<dim> at_;
};

template <int dim>
const ElasticDerivatives<dim>& elastic_derivatives(const LawInfo& law);

} // namespace recoil::potentials

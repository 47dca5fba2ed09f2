#pragma once

#include "potentials/cell_loop.hpp"
#include "recoil/potentials/elastic.hpp"

/// What the translation units of the elastic laws know of each other. Newton's loops compile in a unit per
/// dimension, whose laws share most of their expressions; the derivatives by parameters and of integrals
/// compile in one of their own: beside the loops they would change what the compiler inlines there.
namespace recoil::potentials {

/// The derivatives of an elastic energy by parameters and of integrals over it, for one law.
template <int dim>
class ElasticDerivatives {
public:
  virtual ~ElasticDerivatives() = default;
  /// See Potential::quantities.
  virtual std::vector<parameters::Quantity> quantities() const = 0;
  /// See Potential::add_parameter_products.
  virtual void add_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                                      std::span<const double> p, double factor,
                                      parameters::PhysicalGradient<dim>& g) const = 0;
  /// See Potential::add_parameter_tangent.
  virtual void add_parameter_tangent(const CellPoints<dim>& points, std::span<const double> u,
                                     const parameters::PhysicalDirection<dim>& dq, double factor,
                                     std::span<double> y) const = 0;
  /// See ElasticPotential::integrate.
  virtual double integrate(const CellPoints<dim>& points, std::span<const double> u,
                           const PointFunction<dim>& j, std::span<const char> selected) const = 0;
  /// See ElasticPotential::add_integral_gradient.
  virtual void add_integral_gradient(const CellPoints<dim>& points, std::span<const double> u,
                                     const PointFunction<dim>& j, std::span<const char> selected,
                                     double factor, std::span<double> g) const = 0;
  /// See ElasticPotential::add_integral_parameter_products. The change of j dX through the rest mesh is
  /// (j I - Gu' dj/dF) : grad dX.
  virtual void add_integral_parameter_products(const CellPoints<dim>& points, std::span<const double> u,
                                               const PointFunction<dim>& j, std::span<const char> selected,
                                               double factor, parameters::PhysicalGradient<dim>& g) const = 0;
};

template <int dim>
const ElasticDerivatives<dim>& elastic_derivatives(const LawInfo& law);

} // namespace recoil::potentials

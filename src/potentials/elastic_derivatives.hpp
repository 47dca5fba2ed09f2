#pragma once

#include "potentials/cell_points.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/elastic.hpp"

/// The derivatives of ElasticOnCells by parameters and of integrals over it, for every law. Defined in a
/// translation unit of their own: in that of Newton's loops they would change what the compiler inlines
/// there.
namespace recoil::potentials {

template <class Law>
using LawConstants = parameters::CellField<Law::num_parameters>;

/// See Potential::add_parameter_products.
template <class Law, int dim = Law::dimension>
void add_elastic_parameter_products(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                    std::span<const double> u, std::span<const double> p, double factor,
                                    parameters::PhysicalGradient<dim>& g);

/// See ElasticPotential::integrate.
template <class Law, int dim = Law::dimension>
double integrate_point_function(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                std::span<const double> u, const PointFunction<dim>& j,
                                std::span<const char> selected);

/// See ElasticPotential::add_integral_gradient.
template <class Law, int dim = Law::dimension>
void add_point_function_gradient(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                 std::span<const double> u, const PointFunction<dim>& j,
                                 std::span<const char> selected, double factor, std::span<double> g);

/// See ElasticPotential::add_integral_parameter_products. The change of j dX through the rest mesh is
/// (j I - Gu' dj/dF) : grad dX.
template <class Law, int dim = Law::dimension>
void add_point_function_parameter_products(const CellPoints<dim>& points, const LawConstants<Law>& constants,
                                           std::span<const double> u, const PointFunction<dim>& j,
                                           std::span<const char> selected, double factor,
                                           parameters::PhysicalGradient<dim>& g);

} // namespace recoil::potentials

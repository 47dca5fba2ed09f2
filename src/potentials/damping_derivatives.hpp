#pragma once

#include "potentials/cell_points.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/parameters/physical_gradient.hpp"

/// The derivatives of strain-rate damping by parameters and by the start of the step, in a translation unit
/// of their own like those of the elastic laws (elastic_derivatives.hpp).
namespace recoil::potentials {

/// The two ends of a step with damping.
template <int dim>
struct DampingStep {
  const parameters::CellField& viscosities;
  std::span<const double> u, previous;
  double dt;
};

/// y_a += factor * (Gp : A') grad phi_a with A' = dP/dF_previous.
template <class Law, int dim = Law::dimension>
void add_damping_previous_product(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                  std::span<const double> p, double factor, std::span<double> y);

/// y_a += factor * (A' : Gx) grad phi_a.
template <class Law, int dim = Law::dimension>
void add_damping_previous_tangent(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                  std::span<const double> x, double factor, std::span<double> y);

/// See Potential::add_parameter_products. F_previous changes with the rest mesh too: its term in the shape
/// derivative is -Gu_previous' (Gp : A').
template <class Law, int dim = Law::dimension>
void add_damping_parameter_products(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                    std::span<const double> p, double factor,
                                    parameters::PhysicalGradient<dim>& g);
/// See Potential::add_parameter_tangent.
template <class Law, int dim = Law::dimension>
void add_damping_parameter_tangent(const CellPoints<dim>& points, const DampingStep<dim>& step,
                                   const parameters::PhysicalDirection<dim>& dq, double factor,
                                   std::span<double> y);

} // namespace recoil::potentials

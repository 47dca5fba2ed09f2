#pragma once

#include "recoil/fem/function_space.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// A potential whose Hessian consists of element matrices of a space.
template <int dim>
class ElementPotential : public Potential<dim> {
public:
  /// `space` must outlive it.
  explicit ElementPotential(const fem::FunctionSpace<dim>& space) : space_(&space) {}

  const fem::FunctionSpace<dim>& space() const { return *space_; }
  /// Multiplies the element matrices one by one; nothing is assembled.
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;

private:
  const fem::FunctionSpace<dim>* space_;
};

} // namespace recoil::potentials

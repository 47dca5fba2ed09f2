#pragma once

#include "recoil/fem/element_product.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// A potential whose Hessian consists of element matrices of a space.
template <int dim>
class ElementPotential : public Potential<dim> {
public:
  /// `space` must outlive it.
  explicit ElementPotential(const fem::FunctionSpace<dim>& space) : space_(&space) {}

  const fem::FunctionSpace<dim>& space() const { return *space_; }
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override {
    fem::ElementProduct<dim> product(*space_, p, y);
    this->add_hessian(u, factor, Projection::none, {&product, nullptr});
  }

private:
  const fem::FunctionSpace<dim>* space_;
};

} // namespace recoil::potentials

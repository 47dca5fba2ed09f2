#pragma once

#include <span>

#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// A potential in a sum of forces, and what it is multiplied by.
template <int dim>
struct Summand {
  Potential<dim>* potential;
  double factor;
};

/// g += sum_k c_k dPhi_k/du at u, which the potentials were brought to. Collective.
template <int dim>
void add_gradients(std::span<const Summand<dim>> summands, std::span<const double> u, std::span<double> g) {
  for (const auto& [potential, factor] : summands) potential->add_gradient(u, factor, g);
}

} // namespace recoil::potentials

#include "recoil/potentials/contact/adhesion.hpp"

namespace recoil::potentials {

template <int dim>
std::vector<parameters::Quantity> AdhesionPotential<dim>::quantities() const {
  std::vector<parameters::Quantity> all = unit_.quantities();
  all.push_back(parameters::quantities::adhesion_strength);
  return all;
}

template <int dim>
void AdhesionPotential<dim>::add_parameter_products(std::span<const double> u, std::span<const double> p,
                                                    double factor,
                                                    parameters::PhysicalGradient<dim>& g) const {
  unit_.add_parameter_products(u, p, strength_ * factor, g);
  std::vector<double>* by_strength = g.find_numbers(parameters::quantities::adhesion_strength);
  if (by_strength == nullptr) return;
  const auto field = unit_.gradient();
  const auto values = state_->at_owned(p);
  for (std::size_t v = 0; v < field.size(); ++v)
    if (state_->surface().node(static_cast<LocalIndex>(v)) >= 0)
      by_strength->front() += factor * field[v].dot(values[v]);
}

template <int dim>
void AdhesionPotential<dim>::add_parameter_tangent(std::span<const double> u,
                                                   const parameters::PhysicalDirection<dim>& dq,
                                                   double factor, std::span<double> y) const {
  unit_.add_parameter_tangent(u, dq, strength_ * factor, y);
  const std::vector<double>* change = dq.find_numbers(parameters::quantities::adhesion_strength);
  if (change != nullptr) unit_.add_gradient(u, factor * change->front(), y);
}

template class AdhesionPotential<2>;
template class AdhesionPotential<3>;

} // namespace recoil::potentials

#pragma once

#include <optional>

#include "recoil/potentials/contact/contact_potentials.hpp"

namespace recoil::potentials {

/// Normal adhesion Y sum_k w_k m_k A_k of surfaces that are closer than a reach [Fang et al. 2023], over the
/// pairs and with the weights of the barrier (Barrier, whose form has an adhesion_peak). Y is the largest
/// traction [Pa] where the form has area weights, else the largest force of a pair [N]. Collective but
/// value().
///
/// Pairs reach farther than those of contact, so that it searches for itself. Tangential adhesion is a
/// FrictionPotential of the same state.
template <int dim>
class AdhesionPotential final : public Potential<dim> {
public:
  /// `state` has the surface of contact for its leader, and the reach for its dhat. With `body` only pairs
  /// with this body, obstacle or plane count.
  AdhesionPotential(std::shared_ptr<ContactState<dim>> state, double strength,
                    std::optional<std::int32_t> body = {})
      : state_(std::move(state)), unit_(*state_, body), strength_(strength) {}
  /// The part of the pairs with this body, obstacle or plane; it shares the pairs.
  std::unique_ptr<AdhesionPotential> of_body(std::int32_t body) const {
    return std::make_unique<AdhesionPotential>(state_, strength_, body);
  }

  double strength() const { return strength_; }
  ContactState<dim>& state() const { return *state_; }
  std::string_view name() const override { return "adhesion"; }
  void update(std::span<const double> u) override { state_->update(u); }
  double value(std::span<const double> u) const override { return strength_ * unit_.value(u); }
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    unit_.add_gradient(u, strength_ * factor, g);
  }
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    unit_.add_hessian(u, strength_ * factor, projection, H);
  }
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override {
    unit_.add_hessian_product(u, p, strength_ * factor, y);
  }
  double obstacle_work() const override { return strength_ * unit_.obstacle_work(); }
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;

private:
  std::shared_ptr<ContactState<dim>> state_;
  BarrierPotential<dim> unit_; ///< with strength 1
  double strength_;
};

} // namespace recoil::potentials

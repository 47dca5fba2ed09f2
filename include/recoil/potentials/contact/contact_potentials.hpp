#pragma once

#include <optional>

#include "recoil/potentials/contact/contact_state.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// The barrier B of contact (Barrier); the caller's factor is its stiffness. Collective but value().
template <int dim>
class BarrierPotential final : public Potential<dim> {
public:
  using Field = typename ContactState<dim>::Field;

  /// `state` must outlive it. With `body` only pairs with this body, obstacle or plane count.
  explicit BarrierPotential(ContactState<dim>& state, std::optional<std::int32_t> body = {})
      : state_(&state), body_(body) {}

  ContactState<dim>& state() const { return *state_; }
  std::string_view name() const override { return "barrier"; }
  void update(std::span<const double> u) override { state_->update(u); }
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  /// Adds the Hessian; with per_element the projected blocks of every candidate pair.
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  double obstacle_work() const override { return state_->obstacle_work(gradient()); }
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;

  /// dB/dx, and d2B/dx2 times a motion of nodes and obstacles.
  Field gradient() const;
  Field hessian_product(const Field& motion, Projection projection) const;

private:
  /// The pairs that count.
  std::shared_ptr<const std::vector<ContactPair<dim>>> pairs() const;

  ContactState<dim>* state_;
  std::optional<std::int32_t> body_;
};

/// Lagged friction (Friction), which is tangential adhesion where the barrier of `state` is adhesion.
/// Collective but value().
template <int dim>
class FrictionPotential final : public Potential<dim> {
public:
  using Field = typename ContactState<dim>::Field;

  /// `state` must outlive it. With `body` only pairs with this body, obstacle or plane count.
  explicit FrictionPotential(ContactState<dim>& state, std::optional<std::int32_t> body = {})
      : state_(&state), body_(body) {}

  std::string_view name() const override { return is_adhesion() ? "tangential adhesion" : "friction"; }
  void update(std::span<const double> u) override {
    state_->update(u);
    if (body_) own_ = state_->friction().of(*body_);
  }
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  /// Adds the Hessian; with per_element the secants: semi-definite as it is, it knows nothing of the kink
  /// that sliding back would lead across.
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  /// Adds the product, with the derivative by frames and normal forces where these are lagged at the end.
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  bool has_unsymmetric_part() const override;
  void add_unsymmetric_product(std::span<const double> p, double factor, std::span<double> y) const override;
  double obstacle_work() const override { return state_->obstacle_work(gradient()); }
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_unsymmetric_tangent(std::span<const double> x, double factor, std::span<double> y) const override;
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;

  Field gradient() const;
  /// (dG/dx)' p with the gradient G and the positions x at the end of the step, and (dG/dx_previous)' p.
  Field end_product(std::span<const double> p) const;
  Field start_product(std::span<const double> p) const;

private:
  using Point = typename ContactState<dim>::Point;
  using Product = std::vector<Point> (Friction<dim>::*)(const std::vector<Point>& positions,
                                                        const std::vector<Point>& p) const;
  Field product(Product product, std::span<const double> p) const;
  bool is_adhesion() const { return state_->barrier().form().adhesion_peak.has_value(); }
  const parameters::Quantity& coefficients() const {
    return is_adhesion() ? parameters::quantities::tangential_adhesion : parameters::quantities::friction;
  }
  /// The terms that count.
  const Friction<dim>& friction() const { return body_ ? own_ : state_->friction(); }

  ContactState<dim>* state_;
  std::optional<std::int32_t> body_;
  Friction<dim> own_; ///< friction of `body_`
};

} // namespace recoil::potentials

#pragma once

#include <vector>

#include "recoil/potentials/bonds/bond_potential.hpp"

namespace recoil::potentials {

inline const parameters::Quantity damping_time_of_bonds{"damping_time", parameters::Place::bond, false, "s"};

/// Viscosity of bonds, in proportion to their stiffness [Kelvin and Voigt]: each resists the rates of its
/// stretch, shear, twist and bending with tau times the stiffness that it has against these,
///
///     D(u) = tau / dt (1/2 k_n (L - L_n)^2 + 1/2 k_t l0^2 |g - g_n|^2 + 1/2 (t - t_n)' K (t - t_n)),
///
/// L, g and t the strains of bond_shape_at(), with the index n at the start of the step: a dissipation
/// potential whose gradient is the force at the end of the step, of rates that are differences over dt. Rigid
/// motions, and large rotations, change no strain and meet no resistance. A mode of the circular frequency w
/// has w tau / 2 of its critical damping, whatever dt is. Bonds that soften lose as much of it as of their
/// stiffness.
class BondDampingPotential final : public Potential<3> {
public:
  /// `bonds`, which have a BondMaterial::damping_time, must outlive it.
  explicit BondDampingPotential(const BondPotential& bonds) : bonds_(&bonds) {}

  std::string_view name() const override { return "bond_damping"; }
  /// No bond is damped in steps of length 0.
  void begin_step(const StepContext& context) override;

  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  /// E, nu and tau; bond_integrity counts, too, where there is an array for it.
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& dq,
                             double factor, std::span<double> y) const override;

  double damping_time(LocalIndex bond) const { return (*bonds_->material().damping_time)[bond]; }
  /// This rank's share of what bonds have dissipated from the start of the step to u [J], forces times rates
  /// times dt.
  double dissipation(std::span<const double> u) const { return 2 * value(u); }
  /// As BondPotential::image_work().
  double image_work(std::span<const double> u) const;

private:
  BondStiffness viscosity(LocalIndex bond) const;
  BondEnds gradient_of(LocalIndex bond, const BondStiffness& viscosity, std::span<const double> u) const;
  std::vector<BondStiffness> by_constants(LocalIndex bond) const;
  template <class Act>
  void for_acting(Act act) const;
  void add_resistance(std::span<const double> u, bool at_start, std::span<const double> field, double factor,
                      std::span<double> y) const;

  const BondPotential* bonds_;
  std::vector<BondShape> start_; ///< where bonds exert nothing: their shapes at the start of the step
  std::span<const double> previous_;
  double dt_ = 0;
};

} // namespace recoil::potentials

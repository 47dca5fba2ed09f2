#pragma once

#include <array>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"
#include "recoil/potentials/bonds/bond.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// Constants of the bonds of this rank, in the order of DistributedParticles::bonds.
struct BondMaterial {
  std::vector<double> young_modulus;  ///< E [Pa]
  std::vector<double> poisson_ratio;  ///< nu; G = E / (2 (1 + nu))
  std::vector<double> section_radius; ///< [m]
};

/// Energy of all bonds that are not broken. `u` has 7 numbers a particle, position [m] and unit quaternion;
/// gradients and products have 6, by its displacement and by r times its rotation vector in its own axes,
/// both in metres (dq = G_l(q)' z / (2 r)). Elements of Hessian sinks are the bonds.
class BondPotential final : public Potential<3> {
public:
  /// Where the energy is taken.
  enum class At {
    end,   ///< V(u)
    middle ///< V((u + u_previous) / 2), quaternions of one hemisphere
  };

  /// Bonds are at rest where `particles` are, without rotation. `particles` must outlive it.
  BondPotential(const particles::DistributedParticles& particles, BondMaterial material);

  std::string_view name() const override { return "bonds"; }
  void take_at(At at) { at_ = at; }
  void begin_step(const StepContext& context) override { previous_ = context.previous; }

  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  /// y += factor * G_n H x on owned entries: the same product with the rows of the tangent spaces at the
  /// start of the step, as equations that are not those of a minimum have them. @pre At::middle.
  void add_transported_product(std::span<const double> u, std::span<const double> x, double factor,
                               std::span<double> y) const;
  /// g += factor * G_n dV/du, the gradient in the tangent spaces at the start of the step. @pre At::middle.
  void add_transported_gradient(std::span<const double> u, double factor, std::span<double> g) const;
  double squared_round_off(std::span<const double> u) const override;
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& dq,
                             double factor, std::span<double> y) const override;

  const particles::DistributedParticles& particles() const { return *particles_; }
  const BondMaterial& material() const { return material_; }
  const BondShape& shape(LocalIndex bond) const { return shapes_[bond]; }
  const BondStiffness& stiffness(LocalIndex bond) const { return stiffness_[bond]; }
  bool is_broken(LocalIndex bond) const { return broken_[bond] != 0; }
  /// All ranks that hold a bond must break it.
  void break_bond(LocalIndex bond) { broken_[bond] = 1; }
  /// One flag per bond of this rank.
  std::span<const char> broken() const { return broken_; }
  void set_broken(std::vector<char> flags) { broken_ = std::move(flags); }
  /// This rank's share of V(u), wherever the energy of steps is taken.
  double stored_energy(std::span<const double> u) const;
  /// V of one bond at u, broken or not.
  double energy_of(LocalIndex bond, std::span<const double> u) const;
  /// What a bond transmits at u, broken or not.
  BondForces forces_of(LocalIndex bond, std::span<const double> u) const;

private:
  class Places;
  template <class Act>
  void for_intact(Act act) const;
  std::array<BondStiffness, 2> stiffness_by_moduli(LocalIndex bond) const;

  const particles::DistributedParticles* particles_;
  BondMaterial material_;
  std::vector<BondShape> shapes_;
  std::vector<BondStiffness> stiffness_;
  std::vector<char> broken_;
  At at_ = At::end;
  std::span<const double> previous_;
};

} // namespace recoil::potentials

#pragma once

#include <array>
#include <optional>
#include <vector>

#include "recoil/particles/distributed_particles.hpp"
#include "recoil/potentials/bonds/bond.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

inline const parameters::Quantity young_modulus_of_bonds{"E", parameters::Place::bond, false, "Pa"};
inline const parameters::Quantity poisson_ratio_of_bonds{"nu", parameters::Place::bond};
/// The share of its energy that a bond has (BondPotential::integrity()). Derivatives by it are taken where
/// there is an array for it, and are complete on every rank that holds the bond.
inline const parameters::Quantity bond_integrity{"integrity", parameters::Place::bond};

/// Numbers of both ends of a bond by the unknowns of a particle, 6 each.
using BondEnds = Eigen::Matrix<double, 12, 1>;
/// The entries of both ends; ghosts of x are current.
BondEnds unknowns_of_ends(const particles::DistributedParticles::Bond& bond, std::span<const double> x);
/// y += factor * values at those ends that are among the first `num_owned` particles.
void add_to_owned_ends(const BondEnds& values, const particles::DistributedParticles::Bond& bond,
                       LocalIndex num_owned, double factor, std::span<double> y);

/// Constants of the bonds of this rank, in the order of DistributedParticles::bonds.
struct BondMaterial {
  std::vector<double> young_modulus;  ///< E [Pa]
  std::vector<double> poisson_ratio;  ///< nu; G = E / (2 (1 + nu))
  std::vector<double> section_radius; ///< [m]
  std::vector<BondForm> form = {};    ///< empty: the default of all
  /// tau [s], on all ranks or none (bond_damping.hpp).
  std::optional<std::vector<double>> damping_time = std::nullopt;
};

/// Energy of all bonds, each times its integrity: 1 of a sound bond, 0 of one that is severed, and between
/// these of one that has softened. `u` has 7 numbers a particle, position [m] and unit quaternion;
/// gradients and products have 6, by its displacement and by r times its rotation vector in its own axes,
/// both in metres (dq = G_l(q)' z / (2 r)). Elements of Hessian sinks are the bonds.
class BondPotential final : public Potential<3> {
public:
  /// Where the energy is taken.
  enum class At {
    end,   ///< V(u)
    middle ///< V((u + u_previous) / 2), quaternions of one hemisphere
  };

  /// Bonds are at rest where `particles` are, without rotation, and their cell, too, until it follow()s a
  /// motion. `particles` must outlive it.
  BondPotential(const particles::DistributedParticles& particles, BondMaterial material);

  std::string_view name() const override { return "bonds"; }
  void take_at(At at) { at_ = at; }
  /// Lets bonds across faces of the cell see how it moves. `motion` must outlive it.
  void follow(const particles::CellMotion& motion) { motion_ = &motion; }
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
  /// The energy at the middle sees the start of the step as its end.
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  /// E and nu; bond_integrity counts, too, where there is an array for it.
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& dq,
                             double factor, std::span<double> y) const override;

  const particles::DistributedParticles& particles() const { return *particles_; }
  const BondMaterial& material() const { return material_; }
  BondForm form(LocalIndex bond) const { return material_.form.empty() ? BondForm{} : material_.form[bond]; }
  const BondShape& shape(LocalIndex bond) const { return shapes_[bond]; }
  const BondStiffness& stiffness(LocalIndex bond) const { return stiffness_[bond]; }
  /// Of the section now [m].
  double section_radius(LocalIndex bond) const {
    return section_share_.empty() ? material_.section_radius[bond]
                                  : section_share_[bond] * material_.section_radius[bond];
  }
  /// Makes the radius of a section this share of what the material says; all ranks that hold a bond must.
  void set_section_share(LocalIndex bond, double share);
  /// Whether a bond counts as broken; one that softens still acts then.
  bool is_broken(LocalIndex bond) const { return broken_[bond] != 0; }
  /// Severs a bond; all ranks that hold it must.
  void break_bond(LocalIndex bond) { set_integrity(bond, 0, true); }
  /// All ranks that hold a bond must give it the same.
  void set_integrity(LocalIndex bond, double integrity, bool broken) {
    integrity_[bond] = integrity;
    broken_[bond] = broken ? 1 : 0;
  }
  double integrity(LocalIndex bond) const { return integrity_[bond]; }
  /// One flag per bond of this rank.
  std::span<const char> broken() const { return broken_; }
  /// Severs the bonds that are flagged; the others are sound.
  void set_broken(std::span<const char> flags) {
    for (std::size_t bond = 0; bond < flags.size(); ++bond)
      set_integrity(LocalIndex(bond), flags[bond] != 0 ? 0 : 1, flags[bond] != 0);
  }
  /// From end b of a bond to the image that the bond leads to, F H s [m], with F of the states that are
  /// looked at; zero without a cell.
  Eigen::Vector3d image(LocalIndex bond) const;
  Eigen::Vector3d image_at_start(LocalIndex bond) const; ///< with F at the start of the step
  /// H s of a bond [m].
  Eigen::Vector3d period(LocalIndex bond) const;
  /// This rank's share of the work that the cell does by the images of particles from the start of the step
  /// to u [J], with forces where steps take the energy.
  double image_work(std::span<const double> u) const;

  /// This rank's share of V(u), wherever the energy of steps is taken.
  double stored_energy(std::span<const double> u) const;
  double stored_energy_at_start() const; ///< the same of the start of the step
  /// V of one bond at u if it were sound.
  double energy_of(LocalIndex bond, std::span<const double> u) const;
  /// The derivatives of energy_of() by E and by nu of the bond.
  std::array<double, 2> energy_by_moduli(LocalIndex bond, std::span<const double> u) const;
  /// What a bond would transmit at u if it were sound.
  BondForces forces_of(LocalIndex bond, std::span<const double> u) const;
  /// Gradients of these by the unknowns of its ends, in the order of BondForces.
  Eigen::Matrix<double, 12, 4> force_gradients_of(LocalIndex bond, std::span<const double> u) const;
  /// dV/dp_b at u of a bond as it acts, the force that its end a gets from b [N].
  Eigen::Vector3d pull_of(LocalIndex bond, std::span<const double> u) const;
  /// Its derivatives by E, nu and the integrity.
  std::array<Eigen::Vector3d, 3> pull_by_constants(LocalIndex bond, std::span<const double> u) const;
  /// Its gradient by the unknowns of its ends, a column per component; rows 6 to 8 are those by p_b.
  Eigen::Matrix<double, 12, 3> pull_gradient_of(LocalIndex bond, std::span<const double> u) const;
  /// The stiffness that it has left.
  BondStiffness acting_stiffness(LocalIndex bond) const;
  /// The derivatives of acting_stiffness() by E, nu and the integrity.
  std::array<BondStiffness, 3> acting_by_constants(LocalIndex bond) const;
  /// Derivatives of the forces of a bond by its E and by its nu.
  std::array<BondForces, 2> forces_by_moduli(LocalIndex bond, std::span<const double> u) const;

private:
  class Places;
  std::array<Particle, 2> ends_of(LocalIndex bond, std::span<const double> u) const;
  template <class Act>
  void for_acting(Act act) const;
  BondStiffness stiffness_of_moduli(LocalIndex bond, double E, double G) const;
  std::array<BondStiffness, 2> stiffness_by_moduli(LocalIndex bond) const;
  void add_transported_product(const Places& places, std::span<const double> x, double factor,
                               std::span<double> y) const;

  const particles::DistributedParticles* particles_;
  BondMaterial material_;
  std::vector<BondShape> shapes_;
  std::vector<BondStiffness> stiffness_;
  std::vector<double> section_share_; ///< empty: all are whole
  std::vector<double> integrity_;
  std::vector<char> broken_;
  At at_ = At::end;
  std::span<const double> previous_;
  std::vector<Eigen::Vector3d> periods_; ///< H s of each bond; empty without a cell
  const particles::CellMotion* motion_ = nullptr;
};

} // namespace recoil::potentials

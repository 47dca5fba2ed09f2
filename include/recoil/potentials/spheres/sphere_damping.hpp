#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "recoil/potentials/spheres/sphere_potentials.hpp"

namespace recoil::potentials {

/// The mass of each owned particle, inertia 2/5 m r^2 with it.
inline const parameters::Quantity particle_mass{"mass", parameters::Place::particle, false, "kg"};

/// What holds the sphere a of a touch off: W [J] is that of the pair, or of all triangles of one obstacle
/// that a meets, which share what one wall would do; `pull` is the derivative of -W by the place of a [N].
struct HeldOff {
  double energy;
  Eigen::Vector3d pull;
};
/// One for each of barrier.touching(). Not collective.
std::vector<HeldOff> energies_of_touches(const SphereContact& contact, const SphereBarrierPotential& barrier);

/// Damping of contact by restitution.hpp, with the normals, forces N and energies W of the pairs at the start
/// of a step of length dt: sum N/k (sqrt(1 + (k y)^2) - 1), k = gamma sqrt(m/W)/dt, with y the way along the
/// normal by which a pair has parted since then and m its reduced mass. Gradients, products and Hessians are
/// collective, and those of the last update().
class SphereDampingPotential final : public SpherePotential {
public:
  /// On the pairs of `barrier`. `mass`: of owned particles [kg]; those with a prescribed component count as
  /// infinitely heavy. All must outlive it. @pre 0 < restitution <= 1.
  SphereDampingPotential(const SphereContact& contact, const SphereBarrierPotential& barrier,
                         double restitution, std::span<const double> mass);

  std::string_view name() const override { return "contact damping"; }
  double restitution() const { return restitution_; }
  /// gamma.
  double damping() const { return gamma_; }
  std::span<const double> mass() const { return mass_; }
  /// Whether there is any.
  bool acts() const { return gamma_ > 0; }
  /// Takes normals, forces and energies of the pairs that touch in the contact as of its last update(), which
  /// must be at `start` (owned), where a step of length dt begins. Nothing acts at dt = 0. Collective.
  void lag(std::span<const double> start, double dt);
  void update(std::span<const double> u) override;
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  /// particle_mass; forces and energies, those of gaps at the start, also depend on bond_distance.
  std::vector<parameters::Quantity> quantities() const override { return {particle_mass}; }
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& gradient) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& direction,
                             double factor, std::span<double> y) const override;
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  double obstacle_work() const override;
  /// What it has dissipated since the start of the step, as of update(), over this rank [J].
  double dissipation() const;
  void add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const override;
  Eigen::Matrix3d force_moments() const override;

private:
  struct Term {
    SphereTouch touch;
    double force, force_by_gap;    ///< N [N], and by the gap [N/m]
    HeldOff held;                  ///< W
    double rate;                   ///< k [1/m]
    double mass;                   ///< m [kg]
    std::array<double, 2> by_mass; ///< derivatives of m by the masses of the ends
    Eigen::Vector3d start;         ///< place of a, less that of b, at the start of the step [m]
  };
  /// Way of a against b, or the obstacle, since the start of the step.
  Eigen::Vector3d way(const Term& term) const;
  double parted(const Term& term) const { return term.touch.normal.dot(way(term)); }
  double slope(const Term& term) const;
  double curvature(const Term& term) const;
  Eigen::Matrix3d by_start(const Term& term) const;
  Eigen::Vector3d by_distance(const Term& term) const;
  Eigen::Vector3d by_mass(const Term& term, int end) const;
  template <class Block>
  void add_products(std::span<const double> in, double factor, Block block, std::span<double> out) const;

  const SphereContact* contact_;
  const SphereBarrierPotential* barrier_;
  double restitution_, gamma_;
  std::span<const double> mass_;
  std::shared_ptr<const Spheres> spheres_;
  std::vector<double> states_;
  std::vector<Term> terms_;
};

} // namespace recoil::potentials

#pragma once

#include <ranges>
#include <vector>

#include "recoil/geometry/barrier.hpp"
#include "recoil/geometry/quaternion.hpp"
#include "recoil/geometry/relative_turn.hpp"
#include "recoil/potentials/contact/friction.hpp"
#include "recoil/potentials/potential.hpp"
#include "recoil/potentials/spheres/contact_law.hpp"
#include "recoil/potentials/spheres/contact_springs.hpp"
#include "recoil/potentials/spheres/sphere_contact.hpp"

namespace recoil::potentials {

/// The least distances of the ends of broken bonds (SphereContact::bond_distances()). Derivatives by them are
/// taken where there is an array for them: shares of the ranks that have the pairs.
inline const parameters::Quantity bond_distance{"bond_distance", parameters::Place::bond, false, "m"};

/// What acts between touching spheres.
class SpherePotential : public Potential<3> {
public:
  /// This rank's share of the force [N] and of its moment about the origin [N m] on each obstacle from the
  /// number `first_body` on, 6 numbers a body, as of update(). Not collective.
  virtual void add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const = 0;
  /// This rank's share of sum -f l' [J], f the force on sphere a of a pair and l the way to its centre from
  /// that of the image of b, or from the contact with an obstacle, as of update(): over a volume what contact
  /// adds to the mean stress there, tension positive [Love 1927; Weber 1966]. Not collective.
  virtual Eigen::Matrix3d force_moments() const = 0;
};

/// kappa sum b(gap, dhat) over the touching pairs, b as the law has it and kappa in N/m. `u` has 7 numbers a
/// particle, gradients 6, as those of BondPotential. Gradients, products and Hessians are collective, and
/// those of the last update(). The stiffness is no parameter that is differentiated.
class SphereBarrierPotential final : public SpherePotential {
public:
  /// `obstacle`: the number of the body (SphereContact::body_of) whose pairs it has alone; -1: all pairs.
  /// `contact` must outlive it.
  SphereBarrierPotential(SphereContact& contact, double stiffness, ContactLaw law = ContactLaw::barrier,
                         std::int32_t obstacle = -1)
      : contact_(&contact), stiffness_(stiffness), law_(law), obstacle_(obstacle) {}

  std::string_view name() const override { return "barrier"; }
  double stiffness() const { return stiffness_; }
  ContactLaw law() const { return law_; }
  void set_law(ContactLaw law) { law_ = law; }
  /// (1 - nu^2)/E of each body of particles, of Hertz' law [1/Pa].
  const std::vector<double>& compliances() const { return compliances_; }
  void set_compliances(std::vector<double> compliances) { compliances_ = std::move(compliances); }
  void update(std::span<const double> u) override { contact_->update(u); }
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& gradient) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& direction,
                             double factor, std::span<double> y) const override;

  /// Largest share of the straight way u + s du that contact allows (owned), all of it where pairs may
  /// overlap; obstacles move on to `obstacle_share` of their motion meanwhile. Makes the pairs valid for that
  /// way. Collective.
  double max_share(std::span<const double> u, std::span<const double> du, double obstacle_share);
  double obstacle_work() const override;

  /// The touching pairs that it has.
  auto touching() const {
    return contact_->touching() | std::views::filter([this](const SphereTouch& touch) {
             return obstacle_ < 0 || (touch.pair.b < 0 && contact_->body_of(touch.pair) == obstacle_);
           });
  }
  /// The energy of a pair [J].
  double energy(const SphereTouch& touch) const;
  /// How hard the two press on each other [N].
  double force(const SphereTouch& touch) const;
  /// The derivative of that force by the gap [N/m].
  double force_by_gap(const SphereTouch& touch) const;
  /// sqrt(R* (dhat - gap)) of Hertz' law [m].
  double contact_radius(const SphereTouch& touch) const;
  void add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const override;
  Eigen::Matrix3d force_moments() const override;

private:
  geometry::BarrierValue at(const SphereTouch& touch) const;
  double factor(const SphereTouch& touch) const;
  Eigen::Matrix3d hessian(const SphereTouch& touch, Projection projection) const;

  SphereContact* contact_;
  double stiffness_;
  ContactLaw law_;
  std::int32_t obstacle_;
  std::vector<double> compliances_;
};

/// Smoothed friction with lagged normal forces N and frames [Li et al. 2020, section 5]: sum mu N f0(|w|), w
/// the tangential way of the material points of both sides of a contact since the start of the step, which
/// rotations of the spheres move too; and, as rolling friction, sum mu_r N f0(|w_r|), w_r = R (I - n n')
/// theta, R the (mean) radius and theta the rotation of the two against each other since the start of the
/// step (geometry::relative_turn). Spin about the normal n meets no resistance. Forces on a pair are opposite
/// and act in one point, and its moments of rolling are opposite, so that momenta are kept. Gradients,
/// products and Hessians are collective, and those of the last update().
///
/// With springs [Mindlin 1949] sliding is that of a spring along each contact which yields at mu N: sum mu N
/// phi(|s + w|), s its stretch at the start of the step, phi(y) = y^2/(2 l) up to l = mu N/k and y - l/2
/// beyond, with k = 8 G* a lagged as N is, 1/G* the sum of (2 - nu)/G of both sides; obstacles are rigid.
/// Triangles of an obstacle have springs of their own. Nothing is differentiated but forces by positions.
class SphereFrictionPotential final : public SpherePotential {
public:
  /// On the pairs of `barrier`. Friction below eps_v [m/s], of rolling below the speed eps_v of its w_r,
  /// grows from zero. `rolling` is mu_r, of all pairs. `contact` and `barrier` must outlive it.
  SphereFrictionPotential(const SphereContact& contact, const SphereBarrierPotential& barrier,
                          FrictionCoefficients coefficients, double rolling, double eps_v)
      : contact_(&contact), barrier_(&barrier), coefficients_(std::move(coefficients)), rolling_(rolling),
        eps_v_(eps_v) {}

  std::string_view name() const override { return "friction"; }
  const FrictionCoefficients& coefficients() const { return coefficients_; }
  double rolling() const { return rolling_; }
  double eps_v() const { return eps_v_; }
  /// Whether there is any.
  bool acts() const { return coefficients_ || rolling_ > 0; }
  /// (2 - nu)/G of each body of particles [1/Pa], with which there are springs. @pre the law of the barrier
  /// will be that of Hertz.
  void set_shear_compliances(std::vector<double> compliances) { shear_compliances_ = std::move(compliances); }
  bool has_springs() const { return coefficients_ && !shear_compliances_.empty(); }
  /// k of a pair [N/m].
  double spring_stiffness(const SphereTouch& touch) const;
  /// The springs of owned first particles that steps start from, as of springs_for_owners().
  const std::vector<ContactSpring>& springs_at_start() const { return springs_; }
  void set_springs_at_start(std::vector<ContactSpring> springs) { springs_ = std::move(springs); }
  /// Springs at the end of the step, as of update(), as springs_for_owners() has them. Collective.
  std::vector<ContactSpring> springs_at_end() const;
  /// Their energy, over this rank [J]; 0 without.
  double stored_energy() const;
  /// Takes frames and forces of the pairs that touch in the contact as of its last update(), which must be at
  /// u, in a step of length dt that starts at `start` (both owned). No friction acts at dt = 0. Collective.
  void lag(std::span<const double> u, std::span<const double> start, double dt);
  void update(std::span<const double> u) override;
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;
  /// quantities::friction; derivatives are right at coefficients of zero, too. Normal forces, those of gaps
  /// at the start, also depend on bond_distance.
  std::vector<parameters::Quantity> quantities() const override;
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& gradient) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& direction,
                             double factor, std::span<double> y) const override;
  /// How frames, normal forces, arms and slips depend on the state at the start of the step; x and p have 6
  /// numbers a particle, of which those of owned ones count. Collective. @pre the last lag() was there.
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  double obstacle_work() const override;
  /// What friction has dissipated since the start of the step, as of update(): sum mu N f1(|w|) |w|, and the
  /// same of rolling, over this rank [J]. Of springs the work on what they have yielded by, and what is lost
  /// as pairs part and areas of contact change.
  double dissipation() const;
  void add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const override;
  Eigen::Matrix3d force_moments() const override;

private:
  /// A lagged contact.
  struct Term {
    SphereTouch touch;
    double coefficient;                        ///< mu
    double force, force_by_gap;                ///< N [N], and by the gap [N/m]
    std::array<geometry::Quaternion, 2> start; ///< orientations at the start of the step
    const geometry::SlidingLaw* law;
    double eta; ///< of that law [m]
    double strength() const { return coefficient * force; }
  };
  /// The arms lead from the centres to the contact, in the axes of each sphere.
  struct SlidingTerm : Term {
    std::size_t entry; ///< of its coefficient among those of the scene
    std::array<Eigen::Vector3d, 2> arms;
    Eigen::Vector3d offset; ///< material point of a less that of b at the start of the step [m]
    PairSpring spring = {}; ///< at the start of the step, with the stiffness of the step
  };
  struct RollingTerm : Term {
    double radius; ///< [m]
  };
  struct Slip {
    Eigen::Vector3d way; ///< tangential [m]
    std::array<Eigen::Matrix<double, 3, 6>, 2> by_state;
  };
  /// Calls visit(term) for every term, of either kind.
  template <class Visit>
  void for_each_term(Visit visit) const {
    for (const SlidingTerm& term : sliding_)
      if (term.coefficient > 0) visit(term);
    for (const RollingTerm& term : rolling_terms_) visit(term);
  }
  Term lagged(const SphereTouch& touch, const std::vector<double>& states_at_start) const;
  SlidingTerm lagged_sliding(Term term, const std::vector<double>& states_at_start) const;
  RollingTerm lagged_rolling(Term term) const;
  void attach_springs();
  /// What a spring keeps of its stretch at the end of the step; none of friction without springs.
  Eigen::Vector3d kept_stretch(const SlidingTerm& term, const Slip& at) const;
  Eigen::Vector3d kept_stretch(const RollingTerm&, const Slip&) const { return Eigen::Vector3d::Zero(); }
  double spin(const SlidingTerm& term) const;
  Slip slip(const SlidingTerm& term) const;
  Slip slip(const RollingTerm& term) const;
  geometry::RelativeTurn turn(const RollingTerm& term) const;
  geometry::Quaternion obstacle_turn(const RollingTerm& term) const;
  Eigen::Vector3d unit_force(const Term& term, const Slip& at) const;
  Eigen::Vector3d force(const Term& term, const Slip& at) const;
  Eigen::Matrix3d force_by_way(const Term& term, const Slip& at) const;
  Eigen::Matrix<double, 12, 12> curvature(const SlidingTerm& term, const Eigen::Vector3d& force) const;
  Eigen::Matrix<double, 12, 12> curvature(const RollingTerm& term, const Eigen::Vector3d& force) const;
  template <class AnyTerm>
  Eigen::Matrix<double, 12, 12> hessian(const AnyTerm& term, Projection projection) const;
  Eigen::Vector3d material_way(const SlidingTerm& term) const;
  Eigen::Matrix<double, 12, 12> by_start(const SlidingTerm& term) const;
  Eigen::Matrix<double, 12, 12> by_start(const RollingTerm& term) const;
  template <class AnyTerm>
  std::array<Eigen::Matrix<double, 6, 1>, 2> by_distance(const AnyTerm& term) const;
  void add_distance_products(const std::vector<double>& in, double factor, std::vector<double>& by) const;
  void add_distance_tangent(const std::vector<double>& change, std::vector<double>& out) const;
  Eigen::Vector3d obstacle_way(const SlidingTerm& term) const;
  Eigen::Vector3d obstacle_way(const RollingTerm& term) const;

  const SphereContact* contact_;
  const SphereBarrierPotential* barrier_;
  FrictionCoefficients coefficients_;
  double rolling_, eps_v_, eta_ = 1;
  std::shared_ptr<const Spheres> spheres_;
  std::vector<double> states_;
  std::vector<double> shear_compliances_;
  std::vector<ContactSpring> springs_;
  std::vector<SlidingTerm> sliding_;
  std::vector<RollingTerm> rolling_terms_;
};

} // namespace recoil::potentials

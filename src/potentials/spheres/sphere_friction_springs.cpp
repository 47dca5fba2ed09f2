#include "potentials/spheres/sphere_states.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"

// Springs along contacts in steps that lag friction.
namespace recoil::potentials {

double SphereFrictionPotential::spring_stiffness(const SphereTouch& touch) const {
  double compliance = 0;
  for (int end = 0; end < num_spheres(touch.pair); ++end)
    compliance += shear_compliances_[(*contact_->spheres())[end_of(touch.pair, end)].body];
  return 8 * barrier_->contact_radius(touch) / compliance;
}

/// Of a step that has just been lagged.
void SphereFrictionPotential::attach_springs() {
  std::vector<SpherePair> pairs;
  for (const SlidingTerm& term : sliding_) pairs.push_back(term.touch.pair);
  const std::vector<PairSpring> springs = springs_for_pairs(*contact_, *spheres_, pairs, springs_);
  for (std::size_t k = 0; k < sliding_.size(); ++k) {
    SlidingTerm& term = sliding_[k];
    term.spring = carried_over(springs[k], term.touch.normal, spring_stiffness(term.touch));
    term.law = &yielding_spring;
    term.eta = term.strength() / term.spring.stiffness;
  }
}

Eigen::Vector3d SphereFrictionPotential::kept_stretch(const SlidingTerm& term, const Slip& at) const {
  return term.spring.stiffness > 0 ? within_reach(at.way, term.eta)
                                   : Eigen::Vector3d(Eigen::Vector3d::Zero());
}

/// By how much both sides have turned about the normal since the start of the step, on average [rad].
double SphereFrictionPotential::spin(const SlidingTerm& term) const {
  const SpherePair& pair = term.touch.pair;
  double sum = 0;
  for (int end = 0; end < num_spheres(pair); ++end)
    sum += term.touch.normal.dot(geometry::quaternion_logarithm(
        geometry::product(orientation(states_, end_of(pair, end)), geometry::conjugate(term.start[end]))));
  if (pair.obstacle >= 0)
    sum += term.touch.normal.dot(
        geometry::quaternion_logarithm(contact_->obstacle_turn(pair.obstacle, contact_->obstacle_share())));
  return sum / 2;
}

std::vector<ContactSpring> SphereFrictionPotential::springs_at_end() const {
  if (!spheres_) return {};
  std::vector<SpherePair> pairs;
  std::vector<PairSpring> springs;
  for (const SlidingTerm& term : sliding_) {
    if (term.coefficient == 0) continue;
    pairs.push_back(term.touch.pair);
    const Eigen::AngleAxisd turn(spin(term), term.touch.normal);
    springs.push_back({turn * kept_stretch(term, slip(term)), term.spring.stiffness});
  }
  return springs_for_owners(*contact_, *spheres_, pairs, springs);
}

double SphereFrictionPotential::stored_energy() const {
  double sum = 0;
  for (const SlidingTerm& term : sliding_)
    if (term.coefficient > 0)
      sum += PairSpring{kept_stretch(term, slip(term)), term.spring.stiffness}.energy();
  return sum;
}

} // namespace recoil::potentials

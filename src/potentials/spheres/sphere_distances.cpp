#include "potentials/spheres/sphere_states.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"

// How contact depends on the least distances of particles whose bonds have broken.
namespace recoil::potentials {

namespace {

using EndVectors = std::array<Eigen::Matrix<double, 6, 1>, 2>;

void add_tangent(const SpherePair& pair, const EndVectors& by_distance, const std::vector<double>& ds,
                 std::vector<double>& out) {
  for (int end = 0; end < 2; ++end) tangent(out, end_of(pair, end)) += ds[pair.bond] * by_distance[end];
}

void add_product(const SpherePair& pair, const EndVectors& by_distance, const std::vector<double>& in,
                 double factor, std::vector<double>& by) {
  for (int end = 0; end < 2; ++end)
    by[pair.bond] += factor * by_distance[end].dot(tangent(in, end_of(pair, end)));
}

/// Derivatives of the gradient of the barrier by the distance.
EndVectors by_distance(const SphereTouch& touch, double force_by_gap) {
  EndVectors ends;
  ends[0] << force_by_gap * touch.normal, Eigen::Vector3d::Zero();
  ends[1] = -ends[0];
  return ends;
}

} // namespace

void SphereBarrierPotential::add_parameter_tangent(std::span<const double>,
                                                   const parameters::PhysicalDirection<3>& direction,
                                                   double factor, std::span<double> y) const {
  const std::vector<double>* change = direction.find_numbers(bond_distance);
  if (!change) return;
  const Spheres& spheres = *contact_->spheres();
  std::vector<double> out(6 * std::size_t(spheres.size()), 0.0);
  for (const SphereTouch& touch : touching())
    if (touch.pair.bond >= 0) add_tangent(touch.pair, by_distance(touch, force_by_gap(touch)), *change, out);
  spheres.add_to_owners(out, 6, factor, y);
}

void SphereBarrierPotential::add_parameter_products(std::span<const double>, std::span<const double> p,
                                                    double factor,
                                                    parameters::PhysicalGradient<3>& gradient) const {
  std::vector<double>* by = gradient.find_numbers(bond_distance);
  if (!by) return;
  const std::vector<double> in = contact_->spheres()->gather(p, 6);
  for (const SphereTouch& touch : touching())
    if (touch.pair.bond >= 0)
      add_product(touch.pair, by_distance(touch, force_by_gap(touch)), in, factor, *by);
}

/// The gap falls as the least distance grows, and the normal force is that of the gap.
template <class AnyTerm>
EndVectors SphereFrictionPotential::by_distance(const AnyTerm& term) const {
  const Slip at = slip(term);
  const Eigen::Vector3d f = -term.coefficient * term.force_by_gap * unit_force(term, at);
  return {at.by_state[0].transpose() * f, at.by_state[1].transpose() * f};
}

void SphereFrictionPotential::add_distance_tangent(const std::vector<double>& change,
                                                   std::vector<double>& out) const {
  for_each_term([&](const auto& term) {
    if (term.touch.pair.bond >= 0) add_tangent(term.touch.pair, by_distance(term), change, out);
  });
}

void SphereFrictionPotential::add_distance_products(const std::vector<double>& in, double factor,
                                                    std::vector<double>& by) const {
  for_each_term([&](const auto& term) {
    if (term.touch.pair.bond >= 0) add_product(term.touch.pair, by_distance(term), in, factor, by);
  });
}

} // namespace recoil::potentials

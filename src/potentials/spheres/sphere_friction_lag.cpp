#include <array>

#include "potentials/spheres/sphere_states.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"

// What friction takes from the state at the start of a step, and how it depends on it.
namespace recoil::potentials {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix12 = Eigen::Matrix<double, 12, 12>;
/// The derivative of a vector by the tangent vectors of both spheres at the start of the step.
using Matrix3x12 = Eigen::Matrix<double, 3, 12>;

/// How much of the vector from a to b lies on the side of each: they meet between the surfaces in the ratio
/// of the radii.
std::array<double, 2> arm_shares(const Spheres& spheres, const SpherePair& pair) {
  const double a = spheres[pair.a].radius, b = spheres[pair.b].radius;
  return {-a / (a + b), b / (a + b)};
}

/// The derivative of the place of a against that of b, or of the obstacle.
Matrix3x12 distance_by_start(const SpherePair& pair) {
  Matrix3x12 by = Matrix3x12::Zero();
  for (int end = 0; end < num_spheres(pair); ++end)
    by.middleCols<3>(6 * end) = (end == 0 ? 1 : -1) * Matrix3d::Identity();
  return by;
}

/// The derivative of the rotation of an end, in its own axes [rad].
Matrix3x12 rotation_by_start(const Spheres& spheres, const SpherePair& pair, int end) {
  Matrix3x12 by = Matrix3x12::Zero();
  by.middleCols<3>(6 * end + 3) = Matrix3d::Identity() / spheres[end_of(pair, end)].radius;
  return by;
}

/// The derivative of (I - n n') w by n, along `by_start` of it.
Matrix3x12 projection_by_start(const Vector3d& n, const Vector3d& w, const Matrix3x12& by_start) {
  return -(n.dot(w) * by_start + n * (w.transpose() * by_start));
}

} // namespace

SphereFrictionPotential::Term
SphereFrictionPotential::lagged(const SphereTouch& touch, const std::vector<double>& states_at_start) const {
  Term term{touch, 0, barrier_->force(touch), barrier_->force_by_gap(touch), {}, &geometry::coulomb_friction,
            eta_};
  term.start.fill(geometry::identity_quaternion());
  for (int end = 0; end < num_spheres(touch.pair); ++end)
    term.start[end] = orientation(states_at_start, end_of(touch.pair, end));
  return term;
}

SphereFrictionPotential::SlidingTerm
SphereFrictionPotential::lagged_sliding(Term lagged, const std::vector<double>& states_at_start) const {
  SlidingTerm term{std::move(lagged), 0, {}, Vector3d::Zero()};
  const SphereTouch& touch = term.touch;
  term.entry = coefficients_.entry((*spheres_)[touch.pair.a].body, contact_->body_of(touch.pair));
  term.coefficient = coefficients_.values[term.entry];
  std::array<Vector3d, 2> arms{-(*spheres_)[touch.pair.a].radius * touch.normal, Vector3d::Zero()};
  if (touch.pair.b >= 0)
    for (int end = 0; end < 2; ++end)
      arms[end] = arm_shares(*spheres_, touch.pair)[end] * touch.length * touch.normal;
  for (int end = 0; end < num_spheres(touch.pair); ++end) {
    const LocalIndex sphere = end_of(touch.pair, end);
    term.arms[end] = geometry::rotation_matrix(orientation(states_, sphere)).transpose() * arms[end];
    term.offset += (end == 0 ? 1 : -1) * (place(states_at_start, sphere) +
                                          geometry::rotation_matrix(term.start[end]) * term.arms[end]);
  }
  return term;
}

SphereFrictionPotential::RollingTerm SphereFrictionPotential::lagged_rolling(Term lagged) const {
  RollingTerm term{std::move(lagged), 0};
  term.coefficient = rolling_;
  const int count = num_spheres(term.touch.pair);
  for (int end = 0; end < count; ++end)
    term.radius += (*spheres_)[end_of(term.touch.pair, end)].radius / count;
  return term;
}

void SphereFrictionPotential::lag(std::span<const double> u, std::span<const double> start, double dt) {
  const PhaseScope phase(Phase::contact);
  eta_ = eps_v_ * dt;
  spheres_ = contact_->spheres();
  states_ = spheres_->gather(u, 7);
  const std::vector<double> states_at_start = spheres_->gather(start, 7);
  sliding_.clear();
  rolling_terms_.clear();
  if (!acts() || dt == 0) return;
  for (const SphereTouch& touch : barrier_->touching()) {
    const Term term = lagged(touch, states_at_start);
    if (!(term.force > 0)) continue;
    if (coefficients_) sliding_.push_back(lagged_sliding(term, states_at_start));
    if (rolling_ > 0) rolling_terms_.push_back(lagged_rolling(term));
  }
  if (has_springs()) attach_springs();
}

/// Rows are those of the gradient, columns the tangent vectors at the start.
Matrix12 SphereFrictionPotential::by_start(const SlidingTerm& term) const {
  const SphereTouch& touch = term.touch;
  const SpherePair& pair = touch.pair;
  const Vector3d &n = touch.normal, w = material_way(term);
  const Slip at = slip(term);
  const Vector3d f = force(term, at);
  const Matrix3x12 distance = distance_by_start(pair), normal = touch.slope * distance;
  Matrix3x12 way = -distance;
  std::array<Matrix3x12, 2> arms;
  for (int end = 0; end < num_spheres(pair); ++end) {
    const double sign = end == 0 ? 1 : -1;
    const Matrix3x12 in_space = pair.b < 0 ? Matrix3x12(-(*spheres_)[pair.a].radius * normal)
                                           : Matrix3x12(arm_shares(*spheres_, pair)[end] * distance);
    arms[end] = geometry::rotation_matrix(term.start[end]).transpose() * in_space +
                geometry::cross_matrix(term.arms[end]) * rotation_by_start(*spheres_, pair, end);
    way += sign * (geometry::rotation_matrix(orientation(states_, end_of(pair, end))) * arms[end] - in_space);
  }
  if (pair.obstacle >= 0)
    way -= contact_->obstacle_share() * contact_->obstacle_motion_gradient(pair.obstacle) *
           (distance - touch.length * normal - n * (n.transpose() * distance));
  const Matrix3d P = Matrix3d::Identity() - n * n.transpose();
  const Matrix3x12 of_force =
      term.coefficient * term.force_by_gap * unit_force(term, at) * (n.transpose() * distance) +
      force_by_way(term, at) * (projection_by_start(n, w, normal) + P * way);
  const Matrix3x12 tangential = projection_by_start(n, f, normal) + P * of_force;
  Matrix12 S = Matrix12::Zero();
  for (int end = 0; end < num_spheres(pair); ++end) {
    const double sign = end == 0 ? 1 : -1;
    const Sphere& sphere = (*spheres_)[end_of(pair, end)];
    const Matrix3d R = geometry::rotation_matrix(orientation(states_, end_of(pair, end)));
    S.middleRows<3>(6 * end) = sign * tangential;
    S.middleRows<3>(6 * end + 3) = sign / sphere.radius *
                                   (geometry::cross_matrix(term.arms[end]) * R.transpose() * tangential -
                                    geometry::cross_matrix(R.transpose() * P * f) * arms[end]);
  }
  return S;
}

Matrix12 SphereFrictionPotential::by_start(const RollingTerm& term) const {
  const SphereTouch& touch = term.touch;
  const SpherePair& pair = touch.pair;
  const Vector3d& n = touch.normal;
  const Slip at = slip(term);
  const Vector3d f = force(term, at);
  const geometry::RelativeTurn turn = this->turn(term);
  const Matrix3x12 distance = distance_by_start(pair), normal = touch.slope * distance;
  // Turns of the start turn it the other way.
  Matrix3x12 angle = Matrix3x12::Zero();
  for (int end = 0; end < num_spheres(pair); ++end)
    angle -= turn.by_turn[end] * rotation_by_start(*spheres_, pair, end);
  const Matrix3d P = Matrix3d::Identity() - n * n.transpose();
  const Matrix3x12 of_force =
      term.coefficient * term.force_by_gap * unit_force(term, at) * (n.transpose() * distance) +
      force_by_way(term, at) * term.radius * (projection_by_start(n, turn.angle, normal) + P * angle);
  const Vector3d moment = term.radius * (P * f);
  const Matrix3x12 of_moment = term.radius * (projection_by_start(n, f, normal) + P * of_force);
  Matrix12 S = Matrix12::Zero();
  for (int end = 0; end < num_spheres(pair); ++end) {
    const double sign = end == 0 ? 1 : -1;
    const Matrix3d by_angle = geometry::rotation_matrix(term.start[end]).transpose() *
                              geometry::derivative_of_inverse_transposed(sign * turn.angle, moment);
    S.middleRows<3>(6 * end + 3) = (turn.by_turn[end].transpose() * of_moment + by_angle * angle +
                                    geometry::cross_matrix(turn.by_turn[end].transpose() * moment) *
                                        rotation_by_start(*spheres_, pair, end)) /
                                   (*spheres_)[end_of(pair, end)].radius;
  }
  return S;
}

void SphereFrictionPotential::add_previous_tangent(std::span<const double>, std::span<const double> x,
                                                   double factor, std::span<double> y) const {
  if (!spheres_) return;
  const std::vector<double> in = spheres_->gather(x, 6);
  std::vector<double> out(in.size(), 0.0);
  for_each_term([&](const auto& term) { add_pair_product(term.touch.pair, by_start(term), in, out); });
  spheres_->add_to_owners(out, 6, factor, y);
}

void SphereFrictionPotential::add_previous_product(std::span<const double>, std::span<const double> p,
                                                   double factor, std::span<double> y) const {
  if (!spheres_) return;
  const std::vector<double> in = spheres_->gather(p, 6);
  std::vector<double> out(in.size(), 0.0);
  for_each_term(
      [&](const auto& term) { add_pair_product(term.touch.pair, by_start(term).transpose(), in, out); });
  spheres_->add_to_owners(out, 6, factor, y);
}

} // namespace recoil::potentials

#include "recoil/potentials/spheres/sphere_potentials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "potentials/spheres/sphere_states.hpp"

namespace recoil::potentials {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix12 = PairBlock;

} // namespace

/// Per unit of factor(), with derivatives by the gap.
geometry::BarrierValue SphereBarrierPotential::at(const SphereTouch& touch) const {
  const double dhat = contact_->dhat();
  if (law_ == ContactLaw::barrier) return geometry::log_barrier(touch.gap, dhat);
  const double depth = std::max(dhat - touch.gap, 0.0);
  if (law_ == ContactLaw::penalty) return {depth * depth / 2, -depth, depth > 0 ? 1.0 : 0.0};
  const double root = std::sqrt(depth);
  return {8.0 / 15 * depth * depth * root, -4.0 / 3 * depth * root, 2 * root};
}

/// Of Hertz' law E* sqrt(R*) [N/m^1.5]: 1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b, 1/R* = 1/r_a + 1/r_b;
/// obstacles are flat and rigid.
double SphereBarrierPotential::factor(const SphereTouch& touch) const {
  if (law_ != ContactLaw::hertz) return stiffness_;
  const Spheres& spheres = *contact_->spheres();
  double compliance = 0, curvature = 0;
  for (int end = 0; end < num_spheres(touch.pair); ++end) {
    const Sphere& sphere = spheres[end_of(touch.pair, end)];
    compliance += compliances_[sphere.body];
    curvature += 1 / sphere.radius;
  }
  return 1 / (compliance * std::sqrt(curvature));
}

double SphereBarrierPotential::value(std::span<const double>) const {
  double sum = 0;
  if (law_ == ContactLaw::hertz) {
    for (const SphereTouch& touch : touching()) sum += energy(touch);
    return sum;
  }
  for (const SphereTouch& touch : touching()) sum += at(touch).value;
  return stiffness_ * sum;
}

double SphereBarrierPotential::energy(const SphereTouch& touch) const {
  return factor(touch) * at(touch).value;
}

double SphereBarrierPotential::force(const SphereTouch& touch) const {
  return -factor(touch) * at(touch).first;
}

double SphereBarrierPotential::force_by_gap(const SphereTouch& touch) const {
  return -factor(touch) * at(touch).second;
}

double SphereBarrierPotential::contact_radius(const SphereTouch& touch) const {
  double curvature = 0;
  for (int end = 0; end < num_spheres(touch.pair); ++end)
    curvature += 1 / (*contact_->spheres())[end_of(touch.pair, end)].radius;
  return std::sqrt(std::max(contact_->dhat() - touch.gap, 0.0) / curvature);
}

void SphereBarrierPotential::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  const Spheres& spheres = *contact_->spheres();
  std::vector<double> values(6 * std::size_t(spheres.size()), 0.0);
  for (const SphereTouch& touch : touching())
    for (int end = 0; end < num_spheres(touch.pair); ++end)
      tangent(values, end_of(touch.pair, end)).head<3>() -= (end == 0 ? 1 : -1) * force(touch) * touch.normal;
  spheres.add_to_owners(values, 6, factor, g);
}

/// By the place of a relative to b. The curvature of the gap times the repulsion is negative.
Matrix3d SphereBarrierPotential::hessian(const SphereTouch& touch, Projection projection) const {
  const geometry::BarrierValue b = at(touch);
  Matrix3d H = b.second * touch.normal * touch.normal.transpose();
  if (projection == Projection::none) H += b.first * touch.slope;
  return factor(touch) * H;
}

void SphereBarrierPotential::add_hessian(std::span<const double>, double factor, Projection projection,
                                         const linalg::HessianSink& H) const {
  Matrix12 block = Matrix12::Zero();
  for (const SphereTouch& touch : touching()) {
    const Matrix3d D = factor * hessian(touch, projection);
    for (const int a : {0, 1})
      for (const int b : {0, 1}) block.block<3, 3>(6 * a, 6 * b) = (a == b ? 1 : -1) * D;
    add_block(*contact_->spheres(), touch.pair, block, *H.stencils);
  }
}

void SphereBarrierPotential::add_hessian_product(std::span<const double>, std::span<const double> p,
                                                 double factor, std::span<double> y) const {
  const Spheres& spheres = *contact_->spheres();
  const std::vector<double> in = spheres.gather(p, 6);
  std::vector<double> out(in.size(), 0.0);
  for (const SphereTouch& touch : touching()) {
    const auto& pair = touch.pair;
    Vector3d d = tangent(in, pair.a).head<3>();
    if (pair.b >= 0) d -= tangent(in, pair.b).head<3>();
    const Vector3d f = hessian(touch, Projection::none) * d;
    for (int end = 0; end < num_spheres(pair); ++end)
      tangent(out, end_of(pair, end)).head<3>() += (end == 0 ? 1 : -1) * f;
  }
  spheres.add_to_owners(out, 6, factor, y);
}

double SphereBarrierPotential::max_share(std::span<const double> u, std::span<const double> du,
                                         double obstacle_share) {
  if (law_ == ContactLaw::barrier) return contact_->max_step(u, du, obstacle_share);
  contact_->cover(u, du);
  return 1;
}

double SphereBarrierPotential::obstacle_work() const {
  double work = 0;
  for (const SphereTouch& touch : touching())
    if (SphereContact::is_driven(touch.pair))
      work += force(touch) * touch.normal.dot(contact_->way_of_other(touch));
  return work;
}

void SphereBarrierPotential::add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const {
  for (const SphereTouch& touch : touching())
    if (touch.pair.obstacle >= 0)
      add_reaction(forces, contact_->body_of(touch.pair) - first_body, force(touch) * touch.normal,
                   place(contact_->states(), touch.pair.a) - contact_->offset(touch.pair) -
                       touch.length * touch.normal);
}

Matrix3d SphereBarrierPotential::force_moments() const {
  Matrix3d sum = Matrix3d::Zero();
  for (const SphereTouch& touch : touching())
    sum -= force(touch) * touch.normal * contact_->branch(touch, contact_->states()).transpose();
  return sum;
}

void SphereFrictionPotential::update(std::span<const double> u) {
  if (spheres_) states_ = spheres_->gather(u, 7);
}

/// The way of the obstacle in a lagged contact, or of the cell between images of spheres.
Vector3d SphereFrictionPotential::obstacle_way(const SlidingTerm& term) const {
  if (!SphereContact::is_driven(term.touch.pair)) return Vector3d::Zero();
  return contact_->way_of_other(term.touch);
}

/// How far the surface of the sphere rolls as the obstacle turns; zero of pairs of spheres.
Vector3d SphereFrictionPotential::obstacle_way(const RollingTerm& term) const {
  if (term.touch.pair.obstacle < 0) return Vector3d::Zero();
  const Matrix3d by_obstacle = turn(term).by_turn[1];
  return -term.radius * (by_obstacle * geometry::quaternion_logarithm(obstacle_turn(term)));
}

/// The way of a's material point against that of b, or of the obstacle, since the start of the step.
Vector3d SphereFrictionPotential::material_way(const SlidingTerm& term) const {
  Vector3d way = -term.offset - obstacle_way(term);
  for (int end = 0; end < num_spheres(term.touch.pair); ++end) {
    const LocalIndex sphere = end_of(term.touch.pair, end);
    way += (end == 0 ? 1 : -1) * (place(states_, sphere) +
                                  geometry::rotation_matrix(orientation(states_, sphere)) * term.arms[end]);
  }
  return way;
}

SphereFrictionPotential::Slip SphereFrictionPotential::slip(const SlidingTerm& term) const {
  Slip slip;
  const Matrix3d P = Matrix3d::Identity() - term.touch.normal * term.touch.normal.transpose();
  for (int end = 0; end < num_spheres(term.touch.pair); ++end) {
    const LocalIndex sphere = end_of(term.touch.pair, end);
    const double sign = end == 0 ? 1 : -1;
    const Matrix3d R = geometry::rotation_matrix(orientation(states_, sphere));
    slip.by_state[end] << sign * P,
        -sign / (*spheres_)[sphere].radius * (P * R * geometry::cross_matrix(term.arms[end]));
  }
  slip.way = term.spring.stretch + P * material_way(term);
  return slip;
}

geometry::Quaternion SphereFrictionPotential::obstacle_turn(const RollingTerm& term) const {
  return contact_->obstacle_turn(term.touch.pair.obstacle, contact_->obstacle_share());
}

geometry::RelativeTurn SphereFrictionPotential::turn(const RollingTerm& term) const {
  const SpherePair& pair = term.touch.pair;
  return geometry::relative_turn(
      {orientation(states_, pair.a), pair.b < 0 ? obstacle_turn(term) : orientation(states_, pair.b)},
      term.start);
}

SphereFrictionPotential::Slip SphereFrictionPotential::slip(const RollingTerm& term) const {
  const geometry::RelativeTurn turn = this->turn(term);
  const Matrix3d P = term.radius * (Matrix3d::Identity() - term.touch.normal * term.touch.normal.transpose());
  Slip slip;
  slip.way = P * turn.angle;
  for (int end = 0; end < num_spheres(term.touch.pair); ++end)
    slip.by_state[end] << Matrix3d::Zero(),
        P * turn.by_turn[end] / (*spheres_)[end_of(term.touch.pair, end)].radius;
  return slip;
}

/// The derivative of f0 by the way.
Vector3d SphereFrictionPotential::unit_force(const Term& term, const Slip& at) const {
  return term.law->f1_over_y(at.way.norm(), term.eta) * at.way;
}

/// The derivative of a term by its way.
Vector3d SphereFrictionPotential::force(const Term& term, const Slip& at) const {
  return term.strength() * unit_force(term, at);
}

Matrix3d SphereFrictionPotential::force_by_way(const Term& term, const Slip& at) const {
  const double y = at.way.norm();
  return term.strength() * (term.law->f1_over_y(y, term.eta) * Matrix3d::Identity() +
                            term.law->f1_over_y_slope_over_y(y, term.eta) * at.way * at.way.transpose());
}

double SphereFrictionPotential::value(std::span<const double>) const {
  double sum = 0;
  for_each_term(
      [&](const auto& term) { sum += term.strength() * term.law->f0(slip(term).way.norm(), term.eta); });
  return sum;
}

void SphereFrictionPotential::add_gradient(std::span<const double>, double factor,
                                           std::span<double> g) const {
  if (!spheres_) return;
  std::vector<double> values(6 * std::size_t(spheres_->size()), 0.0);
  for_each_term([&](const auto& term) {
    const Slip at = slip(term);
    const Vector3d f = force(term, at);
    for (int end = 0; end < num_spheres(term.touch.pair); ++end)
      tangent(values, end_of(term.touch.pair, end)) += at.by_state[end].transpose() * f;
  });
  spheres_->add_to_owners(values, 6, factor, g);
}

/// Second derivative of force . way by the rotations of the spheres, which move material points on circles.
Matrix12 SphereFrictionPotential::curvature(const SlidingTerm& term, const Vector3d& force) const {
  Matrix12 H = Matrix12::Zero();
  for (int end = 0; end < num_spheres(term.touch.pair); ++end) {
    const LocalIndex sphere = end_of(term.touch.pair, end);
    const double radius = (*spheres_)[sphere].radius;
    const Vector3d& arm = term.arms[end];
    const Vector3d f =
        (end == 0 ? 1 : -1) * (geometry::rotation_matrix(orientation(states_, sphere)).transpose() * force);
    H.block<3, 3>(6 * end + 3, 6 * end + 3) =
        ((f * arm.transpose() + arm * f.transpose()) / 2 - f.dot(arm) * Matrix3d::Identity()) /
        (radius * radius);
  }
  return H;
}

Matrix12 SphereFrictionPotential::curvature(const RollingTerm& term, const Vector3d& force) const {
  const Eigen::Matrix<double, 6, 6> by_turns =
      geometry::relative_turn_curvature(turn(term).angle, term.radius * force, term.start);
  Matrix12 H = Matrix12::Zero();
  for (int a = 0; a < num_spheres(term.touch.pair); ++a)
    for (int b = 0; b < num_spheres(term.touch.pair); ++b)
      H.block<3, 3>(6 * a + 3, 6 * b + 3) =
          by_turns.block<3, 3>(3 * a, 3 * b) /
          ((*spheres_)[end_of(term.touch.pair, a)].radius * (*spheres_)[end_of(term.touch.pair, b)].radius);
  return H;
}

/// With projection the secant matrix, whose quadratic function with the value and gradient here is nowhere
/// below that of friction on a straight slip: the Hessian, semi-definite as it is, knows nothing of the kink
/// where slip turns round. Without it also the curvature of ways where spheres rotate.
template <class AnyTerm>
Matrix12 SphereFrictionPotential::hessian(const AnyTerm& term, Projection projection) const {
  const Slip at = slip(term);
  const double s = term.strength() * term.law->f1_over_y(at.way.norm(), term.eta);
  const Matrix3d D =
      projection == Projection::none ? force_by_way(term, at) : Matrix3d(s * Matrix3d::Identity());
  Matrix12 H = Matrix12::Zero();
  for (int a = 0; a < num_spheres(term.touch.pair); ++a)
    for (int b = 0; b < num_spheres(term.touch.pair); ++b)
      H.block<6, 6>(6 * a, 6 * b) = at.by_state[a].transpose() * D * at.by_state[b];
  if (projection == Projection::none) H += curvature(term, s * at.way);
  return H;
}

void SphereFrictionPotential::add_hessian(std::span<const double>, double factor, Projection projection,
                                          const linalg::HessianSink& H) const {
  for_each_term([&](const auto& term) {
    Matrix12 block = factor * hessian(term, projection);
    add_block(*spheres_, term.touch.pair, block, *H.stencils);
  });
}

void SphereFrictionPotential::add_hessian_product(std::span<const double>, std::span<const double> p,
                                                  double factor, std::span<double> y) const {
  if (!spheres_) return;
  const std::vector<double> in = spheres_->gather(p, 6);
  std::vector<double> out(in.size(), 0.0);
  for_each_term(
      [&](const auto& term) { add_pair_product(term.touch.pair, hessian(term, Projection::none), in, out); });
  spheres_->add_to_owners(out, 6, factor, y);
}

std::vector<parameters::Quantity> SphereFrictionPotential::quantities() const {
  if (!coefficients_) return {};
  return {parameters::quantities::friction};
}

void SphereFrictionPotential::add_parameter_products(std::span<const double>, std::span<const double> p,
                                                     double factor,
                                                     parameters::PhysicalGradient<3>& gradient) const {
  std::vector<double>* by = gradient.find_numbers(parameters::quantities::friction);
  std::vector<double>* by_bond_distance = gradient.find_numbers(bond_distance);
  if (!spheres_ || (!by && !by_bond_distance)) return;
  const std::vector<double> in = spheres_->gather(p, 6);
  if (by_bond_distance) add_distance_products(in, factor, *by_bond_distance);
  if (!by) return;
  for (const SlidingTerm& term : sliding_) {
    const Slip at = slip(term);
    const Vector3d f = factor * term.force * unit_force(term, at);
    for (int end = 0; end < num_spheres(term.touch.pair); ++end)
      (*by)[term.entry] += f.dot(at.by_state[end] * tangent(in, end_of(term.touch.pair, end)));
  }
}

void SphereFrictionPotential::add_parameter_tangent(std::span<const double>,
                                                    const parameters::PhysicalDirection<3>& direction,
                                                    double factor, std::span<double> y) const {
  const std::vector<double>* change = direction.find_numbers(parameters::quantities::friction);
  const std::vector<double>* of_distance = direction.find_numbers(bond_distance);
  if (!spheres_ || (!change && !of_distance)) return;
  std::vector<double> out(6 * std::size_t(spheres_->size()), 0.0);
  if (of_distance) add_distance_tangent(*of_distance, out);
  for (std::size_t k = 0; change && k < sliding_.size(); ++k) {
    const SlidingTerm& term = sliding_[k];
    const Slip at = slip(term);
    const Vector3d f = (*change)[term.entry] * term.force * unit_force(term, at);
    for (int end = 0; end < num_spheres(term.touch.pair); ++end)
      tangent(out, end_of(term.touch.pair, end)) += at.by_state[end].transpose() * f;
  }
  spheres_->add_to_owners(out, 6, factor, y);
}

double SphereFrictionPotential::dissipation() const {
  double sum = 0;
  for_each_term([&](const auto& term) {
    const Slip at = slip(term);
    sum += force(term, at).dot(at.way - kept_stretch(term, at));
  });
  if (!has_springs()) return sum;
  for (const ContactSpring& spring : springs_)
    sum += PairSpring{Vector3d(spring.stretch.data()), spring.stiffness}.energy();
  for (const SlidingTerm& term : sliding_) sum -= term.spring.energy();
  return sum;
}

double SphereFrictionPotential::obstacle_work() const {
  double work = 0;
  for_each_term([&](const auto& term) {
    if (SphereContact::is_driven(term.touch.pair)) work -= force(term, slip(term)).dot(obstacle_way(term));
  });
  return work;
}

void SphereFrictionPotential::add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const {
  for (const SlidingTerm& term : sliding_) {
    if (term.touch.pair.obstacle < 0 || term.coefficient == 0) continue;
    const Matrix3d R = geometry::rotation_matrix(orientation(states_, term.touch.pair.a));
    add_reaction(forces, contact_->body_of(term.touch.pair) - first_body, -force(term, slip(term)),
                 place(states_, term.touch.pair.a) - contact_->offset(term.touch.pair) + R * term.arms[0]);
  }
  for (const RollingTerm& term : rolling_terms_) {
    if (term.touch.pair.obstacle < 0) continue;
    const Slip at = slip(term);
    const Vector3d by_own_axes =
        (*spheres_)[term.touch.pair.a].radius * (at.by_state[0].rightCols<3>().transpose() * force(term, at));
    const Vector3d moment = geometry::rotation_matrix(orientation(states_, term.touch.pair.a)) * by_own_axes;
    const std::size_t at_body = 6 * std::size_t(contact_->body_of(term.touch.pair) - first_body);
    for (int i = 0; i < 3; ++i) forces[at_body + 3 + i] += moment[i];
  }
}

/// Rolling friction has moments alone.
Matrix3d SphereFrictionPotential::force_moments() const {
  Matrix3d sum = Matrix3d::Zero();
  for (const SlidingTerm& term : sliding_) {
    if (term.coefficient == 0) continue;
    const Slip at = slip(term);
    const Vector3d on_other = at.by_state[0].leftCols<3>().transpose() * force(term, at);
    sum += on_other * contact_->branch(term.touch, states_).transpose();
  }
  return sum;
}

} // namespace recoil::potentials

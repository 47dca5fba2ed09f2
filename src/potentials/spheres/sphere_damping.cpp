#include "recoil/potentials/spheres/sphere_damping.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "potentials/spheres/sphere_states.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/potentials/spheres/restitution.hpp"

namespace recoil::potentials {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

double sign_of(int end) { return end == 0 ? 1 : -1; }

/// z / sqrt(1 + z^2) and its derivative.
double saturated(double z) { return z / std::sqrt(1 + z * z); }
double saturated_slope(double z) { return std::pow(1 + z * z, -1.5); }

} // namespace

std::vector<HeldOff> energies_of_touches(const SphereContact& contact,
                                         const SphereBarrierPotential& barrier) {
  std::vector<HeldOff> all;
  std::map<std::pair<LocalIndex, std::int32_t>, HeldOff> of_obstacles;
  for (const SphereTouch& touch : barrier.touching()) {
    all.push_back({barrier.energy(touch), barrier.force(touch) * touch.normal});
    if (touch.pair.b >= 0) continue;
    HeldOff& sum =
        of_obstacles.try_emplace({touch.pair.a, contact.body_of(touch.pair)}, HeldOff{0, Vector3d::Zero()})
            .first->second;
    sum.energy += all.back().energy;
    sum.pull += all.back().pull;
  }
  std::size_t next = 0;
  for (const SphereTouch& touch : barrier.touching()) {
    if (touch.pair.b < 0) all[next] = of_obstacles.at({touch.pair.a, contact.body_of(touch.pair)});
    ++next;
  }
  return all;
}

SphereDampingPotential::SphereDampingPotential(const SphereContact& contact,
                                               const SphereBarrierPotential& barrier, double restitution,
                                               std::span<const double> mass)
    : contact_(&contact), barrier_(&barrier), restitution_(restitution),
      gamma_(damping_of_restitution(restitution)), mass_(mass) {}

void SphereDampingPotential::lag(std::span<const double> start, double dt) {
  const PhaseScope phase(Phase::contact);
  terms_.clear();
  if (!acts() || dt == 0) return;
  spheres_ = contact_->spheres();
  states_ = spheres_->gather(start, 7);
  const std::vector<double> masses = spheres_->gather(mass_, 1);
  const std::vector<HeldOff> held = energies_of_touches(*contact_, *barrier_);
  auto next = held.begin();
  for (const SphereTouch& touch : barrier_->touching()) {
    Term term{touch, barrier_->force(touch), barrier_->force_by_gap(touch), *next++, 0, 0,
              {},    Vector3d::Zero()};
    if (!(term.force > 0 && term.held.energy > 0)) continue;
    std::array<double, 2> inverse{};
    for (int end = 0; end < num_spheres(touch.pair); ++end) {
      const LocalIndex sphere = end_of(touch.pair, end);
      inverse[end] = (*spheres_)[sphere].prescribed != 0 ? 0 : 1 / masses[sphere];
      term.start += sign_of(end) * place(states_, sphere);
    }
    if (inverse[0] + inverse[1] == 0) continue;
    term.mass = 1 / (inverse[0] + inverse[1]);
    for (int end = 0; end < 2; ++end) term.by_mass[end] = std::pow(term.mass * inverse[end], 2);
    term.rate = gamma_ * std::sqrt(term.mass / term.held.energy) / dt;
    terms_.push_back(term);
  }
}

void SphereDampingPotential::update(std::span<const double> u) {
  if (spheres_) states_ = spheres_->gather(u, 7);
}

Vector3d SphereDampingPotential::way(const Term& term) const {
  const SpherePair& pair = term.touch.pair;
  Vector3d way = -term.start;
  for (int end = 0; end < num_spheres(pair); ++end) way += sign_of(end) * place(states_, end_of(pair, end));
  return SphereContact::is_driven(pair) ? Vector3d(way - contact_->way_of_other(term.touch)) : way;
}

/// Of a term by its y.
double SphereDampingPotential::slope(const Term& term) const {
  return term.force * saturated(term.rate * parted(term));
}

double SphereDampingPotential::curvature(const Term& term) const {
  return term.force * term.rate * saturated_slope(term.rate * parted(term));
}

double SphereDampingPotential::value(std::span<const double>) const {
  double sum = 0;
  for (const Term& term : terms_) {
    const double z = term.rate * parted(term);
    // sqrt(1 + z^2) - 1 without cancellation.
    sum += term.force / term.rate * z * z / (1 + std::sqrt(1 + z * z));
  }
  return sum;
}

void SphereDampingPotential::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  if (!spheres_) return;
  std::vector<double> values(6 * std::size_t(spheres_->size()), 0.0);
  for (const Term& term : terms_) {
    const Vector3d f = slope(term) * term.touch.normal;
    for (int end = 0; end < num_spheres(term.touch.pair); ++end)
      tangent(values, end_of(term.touch.pair, end)).head<3>() += sign_of(end) * f;
  }
  spheres_->add_to_owners(values, 6, factor, g);
}

void SphereDampingPotential::add_hessian(std::span<const double>, double factor, Projection,
                                         const linalg::HessianSink& H) const {
  for (const Term& term : terms_) {
    const Matrix3d D = factor * curvature(term) * term.touch.normal * term.touch.normal.transpose();
    PairBlock block = PairBlock::Zero();
    for (const int a : {0, 1})
      for (const int b : {0, 1}) block.block<3, 3>(6 * a, 6 * b) = (a == b ? 1 : -1) * D;
    add_block(*spheres_, term.touch.pair, block, *H.stencils);
  }
}

/// out += factor M (in of a - in of b) with M = block(term), on a, and the opposite on b.
template <class Block>
void SphereDampingPotential::add_products(std::span<const double> in, double factor, Block block,
                                          std::span<double> out) const {
  if (!spheres_) return;
  const std::vector<double> from = spheres_->gather(in, 6);
  std::vector<double> to(from.size(), 0.0);
  for (const Term& term : terms_) {
    const SpherePair& pair = term.touch.pair;
    Vector3d d = Vector3d::Zero();
    for (int end = 0; end < num_spheres(pair); ++end)
      d += sign_of(end) * tangent(from, end_of(pair, end)).head<3>();
    const Vector3d f = block(term) * d;
    for (int end = 0; end < num_spheres(pair); ++end)
      tangent(to, end_of(pair, end)).head<3>() += sign_of(end) * f;
  }
  spheres_->add_to_owners(to, 6, factor, out);
}

void SphereDampingPotential::add_hessian_product(std::span<const double>, std::span<const double> p,
                                                 double factor, std::span<double> y) const {
  add_products(
      p, factor,
      [&](const Term& term) -> Matrix3d {
        return curvature(term) * term.touch.normal * term.touch.normal.transpose();
      },
      y);
}

/// The derivative of the gradient by the place of a against that of b at the start of the step. There the gap
/// changes N, W, and with it k = gamma sqrt(m/W)/dt, by dW = -N dgap.
Matrix3d SphereDampingPotential::by_start(const Term& term) const {
  const SphereTouch& touch = term.touch;
  const Vector3d& n = touch.normal;
  const Vector3d way = this->way(term);
  const double z = term.rate * n.dot(way), h = saturated(z), dh = saturated_slope(z);
  Eigen::RowVector3d parted = way.transpose() * touch.slope - n.transpose();
  if (touch.pair.obstacle >= 0)
    parted -= contact_->obstacle_share() * n.transpose() *
              contact_->obstacle_motion_gradient(touch.pair.obstacle) *
              (Matrix3d::Identity() - touch.length * touch.slope - n * n.transpose());
  const Eigen::RowVector3d by_z =
      term.rate * parted + z / (2 * term.held.energy) * term.held.pull.transpose();
  return n * (h * term.force_by_gap * n.transpose() + term.force * dh * by_z) + term.force * h * touch.slope;
}

void SphereDampingPotential::add_previous_tangent(std::span<const double>, std::span<const double> x,
                                                  double factor, std::span<double> y) const {
  add_products(
      x, factor, [&](const Term& term) { return by_start(term); }, y);
}

void SphereDampingPotential::add_previous_product(std::span<const double>, std::span<const double> p,
                                                  double factor, std::span<double> y) const {
  add_products(
      p, factor, [&](const Term& term) -> Matrix3d { return by_start(term).transpose(); }, y);
}

/// The derivative of the gradient on a by the least distance of a pair whose bond has broken.
Vector3d SphereDampingPotential::by_distance(const Term& term) const {
  const double z = term.rate * parted(term);
  return -(saturated(z) * term.force_by_gap +
           saturated_slope(z) * z * term.force * term.force / (2 * term.held.energy)) *
         term.touch.normal;
}

/// The derivative of the gradient on a by the mass of an end.
Vector3d SphereDampingPotential::by_mass(const Term& term, int end) const {
  const double z = term.rate * parted(term);
  return term.force * saturated_slope(z) * z / (2 * term.mass) * term.by_mass[end] * term.touch.normal;
}

void SphereDampingPotential::add_parameter_products(std::span<const double>, std::span<const double> p,
                                                    double factor,
                                                    parameters::PhysicalGradient<3>& gradient) const {
  std::vector<double>*by_masses = gradient.find_numbers(particle_mass),
  *by_distances = gradient.find_numbers(bond_distance);
  if (!spheres_ || (!by_masses && !by_distances)) return;
  const std::vector<double> in = spheres_->gather(p, 6);
  std::vector<double> of_spheres(spheres_->size(), 0.0);
  for (const Term& term : terms_) {
    const SpherePair& pair = term.touch.pair;
    Vector3d d = Vector3d::Zero();
    for (int end = 0; end < num_spheres(pair); ++end)
      d += sign_of(end) * tangent(in, end_of(pair, end)).head<3>();
    if (by_distances && pair.bond >= 0) (*by_distances)[pair.bond] += factor * by_distance(term).dot(d);
    for (int end = 0; end < num_spheres(pair); ++end)
      of_spheres[end_of(pair, end)] += by_mass(term, end).dot(d);
  }
  if (by_masses) spheres_->add_to_owners(of_spheres, 1, factor, *by_masses);
}

void SphereDampingPotential::add_parameter_tangent(std::span<const double>,
                                                   const parameters::PhysicalDirection<3>& direction,
                                                   double factor, std::span<double> y) const {
  const std::vector<double>*masses = direction.find_numbers(particle_mass),
        *distances = direction.find_numbers(bond_distance);
  if (!spheres_ || (!masses && !distances)) return;
  const std::vector<double> of_spheres =
      masses ? spheres_->gather(*masses, 1) : std::vector<double>(spheres_->size(), 0.0);
  std::vector<double> out(6 * std::size_t(spheres_->size()), 0.0);
  for (const Term& term : terms_) {
    const SpherePair& pair = term.touch.pair;
    Vector3d f = Vector3d::Zero();
    if (distances && pair.bond >= 0) f += (*distances)[pair.bond] * by_distance(term);
    for (int end = 0; end < num_spheres(pair); ++end) f += of_spheres[end_of(pair, end)] * by_mass(term, end);
    for (int end = 0; end < num_spheres(pair); ++end)
      tangent(out, end_of(pair, end)).head<3>() += sign_of(end) * f;
  }
  spheres_->add_to_owners(out, 6, factor, y);
}

double SphereDampingPotential::obstacle_work() const {
  double work = 0;
  for (const Term& term : terms_)
    if (SphereContact::is_driven(term.touch.pair))
      work -= slope(term) * term.touch.normal.dot(contact_->way_of_other(term.touch));
  return work;
}

double SphereDampingPotential::dissipation() const {
  double sum = 0;
  for (const Term& term : terms_) sum += slope(term) * parted(term);
  return sum;
}

void SphereDampingPotential::add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const {
  for (const Term& term : terms_) {
    const SpherePair& pair = term.touch.pair;
    if (pair.obstacle < 0) continue;
    add_reaction(forces, contact_->body_of(pair) - first_body, -slope(term) * term.touch.normal,
                 place(states_, pair.a) - contact_->offset(pair) -
                     (*spheres_)[pair.a].radius * term.touch.normal);
  }
}

Matrix3d SphereDampingPotential::force_moments() const {
  Matrix3d sum = Matrix3d::Zero();
  for (const Term& term : terms_)
    sum += slope(term) * term.touch.normal * contact_->branch(term.touch, states_).transpose();
  return sum;
}

} // namespace recoil::potentials

#include "recoil/solvers/bdem/servo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using linalg::Vector;

namespace {

constexpr int max_halvings = 200, max_iterations = 100;
constexpr double force_accuracy = 1e-13;

} // namespace

Servo::Servo(std::vector<ServoPlane> planes, potentials::SphereContact& contact,
             const potentials::SphereBarrierPotential& barrier)
    : planes_(std::move(planes)), states_(planes_.size()), contact_(&contact), barrier_(&barrier) {
  for (const ServoPlane& plane : planes_) contact.free_plane(plane.plane);
}

LocalIndex Servo::obstacle(std::size_t k) const {
  return LocalIndex(contact_->obstacles().triangles.size() + planes_[k].plane);
}

std::vector<double> Servo::ways() const {
  std::vector<double> ways;
  for (const State& state : states_) ways.push_back(state.way);
  return ways;
}

void Servo::put(std::span<const double> ways) {
  for (std::size_t k = 0; k < states_.size(); ++k) {
    states_[k].start = states_[k].way = ways[k];
    contact_->move_plane(planes_[k].plane, ways[k]);
  }
}

void Servo::begin_step(double time, double dt) {
  for (std::size_t k = 0; k < states_.size(); ++k) {
    State& state = states_[k];
    state.start = state.way;
    state.force = dt > 0 ? planes_[k].force(time) : 0;
    state.balanced = false;
    state.farthest = state.start + planes_[k].max_speed * dt;
  }
}

double Servo::force_of(std::size_t k, LocalIndex particle, double gap, double& stiffness) const {
  potentials::SphereTouch touch{};
  touch.pair = {particle, -1, obstacle(k), -1};
  touch.gap = gap;
  stiffness = -barrier_->force_by_gap(touch);
  return barrier_->force(touch);
}

/// A gap at which one particle alone bears the whole force, and no less [m].
double Servo::alone(std::size_t k, LocalIndex particle) const {
  double unused = 0, far = contact_->dhat(), near = 0;
  if (barrier_->law() != potentials::ContactLaw::barrier)
    for (double depth = far; force_of(k, particle, near = far - depth, unused) < states_[k].force;)
      depth *= 2;
  for (int i = 0; i < max_halvings; ++i) {
    const double middle = (near + far) / 2;
    if (middle == near || middle == far || (near > 0 && far - near < 1e-6 * near)) break;
    (force_of(k, particle, middle, unused) < states_[k].force ? far : near) = middle;
  }
  return near;
}

/// Force of all particles on a plane that has gone so far, and its derivative by the way. Collective.
std::array<double, 2> Servo::press(std::size_t k, std::span<const double> places, double way) const {
  std::array<double, 2> sums{0, 0};
  for (std::size_t particle = 0; particle < places.size(); ++particle) {
    const double gap = places[particle] - way;
    if (!(gap < contact_->dhat())) continue;
    double stiffness = 0;
    sums[0] += force_of(k, LocalIndex(particle), gap, stiffness);
    sums[1] += stiffness;
  }
  contact_->communicator().sum(sums);
  return sums;
}

/// The force is a convex function of the way: from where one particle bears more than all of it Newton's
/// method comes down to the root without passing it. `places` of the particles are the ways at which their
/// gaps close.
void Servo::balance(std::size_t k, std::span<const double> places) {
  State& state = states_[k];
  if (!(state.force > 0)) return; // before the first step, from where the scene puts the plane
  const auto nearest = std::ranges::min_element(places);
  double way = std::numeric_limits<double>::infinity();
  if (nearest != places.end()) way = *nearest - alone(k, LocalIndex(nearest - places.begin()));
  way = contact_->communicator().min(way);
  std::array<double, 2> at{};
  state.balanced = way <= state.farthest;
  if (!state.balanced) {
    at = press(k, places, state.farthest);
    state.balanced = at[0] > state.force;
    way = state.farthest;
  } else {
    at = press(k, places, way);
  }
  for (int i = 0; state.balanced && i < max_iterations; ++i) {
    const double excess = at[0] - state.force;
    if (!(excess > force_accuracy * state.force)) break;
    const double next = way - excess / at[1];
    if (!(next < way)) break;
    way = next;
    at = press(k, places, way);
  }
  state.way = way;
  contact_->move_plane(planes_[k].plane, way);
}

void Servo::balance(std::span<const double> u) {
  const auto& spheres = *contact_->spheres();
  std::vector<double> places(spheres.num_owned());
  for (std::size_t k = 0; k < planes_.size(); ++k) {
    const potentials::Plane<3>& plane = contact_->obstacles().planes[planes_[k].plane];
    for (LocalIndex particle = 0; particle < spheres.num_owned(); ++particle)
      places[particle] =
          plane.normal.dot(particle_at(u, particle).p - plane.point) - spheres[particle].radius;
    balance(k, places);
  }
}

double Servo::work() const {
  double sum = 0;
  for (const State& state : states_) sum += state.force * (state.way - state.start);
  return sum;
}

void Servo::add_columns(const Vector& like, std::vector<Vector>& columns) const {
  for (std::size_t k = 0; k < planes_.size(); ++k) {
    if (!states_[k].balanced) continue;
    Vector column(like);
    column.fill(0);
    const auto values = column.write_owned();
    double sum = 0;
    for (const potentials::SphereTouch& touch : contact_->touching()) {
      if (touch.pair.obstacle != obstacle(k)) continue;
      const double stiffness = -barrier_->force_by_gap(touch);
      shift_of(values, touch.pair.a) += stiffness * touch.normal;
      sum += stiffness;
    }
    sum = contact_->communicator().sum(sum);
    if (!(sum > 0)) continue;
    column.scale(1 / std::sqrt(sum));
    columns.push_back(std::move(column));
  }
}

} // namespace recoil::solvers

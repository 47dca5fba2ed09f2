#include "solvers/bdem/explicit_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace recoil::solvers {

using Eigen::Vector3d;
using potentials::PairSpring;
using potentials::SphereContact;
using potentials::SpherePair;
using potentials::SphereTouch;

namespace {

using ConstMap3 = Eigen::Map<const Vector3d>;
using Map3 = Eigen::Map<Vector3d>;

ConstMap3 three(std::span<const double> values, std::size_t at) { return ConstMap3(values.data() + at); }
Map3 three(std::span<double> values, std::size_t at) { return Map3(values.data() + at); }

double smaller_radius(const potentials::Spheres& spheres, const SphereTouch& touch) {
  const double r_a = spheres[touch.pair.a].radius;
  return touch.pair.b < 0 ? r_a : std::min(r_a, spheres[touch.pair.b].radius);
}

/// What takes as much of `velocity` as `most` allows, and at most 1 / contacts of what would stop it, so that
/// several contacts of a sphere do not turn it round.
Vector3d braking(const Vector3d& velocity, double inverse_inertia, double contacts, double most) {
  const double speed = velocity.norm();
  if (speed == 0 || inverse_inertia == 0) return Vector3d::Zero();
  return -std::min(most / speed, 1 / (inverse_inertia * contacts)) * velocity;
}

} // namespace

ExplicitContact::ExplicitContact(BondedParticles& problem) : problem_(problem), pairs_(*problem.contact) {
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k) {
    const auto flags = problem.prescribed.begin() + 6 * std::size_t(k);
    const bool moves = std::none_of(flags, flags + 6, [](char flag) { return flag != 0; });
    inverse_inertia_.push_back(moves ? 1 / problem.mass[k] : 0);
    inverse_inertia_.push_back(moves ? 1 / problem.inertia(k) : 0);
  }
}

void ExplicitContact::begin_step(double time, double dt, const linalg::Vector& u) {
  dt_ = dt;
  pressing_work_ = friction_work_ = dissipation_ = damping_dissipation_ = deepest_ = 0;
  on_prescribed_.assign(6 * std::size_t(problem_.particles->num_owned()), 0.0);
  impulses_.clear();
  springs_.clear();
  sprung_.clear();
  springs_between_ = nullptr;
  spring_energy_at_start_ = 0;
  for (const potentials::ContactSpring& spring : problem_.friction->springs_at_start())
    spring_energy_at_start_ += PairSpring{Vector3d(spring.stretch.data()), spring.stiffness}.energy();
  impulse_moments_.setZero();
  pairs_.begin_step(time, dt, u.owned());
}

double ExplicitContact::energy() const {
  double sum = 0;
  for (const SphereTouch& touch : pairs_.touching()) sum += problem_.barrier->energy(touch);
  return sum;
}

void ExplicitContact::add_forces(const linalg::Vector& u, double share, std::span<double> forces) {
  pairs_.move_obstacles(share);
  pairs_.cover(u.owned());
  pairs_.update(u.owned());
  damping_impulses_.clear();
  std::vector<double> values(3 * std::size_t(pairs_.spheres()->size()), 0.0);
  for (const SphereTouch& touch : pairs_.touching()) {
    const Vector3d f = force(touch) * touch.normal;
    three(std::span(values), 3 * std::size_t(touch.pair.a)) += f;
    if (touch.pair.b >= 0) three(std::span(values), 3 * std::size_t(touch.pair.b)) -= f;
    deepest_ = std::max(deepest_, -touch.gap / smaller_radius(*pairs_.spheres(), touch));
  }
  repulsion_.assign(3 * std::size_t(problem_.particles->num_owned()), 0.0);
  pairs_.spheres()->add_to_owners(values, 3, 1, repulsion_);
  add_repulsion(forces);
}

void ExplicitContact::add_repulsion(std::span<double> forces) const {
  for (std::size_t k = 0; 3 * k < repulsion_.size(); ++k)
    three(forces, 6 * k) += three(std::span<const double>(repulsion_), 3 * k);
}

/// Whether a side of a contact moves by what is prescribed of obstacle and cell.
bool ExplicitContact::is_driven(const SphereTouch& touch) const {
  return touch.pair.obstacle >= 0 || problem_.cell_motion;
}

/// The velocity of the other side against the first one by what is prescribed: velocities of particles are
/// those against the cell.
Vector3d ExplicitContact::velocity_of_other(const SphereTouch& touch) const {
  Vector3d way = pairs_.motion_of_other(touch);
  if (problem_.cell_motion) {
    const particles::CellMotion& motion = *problem_.cell_motion;
    const auto at_rest = [&](LocalIndex sphere) {
      return Vector3d(Vector3d((*pairs_.spheres())[sphere].rest.data()) - motion.cell().origin);
    };
    Vector3d line = -at_rest(touch.pair.a);
    if (touch.pair.b >= 0) line += at_rest(touch.pair.b);
    way += (motion.end() - motion.start()) * line;
  }
  return way / dt_;
}

/// Mean over the step, in space [rad/s].
Vector3d ExplicitContact::obstacle_spin(const SphereTouch& touch) const {
  return geometry::quaternion_logarithm(pairs_.obstacle_turn(touch.pair.obstacle, 1)) / dt_;
}

/// The work of the other side of a pair that moves with this velocity, by an impulse and a moment on the
/// first one.
double ExplicitContact::drive(const SphereTouch& touch, const Vector3d& velocity, const Vector3d& impulse,
                              const Vector3d& moment) {
  if (touch.pair.b >= 0) return impulse.dot(velocity);
  const Vector3d at = three(std::span<const double>(pairs_.states()), 7 * std::size_t(touch.pair.a)) -
                      pairs_.offset(touch.pair) - (*pairs_.spheres())[touch.pair.a].radius * touch.normal;
  impulses_.push_back({pairs_.body_of(touch.pair), -impulse, -(at.cross(impulse) + moment)});
  return impulse.dot(velocity) + moment.dot(obstacle_spin(touch));
}

void ExplicitContact::press(double duration) {
  for (const SphereTouch& touch : pairs_.touching())
    if (SphereContact::is_driven(touch.pair))
      pressing_work_ +=
          drive(touch, pairs_.motion_of_other(touch) / dt_, duration * force(touch) * touch.normal);
}

void ExplicitContact::gather_inertia() {
  if (gathered_for_ == pairs_.spheres()) return;
  gathered_for_ = pairs_.spheres();
  inverse_ = gathered_for_->gather(inverse_inertia_, 2);
}

/// Number of pairs that press on each sphere. Collective.
std::vector<double> ExplicitContact::contacts_of_spheres() const {
  const potentials::Spheres& spheres = *pairs_.spheres();
  std::vector<double> counts(spheres.size(), 0.0), owned(spheres.num_owned(), 0.0);
  for (const SphereTouch& touch : pairs_.touching()) {
    if (force(touch) == 0) continue;
    ++counts[touch.pair.a];
    if (touch.pair.b >= 0) ++counts[touch.pair.b];
  }
  spheres.add_to_owners(counts, 1, 1, owned);
  return spheres.gather(owned, 1);
}

/// Velocities of the two sides of a contact against each other, and what one unit of impulse and of moment
/// changes of them.
struct ExplicitContact::Slip {
  Vector3d slip, roll;        ///< tangential [m/s], [rad/s]
  Vector3d arm_a, arm_b;      ///< from the centres to the contact [m]
  double by_force, by_moment; ///< [1/kg], [1/(kg m^2)]
};

/// From the centres to the contact: both sides act in one point between them, obstacles on the surface of the
/// sphere.
std::array<Vector3d, 2> ExplicitContact::arms_of(const SphereTouch& touch) const {
  const bool is_pair = touch.pair.b >= 0;
  const double r_a = (*gathered_for_)[touch.pair.a].radius,
               r_b = is_pair ? (*gathered_for_)[touch.pair.b].radius : 0;
  const Vector3d arm = -(is_pair ? touch.length / (r_a + r_b) : 1) * r_a * touch.normal;
  return {arm, arm + touch.length * touch.normal};
}

ExplicitContact::Slip ExplicitContact::slip_of(const SphereTouch& touch,
                                               std::span<const double> speeds) const {
  const std::size_t a = touch.pair.a, b = touch.pair.b;
  const bool is_pair = touch.pair.b >= 0;
  Slip at;
  const auto arms = arms_of(touch);
  at.arm_a = arms[0];
  at.arm_b = arms[1];
  at.roll = three(speeds, 6 * a + 3);
  at.slip = three(speeds, 6 * a) + at.roll.cross(at.arm_a);
  at.by_moment = inverse_[2 * a + 1];
  at.by_force = inverse_[2 * a] + at.arm_a.squaredNorm() * inverse_[2 * a + 1];
  if (is_pair) {
    const Vector3d spin = three(speeds, 6 * b + 3);
    at.slip -= three(speeds, 6 * b) + spin.cross(at.arm_b);
    at.roll -= spin;
    at.by_force += inverse_[2 * b] + at.arm_b.squaredNorm() * inverse_[2 * b + 1];
    at.by_moment += inverse_[2 * b + 1];
  } else {
    at.roll -= obstacle_spin(touch);
  }
  if (is_driven(touch)) at.slip -= velocity_of_other(touch);
  at.slip -= touch.normal * touch.normal.dot(at.slip);
  at.roll -= touch.normal * touch.normal.dot(at.roll);
  return at;
}

ExplicitContact::Slip ExplicitContact::without_slip(const SphereTouch& touch) const {
  const auto arms = arms_of(touch);
  return {Vector3d::Zero(), Vector3d::Zero(), arms[0], arms[1], 0, 0};
}

/// Returns what the kinetic energy grows by, less the work of prescribed particles.
double ExplicitContact::change_velocities(std::span<const double> impulses, std::span<double> v) {
  double change = 0;
  for (std::size_t i = 0; i < impulses.size(); i += 3) {
    const Vector3d step = inverse_inertia_[i / 3] * three(impulses, i);
    change += three(impulses, i).dot(three(v, i) + step / 2);
    if (inverse_inertia_[i / 3] == 0) {
      three(std::span(on_prescribed_), i) += three(impulses, i);
      friction_work_ -= three(impulses, i).dot(three(v, i));
    }
    three(v, i) += step;
  }
  return change;
}

std::vector<SpherePair> ExplicitContact::touching_pairs() const {
  std::vector<SpherePair> pairs;
  for (const SphereTouch& touch : pairs_.touching()) pairs.push_back(touch.pair);
  return pairs;
}

/// Of the pairs that touch now, from those of before, which after a search may be on other ranks.
void ExplicitContact::find_springs() {
  std::vector<SpherePair> pairs = touching_pairs();
  if (springs_between_ != pairs_.spheres()) {
    const auto owned = springs_between_ ? springs() : problem_.friction->springs_at_start();
    springs_between_ = pairs_.spheres();
    springs_ = potentials::springs_for_pairs(pairs_, *springs_between_, pairs, owned);
  } else if (!std::ranges::equal(pairs, sprung_, {}, key_of, key_of)) {
    std::vector<std::pair<PairKey, PairSpring>> before;
    for (std::size_t k = 0; k < sprung_.size(); ++k) before.emplace_back(key_of(sprung_[k]), springs_[k]);
    std::ranges::sort(before, {}, &std::pair<PairKey, PairSpring>::first);
    springs_.clear();
    for (const SpherePair& pair : pairs) {
      const auto at =
          std::ranges::lower_bound(before, key_of(pair), {}, &std::pair<PairKey, PairSpring>::first);
      springs_.push_back(at != before.end() && at->first == key_of(pair) ? at->second : PairSpring{});
    }
  }
  sprung_ = std::move(pairs);
}

void ExplicitContact::stretch_springs(double duration, std::span<const double> v) {
  if (!problem_.has_springs()) return;
  find_springs();
  const std::vector<SphereTouch>& touching = pairs_.touching();
  for (std::size_t k = 0; k < touching.size(); ++k)
    springs_[k] = potentials::carried_over(springs_[k], touching[k].normal,
                                           problem_.friction->spring_stiffness(touching[k]));
  if (duration == 0 || !problem_.particles->points->comm->any(!touching.empty())) return;
  gather_inertia();
  const std::vector<double> speeds = pairs_.spheres()->gather(v, 6);
  for (std::size_t k = 0; k < touching.size(); ++k) {
    const SpherePair& pair = touching[k].pair;
    const Vector3d spin = three(std::span<const double>(speeds), 6 * std::size_t(pair.a) + 3),
                   other =
                       pair.b < 0
                           ? obstacle_spin(touching[k])
                           : Vector3d(three(std::span<const double>(speeds), 6 * std::size_t(pair.b) + 3)),
                   n = touching[k].normal;
    Vector3d& stretch = springs_[k].stretch; // at right angles to n
    const double turn = duration * n.dot(spin + other) / 2;
    stretch = std::cos(turn) * stretch + std::sin(turn) * n.cross(stretch) +
              duration * slip_of(touching[k], speeds).slip;
  }
}

std::vector<potentials::ContactSpring> ExplicitContact::springs() const {
  return potentials::springs_for_owners(pairs_, *springs_between_, sprung_, springs_);
}

double ExplicitContact::spring_energy() const {
  double sum = 0;
  for (const PairSpring& spring : springs_) sum += spring.energy();
  return sum;
}

/// Yields where the whole normal force, damping included, cannot bear it.
Vector3d ExplicitContact::spring_impulse(std::size_t k, double coefficient, double duration) {
  PairSpring& spring = springs_[k];
  const double damping = damping_impulses_.empty() ? 0 : damping_impulses_[k] / duration,
               most = coefficient * std::max(0.0, force(pairs_.touching()[k]) + damping);
  spring.stretch = potentials::within_reach(spring.stretch, most / spring.stiffness);
  return -duration * spring.stiffness * spring.stretch;
}

/// Impulse [N s] and angular impulse [N m s] of friction for `duration` on the first side of the k-th
/// contact, whose busier sphere is in `contacts` of them.
std::array<Vector3d, 2> ExplicitContact::friction_impulse(std::size_t k, const Slip& at, double duration,
                                                          double contacts) {
  const SphereTouch& touch = pairs_.touching()[k];
  const potentials::FrictionCoefficients& mu = problem_.friction->coefficients();
  const potentials::Spheres& spheres = *pairs_.spheres();
  const double normal_impulse = duration * force(touch),
               coefficient = mu ? mu(spheres[touch.pair.a].body, pairs_.body_of(touch.pair)) : 0,
               r_a = spheres[touch.pair.a].radius,
               radius = touch.pair.b < 0 ? r_a : (r_a + spheres[touch.pair.b].radius) / 2;
  return {problem_.has_springs() ? spring_impulse(k, coefficient, duration)
                                 : braking(at.slip, at.by_force, contacts, coefficient * normal_impulse),
          braking(at.roll, at.by_moment, contacts, problem_.friction->rolling() * normal_impulse * radius)};
}

void ExplicitContact::apply_friction(double duration, std::span<double> v) {
  if (!problem_.friction->acts() || !problem_.particles->points->comm->any(!pairs_.touching().empty()))
    return;
  gather_inertia();
  const potentials::Spheres& spheres = *pairs_.spheres();
  // Springs need neither speeds nor what else a sphere touches.
  const bool brakes = !problem_.has_springs() || problem_.friction->rolling() > 0;
  const std::vector<double> speeds = brakes ? spheres.gather(v, 6) : std::vector<double>(),
                            counts = brakes ? contacts_of_spheres() : std::vector(spheres.size(), 1.0);
  double by_obstacles = 0;
  std::vector<double> impulses(6 * std::size_t(spheres.size()), 0.0), owned(v.size(), 0.0);
  for (std::size_t k = 0; k < pairs_.touching().size(); ++k) {
    const SphereTouch& touch = pairs_.touching()[k];
    if (force(touch) == 0) continue;
    const std::size_t a = touch.pair.a, b = touch.pair.b;
    const bool is_pair = touch.pair.b >= 0;
    const Slip at = brakes ? slip_of(touch, speeds) : without_slip(touch);
    const auto [j, m] =
        friction_impulse(k, at, duration, is_pair ? std::max(counts[a], counts[b]) : counts[a]);
    three(std::span(impulses), 6 * a) += j;
    three(std::span(impulses), 6 * a + 3) += at.arm_a.cross(j) + m;
    if (is_pair) {
      three(std::span(impulses), 6 * b) -= j;
      three(std::span(impulses), 6 * b + 3) -= at.arm_b.cross(j) + m;
    }
    if (is_driven(touch)) by_obstacles += drive(touch, velocity_of_other(touch), j, m);
    impulse_moments_ -= j * pairs_.branch(touch, pairs_.states()).transpose();
  }
  friction_work_ += by_obstacles;
  spheres.add_to_owners(impulses, 6, 1, owned);
  dissipation_ += by_obstacles - change_velocities(owned, v);
}

/// Speed at which the sides of a contact approach each other along the normal [m/s].
double ExplicitContact::approach_of(const SphereTouch& touch, std::span<const double> speeds) const {
  Vector3d apart = three(speeds, 6 * std::size_t(touch.pair.a));
  if (touch.pair.b >= 0) apart -= three(speeds, 6 * std::size_t(touch.pair.b));
  if (is_driven(touch)) apart -= velocity_of_other(touch);
  return -touch.normal.dot(apart);
}

/// The impulse j that keeps a contact apart beside its force N: j = duration N z / sqrt(1 + z^2) with z at
/// the mean speed of the kick, of which it takes j / (2 m). Bisection: the difference grows with j.
double ExplicitContact::damping_impulse(const SphereTouch& touch, double energy, double duration,
                                        double approach) const {
  const std::size_t a = touch.pair.a, b = touch.pair.b;
  const double inverse_mass = inverse_[2 * a] + (touch.pair.b >= 0 ? inverse_[2 * b] : 0),
               most = duration * force(touch);
  if (inverse_mass == 0 || !(energy > 0)) return 0;
  const double rate = problem_.damping->damping() / std::sqrt(inverse_mass * energy);
  double less = -most, more = most;
  constexpr int halvings = 52;
  for (int i = 0; i < halvings; ++i) {
    const double j = (less + more) / 2, z = rate * (approach - j * inverse_mass / 2);
    (j < most * z / std::sqrt(1 + z * z) ? less : more) = j;
  }
  return (less + more) / 2;
}

void ExplicitContact::apply_damping(double duration, std::span<const double> v_at_start,
                                    std::span<double> v) {
  if (!problem_.particles->points->comm->any(!pairs_.touching().empty())) return;
  gather_inertia();
  const potentials::Spheres& spheres = *pairs_.spheres();
  std::vector<double> mean(v.size());
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (v_at_start[i] + v[i]) / 2;
  const std::vector<double> speeds = spheres.gather(mean, 6);
  damping_impulses_.clear();
  std::vector<double> impulses(speeds.size(), 0.0), owned(v.size(), 0.0);
  double by_obstacles = 0;
  const auto held = potentials::energies_of_touches(pairs_, *problem_.barrier);
  auto next = held.begin();
  for (const SphereTouch& touch : pairs_.touching()) {
    damping_impulses_.push_back(
        damping_impulse(touch, (next++)->energy, duration, approach_of(touch, speeds)));
    const Vector3d j = damping_impulses_.back() * touch.normal;
    three(std::span(impulses), 6 * std::size_t(touch.pair.a)) += j;
    if (touch.pair.b >= 0) three(std::span(impulses), 6 * std::size_t(touch.pair.b)) -= j;
    if (is_driven(touch)) by_obstacles += drive(touch, velocity_of_other(touch), j);
    impulse_moments_ -= j * pairs_.branch(touch, pairs_.states()).transpose();
  }
  friction_work_ += by_obstacles;
  spheres.add_to_owners(impulses, 6, 1, owned);
  damping_dissipation_ += by_obstacles - change_velocities(owned, v);
}

std::vector<double> ExplicitContact::friction_on_prescribed() const {
  std::vector<double> forces = on_prescribed_;
  for (double& force : forces) force /= dt_;
  return forces;
}

void ExplicitContact::add_obstacle_forces(std::int32_t first_body, std::span<double> forces) const {
  for (const Impulse& impulse : impulses_) {
    const std::size_t at = 6 * std::size_t(impulse.body - first_body);
    three(forces, at) += impulse.linear / dt_;
    three(forces, at + 3) += impulse.angular / dt_;
  }
}

} // namespace recoil::solvers

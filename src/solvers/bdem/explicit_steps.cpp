#include "solvers/bdem/explicit_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/phases.hpp"
#include "solvers/bdem/breaking.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using Eigen::Vector3d;
using geometry::Quaternion;
using linalg::Vector;

namespace {

using Map6 = Eigen::Map<Eigen::Matrix<double, 6, 1>>;
using ConstMap6 = Eigen::Map<const Eigen::Matrix<double, 6, 1>>;

Map6 six_of(std::vector<double>& values, LocalIndex particle) {
  return Map6(values.data() + 6 * std::size_t(particle));
}
ConstMap6 six_of(std::span<const double> values, LocalIndex particle) {
  return ConstMap6(values.data() + 6 * std::size_t(particle));
}

/// q turned by the rotation vector 2 half in space. Short sub-steps turn by little, where the series is exact
/// in double precision and faster than the functions.
Quaternion turned(const Quaternion& q, const Vector3d& half) {
  const double x = half.squaredNorm();
  Quaternion turn;
  if (x < 0.01) {
    turn << (1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110))))) * half,
        1 - x / 2 * (1 - x / 12 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90))));
  } else {
    turn = geometry::quaternion_exponential(2 * half);
  }
  const Quaternion result = geometry::product(turn, q);
  // One step of Newton's method for 1 / |q|: the norm is off by round-off only.
  return (1.5 - 0.5 * result.squaredNorm()) * result;
}

/// Sub-steps between two questions whether to stop, which are collective.
constexpr int sub_steps_between_questions = 64;

} // namespace

ExplicitSteps::ExplicitSteps(BondedParticles& problem, double share)
    : problem_(problem), longest_(share * critical_time_step(problem)), bonds_(problem) {
  if (!(share > 0))
    throw InputError(
        "<explicit_share>",
        fmt::format("sub-steps of {} critical time steps; give a number above 0, stable are those "
                    "below about 1",
                    share));
  if (problem.contact) contact_.emplace(problem);
  const LocalIndex num_owned = problem.particles->num_owned();
  v_.resize(6 * std::size_t(num_owned));
  load_.resize(v_.size());
  force_.resize(6 * problem.particles->ids.size());
  is_constrained_.resize(num_owned);
  for (LocalIndex k = 0; k < num_owned; ++k) {
    mass_.push_back(problem.mass[k]);
    inertia_.push_back(problem.inertia(k));
    shift_of(std::span(load_), k) = problem.mass[k] * problem.gravity;
    const std::span flags = std::span(problem.prescribed).subspan(6 * std::size_t(k), 6);
    is_constrained_[k] = std::ranges::any_of(flags, [](char flag) { return flag != 0; }) ? 1 : 0;
    if (is_constrained_[k] == 0) continue;
    Constrained& at = constrained_.emplace_back();
    at.particle = k;
    std::ranges::copy(flags, at.prescribed.begin());
    const double r = problem.particles->radii[k];
    at.mass << Vector3d::Constant(mass_[k]), Vector3d::Constant(inertia_[k] / (r * r));
  }
}

int ExplicitSteps::num_sub_steps(double dt) const {
  // Whole multiples of the longest sub-step stay what they are in spite of round-off.
  return std::max(1, int(std::ceil(dt / longest_ * (1 - 1e-9))));
}

void ExplicitSteps::take_velocities(const Vector& u, const Vector& v) {
  const std::span<double> in_space(v_);
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    shift_of(in_space, k) = shift_of(v.owned(), k);
    turn_of(in_space, k) = geometry::rotation_matrix(particle_at(u.owned(), k).q) * turn_of(v.owned(), k) /
                           problem_.particles->radii[k];
  }
  for (Constrained& at : constrained_) at.v = six_of(v.owned(), at.particle);
}

void ExplicitSteps::give_velocities(const Vector& u, Vector& v) const {
  const std::span<const double> in_space(v_);
  const auto values = v.write_owned();
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    shift_of(values, k) = shift_of(in_space, k);
    turn_of(values, k) =
        problem_.particles->radii[k] *
        (geometry::rotation_matrix(particle_at(u.owned(), k).q).transpose() * turn_of(in_space, k));
  }
  for (const Constrained& at : constrained_) {
    shift_of(values, at.particle) = at.v.head<3>();
    turn_of(values, at.particle) = at.v.tail<3>();
  }
  v.update_ghosts();
}

/// The velocity in space of a particle with the orientation q.
void ExplicitSteps::set_velocity(const Constrained& at, const Quaternion& q) {
  six_of(v_, at.particle) << at.v.head<3>(),
      geometry::rotation_matrix(q) * at.v.tail<3>() / problem_.particles->radii[at.particle];
}

/// The entries of a particle of forces and torques in space, along its tangent space.
ExplicitSteps::Vector6 ExplicitSteps::tangent_force(std::span<const double> forces, LocalIndex particle,
                                                    const potentials::Particle& at) const {
  Vector6 result;
  result << shift_of(forces, particle), geometry::rotation_matrix(at.q).transpose() *
                                            turn_of(forces, particle) / problem_.particles->radii[particle];
  return result;
}

/// After a drift of this duration, with obstacles at `share` of their motion in the step.
void ExplicitSteps::find_forces(const Vector& u, double time, double drifted, double share,
                                Outcome& outcome) {
  const PhaseScope phase(Phase::assembly);
  const std::span<const LocalIndex> broken = bonds_.forces(u.local(), force_);
  if (!broken.empty()) {
    const auto counted = break_bonds(problem_, broken, u.local(), time);
    outcome.broken.insert(outcome.broken.end(), counted.begin(), counted.end());
  }
  if (contact_) {
    const PhaseScope contact(Phase::contact);
    contact_->add_forces(u, share, std::span(force_).first(v_.size()));
    contact_->stretch_springs(drifted, v_);
  }
  if (!problem_.add_loads) return;
  std::ranges::fill(load_, 0.0);
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k)
    shift_of(std::span(load_), k) = problem_.mass[k] * problem_.gravity;
  problem_.add_loads(time, load_);
}

/// Changes velocities by the forces during `before`, the rest of the sub-step that ends, and `after`, the
/// first half of that which begins; each works along the way of its sub-step.
void ExplicitSteps::kick(double before, double after, const Vector& u, Outcome& outcome) {
  double of_bonds = 0, of_loads = 0;
  const std::vector<double> v_at_start = problem_.damping ? v_ : std::vector<double>();
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    if (is_constrained_[k] != 0) continue;
    Map6 v = six_of(v_, k);
    const Vector6 by_bonds = six_of(force_, k), by_loads = six_of(load_, k), v_before = v;
    v.head<3>() += (before + after) / mass_[k] * (by_bonds + by_loads).head<3>();
    v.tail<3>() += (before + after) / inertia_[k] * (by_bonds + by_loads).tail<3>();
    const Vector6 way = before * v_before + after * v;
    of_bonds += by_bonds.dot(way);
    of_loads += by_loads.dot(way);
  }
  outcome.external_work += of_loads;
  outcome.bond_work -= of_bonds;
  for (Constrained& at : constrained_) kick(at, before, after, u, outcome);
  if (contact_) touch(before, after, v_at_start, outcome);
}

/// What obstacles, damping and friction do in a kick from velocities `v_at_start`.
void ExplicitSteps::touch(double before, double after, const std::vector<double>& v_at_start,
                          Outcome& outcome) {
  contact_->press(before + after);
  std::vector<double> v_before = v_;
  if (problem_.damping) {
    contact_->apply_damping(before + after, v_at_start, v_);
    count_ways(after, v_before, outcome.dissipated_damping, outcome);
    v_before = v_;
  }
  contact_->apply_friction(before + after, v_);
  count_ways(after, v_before, outcome.dissipated_friction, outcome);
}

/// Forces work along the way that friction or damping leaves; what it takes from that is its own.
void ExplicitSteps::count_ways(double after, const std::vector<double>& v_before, double& dissipated,
                               Outcome& outcome) const {
  for (std::size_t i = 0; i < v_.size(); ++i) {
    const double way = after * (v_[i] - v_before[i]);
    outcome.external_work += load_[i] * way;
    outcome.bond_work -= force_[i] * way;
    dissipated += (load_[i] + force_[i]) * way;
  }
}

void ExplicitSteps::kick(Constrained& at, double before, double after, const Vector& u, Outcome& outcome) {
  at.start = particle_at(u.owned(), at.particle);
  at.force = tangent_force(force_, at.particle, at.start);
  const Vector6 load = tangent_force(load_, at.particle, at.start);
  for (int i = 0; i < 6; ++i) {
    if (at.prescribed[i] != 0) {
      // The way of the sub-step that begins is known after the move.
      outcome.external_work -= before * at.force[i] * at.v[i];
      outcome.bond_work -= before * at.force[i] * at.v[i];
      continue;
    }
    const double v_before = at.v[i];
    at.v[i] += (before + after) / at.mass[i] * (at.force[i] + load[i]);
    const double way = before * v_before + after * at.v[i];
    outcome.external_work += load[i] * way;
    outcome.bond_work -= at.force[i] * way;
  }
  set_velocity(at, at.start.q);
}

void ExplicitSteps::add_contact_gradient(const Vector& u, std::span<double> g) const {
  if (!contact_) return;
  std::vector<double> forces = contact_->friction_on_prescribed();
  contact_->add_repulsion(forces);
  for (const Constrained& at : constrained_) {
    const Vector6 f = tangent_force(forces, at.particle, particle_at(u.owned(), at.particle));
    for (int i = 0; i < 6; ++i) g[6 * std::size_t(at.particle) + i] -= f[i];
  }
}

/// During h, in which the cell goes this share of its way in the step.
void ExplicitSteps::drift(Vector& u, double h, double share) const {
  const auto values = u.write_owned();
  const std::span<const double> v(v_);
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    const potentials::Particle from = particle_at(values, k);
    const Vector3d carried = problem_.cell_motion ? Vector3d(share * problem_.carried(k)) : Vector3d::Zero();
    set_particle(values, k, {from.p + h * shift_of(v, k) + carried, turned(from.q, h / 2 * turn_of(v, k))});
  }
}

/// Where velocities have come from during h: strains there and at u tell their rates.
Vector ExplicitSteps::before_drift(const Vector& u, double h, double share) const {
  Vector before(u);
  drift(before, -h, -share);
  before.update_ghosts();
  return before;
}

void ExplicitSteps::add_damping_gradient(const Vector& u, const Vector& v, double time, std::span<double> g) {
  if (!problem_.bond_damping) return;
  take_velocities(u, v);
  problem_.begin_cell(time, sub_step_);
  const Vector before = before_drift(u, sub_step_, 1);
  problem_.bond_damping->begin_step({time, sub_step_, 1, before.local()});
  problem_.bond_damping->add_gradient(u.local(), 1, g);
}

/// The work of forces by this share of the way of the cell in the step, as it stands on both ends of it.
void ExplicitSteps::deform(const Vector& u, double share, Outcome& outcome) const {
  if (!problem_.cell_motion) return;
  const Eigen::Matrix3d way =
      share * (problem_.cell_motion->end() - problem_.cell_motion->start()); // of the cell
  double work = -way.cwiseProduct(bonds_.moments_of_images()).sum();
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k)
    work -= shift_of(std::span<const double>(force_), k).dot(share * problem_.carried(k));
  outcome.external_work += work;
  outcome.bond_work += work;
}

/// At the end of a sub-step of length h, in which the cell goes this share of its way in the step.
void ExplicitSteps::move_prescribed(Vector& u, double time, double h, double share, Outcome& outcome) {
  if (problem_.move_prescribed) problem_.move_prescribed(time, u.write_local());
  for (Constrained& at : constrained_) {
    const potentials::Particle now = particle_at(u.owned(), at.particle);
    Vector6 way;
    way << now.p - at.start.p - share * problem_.carried(at.particle),
        problem_.particles->radii[at.particle] *
            geometry::quaternion_logarithm(geometry::product(geometry::conjugate(at.start.q), now.q));
    for (int i = 0; i < 6; ++i) {
      if (at.prescribed[i] == 0) continue;
      if (problem_.move_prescribed) at.v[i] = way[i] / h;
      outcome.external_work -= h / 2 * at.force[i] * at.v[i];
      outcome.bond_work -= h / 2 * at.force[i] * at.v[i];
    }
    set_velocity(at, now.q);
  }
}

/// f' M^-1 f of components that follow forces.
double ExplicitSteps::squared_forces(const Vector& u) const {
  double sum = 0;
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    if (is_constrained_[k] != 0) continue;
    const Vector6 f = six_of(force_, k) + six_of(load_, k);
    sum += f.head<3>().squaredNorm() / mass_[k] + f.tail<3>().squaredNorm() / inertia_[k];
  }
  for (const Constrained& at : constrained_) {
    const potentials::Particle place = particle_at(u.owned(), at.particle);
    const Vector6 f = tangent_force(force_, at.particle, place) + tangent_force(load_, at.particle, place);
    for (int i = 0; i < 6; ++i)
      if (at.prescribed[i] == 0) sum += f[i] * f[i] / at.mass[i];
  }
  return sum;
}

double ExplicitSteps::prescribed_kinetic_energy() const {
  double sum = 0;
  for (const Constrained& at : constrained_)
    for (int i = 0; i < 6; ++i)
      if (at.prescribed[i] != 0) sum += at.mass[i] * at.v[i] * at.v[i] / 2;
  return sum;
}

ExplicitSteps::Outcome ExplicitSteps::advance(Vector& u, Vector& v, double time, double dt, int refinement,
                                              const std::function<bool()>& interrupted) {
  Outcome outcome;
  const int count = refinement * num_sub_steps(dt);
  const double h = sub_step_ = dt / count;
  bonds_.refresh();
  take_velocities(u, v);
  problem_.begin_cell(time, dt);
  if (contact_) contact_->begin_step(time, dt, u);
  const double share = 1.0 / count;
  if (problem_.bond_damping) {
    if (problem_.cell_motion) problem_.cell_motion->go(-share);
    const Eigen::Matrix3d F =
        problem_.cell_motion ? problem_.cell_motion->now() : Eigen::Matrix3d(Eigen::Matrix3d::Identity());
    bonds_.begin_damping(before_drift(u, h, share).local(), F, h);
  }
  if (problem_.cell_motion) problem_.cell_motion->go(0);
  find_forces(u, time - dt, 0, 0, outcome);
  outcome.bond_work += h * h / 8 * squared_forces(u);
  outcome.external_work -= prescribed_kinetic_energy();
  for (int s = 1; s <= count; ++s) {
    if (interrupted && s % sub_steps_between_questions == 1 && interrupted()) {
      outcome.interrupted = true;
      return outcome;
    }
    const double end = time - (count - s) * h;
    kick(s == 1 ? 0 : h / 2, h / 2, u, outcome);
    deform(u, s == 1 ? share / 2 : share, outcome);
    drift(u, h, share);
    if (problem_.cell_motion) problem_.cell_motion->go(double(s) / count);
    move_prescribed(u, end, h, share, outcome);
    if (contact_ && problem_.particles->points->comm->any(
                        !std::ranges::all_of(u.owned(), [](double value) { return std::isfinite(value); }))) {
      outcome.diverged = true;
      return outcome;
    }
    u.update_ghosts();
    find_forces(u, end, h, double(s) / count, outcome);
  }
  kick(h / 2, 0, u, outcome);
  deform(u, share / 2, outcome);
  outcome.bond_work -= h * h / 8 * squared_forces(u);
  outcome.external_work += prescribed_kinetic_energy();
  outcome.dissipated_bonds = bonds_.dissipation();
  if (contact_) {
    outcome.external_work += contact_->pressing_work() + contact_->friction_work();
    outcome.bond_work += contact_->pressing_work();
    outcome.dissipated_friction += contact_->dissipation();
    outcome.dissipated_damping += contact_->damping_dissipation();
  }
  give_velocities(u, v);
  return outcome;
}

} // namespace recoil::solvers

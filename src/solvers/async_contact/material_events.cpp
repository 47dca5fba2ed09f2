#include <cmath>

#include <fmt/format.h>

#include "recoil/surface/shape.hpp"
#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

/// A number without pattern (SplitMix64).
std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

struct DampedKick {
  double impulse, dissipated;
};

/// What force F and drag -c u do in a time h to a coordinate of rate u and inverse mass `response`: with
/// r = c response h the rate becomes F / c + (u - F / c) exp(-r), whether r is small or large (where the rate
/// follows the force).
DampedKick damped_kick(double force, double rate, double drag, double response, double h) {
  const double r = drag * response * h;
  if (!(r > 0)) return {h * force, 0};
  const double decay = -std::expm1(-r), mean_decay = decay / r; // of the rate at the end, and in the mean
  const double steady = force / drag;
  const double path = h * (steady + (rate - steady) * mean_decay);
  const double impulse = h * mean_decay * (force - drag * rate);
  const double gained = impulse * (rate + 0.5 * response * impulse);
  return {impulse, std::max(0.0, force * path - gained)};
}

} // namespace

void Integrator::Engine::start_clocks(Tick t) {
  first_spring = first_script + static_cast<std::int32_t>(model.scripts.size());
  first_membrane = first_spring + static_cast<std::int32_t>(model.springs.size());
  first_hinge = first_membrane + static_cast<std::int32_t>(model.membranes.size());
  first_pair = first_hinge + static_cast<std::int32_t>(model.hinges.size());
  heap.resize(first_pair);
  clocks.assign(first_pair, Clock{0, 1});
  const auto start = [&](std::int32_t slot, double step) {
    Clock& clock = clocks[slot];
    clock.step = model.tick.floor(step);
    if (model.staggered)
      clock.phase = static_cast<Tick>(scatter(slot) % static_cast<std::uint64_t>(clock.step));
    heap.put(slot, material_key(slot, clock.first_after(t)));
  };
  if (!model.gravity.isZero(0)) start(0, model.gravity_step);
  const auto start_all = [&](std::int32_t first, const auto& elements) {
    for (std::int32_t i = 0; i < std::ssize(elements); ++i)
      if (is_mine(elements[i].vertices)) start(first + i, elements[i].step);
  };
  start_all(first_spring, model.springs);
  start_all(first_membrane, model.membranes);
  start_all(first_hinge, model.hinges);

  script_row.assign(model.scripts.size(), 0);
  for (std::int32_t i = 0; i < std::ssize(model.scripts); ++i) {
    const auto& entries = model.scripts[i].entries;
    while (script_row[i] < std::ssize(entries) && model.tick.floor(entries[script_row[i]].time) <= t)
      ++script_row[i];
    if (script_row[i] < std::ssize(entries))
      heap.put(first_script + i,
               {model.tick.floor(entries[script_row[i]].time), event_order(EventClass::prescribed, 0, i)});
  }
}

EventKey Integrator::Engine::material_key(std::int32_t slot, Tick t) const {
  return {t, event_order(EventClass::material, 0, slot)};
}

void Integrator::Engine::handle(std::int32_t slot, Tick t) {
  if (slot >= first_pair) return pair_event(slot - first_pair, t);
  if (slot == 1) return begin_window(t);
  if (slot >= first_script && slot < first_spring) return script_event(slot - first_script, t);
  // The next time comes first: what is kicked may move other events, not this one.
  heap.put(slot, material_key(slot, t + clocks[slot].step));
  if (slot >= first_hinge)
    hinge_event(slot - first_hinge, t);
  else if (slot >= first_membrane)
    membrane_event(slot - first_membrane, t);
  else if (slot >= first_spring)
    spring_event(slot - first_spring, t);
  else
    gravity_event(t);
}

void Integrator::Engine::gravity_event(Tick t) {
  ++counts.gravity;
  const Eigen::Vector3d change = seconds(clocks[0].step) * model.gravity;
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v) {
    VertexState& x = vertices[v];
    if (x.inverse_mass == 0 || !is_mine({&v, 1})) continue;
    x.q = position(v, t);
    x.tick = t;
    x.v += change;
    const Eigen::Vector3d impulse = change / x.inverse_mass;
    ledger.gravity_impulse += impulse;
    ledger.gravity_torque += x.q.cross(impulse);
  }
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v)
    if (vertices[v].inverse_mass != 0) velocity_changed(v, t);
}

void Integrator::Engine::script_event(std::int32_t script, Tick t) {
  const Script& of = model.scripts[script];
  const Eigen::Vector3d& velocity = of.entries[script_row[script]].velocity;
  for (const LocalIndex v : of.vertices) {
    VertexState& x = vertices[v];
    x.q = position(v, t);
    x.tick = t;
    x.v = velocity;
  }
  for (const LocalIndex v : of.vertices) velocity_changed(v, t);
  const std::int32_t next = ++script_row[script];
  heap.put(first_script + script, next < std::ssize(of.entries)
                                      ? EventKey{model.tick.floor(of.entries[next].time),
                                                 event_order(EventClass::prescribed, 0, script)}
                                      : EventKey{never, 0});
}

/// Decreases the velocity along `force` / mass, the gradient of a Rayleigh dissipation, as far as exact decay
/// in this direction would for a time h: never beyond the rest of it, so that it always dissipates. Returns
/// the energy lost. Half of it comes before the force of the element and half after: what a force gives to
/// velocities that damping takes away again is then an error of second order, also where damping is most of
/// the motion.
template <int n>
double Integrator::Engine::damp(const std::array<LocalIndex, n>& of, const Points<n>& x, Tick t,
                                const Points<n>& force, double h) {
  double power = 0, response = 0;
  for (int i = 0; i < n; ++i) {
    power += force.col(i).dot(vertices[of[i]].v);
    response += force.col(i).squaredNorm() * vertices[of[i]].inverse_mass;
  }
  if (!(power > 0 && response > 0)) return 0;
  const double longest = power / response, share = -longest * std::expm1(-h / longest);
  for (int i = 0; i < n; ++i) kick(of[i], x.col(i), t, -share * force.col(i));
  return share * power - 0.5 * share * share * response;
}

void Integrator::Engine::spring_event(std::int32_t index, Tick t) {
  const Spring& spring = model.springs[index];
  if (!meet(spring.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_spring + index].step);
  const Points<2> x = positions(spring.vertices, t), force = gradient(spring, x);
  const auto damp_half = [&] {
    if (!(spring.damping > 0)) return;
    const Points<2> v = velocities(spring.vertices);
    const Eigen::Vector3d along = (x.col(1) - x.col(0)).normalized();
    const Eigen::Vector3d drag = spring.damping * along.dot(v.col(1) - v.col(0)) * along;
    Points<2> drags;
    drags << -drag, drag;
    book->spring_damping += damp<2>(spring.vertices, x, t, drags, 0.5 * h);
  };
  damp_half();
  for (int i = 0; i < 2; ++i) kick(spring.vertices[i], x.col(i), t, -h * force.col(i));
  damp_half();
  velocities_changed(spring.vertices, t);
}

void Integrator::Engine::membrane_event(std::int32_t index, Tick t) {
  const Membrane& membrane = model.membranes[index];
  if (!meet(membrane.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_membrane + index].step);
  const Points<3> x = positions(membrane.vertices, t);
  double trace = 0;
  const Points<3> force = gradient(membrane, x, &trace);
  if (trace > 0.5 * (model.max_stretch * model.max_stretch - 1))
    fail(Outcome::overstretched, fmt::format("membrane {} of vertices {}, {}, {} is stretched beyond {} at "
                                             "{} s: make the loads smaller, or the "
                                             "steps (alpha) smaller and max_stretch larger",
                                             index, membrane.vertices[0], membrane.vertices[1],
                                             membrane.vertices[2], model.max_stretch, seconds(t)));
  const auto damp_half = [&] {
    if (membrane.damping > 0)
      book->stretch_damping += damp<3>(membrane.vertices, x, t,
                                       damping_gradient(membrane, x, velocities(membrane.vertices)), 0.5 * h);
  };
  damp_half();
  for (int i = 0; i < 3; ++i) kick(membrane.vertices[i], x.col(i), t, -h * force.col(i));
  damp_half();
  velocities_changed(membrane.vertices, t);
}

void Integrator::Engine::hinge_event(std::int32_t index, Tick t) {
  const BendingHinge& hinge = model.hinges[index];
  if (!meet(hinge.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_hinge + index].step);
  const Points<4> x = positions(hinge.vertices, t);
  double bend = surface::fold_angle(x) - rest_angles[index];
  if (std::abs(bend) > hinge.yield_angle) {
    const double flow = bend - std::copysign(hinge.yield_angle, bend);
    rest_angles[index] += flow;
    book->plasticity +=
        2 * hinge.coefficient * hinge.yield_angle * std::abs(flow); // by the force at the yield angle
    bend -= flow;
  }
  const Points<4> turn = angle_gradient(x);
  const double force = -2 * hinge.coefficient * bend;
  double impulse = h * force;
  if (hinge.damping > 0) {
    const double rate = turn.cwiseProduct(velocities(hinge.vertices)).sum();
    double response = 0;
    for (int i = 0; i < 4; ++i)
      response += turn.col(i).squaredNorm() * vertices[hinge.vertices[i]].inverse_mass;
    const DampedKick damped = damped_kick(force, rate, 2 * hinge.damping, response, h);
    impulse = damped.impulse;
    book->bend_damping += damped.dissipated;
  }
  for (int i = 0; i < 4; ++i) kick(hinge.vertices[i], x.col(i), t, impulse * turn.col(i));
  velocities_changed(hinge.vertices, t);
}

} // namespace recoil::solvers::async_contact

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

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

void put_strain(const Eigen::Matrix2d& e, double* to) {
  to[0] = e(0, 0);
  to[1] = e(1, 1);
  to[2] = e(0, 1);
}

Eigen::Matrix2d strain_at(const double* from) {
  return Eigen::Matrix2d{{from[0], from[2]}, {from[2], from[1]}};
}

/// The way from one angle to another, at most half a turn.
double turn_between(double from, double to) {
  const double way = to - from;
  return std::abs(way) < M_PI ? way : std::remainder(way, 2 * M_PI);
}

} // namespace

void Integrator::Engine::start_clocks(Tick t) {
  first_spring = first_script + static_cast<std::int32_t>(model.scripts.size());
  first_membrane = first_spring + static_cast<std::int32_t>(model.springs.size());
  first_hinge = first_membrane + static_cast<std::int32_t>(model.membranes.size());
  first_solid = first_hinge + static_cast<std::int32_t>(model.hinges.size());
  first_load = first_solid + static_cast<std::int32_t>(model.solids.size());
  first_pair = first_load + static_cast<std::int32_t>(model.loads.size());
  stencil_starts.assign(first_spring, nullptr);
  const auto list_stencils = [&](const auto& elements) {
    for (const auto& element : elements) stencil_starts.push_back(element.vertices.data());
  };
  list_stencils(model.springs);
  list_stencils(model.membranes);
  list_stencils(model.hinges);
  list_stencils(model.solids);
  list_stencils(model.loads);
  heap.resize(first_pair);
  clocks.assign(first_pair, Clock{0, 1});
  const auto start = [&](std::int32_t slot, double step) {
    Clock& clock = clocks[slot];
    clock.step = model.tick.floor(step);
    if (model.staggered)
      clock.phase = static_cast<Tick>(scatter(slot) % static_cast<std::uint64_t>(clock.step));
    if (certificates == Certificates::windows)
      periodic.add(slot, clock.first_after(t), clock.step);
    else
      heap.put(slot, material_key(slot, clock.first_after(t)));
  };
  periodic.clear();
  if (!model.gravity.isZero(0) || model.acceleration) start(0, model.gravity_step);
  const auto start_all = [&](std::int32_t first, const auto& elements) {
    for (std::int32_t i = 0; i < std::ssize(elements); ++i)
      if (is_mine(elements[i].vertices) && (!ranks || ranks->takes_part(elements[i].vertices)))
        start(first + i, elements[i].step);
  };
  start_all(first_spring, model.springs);
  start_all(first_membrane, model.membranes);
  start_all(first_hinge, model.hinges);
  start_all(first_solid, model.solids);
  start_all(first_load, model.loads);
  periodic.begin();

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

EventHeap::Entry Integrator::Engine::next_event() const {
  EventHeap::Entry next{{never, 0}, -1};
  if (heap.size() > 0) next = heap.top();
  const EventBatches::Event& material = periodic.first();
  if (material.tick > next.key.tick) return next;
  const EventKey key = material_key(material.slot, material.tick);
  return key < next.key ? EventHeap::Entry{key, material.slot} : next;
}

void Integrator::Engine::handle(std::int32_t slot, Tick t) {
  if (slot >= first_pair) return pair_event(slot - first_pair, t);
  if (slot == 1) return begin_window(t);
  if (slot >= first_script && slot < first_spring) return script_event(slot - first_script, t);
  // The next time comes first: what is kicked may move other events, not this one.
  if (certificates == Certificates::windows) {
    periodic.remove_first();
    fetch_ahead();
  } else {
    heap.put(slot, material_key(slot, t + clocks[slot].step));
  }
  if (slot >= first_load)
    load_event(slot - first_load, t);
  else if (slot >= first_solid)
    solid_event(slot - first_solid, t);
  else if (slot >= first_hinge)
    hinge_event(slot - first_hinge, t);
  else if (slot >= first_membrane)
    membrane_event(slot - first_membrane, t);
  else if (slot >= first_spring)
    spring_event(slot - first_spring, t);
  else
    gravity_event(t);
}

/// Fetches elements of events to come into the cache, then their vertices: the order of time is none of
/// memory.
void Integrator::Engine::fetch_ahead() const {
  const std::int32_t far = periodic.slot_ahead(12), near = periodic.slot_ahead(6);
  if (far >= first_spring) {
    const auto* element = reinterpret_cast<const char*>(stencil_starts[far]);
    __builtin_prefetch(element);
    __builtin_prefetch(element + 64);
  }
  if (near < first_spring) return;
  const LocalIndex* of = stencil_starts[near];
  const std::array<LocalIndex, 4> stencil{of[0], of[1], of[near >= first_membrane ? 2 : 0],
                                          of[near >= first_hinge && near < first_load ? 3 : 0]};
  for (const LocalIndex v : stencil) {
    const auto* vertex = reinterpret_cast<const char*>(&vertices[v]);
    __builtin_prefetch(vertex);
    __builtin_prefetch(vertex + 64);
  }
}

void Integrator::Engine::gravity_event(Tick t) {
  book = &ledger;
  ++counts.gravity;
  const Eigen::Vector3d change = seconds(clocks[0].step) * model.gravity;
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v) {
    VertexState& x = vertices[v];
    if (x.inverse_mass == 0 || !is_mine({&v, 1})) continue;
    if (ranks) {
      if (!ranks->takes_part({&v, 1})) continue;
      book = &ranks->books.of(ranks->body[v]);
    }
    move(x, position(v, t), t);
    x.v += change;
    const Eigen::Vector3d impulse = change / x.inverse_mass;
    add(*book, &Ledger::gravity_impulse, impulse);
    add(*book, &Ledger::gravity_torque, x.q.cross(impulse));
    if (model.acceleration) accelerate(v, t);
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

Eigen::Vector3d Integrator::Engine::steady_velocity(LocalIndex vertex, Tick t) const {
  const VertexState& x = vertices[vertex];
  Eigen::Vector3d velocity = velocity_without_ahead(x, t);
  if (x.inverse_mass != 0 && !model.gravity.isZero(0)) {
    const Clock& clock = clocks[0];
    const Tick since = t < clock.phase ? t - clock.phase + clock.step : (t - clock.phase) % clock.step;
    velocity -= (0.5 * seconds(clock.step) - seconds(since)) * model.gravity;
  }
  return velocity;
}

void Integrator::Engine::lay_out_shapes() {
  const auto is_damped = [](const auto& element) { return element.damping > 0; };
  tracks_impulses = model.contact.restitution < 1 || model.contact.friction > 0 ||
                    std::ranges::any_of(model.springs, is_damped) ||
                    std::ranges::any_of(model.membranes, is_damped) ||
                    std::ranges::any_of(model.hinges, is_damped);
  std::size_t next = 0;
  const auto add = [&](const auto& elements, std::size_t measures) {
    const std::size_t corners = elements.empty() ? 0 : elements[0].vertices.size();
    const ShapeRows rows{next, measures + (tracks_impulses ? 3 * corners : 0), measures};
    next += elements.size() * rows.width;
    return rows;
  };
  spring_rows = add(model.springs, 1);
  membrane_rows = add(model.membranes, 3);
  hinge_rows = add(model.hinges, 1);
  solid_rows = add(model.solids, 0);
  load_rows = add(model.loads, 0);
  shapes.assign(next, 0.0);
}

void Integrator::Engine::measure_shapes() {
  for (std::int32_t i = 0; i < std::ssize(model.springs); ++i) {
    const Points<2> x = positions(model.springs[i].vertices, now);
    shapes[spring_rows.of(i)] = (x.col(1) - x.col(0)).norm();
  }
  for (std::int32_t i = 0; i < std::ssize(model.membranes); ++i)
    put_strain(strain(model.membranes[i], positions(model.membranes[i].vertices, now)),
               &shapes[membrane_rows.of(i)]);
  for (std::int32_t i = 0; i < std::ssize(model.hinges); ++i)
    shapes[hinge_rows.of(i)] = surface::fold_angle(positions(model.hinges[i].vertices, now));
}

// Damping is by the mean rate since the last integration of the element. The velocities at its own times are
// no measure of it: they have the impulses that other forces have given since then, which those of the
// element itself are about to balance, and damping would take away what is no motion.

void Integrator::Engine::spring_event(std::int32_t index, Tick t) {
  const Spring& spring = model.springs[index];
  if (!meet(spring.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_spring + index].step);
  const Points<2> x = positions(spring.vertices, t);
  const Points<2> force = gradient(spring, x);
  if (!(spring.damping > 0)) return kick_all(spring.vertices, x, t, h, force, spring_rows, index);
  const Eigen::Vector3d between = x.col(1) - x.col(0);
  const double length = between.norm();
  double& last = shapes[spring_rows.of(index)];
  Points<2> drag;
  drag.col(1) = spring.damping * (length - last) / (h * length) * between;
  drag.col(0) = -drag.col(1);
  last = length;
  book->spring_damping += kick_damped(spring.vertices, x, t, h, force, drag, spring_rows, index);
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
    fail(Outcome::overstretched,
         fmt::format("membrane {} of {}, {}, {} is stretched beyond {} at "
                     "{} s: make the loads smaller, or the "
                     "steps (alpha) smaller and max_stretch larger",
                     index, model.name_of(membrane.vertices[0]), model.name_of(membrane.vertices[1]),
                     model.name_of(membrane.vertices[2]), model.max_stretch, seconds(t)));
  if (!(membrane.damping > 0)) return kick_all(membrane.vertices, x, t, h, force, membrane_rows, index);
  double* last = &shapes[membrane_rows.of(index)];
  const Eigen::Matrix2d e = strain(membrane, x), rate = (e - strain_at(last)) / h;
  put_strain(e, last);
  const Points<3> drag = damping_gradient(membrane, x, rate);
  book->stretch_damping += kick_damped(membrane.vertices, x, t, h, force, drag, membrane_rows, index);
}

void Integrator::Engine::solid_event(std::int32_t index, Tick t) {
  const Solid& solid = model.solids[index];
  if (!meet(solid.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_solid + index].step);
  const Points<4> x = positions(solid.vertices, t);
  Eigen::Matrix3d F;
  const Points<4> force = gradient(solid, x, &F);
  if (!(F.determinant() > 0 && F.squaredNorm() < 3 * model.max_stretch * model.max_stretch))
    fail(Outcome::overstretched,
         fmt::format("solid {} of {}, {}, {}, {} is turned inside out or stretched beyond {} at {} s: "
                     "make the loads smaller, or the steps (alpha) smaller and max_stretch larger",
                     index, model.name_of(solid.vertices[0]), model.name_of(solid.vertices[1]),
                     model.name_of(solid.vertices[2]), model.name_of(solid.vertices[3]), model.max_stretch,
                     seconds(t)));
  if (outcome != Outcome::reached) return;
  kick_all(solid.vertices, x, t, h, force, solid_rows, index);
}

void Integrator::Engine::hinge_event(std::int32_t index, Tick t) {
  const BendingHinge& hinge = model.hinges[index];
  if (!meet(hinge.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_hinge + index].step);
  const Points<4> x = positions(hinge.vertices, t);
  double angle;
  const Points<4> turn = angle_gradient(x, &angle);
  double& last = shapes[hinge_rows.of(index)];
  double bend = angle - rest_angles[index];
  if (std::abs(bend) > hinge.yield_angle) {
    const double flow = bend - std::copysign(hinge.yield_angle, bend), before = last - rest_angles[index];
    rest_angles[index] += flow;
    bend -= flow;
    book->plasticity += hinge.coefficient * (before + bend) * flow; // by the mean moment on the way
  }
  const double rate = turn_between(last, angle) / h;
  last = angle;
  const Points<4> force = 2 * hinge.coefficient * bend * turn;
  if (!(hinge.damping > 0)) return kick_all(hinge.vertices, x, t, h, force, hinge_rows, index);
  const Points<4> drag = 2 * hinge.damping * rate * turn;
  book->bend_damping += kick_damped(hinge.vertices, x, t, h, force, drag, hinge_rows, index);
}

} // namespace recoil::solvers::async_contact

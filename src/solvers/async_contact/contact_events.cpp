#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

/// A certificate must hold for this share of the step of the layer; else the layer begins early, which does
/// no harm.
constexpr double least_certificate = 0.5;
/// A layer without force ends if its certificate holds for so many of its steps.
constexpr double worth_ending = 8;

geometry::StencilKind stencil_kind(PairKind kind) {
  return kind == PairKind::vertex_triangle ? geometry::StencilKind::vertex_face
                                           : geometry::StencilKind::edge_edge;
}

} // namespace

Tick Integrator::Engine::layer_step(const ContactPair& pair, int layer) const {
  return model.tick.floor(model.contact.alpha * 2 / std::sqrt(layer_stiffness(layer) / pair.mass));
}

Eigen::Matrix<double, 3, 4> Integrator::Engine::points(const ContactPair& pair, Tick t) const {
  Eigen::Matrix<double, 3, 4> result = Eigen::Matrix<double, 3, 4>::Zero();
  for (int i = 0; i < pair.num_vertices; ++i) result.col(i) = position(pair.vertices[i], t);
  return result;
}

Gap Integrator::Engine::gap(const ContactPair& pair, Tick t) const {
  Gap result;
  if (pair.num_vertices == 2) {
    result.points.col(0) = position(pair.vertices[0], t);
    result.points.col(1) = position(pair.vertices[1], t);
    result.points.rightCols<2>().setZero();
    const Eigen::Vector3d between = result.points.col(0) - result.points.col(1);
    result.weights << 1, -1, 0, 0;
    if (pair.kind == PairKind::sphere_plane) {
      result.normal = pair.direction; // it never changes
      result.value = between.dot(result.normal) - pair.radii;
      result.points.col(1) = result.points.col(0); // the plane is pushed where it is touched
    } else {
      const double distance = between.norm();
      result.normal = between / distance;
      result.value = distance - pair.radii;
    }
    return result;
  }
  result.points = points(pair, t);
  const auto closest = geometry::closest_points<3>(stencil_kind(pair.kind), result.points);
  const double distance = std::sqrt(closest.distance_squared);
  result.weights = closest.weights;
  result.normal = closest.separation / distance;
  result.value = distance - pair.radii;
  return result;
}

void Integrator::Engine::pair_event(std::int32_t index, Tick t) {
  ContactPair& pair = pairs[index];
  if (!meet(pair.stencil())) return;
  if (pair.anchor.next == t) {
    anchor_event(pair, t);
    return schedule(index);
  }
  for (int layer = 1; layer <= pair.depth; ++layer)
    if (pair.layers[layer - 1].next == t) {
      layer_event(pair, layer, t);
      return schedule(index);
    }
  ++counts.certificates;
  certify(pair, gap(pair, t), t);
  schedule(index);
}

void Integrator::Engine::schedule(std::int32_t index) {
  const ContactPair& pair = pairs[index];
  EventKey key{never, 0};
  // What lies beyond the end of the window is looked at when the next one begins.
  if (pair.certificate < window_end)
    key = {pair.certificate, event_order(EventClass::certificate, 1, pair.number)};
  for (int layer = pair.depth; layer >= 1; --layer)
    if (pair.layers[layer - 1].next <= key.tick)
      key = {pair.layers[layer - 1].next, event_order(EventClass::penalty, layer, pair.number)};
  if (pair.anchor.next <= key.tick)
    key = {pair.anchor.next, event_order(EventClass::penalty, 0, pair.number)};
  heap.put(first_pair + index, key);
}

void Integrator::Engine::apply_along(const ContactPair& pair, const Gap& at, Tick t,
                                     const Eigen::Vector3d& impulse) {
  for (int i = 0; i < pair.num_vertices; ++i)
    if (at.weights[i] != 0) kick(pair.vertices[i], at.points.col(i), t, at.weights[i] * impulse);
}

void Integrator::Engine::pair_velocities_changed(const ContactPair& pair, Tick t) {
  for (int i = 0; i < pair.num_vertices; ++i) velocity_changed(pair.vertices[i], t);
}

void Integrator::Engine::layer_event(ContactPair& pair, int layer, Tick t) {
  LayerClock& clock = pair.layers[layer - 1];
  clock.next += clock.step;
  const Gap at = gap(pair, t);
  Eigen::Vector3d relative = Eigen::Vector3d::Zero();
  for (int i = 0; i < pair.num_vertices; ++i) relative += at.weights[i] * vertices[pair.vertices[i]].v;
  const double speed = relative.dot(at.normal), depth = layer_distance(layer) - at.value;
  if (!(depth > 0)) {
    ++counts.idle_layers;
    if (layer == pair.depth) rest_layer(pair, at, speed, t);
    return;
  }
  ++counts.layers;
  const double full = seconds(clock.step) * layer_stiffness(layer) * depth;
  const double e = model.contact.restitution, kept = speed > 0 ? e * e : 1.0, impulse = kept * full;
  double response = 0; // inverse of the reduced mass
  for (int i = 0; i < pair.num_vertices; ++i)
    response += at.weights[i] * at.weights[i] * vertices[pair.vertices[i]].inverse_mass;
  if (kept < 1) {
    double steady_speed = 0;
    for (int i = 0; i < pair.num_vertices; ++i)
      steady_speed += at.weights[i] * at.normal.dot(steady_velocity(pair.vertices[i], t));
    book->restitution += (full - impulse) * (steady_speed + 0.5 * response * impulse);
  }
  apply_along(pair, at, t, impulse * at.normal);

  if (model.contact.friction > 0) {
    if (model.contact.anchor_stiffness == 0) {
      slide(pair, at, t, impulse);
    } else {
      if (layer == 1) {
        if (t - pair.last_contact != clock.step || pair.anchor.next == never) {
          // A new contact: nothing is left of an earlier one.
          release_anchor(pair, at, t);
          start_anchor(pair, t);
        }
        pair.last_contact = t;
      }
      pair.friction.pressing += impulse;
    }
  }
  pair_velocities_changed(pair, t);
}

/// The deepest layer has no force: it ends if that stays so for long. In windows it passes over the times of
/// its clock at which it can have none, until a bound is exceeded or the window ends.
void Integrator::Engine::rest_layer(ContactPair& pair, const Gap& at, double speed, Tick t) {
  const bool passes_over = certificates == Certificates::windows;
  if (speed < 0 && !passes_over) return;
  LayerClock& clock = pair.layers[pair.depth - 1];
  const Eigen::Vector3d direction = pair.direction;
  const double thickness = pair.thickness;
  pair.direction = at.normal;
  pair.thickness = layer_distance(pair.depth) + pair.radii;
  const Tick clear = clear_until(pair, t);
  if (static_cast<double>(clear - t) >= worth_ending * static_cast<double>(clock.step)) {
    --pair.depth;
    pair.certificate = clear;
    return;
  }
  pair.direction = direction;
  pair.thickness = thickness;
  if (passes_over && clear >= clock.next) clock.next += ((clear - clock.next) / clock.step + 1) * clock.step;
}

void Integrator::Engine::resume_clocks(ContactPair& pair, Tick t) {
  for (int layer = 0; layer < pair.depth; ++layer) {
    LayerClock& clock = pair.layers[layer];
    if (clock.next > t) clock.next -= (clock.next - t - 1) / clock.step * clock.step;
  }
}

void Integrator::Engine::slide(const ContactPair& pair, const Gap& at, Tick t, double normal_impulse) {
  Eigen::Vector3d sliding = Eigen::Vector3d::Zero(), steady = sliding;
  double response = 0;
  for (int i = 0; i < pair.num_vertices; ++i) {
    const VertexState& x = vertices[pair.vertices[i]];
    sliding += at.weights[i] * x.v;
    steady += at.weights[i] * steady_velocity(pair.vertices[i], t);
    response += at.weights[i] * at.weights[i] * x.inverse_mass;
  }
  sliding -= sliding.dot(at.normal) * at.normal;
  const double speed = sliding.norm();
  if (!(speed > 0)) return;
  const double size = std::min(model.contact.friction * normal_impulse, speed / response);
  const Eigen::Vector3d impulse = -size / speed * sliding;
  book->friction -= impulse.dot(steady) + 0.5 * size * size * response;
  add(*book, &Ledger::friction_torque, (at.points * at.weights).cross(impulse));
  apply_along(pair, at, t, impulse);
}

double Integrator::Engine::contact_time(const ContactPair& pair) const {
  return seconds(pair.layers[0].step) / (2 * model.contact.alpha);
}

void Integrator::Engine::release_anchor(ContactPair& pair, const Gap& at, Tick t) {
  if (pair.anchor.next == never) return;
  book->friction += 0.5 * model.contact.anchor_stiffness * pair.friction.displacement.squaredNorm();
  // What the bound still owes to the impulses of the layers acts at once.
  slide(pair, at, t, std::max(0.0, pair.friction.owed + pair.friction.pressing));
  pair.friction = {};
  pair.anchor.next = never;
}

void Integrator::Engine::start_anchor(ContactPair& pair, Tick t) const {
  const double frequency = std::sqrt(model.contact.anchor_stiffness / pair.mass);
  pair.anchor.step = std::max<Tick>(1, model.tick.floor(model.contact.alpha * 2 / frequency));
  pair.anchor.next = Clock{0, pair.anchor.step}.first_after(t);
  pair.friction.points = points(pair, t);
}

/// The tangential spring follows the path of the closest points since its last integration, turned into the
/// present tangential plane: velocities at its own times are no measure of it where other forces have theirs
/// between. It is shortened to Coulomb's bound. With restitution below one, layers push back at some
/// times only, also where the contact carries a constant load; hence the bound is that of a normal force
/// which follows their impulses with a delay of 1 / w of layer 1 and, after each change of the load, makes up
/// for what it owes, so that the impulses of both have the same sum.
void Integrator::Engine::anchor_event(ContactPair& pair, Tick t) {
  ++counts.anchors;
  const double h = seconds(pair.anchor.step), k = model.contact.anchor_stiffness;
  pair.anchor.next += pair.anchor.step;
  const Gap at = gap(pair, t);
  if (!(at.value < layer_distance(1))) {
    // Contact is lost: the next one begins with a new spring.
    release_anchor(pair, at, t);
    return pair_velocities_changed(pair, t);
  }
  AnchorState::Friction& friction = pair.friction;
  const double share = -std::expm1(-h / contact_time(pair));
  friction.mean += share * (friction.pressing / h - friction.mean);
  friction.owed += friction.pressing;
  friction.pressing = 0;
  const double normal_force = std::max(0.0, friction.mean + friction.owed * share / h);
  friction.owed -= h * normal_force;
  const Eigen::Matrix<double, 3, 4> now_at = points(pair, t);
  Eigen::Vector3d displacement = friction.displacement + (now_at - friction.points) * at.weights;
  friction.points = now_at;
  displacement -= displacement.dot(at.normal) * at.normal;
  const double length = displacement.norm(), bound = model.contact.friction * normal_force / k;
  if (length > bound) {
    const Eigen::Vector3d slip = (1 - bound / length) * displacement;
    displacement -= slip;
    book->friction += 0.5 * k * (friction.displacement + displacement).dot(slip);
  }
  friction.displacement = displacement;
  const Eigen::Vector3d impulse = -h * k * displacement;
  add(*book, &Ledger::friction_torque, (at.points * at.weights).cross(impulse));
  apply_along(pair, at, t, impulse);
  pair_velocities_changed(pair, t);
}

void Integrator::Engine::activate_layer(ContactPair& pair, Tick t) {
  const int layer = ++pair.depth;
  const Tick step = layer_step(pair, layer);
  counts.deepest = std::max(counts.deepest, layer);
  if (step < 1 || layer > model.contact.max_layers) {
    --pair.depth;
    pair.certificate = never;
    return fail(
        Outcome::too_deep,
        fmt::format("contact of {} and {} has layer {} at {} s: primitives are pressed together without "
                    "bound, or stiffness, eta and velocities do not fit together",
                    model.name_of(pair.vertices[0]), model.name_of(pair.vertices[pair.num_first]), layer,
                    seconds(t)));
  }
  if (std::ssize(pair.layers) < layer) pair.layers.resize(layer);
  pair.layers[layer - 1] = {model.contact.aligned ? Clock{0, step}.first_after(t) : t + 1, step};
}

void Integrator::Engine::certify(ContactPair& pair, const Gap& at, Tick t) {
  if (pair.kind != PairKind::sphere_plane) pair.direction = at.normal;
  if (pair.depth == 0 && certificates == Certificates::windows && !ranks)
    for (const LocalIndex v : pair.stencil()) narrow_bound(v);
  while (outcome == Outcome::reached) {
    const int layer = pair.depth + 1;
    pair.thickness = layer_distance(layer) + pair.radii;
    pair.certificate = clear_until(pair, t);
    // Once active, a layer is next integrated after t: until then its certificate must hold.
    if (pair.certificate >= window_end) return; // the next window looks again
    if (static_cast<double>(pair.certificate - t) >=
        least_certificate * static_cast<double>(layer_step(pair, layer)))
      return;
    activate_layer(pair, t);
  }
}

Tick Integrator::Engine::clear_until(const ContactPair& pair, Tick t) const {
  // The slab moves with the primitives in its direction: it fits in as long as each vertex of the one is
  // further than its thickness from each vertex of the other.
  std::array<double, 4> height, rate;
  const bool bounded = certificates == Certificates::windows;
  const double size = bounded ? pair.direction.lpNorm<1>() : 0;
  for (int i = 0; i < pair.num_vertices; ++i) {
    const LocalIndex v = pair.vertices[i];
    height[i] = pair.direction.dot(position(v, t));
    if (bounded) {
      const double deviation = size * bounds[v].deviation;
      rate[i] = pair.direction.dot(bounds[v].reference) + (i < pair.num_first ? -deviation : deviation);
    } else {
      rate[i] = pair.direction.dot(vertices[v].v);
    }
  }
  const double thickness = pair.thickness * (1 + 1e-12) + coordinate_rounding;
  // The least of room / closing, by products.
  double room = 1, closing = 0;
  for (int i = 0; i < pair.num_first; ++i)
    for (int j = pair.num_first; j < pair.num_vertices; ++j) {
      const double here = height[i] - height[j] - thickness, toward = rate[j] - rate[i];
      if (here < 0) return t - 1;
      if (toward > 0 && here * closing < room * toward) {
        room = here;
        closing = toward;
      }
    }
  if (closing <= 0) return never;
  const Tick duration = model.tick.floor(room / closing * (1 - 1e-12));
  return duration == never || t > never - duration ? never : t + std::max<Tick>(duration - 1, 0);
}

bool Integrator::Engine::boxes_are_clear(const ContactPair& pair) const {
  double first = std::numeric_limits<double>::infinity(), second = -first;
  for (int i = 0; i < pair.num_vertices; ++i) {
    const VertexBox& box = boxes[pair.vertices[i]];
    const auto upwards = pair.direction.array() > 0;
    if (i < pair.num_first)
      first = std::min(first, pair.direction.dot(upwards.select(box.low, box.high).matrix()));
    else
      second = std::max(second, pair.direction.dot(upwards.select(box.high, box.low).matrix()));
  }
  return first - second >= pair.thickness * (1 + 1e-12) + coordinate_rounding;
}

void Integrator::Engine::renew_certificates(LocalIndex vertex, Tick t) {
  for (std::int32_t k = pair_starts[vertex]; k < pair_starts[vertex + 1]; ++k) {
    ContactPair& pair = pairs[pair_lists[k]];
    ++counts.renewals;
    const Tick clear = clear_until(pair, t);
    if (certificates == Certificates::windows) resume_clocks(pair, t);
    // A longer one is found when the present one ends.
    else if (clear >= pair.certificate)
      continue;
    pair.certificate = std::min(pair.certificate, std::max(clear, t));
    schedule(pair_lists[k]);
  }
}

/// Brings a bound that has been exceeded, in an impact, around the velocity after it. Certificates stay
/// valid: what the new bound allows, the old one did.
void Integrator::Engine::narrow_bound(LocalIndex vertex) {
  SpeedBound& bound = bounds[vertex];
  if (!bound.is_widened) return;
  const Eigen::Vector3d& v = vertices[vertex].v;
  const double deviation = std::max(least_deviation, 0.25 * bound.deviation),
               off = (v - bound.reference).cwiseAbs().maxCoeff();
  if (off + deviation > (1 - 1e-12) * bound.deviation) return;
  bound = {v, deviation, deviation > least_deviation};
  seen_deviation[vertex] = 0;
}

/// A vertex is faster than was expected: its bound is widened, the window ends before it may leave its box,
/// and certificates that were based on the old bound are renewed.
void Integrator::Engine::exceeded(LocalIndex vertex, Tick t) {
  ++counts.exceeded;
  if (ranks) {
    ranks->exceeded.push_back(vertex); // other ranks rely on the bound: see Ranks
    return;
  }
  SpeedBound& bound = bounds[vertex];
  bound.deviation = 1.5 * seen_deviation[vertex];
  bound.is_widened = true;
  const Eigen::Vector3d q = position(vertex, t);
  double time = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double up = bound.reference[i] + bound.deviation, down = bound.deviation - bound.reference[i];
    if (up > 0) time = std::min(time, (boxes[vertex].high[i] - q[i]) / up);
    if (down > 0) time = std::min(time, (q[i] - boxes[vertex].low[i]) / down);
  }
  const Tick leaves = model.tick.floor(std::max(0.0, time * (1 - 1e-12)));
  if (leaves < window_end - t) {
    window_end = t + leaves;
    heap.put(1, {window_end, event_order(EventClass::certificate, 0, 0)});
  }
  if (certificates == Certificates::windows) renew_certificates(vertex, t);
}

} // namespace recoil::solvers::async_contact

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/collide/candidates.hpp"
#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

constexpr std::uint64_t primitive_mask = (std::uint64_t(1) << primitive_bits) - 1;

/// Boxes around the primitives of a list, and the numbers of their vertices.
template <std::size_t n, class List, class BoxOf>
collide::ItemSet<3> item_set(const List& list, const BoxOf& box_of) {
  collide::ItemSet<3> set;
  set.boxes.reserve(list.size());
  set.labels.reserve(list.size());
  set.groups.assign(list.size(), 0);
  for (const auto& item : list) {
    std::array<LocalIndex, n> of;
    if constexpr (n == 1)
      of[0] = item;
    else
      of = item;
    collide::Box<3> box;
    std::array<GlobalIndex, 3> labels{-1, -1, -1};
    for (std::size_t i = 0; i < n; ++i) {
      box.extend(box_of(of[i]));
      labels[i] = of[i];
    }
    set.boxes.push_back(box);
    set.labels.push_back(labels);
  }
  return set;
}

} // namespace

void Integrator::Engine::begin_window(Tick t, Tick latest) {
  if (t > 0 && !ranks) adapt_window();
  window_end = window < latest - t ? t + window : latest;
  if (!ranks) heap.put(1, {window_end, event_order(EventClass::certificate, 0, 0)});
  before = counts;
  ++counts.searches;
  bound_speeds(t);
  find_candidates();
  keep_pairs(t);
  link_pairs();
  counts.pairs += std::ssize(pairs);
}

/// Windows are as long as looking after the pairs costs about what finding them does, but not shorter than
/// the steps of elements: every pair is looked at once per window.
void Integrator::Engine::adapt_window() {
  const std::int64_t primitives = std::ssize(model.points) + std::ssize(model.edges) +
                                  std::ssize(model.triangles) + std::ssize(model.spheres);
  const std::int64_t found = num_found;
  // The greatest speed is where what grows with the window is about as much as what does not.
  const std::int64_t search = 50 * primitives;
  std::int64_t care =
      10 * found + 2 * (counts.renewals - before.renewals) +
      10 * (counts.certificates - before.certificates + counts.idle_layers - before.idle_layers);
  if (ranks) care = ranks->comm.sum(GlobalIndex{care});
  if (care > search || found > 60 * primitives)
    window = std::max<Tick>(least_window, window - window / 4);
  else if (window < never / 4)
    window += window / 3 + 1;
}

void Integrator::Engine::bound_speeds(Tick t) {
  const std::size_t n = vertices.size();
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  double count = 0, squares = 0;
  for (const VertexState& x : vertices)
    if (x.inverse_mass != 0) {
      mean += x.v;
      squares += x.v.squaredNorm();
      ++count;
    }
  if (count > 0) mean /= count;
  const double spread = count > 0 ? std::sqrt(std::max(0.0, squares / count - mean.squaredNorm())) : 0;
  const double duration = seconds(window);
  // Moving by eta does no harm; in free flight a vertex is as fast as gravity makes it.
  const double least =
      model.contact.eta / duration + 1.01 * duration * model.gravity.lpNorm<Eigen::Infinity>();
  for (std::size_t v = 0; v < n; ++v) {
    const VertexState& x = vertices[v];
    bounds[v].reference = x.v;
    bounds[v].deviation = x.inverse_mass == 0 ? 0.0 : std::max({least, 2 * seen_deviation[v], spread});
    seen_deviation[v] = 0;
  }
  for (std::size_t i = 0; i < model.scripts.size(); ++i)
    for (std::size_t row = script_row[i]; row < model.scripts[i].entries.size(); ++row) {
      const Script::Entry& entry = model.scripts[i].entries[row];
      if (model.tick.floor(entry.time) > t + window) break;
      for (const LocalIndex v : model.scripts[i].vertices) {
        const double change = (entry.velocity - bounds[v].reference).lpNorm<Eigen::Infinity>();
        bounds[v].deviation = std::max(bounds[v].deviation, change);
      }
    }
  double size = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const VertexState& x = vertices[v];
    const SpeedBound& bound = bounds[v];
    const Eigen::Vector3d q = position(v, t), end = q + duration * x.v;
    const double around = duration * bound.deviation;
    boxes[v].low = q.cwiseMin(end).array() - around;
    boxes[v].high = q.cwiseMax(end).array() + around;
    size = std::max({size, boxes[v].low.lpNorm<Eigen::Infinity>(), boxes[v].high.lpNorm<Eigen::Infinity>()});
  }
  coordinate_rounding = 64 * std::numeric_limits<double>::epsilon() * size;
}

void Integrator::Engine::find_candidates() {
  const double margin = model.contact.eta * (1 + 1e-9) + coordinate_rounding;
  const auto box_of = [&](LocalIndex v) {
    const double around = margin + model.radii[v];
    return collide::Box<3>(boxes[v].low.array() - around, boxes[v].high.array() + around);
  };
  const std::array<collide::ItemSet<3>, 4> sets{
      item_set<1>(model.points, box_of), item_set<3>(model.triangles, box_of),
      item_set<2>(model.edges, box_of), item_set<1>(model.spheres, box_of)};
  const std::array<collide::SetPair, 3> which{collide::SetPair{0, 1}, {2, 2}, {3, 3}};
  const collide::Candidates found = collide::find_candidates<3>(*alone, sets, which, {});
  candidates.clear();
  const std::array<PairKind, 3> kinds{PairKind::vertex_triangle, PairKind::edge_edge, PairKind::spheres};
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (const auto& pair : found.pairs[k]) candidates.push_back(pair_number(kinds[k], pair[0], pair[1]));

  const auto meets = [&](LocalIndex v, const Plane& plane) {
    const Eigen::Vector3d low = boxes[v].low - boxes[plane.vertex].high,
                          high = boxes[v].high - boxes[plane.vertex].low;
    const double least = (plane.normal.array() > 0).select(low, high).dot(plane.normal);
    return least < 2 * margin + model.radii[v];
  };
  for (std::size_t i = 0; i < model.points.size() + model.spheres.size(); ++i) {
    const LocalIndex v = i < model.points.size() ? model.points[i] : model.spheres[i - model.points.size()];
    for (std::size_t k = 0; k < model.planes.size(); ++k)
      if (meets(v, model.planes[k])) candidates.push_back(pair_number(PairKind::sphere_plane, i, k));
  }
}

ContactPair Integrator::Engine::make_pair(std::uint64_t number) const {
  ContactPair pair{};
  pair.number = number;
  pair.kind = static_cast<PairKind>(number >> 2 * primitive_bits);
  const std::uint64_t first = number >> primitive_bits & primitive_mask, second = number & primitive_mask;
  pair.num_first = 1;
  pair.num_vertices = 2;
  pair.certificate = never;
  pair.anchor = {never, 0};
  pair.last_contact = -1;
  switch (pair.kind) {
  case PairKind::vertex_triangle: {
    const auto& triangle = model.triangles[second];
    pair.vertices = {model.points[first], triangle[0], triangle[1], triangle[2]};
    pair.num_vertices = 4;
    break;
  }
  case PairKind::edge_edge: {
    const auto &a = model.edges[first], &b = model.edges[second];
    pair.vertices = {a[0], a[1], b[0], b[1]};
    pair.num_first = 2;
    pair.num_vertices = 4;
    break;
  }
  case PairKind::spheres:
    pair.vertices = {model.spheres[first], model.spheres[second], 0, 0};
    break;
  case PairKind::sphere_plane: {
    const std::size_t points = model.points.size();
    const LocalIndex v = first < points ? model.points[first] : model.spheres[first - points];
    pair.vertices = {v, model.planes[second].vertex, 0, 0};
    pair.direction = model.planes[second].normal;
    break;
  }
  }
  double inverse_first = 0, inverse_second = 0;
  for (int i = 0; i < pair.num_vertices; ++i) {
    double& most = i < pair.num_first ? inverse_first : inverse_second;
    most = std::max(most, vertices[pair.vertices[i]].inverse_mass);
  }
  pair.mass = 1 / (inverse_first + inverse_second);
  pair.radii = model.radii[pair.vertices[0]];
  if (pair.kind == PairKind::spheres) pair.radii += model.radii[pair.vertices[1]];
  return pair;
}

/// Contacts that stick keep their anchors until their own events find them apart, wherever windows end.
void Integrator::Engine::add_anchored_pairs() {
  num_found = std::ssize(candidates);
  const std::size_t found = candidates.size();
  for (const ContactPair& pair : pairs)
    if (pair.anchor.next != never) candidates.push_back(pair.number);
  for (const AnchorState& anchor : restored) candidates.push_back(anchor.pair);
  if (candidates.size() == found) return;
  std::ranges::sort(candidates);
  const auto repeated = std::ranges::unique(candidates);
  candidates.erase(repeated.begin(), repeated.end());
}

void Integrator::Engine::keep_pairs(Tick t) {
  add_anchored_pairs();
  old_pairs.clear();
  old_pairs.swap(pairs);
  std::size_t old = 0;
  const auto is_old = [&](std::uint64_t number) {
    while (old < old_pairs.size() && old_pairs[old].number < number) ++old;
    return old < old_pairs.size() && old_pairs[old].number == number;
  };
  for (const std::uint64_t number : candidates) {
    ContactPair pair = is_old(number) ? std::move(old_pairs[old++]) : make_pair(number);
    if (std::isinf(pair.mass) || !is_mine(pair.stencil())) continue;
    resume_clocks(pair, t);
    const Gap at = gap(pair, t);
    if (!(at.value > 0)) {
      fail(Outcome::too_deep,
           fmt::format("vertices {} and {} of two primitives that collide touch at {} s: move them apart",
                       pair.vertices[0], pair.vertices[pair.num_first], seconds(t)));
      return;
    }
    pair.direction = at.normal;
    pair.thickness = layer_distance(1) + pair.radii;
    const auto anchor = std::ranges::lower_bound(restored, number, {}, &AnchorState::pair);
    const bool is_restored = anchor != restored.end() && anchor->pair == number;
    if (pair.anchor.next == never && !is_restored && boxes_are_clear(pair)) continue;
    if (is_restored) {
      if (pair.depth == 0) activate_layer(pair, t);
      start_anchor(pair, t);
      pair.last_contact = anchor->last_contact;
      pair.friction = anchor->friction;
    }
    certify(pair, at, t);
    pairs.push_back(std::move(pair));
  }
  restored.clear();
}

void Integrator::Engine::link_pairs() {
  pair_starts.assign(vertices.size() + 1, 0);
  for (const ContactPair& pair : pairs)
    for (int i = 0; i < pair.num_vertices; ++i) ++pair_starts[pair.vertices[i] + 1];
  for (std::size_t v = 0; v < vertices.size(); ++v) pair_starts[v + 1] += pair_starts[v];
  pair_lists.resize(pair_starts.back());
  std::vector<std::int32_t> next(pair_starts.begin(), pair_starts.end() - 1);
  for (std::int32_t k = 0; k < std::ssize(pairs); ++k)
    for (int i = 0; i < pairs[k].num_vertices; ++i) pair_lists[next[pairs[k].vertices[i]]++] = k;

  heap.resize(first_pair);
  heap.resize(first_pair + static_cast<std::int32_t>(pairs.size()));
  for (std::int32_t k = 0; k < std::ssize(pairs); ++k) schedule(k);
}

} // namespace recoil::solvers::async_contact

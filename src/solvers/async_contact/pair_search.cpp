#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/collide/candidates.hpp"
#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

constexpr std::uint64_t primitive_mask = (std::uint64_t(1) << primitive_bits) - 1;

/// Sets of primitives that meet: points with triangles, edges, spheres.
constexpr std::array<collide::SetPair, 3> set_pairs{collide::SetPair{0, 1}, {2, 2}, {3, 3}};
constexpr std::array<PairKind, 3> pair_kinds{PairKind::vertex_triangle, PairKind::edge_edge,
                                             PairKind::spheres};

template <class List>
auto all_of(const List& list) {
  return std::views::iota(std::size_t{0}, list.size());
}

/// Boxes around some primitives of a list, and the numbers of their vertices.
template <std::size_t n, class List, class Numbers, class BoxOf>
collide::ItemSet<3> item_set(const List& list, const Numbers& which, const BoxOf& box_of) {
  collide::ItemSet<3> set;
  set.boxes.reserve(which.size());
  set.labels.reserve(which.size());
  set.groups.assign(which.size(), 0);
  for (const auto number : which) {
    std::array<LocalIndex, n> of;
    if constexpr (n == 1)
      of[0] = list[number];
    else
      of = list[number];
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
  if (ranks) list_links();
  link_pairs();
  counts.pairs += std::ssize(pairs);
}

/// Windows are as long as looking after the pairs costs about what finding them does, but not shorter than
/// the steps of elements: every pair is looked at once per window.
void Integrator::Engine::adapt_window() {
  const std::int64_t primitives = std::ssize(model.points) + std::ssize(model.edges) +
                                  std::ssize(model.triangles) + std::ssize(model.spheres);
  const std::int64_t found = ranks ? ranks->comm.sum(GlobalIndex{num_found}) : num_found;
  // The greatest speed is where what grows with the window is about as much as what does not.
  const std::int64_t search = 50 * primitives;
  std::int64_t care =
      2 * (counts.renewals - before.renewals) +
      10 * (counts.certificates - before.certificates + counts.idle_layers - before.idle_layers);
  care = 10 * found + (ranks ? ranks->comm.sum(GlobalIndex{care}) : care);
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
  least_deviation = least;
  // Bounds that are exceeded are widened at once where one rank does all: they are narrow, for certificates
  // that last, and boxes are wide, for windows that do.
  std::vector<double> reach(n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    bounds[v] = {vertices[v].v, 0.0};
    if (vertices[v].inverse_mass != 0) {
      reach[v] = std::max({least, 2 * seen_deviation[v], spread});
      if (ranks) reach[v] *= ranks->caution;
      bounds[v].deviation = ranks ? reach[v] : std::max(least, 1.2 * seen_deviation[v]);
    }
    seen_deviation[v] = 0;
  }
  for (std::size_t i = 0; i < model.scripts.size(); ++i)
    for (std::size_t row = script_row[i]; row < model.scripts[i].entries.size(); ++row) {
      const Script::Entry& entry = model.scripts[i].entries[row];
      if (model.tick.floor(entry.time) > t + window) break;
      for (const LocalIndex v : model.scripts[i].vertices) {
        const double change = (entry.velocity - bounds[v].reference).lpNorm<Eigen::Infinity>();
        bounds[v].deviation = reach[v] = std::max(bounds[v].deviation, change);
      }
    }
  coordinate_rounding = 0;
  for (std::size_t v = 0; v < n; ++v) set_box(static_cast<LocalIndex>(v), t, duration, reach[v]);
}

void Integrator::Engine::set_box(LocalIndex vertex, Tick t, double duration, double deviation) {
  const Eigen::Vector3d q = position(vertex, t), end = q + duration * bounds[vertex].reference;
  const double around = duration * deviation;
  VertexBox& box = boxes[vertex];
  box.low = q.cwiseMin(end).array() - around;
  box.high = q.cwiseMax(end).array() + around;
  const double size = std::max(box.low.lpNorm<Eigen::Infinity>(), box.high.lpNorm<Eigen::Infinity>());
  coordinate_rounding = std::max(coordinate_rounding, 64 * std::numeric_limits<double>::epsilon() * size);
}

/// Numbers of the pairs that may meet in the window, ascending: of those that this rank has a vertex of, all.
void Integrator::Engine::find_candidates() {
  candidates.clear();
  if (ranks)
    find_primitives_on_ranks();
  else
    find_primitives();

  const double margin = search_margin();
  const auto meets = [&](LocalIndex v, const Plane& plane) {
    const Eigen::Vector3d low = boxes[v].low - boxes[plane.vertex].high,
                          high = boxes[v].high - boxes[plane.vertex].low;
    const double least = (plane.normal.array() > 0).select(low, high).dot(plane.normal);
    return least < 2 * margin + model.radii[v];
  };
  for (std::size_t i = 0; i < model.points.size() + model.spheres.size(); ++i) {
    const LocalIndex v = i < model.points.size() ? model.points[i] : model.spheres[i - model.points.size()];
    if (i < model.points.size() && model.radii[v] > 0) continue; // a sphere, which comes later
    if (!is_mine({&v, 1})) continue;
    for (std::size_t k = 0; k < model.planes.size(); ++k)
      if (meets(v, model.planes[k])) candidates.push_back(pair_number(PairKind::sphere_plane, i, k));
  }
}

double Integrator::Engine::search_margin() const {
  return model.contact.eta * (1 + 1e-9) + coordinate_rounding;
}

collide::Box<3> Integrator::Engine::search_box(LocalIndex vertex) const {
  const double around = search_margin() + model.radii[vertex];
  return {boxes[vertex].low.array() - around, boxes[vertex].high.array() + around};
}

void Integrator::Engine::find_primitives() {
  const auto box_of = [this](LocalIndex v) { return search_box(v); };
  const std::array<collide::ItemSet<3>, 4> sets{item_set<1>(model.points, all_of(model.points), box_of),
                                                item_set<3>(model.triangles, all_of(model.triangles), box_of),
                                                item_set<2>(model.edges, all_of(model.edges), box_of),
                                                item_set<1>(model.spheres, all_of(model.spheres), box_of)};
  const collide::Candidates found = collide::find_candidates<3>(*alone, sets, set_pairs, {});
  for (std::size_t k = 0; k < set_pairs.size(); ++k)
    for (const auto& pair : found.pairs[k])
      candidates.push_back(pair_number(pair_kinds[k], pair[0], pair[1]));
}

/// Each rank searches its own primitives and those of others that come near; what other ranks have vertices
/// of as well, it tells them.
void Integrator::Engine::find_primitives_on_ranks() {
  const auto box_of = [this](LocalIndex v) { return search_box(v); };
  const int here = ranks->comm.rank();
  const auto& items = ranks->items;
  const std::array<collide::ItemSet<3>, 4> sets{
      item_set<1>(model.points, items[0][here], box_of), item_set<3>(model.triangles, items[1][here], box_of),
      item_set<2>(model.edges, items[2][here], box_of), item_set<1>(model.spheres, items[3][here], box_of)};
  const collide::Candidates found = collide::find_candidates<3>(ranks->comm, sets, set_pairs, {});
  const auto number_of = [&](int set, std::int32_t entry) -> std::uint64_t {
    const auto own = static_cast<std::int32_t>(items[set][here].size());
    if (entry < own) return items[set][here][entry];
    const collide::RemoteItem& item = found.remote[set][entry - own];
    return items[set][item.rank][item.index];
  };
  std::vector<GlobalIndex> shared;
  for (std::size_t k = 0; k < set_pairs.size(); ++k)
    for (const auto& pair : found.pairs[k]) {
      std::uint64_t first = number_of(set_pairs[k].first, pair[0]),
                    second = number_of(set_pairs[k].second, pair[1]);
      if (set_pairs[k].first == set_pairs[k].second && second < first) std::swap(first, second);
      const std::uint64_t number = pair_number(pair_kinds[k], first, second);
      const ContactPair made = make_pair(number);
      const auto is_foreign = [&](LocalIndex v) { return ranks->owner[v] >= 0 && ranks->owner[v] != here; };
      if (std::ranges::any_of(made.stencil(), is_foreign))
        shared.push_back(static_cast<GlobalIndex>(number));
      else
        candidates.push_back(number);
    }
  counts.numbers_shared += (ranks->comm.size() - 1) * std::ssize(shared);
  for (const GlobalIndex number : ranks->comm.all_gather_parts(shared))
    if (is_mine(make_pair(static_cast<std::uint64_t>(number)).stencil()))
      candidates.push_back(static_cast<std::uint64_t>(number));
  std::ranges::sort(candidates);
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
           fmt::format("{} and {}, of two primitives that collide, touch at {} s: move them apart",
                       model.name_of(pair.vertices[0]), model.name_of(pair.vertices[pair.num_first]),
                       seconds(t)));
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
  next_links.assign(pair_starts.begin(), pair_starts.end() - 1);
  for (std::int32_t k = 0; k < std::ssize(pairs); ++k)
    for (int i = 0; i < pairs[k].num_vertices; ++i) pair_lists[next_links[pairs[k].vertices[i]]++] = k;

  heap.resize(first_pair);
  heap.resize(first_pair + static_cast<std::int32_t>(pairs.size()));
  for (std::int32_t k = 0; k < std::ssize(pairs); ++k)
    if (!ranks || ranks->takes_part(pairs[k].stencil())) schedule(k);
}

} // namespace recoil::solvers::async_contact

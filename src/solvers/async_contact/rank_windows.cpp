#include <algorithm>
#include <bit>
#include <cmath>

#include "recoil/base/error.hpp"
#include "recoil/base/union_find.hpp"
#include "solvers/async_contact/engine.hpp"
#include "solvers/async_contact/ranks.hpp"

namespace recoil::solvers::async_contact {

namespace {

/// So many windows after another owners of vertices are looked at.
constexpr std::int64_t balance_interval = 32;
/// Greatest events of a rank over the mean at which owners stay.
constexpr double accepted_imbalance = 1.2;
/// Owners are found anew as well when so many times as many events are of several ranks as when it was best.
constexpr std::int64_t accepted_crossing = 2;

} // namespace

Outcome Integrator::Engine::advance_on_ranks(Tick end) {
  while (outcome == Outcome::reached && now < end) {
    if (ranks->windows > 0 && ranks->windows % balance_interval == 0 && model.contact.aligned)
      balance_ranks();
    ++ranks->windows;
    ranks->start = {vertices, rest_angles, shapes, pairs, restored};
    begin_window(now, end);
    bool is_repeated = false;
    while (true) {
      const std::int64_t done = counts.events();
      const bool broken = run_window();
      if (is_repeated) counts.events_repeated += counts.events() - done;
      if (!repeat_touched(broken)) {
        if (broken) share_failure();
        break;
      }
      is_repeated = true;
    }
    if (outcome != Outcome::reached) break;
    now = window_end;
    share_vertices();
    close_books();
    if (is_repeated) start_clocks(now); // of all again
    adapt_window();
    // Bounds that are too wide find more pairs, those that are too narrow cost a repetition.
    if (is_repeated) window = std::max<Tick>(1, window - window / 4);
    ranks->caution = is_repeated ? std::min(8.0, 1.5 * ranks->caution) : std::max(1.0, 0.98 * ranks->caution);
  }
  collect_results();
  return outcome;
}

/// Handles the events of the window. True: a rank has failed.
bool Integrator::Engine::run_window() {
  while (outcome == Outcome::reached && !ranks->broken) {
    const EventHeap::Entry event = next_event();
    if (event.key.tick > window_end) break;
    handle(event.slot, event.key.tick);
  }
  const bool broken = ranks->messages.finish(ranks->broken || outcome != Outcome::reached);
  ranks->broken = false;
  return broken;
}

/// Sums of the window, in the order of the bodies, whichever was first.
void Integrator::Engine::close_books() {
  std::ranges::sort(ranks->books.books, {}, [](const auto& book) { return book.first; });
  for (const auto& [body, book] : ranks->books.books) add(ledger, book);
  ranks->books.clear();
}

/// If vertices have exceeded their bounds, all they may have touched goes back to the start of the window, to
/// be integrated again under wider ones. False: none has.
bool Integrator::Engine::repeat_touched(bool broken) {
  std::ranges::sort(ranks->exceeded);
  ranks->exceeded.erase(std::ranges::unique(ranks->exceeded).begin(), ranks->exceeded.end());
  std::vector<GlobalIndex> own;
  for (const LocalIndex v : ranks->exceeded) {
    own.push_back(v);
    own.push_back(std::bit_cast<GlobalIndex>(seen_deviation[v]));
  }
  ranks->exceeded.clear();
  const std::vector<GlobalIndex> exceeded = ranks->comm.all_gather_parts(own);
  ranks->is_touched.clear();
  if (exceeded.empty()) return false;
  ++counts.repeated;
  outcome = Outcome::reached;
  diagnosis.clear();
  WindowState done{std::move(vertices), std::move(rest_angles), std::move(shapes), std::move(pairs), {}};
  go_back();
  const double duration = seconds(window_end - now);
  for (std::size_t i = 0; i < exceeded.size(); i += 2) {
    // What was seen beyond the bound may be nonsense.
    SpeedBound& bound = bounds[exceeded[i]];
    bound.deviation = std::min(4 * bound.deviation,
                               1.5 * std::max(bound.deviation, std::bit_cast<double>(exceeded[i + 1])));
    set_box(static_cast<LocalIndex>(exceeded[i]), now, duration, bound.deviation);
  }
  std::vector<std::array<std::int32_t, 2>> links = std::move(ranks->links);
  find_candidates();
  keep_pairs(now);
  list_links();
  links.insert(links.end(), ranks->links.begin(), ranks->links.end());

  // Bodies that the vertices may have met, in either of both passes.
  std::vector<GlobalIndex> met;
  for (const auto& link : links) met.push_back(GlobalIndex{link[0]} << 32 | link[1]);
  UnionFind<std::int32_t> connected(ranks->num_bodies);
  for (const GlobalIndex link : ranks->comm.all_gather_parts(met))
    connected.unite(static_cast<std::int32_t>(link >> 32), static_cast<std::int32_t>(link & 0xffffffff));
  std::vector<std::uint8_t> touched(ranks->num_bodies, broken ? 1 : 0);
  for (std::size_t i = 0; i < exceeded.size(); i += 2) touched[connected.root(ranks->body[exceeded[i]])] = 1;
  for (std::int32_t body = 0; body < ranks->num_bodies; ++body)
    if (touched[connected.root(body)]) touched[body] = 1;
  ranks->is_touched = std::move(touched);
  keep_untouched(done);
  start_clocks(now);
  link_pairs();
  return true;
}

/// Takes what is not touched from the state that it has reached.
void Integrator::Engine::keep_untouched(WindowState& done) {
  const auto stays = [&](std::span<const LocalIndex> of) { return !ranks->takes_part(of); };
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v) {
    if (ranks->body[v] < 0) continue; // everybody moves what is prescribed, again
    if (stays({&v, 1}))
      vertices[v] = done.vertices[v];
    else
      seen_deviation[v] = 0;
  }
  const auto keep = [&](const auto& elements, const ShapeRows& rows) {
    for (std::int32_t i = 0; rows.width > 0 && i < std::ssize(elements); ++i)
      if (stays(elements[i].vertices)) std::copy_n(&done.shapes[rows.of(i)], rows.width, &shapes[rows.of(i)]);
  };
  keep(model.springs, spring_rows);
  keep(model.membranes, membrane_rows);
  keep(model.hinges, hinge_rows);
  keep(model.solids, solid_rows);
  keep(model.loads, load_rows);
  for (std::size_t i = 0; i < rest_angles.size(); ++i)
    if (stays(model.hinges[i].vertices)) rest_angles[i] = done.rest_angles[i];
  std::size_t old = 0;
  for (ContactPair& pair : pairs) {
    while (old < done.pairs.size() && done.pairs[old].number < pair.number) ++old;
    if (old < done.pairs.size() && done.pairs[old].number == pair.number && stays(pair.stencil()))
      pair = std::move(done.pairs[old]);
  }
  for (auto& [body, book] : ranks->books.books)
    if (ranks->is_touched[body]) book = {};
}

/// Bodies that pairs with events in the window connect.
void Integrator::Engine::list_links() {
  ranks->links.clear();
  for (const ContactPair& pair : pairs) {
    if (pair.depth == 0 && pair.anchor.next == never && pair.certificate >= window_end) continue;
    std::int32_t first = -1;
    for (const LocalIndex v : pair.stencil()) {
      const std::int32_t body = ranks->body[v];
      if (body >= 0 && first >= 0 && body != first) ranks->links.push_back({first, body});
      if (body >= 0) first = body;
    }
  }
  std::ranges::sort(ranks->links);
  ranks->links.erase(std::ranges::unique(ranks->links).begin(), ranks->links.end());
}

/// Gives vertices to other ranks where the events that were counted are shared unevenly or are too often of
/// several ranks. What pairs know but for their anchors is found anew, as after a restart.
void Integrator::Engine::balance_ranks() {
  const parallel::Communicator& comm = ranks->comm;
  std::vector<double> events(vertices.size());
  std::ranges::transform(ranks->work, events.begin(), [](std::int64_t x) { return static_cast<double>(x); });
  double here = 0;
  for (const double x : events) here += x;
  const double most = comm.max(here), all = comm.sum(here);
  const std::int64_t crossing = comm.sum(GlobalIndex{ranks->crossing});
  ranks->crossing = 0;
  std::int64_t& least = ranks->least_crossing;
  if (least < 0 || crossing < least) least = crossing;
  const bool is_even = most * comm.size() <= accepted_imbalance * all;
  if (is_even && crossing <= accepted_crossing * least + balance_interval) {
    std::ranges::fill(ranks->work, 0);
    return;
  }
  comm.sum(std::span(events));
  std::vector<Eigen::Vector3d> positions;
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v) positions.push_back(position(v, now));
  ++counts.balanced;
  least = -1;
  collect_results();
  restored = ranks->anchors;
  pairs.clear();
  ranks->set_owners(model, find_owners(model, positions, events, comm.size()));
  start_clocks(now);
}

void Integrator::Engine::go_back() {
  vertices = ranks->start.vertices;
  rest_angles = ranks->start.rest_angles;
  shapes = ranks->start.shapes;
  pairs = ranks->start.pairs;
  restored = ranks->start.restored;
}

/// The failure of the lowest rank that has one, on all ranks.
void Integrator::Engine::share_failure() {
  const std::vector<GlobalIndex> outcomes = ranks->comm.all_gather(static_cast<GlobalIndex>(outcome));
  const auto failed = std::ranges::find_if(
      outcomes, [](GlobalIndex x) { return x != static_cast<GlobalIndex>(Outcome::reached); });
  RECOIL_ASSERT(failed != outcomes.end());
  outcome = static_cast<Outcome>(*failed);
  ranks->comm.broadcast(diagnosis, static_cast<int>(failed - outcomes.begin()));
  ranks->books.clear();
  go_back();
}

} // namespace recoil::solvers::async_contact

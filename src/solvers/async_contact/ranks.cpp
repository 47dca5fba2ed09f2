#include "solvers/async_contact/ranks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "recoil/base/union_find.hpp"
#include "recoil/particles/partition.hpp"
#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

constexpr std::size_t most_per_vertex = 13;

/// What ranks tell each other of a vertex: numbers of `pack`.
std::size_t numbers_per_vertex(bool with_impulses) { return with_impulses ? most_per_vertex : 7; }

void pack(const VertexState& x, bool with_impulses, double* numbers) {
  for (int i = 0; i < 3; ++i) {
    numbers[i] = x.q[i];
    numbers[3 + i] = x.v[i];
  }
  numbers[6] = std::bit_cast<double>(x.tick);
  for (int i = 0; with_impulses && i < 3; ++i) {
    numbers[7 + i] = x.ahead[i];
    numbers[10 + i] = x.force[i];
  }
}

void unpack(const double* numbers, bool with_impulses, VertexState& x) {
  for (int i = 0; i < 3; ++i) {
    x.q[i] = numbers[i];
    x.v[i] = numbers[3 + i];
  }
  x.tick = std::bit_cast<Tick>(numbers[6]);
  for (int i = 0; with_impulses && i < 3; ++i) {
    x.ahead[i] = numbers[7 + i];
    x.force[i] = numbers[10 + i];
  }
}

std::vector<double> all_numbers(const parallel::Communicator& comm, const std::vector<double>& own) {
  std::vector<GlobalIndex> bits(own.size());
  std::ranges::transform(own, bits.begin(), [](double x) { return std::bit_cast<GlobalIndex>(x); });
  bits = comm.all_gather_parts(bits);
  std::vector<double> all(bits.size());
  std::ranges::transform(bits, all.begin(), [](GlobalIndex x) { return std::bit_cast<double>(x); });
  return all;
}

} // namespace

Ranks::Ranks(const parallel::Communicator& of, const Model& model) : comm(of.get()), messages(of) {
  const auto n = static_cast<std::int32_t>(model.positions.size());
  UnionFind<std::int32_t> connected(n);
  const auto connect = [&](const auto& elements) {
    for (const auto& element : elements) {
      std::int32_t first = -1;
      for (const LocalIndex v : element.vertices) {
        if (std::isinf(model.masses[v])) continue;
        if (first >= 0) connected.unite(first, v);
        first = v;
      }
    }
  };
  connect(model.springs);
  connect(model.membranes);
  connect(model.hinges);
  connect(model.solids);
  connect(model.loads);
  body.assign(n, -1);
  for (std::int32_t v = 0; v < n; ++v) {
    if (std::isinf(model.masses[v])) continue;
    const std::int32_t root = connected.root(v);
    body[v] = root == v ? num_bodies++ : body[root];
  }
  books.number.assign(num_bodies, -1);
  set_owners(model, find_owners(model, model.positions, {}, comm.size()));
}

void Ranks::set_owners(const Model& model, std::vector<int> owner_) {
  owner = std::move(owner_);
  work.assign(owner.size(), 0);
  const auto sort = [&](std::size_t set, const auto& list) {
    items[set].assign(comm.size(), {});
    for (std::size_t i = 0; i < list.size(); ++i) {
      int rank = 0;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(list[i])>, LocalIndex>)
        rank = searcher({&list[i], 1}, i);
      else
        rank = searcher(list[i], i);
      items[set][rank].push_back(static_cast<std::int32_t>(i));
    }
  };
  sort(0, model.points);
  sort(1, model.triangles);
  sort(2, model.edges);
  sort(3, model.spheres);
}

std::vector<int> find_owners(const Model& model, std::span<const Eigen::Vector3d> positions,
                             std::span<const double> events, int num_ranks) {
  const std::size_t n = model.positions.size();
  std::vector<double> rate(n, 1); // events per second
  std::vector<std::array<std::int64_t, 2>> links;
  const auto add = [&](const auto& elements) {
    for (const auto& element : elements)
      for (std::size_t i = 0; i < element.vertices.size(); ++i) {
        rate[element.vertices[i]] += 1 / element.step;
        for (std::size_t j = 0; j < i; ++j)
          links.push_back({std::min(element.vertices[i], element.vertices[j]),
                           std::max(element.vertices[i], element.vertices[j])});
      }
  };
  add(model.springs);
  add(model.membranes);
  add(model.hinges);
  add(model.solids);
  add(model.loads);
  if (!events.empty()) rate.assign(events.begin(), events.end());
  // Prescribed vertices would tie together what they hold and are no work.
  std::vector<std::int64_t> number(n, -1);
  particles::PartitionGraph graph;
  const double most = std::max(1.0, *std::ranges::max_element(rate));
  for (std::size_t v = 0; v < n; ++v) {
    if (std::isinf(model.masses[v])) continue;
    number[v] = std::ssize(graph.positions);
    graph.positions.push_back(positions[v]);
    graph.work.push_back(static_cast<std::int32_t>(1 + std::lround(1000 * rate[v] / most)));
  }
  std::ranges::sort(links);
  links.erase(std::ranges::unique(links).begin(), links.end());
  for (const auto& link : links)
    if (number[link[0]] >= 0 && number[link[1]] >= 0)
      graph.bonds.push_back({number[link[0]], number[link[1]]});
  const std::vector<int> parts = particles::partition(graph, num_ranks);
  std::vector<int> owner(n, -1);
  for (std::size_t v = 0; v < n; ++v)
    if (number[v] >= 0) owner[v] = parts[number[v]];
  return owner;
}

bool Integrator::Engine::is_mine(std::span<const LocalIndex> of) const {
  if (!ranks) return true;
  return std::ranges::any_of(of, [&](LocalIndex v) { return ranks->owner[v] == ranks->comm.rank(); });
}

bool Integrator::Engine::is_counted_here(std::span<const LocalIndex> of) const {
  if (!ranks) return true;
  int lowest = ranks->comm.size();
  for (const LocalIndex v : of)
    if (ranks->owner[v] >= 0) lowest = std::min(lowest, ranks->owner[v]);
  return lowest == ranks->comm.rank();
}

/// Ranks that own vertices of an event bring each other up to date. False: the window is broken off.
bool Integrator::Engine::meet(std::span<const LocalIndex> of) {
  if (!ranks) return true;
  const int here = ranks->comm.rank();
  std::array<int, 4> partners;
  int num_partners = 0;
  std::int32_t body = -1;
  std::array<double, 4 * most_per_vertex> numbers;
  std::size_t size = 0;
  const std::size_t width = numbers_per_vertex(tracks_impulses);
  for (const LocalIndex v : of) {
    const int owner = ranks->owner[v];
    if (owner >= 0) body = ranks->body[v];
    if (owner == here) {
      ++ranks->work[v];
      pack(vertices[v], tracks_impulses, &numbers[size]);
      size += width;
    } else if (owner >= 0 && std::find(partners.begin(), partners.begin() + num_partners, owner) ==
                                 partners.begin() + num_partners) {
      partners[num_partners++] = owner;
    }
  }
  book = &ranks->books.of(body);
  if (num_partners == 0) return true;
  ++counts.meetings;
  ++ranks->crossing;
  counts.messages += num_partners;
  counts.numbers_sent += num_partners * static_cast<std::int64_t>(size);
  const int lowest = *std::min_element(partners.begin(), partners.begin() + num_partners);
  if (lowest < here) book = &ranks->others;
  for (int i = 0; i < num_partners; ++i) ranks->messages.send(partners[i], {numbers.data(), size});
  for (int i = 0; i < num_partners; ++i) {
    const auto is_theirs = [&](LocalIndex v) { return ranks->owner[v] == partners[i]; };
    const std::size_t theirs = width * std::ranges::count_if(of, is_theirs);
    if (!ranks->messages.receive(partners[i], {numbers.data(), theirs})) {
      ranks->broken = true;
      return false;
    }
    const double* next = numbers.data();
    for (const LocalIndex v : of)
      if (is_theirs(v)) {
        unpack(next, tracks_impulses, vertices[v]);
        next += width;
      }
  }
  return true;
}

/// States of all vertices and the deviations seen, from their owners.
void Integrator::Engine::share_vertices() {
  const int here = ranks->comm.rank();
  const std::size_t width = numbers_per_vertex(tracks_impulses) + 1;
  std::vector<double> own;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (ranks->owner[v] == here) {
      own.resize(own.size() + width);
      pack(vertices[v], tracks_impulses, &own[own.size() - width]);
      own.back() = seen_deviation[v];
    }
  counts.numbers_shared += (ranks->comm.size() - 1) * std::ssize(own);
  const std::vector<double> all = all_numbers(ranks->comm, own);
  // Parts come in the order of ranks, each in the order of vertices.
  std::vector<std::size_t> next(ranks->comm.size() + 1, 0);
  for (const int owner : ranks->owner)
    if (owner >= 0) next[owner + 1] += width;
  for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const int owner = ranks->owner[v];
    if (owner < 0) continue;
    unpack(&all[next[owner]], tracks_impulses, vertices[v]);
    seen_deviation[v] = all[next[owner] + width - 1];
    next[owner] += width;
  }
}

void Integrator::Engine::collect_results() {
  parallel::Communicator& comm = ranks->comm;
  std::vector<double> sums;
  visit_sums(ledger, [&](double& x) { sums.push_back(x); });
  sums.insert(sums.end(), {0, 0});
  double& contact = sums[sums.size() - 2];
  double& anchor = sums.back();
  std::vector<double> anchors;
  for (const ContactPair& pair : pairs) {
    if (!is_counted_here(pair.stencil())) continue;
    add_energies(pair, contact, anchor);
    if (pair.anchor.next == never) continue;
    anchors.push_back(std::bit_cast<double>(pair.number));
    anchors.push_back(std::bit_cast<double>(pair.last_contact));
    for (const double x : pair.friction.displacement.reshaped()) anchors.push_back(x);
    for (const double x : pair.friction.points.reshaped()) anchors.push_back(x);
    anchors.insert(anchors.end(), {pair.friction.mean, pair.friction.owed, pair.friction.pressing});
  }
  comm.sum(std::span(sums));
  ranks->contact = contact;
  ranks->anchor = anchor;
  std::size_t next = 0;
  visit_sums(ranks->sum, [&](double& x) { x = sums[next++]; });

  ranks->anchors.clear();
  anchors = all_numbers(comm, anchors);
  for (auto number = anchors.begin(); number != anchors.end();) {
    AnchorState state;
    state.pair = std::bit_cast<std::uint64_t>(*number++);
    state.last_contact = std::bit_cast<Tick>(*number++);
    for (double& x : state.friction.displacement.reshaped()) x = *number++;
    for (double& x : state.friction.points.reshaped()) x = *number++;
    state.friction.mean = *number++;
    state.friction.owed = *number++;
    state.friction.pressing = *number++;
    ranks->anchors.push_back(state);
  }
  std::ranges::sort(ranks->anchors, {}, &AnchorState::pair);

  // What elements remember, from one of the ranks that handle them.
  std::vector<double> own;
  const auto visit_memory = [&](auto act) {
    const auto visit = [&](const auto& elements, std::size_t first, std::size_t width) {
      for (std::size_t i = 0; i < elements.size(); ++i)
        for (std::size_t k = 0; k < width; ++k) act(elements[i].vertices, shapes[first + i * width + k]);
    };
    visit(model.springs, spring_rows.first, spring_rows.width);
    visit(model.membranes, membrane_rows.first, membrane_rows.width);
    visit(model.hinges, hinge_rows.first, hinge_rows.width);
    visit(model.solids, solid_rows.first, solid_rows.width);
    visit(model.loads, load_rows.first, load_rows.width);
    for (std::size_t i = 0; i < rest_angles.size(); ++i) act(model.hinges[i].vertices, rest_angles[i]);
  };
  double index = 0;
  visit_memory([&](const auto& of, double& number) {
    if (is_counted_here(of)) own.insert(own.end(), {index, number});
    ++index;
  });
  own = all_numbers(comm, own);
  std::vector<double> numbers(static_cast<std::size_t>(index));
  for (std::size_t i = 0; i < own.size(); i += 2) numbers[static_cast<std::size_t>(own[i])] = own[i + 1];
  next = 0;
  visit_memory([&](const auto&, double& number) { number = numbers[next++]; });
}

} // namespace recoil::solvers::async_contact

#include "solvers/fracture_modes/mode_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "recoil/base/error.hpp"
#include "recoil/base/union_find.hpp"
#include "solvers/fracture_modes/small_parts.hpp"

namespace recoil::solvers::fracture_modes {

namespace {
/// Relative gap at which a convex problem counts as solved, and decrease of the energy that counts as one.
constexpr double gap_tolerance = 1e-10, least_decrease = 1e-11;
constexpr int max_rounds = 2000;
} // namespace

ModeSearch::ModeSearch(const PieceGraph& graph, LeastShares least)
    : graph_(&graph), least_(least), faults_(graph.links.size(), 0), pool_(graph, least),
      minimum_cut_(graph) {
  pool_.add_row(std::vector<double>(graph.size(), 0.0)); // that of the linearised norm
}

void ModeSearch::add_mode(std::vector<double> mode) {
  const std::vector<char> jumps = jumping_links(mode);
  for (std::size_t k = 0; k < jumps.size(); ++k) faults_[k] += jumps[k];
  tell_faults();
  std::vector<double> row(mode);
  for (std::size_t p = 0; p < row.size(); ++p) row[p] *= graph_->masses[p];
  pool_.set_last_row(std::move(row));
  pool_.add_row(std::vector<double>(graph_->size(), 0.0));
  modes_.push_back(std::move(mode));
}

void ModeSearch::tell_faults() {
  std::vector<char> faults;
  for (const int modes : faults_) faults.push_back(modes > 0 ? 1 : 0);
  pool_.set_faults(std::move(faults));
}

void ModeSearch::keep_modes(std::size_t count) {
  for (std::size_t i = count; i < modes_.size(); ++i) {
    const std::vector<char> jumps = jumping_links(modes_[i]);
    for (std::size_t k = 0; k < jumps.size(); ++k) faults_[k] -= jumps[k];
  }
  modes_.resize(count);
  tell_faults();
  pool_.keep_rows(count);
  pool_.add_row(std::vector<double>(graph_->size(), 0.0));
}

double ModeSearch::mass_norm(std::span<const double> field) const {
  double sum = 0;
  for (std::size_t p = 0; p < field.size(); ++p) sum += graph_->masses[p] * field[p] * field[p];
  return std::sqrt(sum);
}

bool ModeSearch::make_feasible(std::vector<double>& field) const {
  pool_.center(field);
  const double before = mass_norm(field);
  // Twice is enough [Parlett 1998, The Symmetric Eigenvalue Problem, 6-9].
  for (int sweep = 0; sweep < 2; ++sweep)
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      const auto& row = pool_.rows()[i];
      const double part = std::inner_product(row.begin(), row.end(), field.begin(), 0.0);
      for (std::size_t p = 0; p < field.size(); ++p) field[p] -= part * modes_[i][p];
    }
  const double norm = mass_norm(field);
  if (!(norm > 1e-8 * before)) return false;
  for (double& value : field) value /= norm;
  return true;
}

std::vector<ModeSearch::LevelSet> ModeSearch::level_sets(std::span<const double> field,
                                                         const std::vector<int>& order) const {
  std::vector<int> place(field.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  // What the weight of the prefix of length i + 1 has more than that of length i.
  std::vector<double> growth(field.size(), 0.0);
  for (const PieceGraph::Link& link : graph_->links) {
    const auto [first, second] = std::minmax(place[link.a], place[link.b]);
    growth[first] += link.weight;
    growth[second] -= link.weight;
  }
  std::vector<LevelSet> sets;
  double mass = 0, weight = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    mass += graph_->masses[order[i]];
    weight += growth[i];
    if (field[order[i]] != field[order[i + 1]]) sets.push_back({i + 1, mass, weight});
  }
  return sets;
}

void ModeSearch::add_level_sets(std::span<const double> field, int count) {
  std::vector<int> order(field.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int p, int q) { return field[p] > field[q]; });
  std::vector<LevelSet> sets = level_sets(field, order);
  const double total = std::accumulate(graph_->masses.begin(), graph_->masses.end(), 0.0);
  if (std::ssize(sets) > count) {
    const auto energy = [&](const LevelSet& set) {
      return set.weight / std::sqrt(set.mass * (total - set.mass));
    };
    std::vector<LevelSet> best;
    int last = -1;
    for (const LevelSet& set : sets) {
      const int of_mass = static_cast<int>(set.mass / total * count);
      if (of_mass != last)
        best.push_back(set);
      else if (energy(set) < energy(best.back()))
        best.back() = set;
      last = of_mass;
    }
    sets = std::move(best);
  }
  std::vector<char> inside(field.size(), 0);
  std::size_t filled = 0;
  for (const LevelSet& set : sets) {
    while (filled < set.size) inside[order[filled++]] = 1;
    pool_.add(inside);
  }
}

FoundMode ModeSearch::descend_to_any_parts(std::span<const double> start) {
  FoundMode found;
  std::vector<double> c(start.begin(), start.end());
  pool_.center(c);
  double norm = mass_norm(c);
  if (!(norm > 0)) return found;
  for (double& value : c) value /= norm;
  double energy = discontinuity_energy(*graph_, c);
  bool is_feasible = false; // c satisfies all conditions
  const auto linearise_around = [&] {
    std::vector<double> row(c);
    for (std::size_t p = 0; p < row.size(); ++p) row[p] *= graph_->masses[p];
    pool_.set_last_row(std::move(row));
  };
  add_level_sets(c, 64);
  linearise_around();
  RestrictedProblem problem(pool_);
  int raises = 0;
  for (int round = 0; round < max_rounds; ++round) {
    if (problem.solve()) {
      std::vector<double> v = problem.field();
      norm = mass_norm(v);
      const double of_v = discontinuity_energy(*graph_, v) / norm;
      if (!is_feasible || of_v < energy * (1 - least_decrease)) {
        for (double& value : v) value /= norm;
        c = std::move(v);
        energy = of_v;
        is_feasible = true;
        ++found.iterations;
        linearise_around();
        continue;
      }
    }
    const Excess excess = find_excess(pool_, minimum_cut_, problem.multipliers());
    found.gap = 1 - 1 / excess.factor;
    const bool is_solved = found.gap <= gap_tolerance || excess.added == 0;
    if (is_solved && is_feasible) break;
    if (is_solved) {
      if (++raises > 3) return found;
      problem.raise_artificial_cost();
    }
  }
  found.field = std::move(c);
  found.energy = energy;
  return found;
}

FoundMode ModeSearch::descend(std::span<const double> start) {
  FoundMode found = descend_to_any_parts(start);
  return found.field.empty() || !(least_.part > 0) ? found : without_crumbs(std::move(found));
}

/// Whether a field is not the same, but for rounding, on both sides of each link.
std::vector<char> ModeSearch::jumping_links(std::span<const double> field) const {
  constexpr double zero = 1e-9;
  const auto [low, high] = std::ranges::minmax(field);
  std::vector<char> jumps;
  for (const PieceGraph::Link& link : graph_->links)
    jumps.push_back(std::abs(field[link.a] - field[link.b]) > zero * (high - low) ? 1 : 0);
  return jumps;
}

namespace {

std::vector<double> masses_of(const PieceGraph& graph, const std::vector<int>& parts) {
  std::vector<double> masses(std::ranges::max(parts) + 1, 0.0);
  for (std::size_t p = 0; p < parts.size(); ++p) masses[parts[p]] += graph.masses[p];
  return masses;
}

/// Mean by mass of a field over each part.
std::vector<double> means(const PieceGraph& graph, const std::vector<int>& parts,
                          const std::vector<double>& masses, std::span<const double> field) {
  std::vector<double> result(masses.size(), 0.0);
  for (std::size_t p = 0; p < parts.size(); ++p) result[parts[p]] += graph.masses[p] * field[p];
  for (std::size_t part = 0; part < masses.size(); ++part) result[part] /= masses[part];
  return result;
}

PieceGraph graph_of_parts(const PieceGraph& graph, const std::vector<int>& parts,
                          const std::vector<double>& masses) {
  std::map<std::pair<int, int>, double> weights;
  for (const PieceGraph::Link& link : graph.links) {
    const std::pair<int, int> both = std::minmax(parts[link.a], parts[link.b]);
    if (both.first != both.second) weights[both] += link.weight;
  }
  PieceGraph result{masses, {}};
  for (const auto& [both, weight] : weights) result.links.push_back({both.first, both.second, weight});
  return result;
}

} // namespace

/// The part of each piece when faults of a field and of the modes divide the graph and crumbs are joined to
/// what lies beside them between the faults of the modes; empty where there are no crumbs.
std::vector<int> ModeSearch::joined_crumbs(std::span<const double> field) const {
  const std::vector<char> jumps = jumping_links(field);
  UnionFind<int> divided(graph_->size());
  for (std::size_t k = 0; k < jumps.size(); ++k)
    if (faults_[k] == 0 && jumps[k] == 0) divided.unite(graph_->links[k].a, graph_->links[k].b);
  const std::vector<int>& left = pool_.left();
  std::vector<int> parts = divided.numbers();
  const std::vector<double> masses = masses_of(*graph_, parts), masses_left = masses_of(*graph_, left);
  std::vector<double> least(masses.size());
  bool any = false;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    // The whole of what is left may be light.
    const bool is_whole = masses[parts[p]] > 0.999999 * masses_left[left[p]];
    least[parts[p]] = is_whole ? 0 : pool_.least_masses()[left[p]];
    any = any || masses[parts[p]] < least[parts[p]];
  }
  if (!any) return {};
  std::vector<PartLink> links;
  for (const auto& [a, b, weight] : graph_->links)
    if (left[a] == left[b] && parts[a] != parts[b]) links.push_back({parts[a], parts[b], weight});
  const std::vector<int> joined_to = join_small_parts(masses, least, links);
  std::vector<int> number(masses.size(), -1);
  int count = 0;
  for (int& part : parts) {
    int& of_joined = number[joined_to[part]];
    if (of_joined < 0) of_joined = count++;
    part = of_joined;
  }
  return parts;
}

/// The field of least E_D in reach that jumps only between the parts of `found` that are large enough.
FoundMode ModeSearch::without_crumbs(FoundMode found) const {
  const std::vector<int> parts = joined_crumbs(found.field);
  if (parts.empty()) return found;
  const std::vector<double> masses = masses_of(*graph_, parts);
  const PieceGraph graph = graph_of_parts(*graph_, parts, masses);
  ModeSearch search(graph, {});
  for (const auto& mode : modes_) search.add_mode(means(*graph_, parts, masses, mode));
  FoundMode coarse = search.descend(means(*graph_, parts, masses, found.field));
  if (coarse.field.empty() || !search.make_feasible(coarse.field)) return {};
  FoundMode result{std::vector<double>(parts.size()), discontinuity_energy(graph, coarse.field),
                   std::max(found.gap, coarse.gap), found.iterations + coarse.iterations, found.start};
  for (std::size_t p = 0; p < parts.size(); ++p) result.field[p] = coarse.field[parts[p]];
  return result;
}

} // namespace recoil::solvers::fracture_modes

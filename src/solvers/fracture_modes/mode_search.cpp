#include "solvers/fracture_modes/mode_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recoil/base/error.hpp"

namespace recoil::solvers::fracture_modes {

namespace {
/// Relative gap at which a convex problem counts as solved, and decrease of the energy that counts as one.
constexpr double gap_tolerance = 1e-10, least_decrease = 1e-11;
constexpr int max_rounds = 2000;
} // namespace

ModeSearch::ModeSearch(const PieceGraph& graph, double least_piece)
    : graph_(&graph), pool_(graph, least_piece), minimum_cut_(graph) {
  pool_.add_row(std::vector<double>(graph.size(), 0.0)); // that of the linearised norm
}

void ModeSearch::add_row(std::vector<double> row) {
  pool_.set_last_row(std::move(row));
  pool_.add_row(std::vector<double>(graph_->size(), 0.0));
}

void ModeSearch::keep_rows(std::size_t count) {
  pool_.keep_rows(count);
  pool_.add_row(std::vector<double>(graph_->size(), 0.0));
}

double ModeSearch::mass_norm(std::span<const double> field) const {
  double sum = 0;
  for (std::size_t p = 0; p < field.size(); ++p) sum += graph_->masses[p] * field[p] * field[p];
  return std::sqrt(sum);
}

bool ModeSearch::make_feasible(std::vector<double>& field, std::span<const std::vector<double>> modes) const {
  pool_.center(field);
  const double before = mass_norm(field);
  // Twice is enough [Parlett 1998, The Symmetric Eigenvalue Problem, 6-9].
  for (int sweep = 0; sweep < 2; ++sweep)
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const auto& row = pool_.rows()[i];
      const double part = std::inner_product(row.begin(), row.end(), field.begin(), 0.0);
      for (std::size_t p = 0; p < field.size(); ++p) field[p] -= part * modes[i][p];
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

FoundMode ModeSearch::descend(std::span<const double> start) {
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

} // namespace recoil::solvers::fracture_modes

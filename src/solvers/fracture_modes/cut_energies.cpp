#include "solvers/fracture_modes/cut_energies.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::solvers::fracture_modes {

std::vector<CutEnergy> cut_energies(const CutPool& pool, std::span<const std::vector<double>> modes) {
  const PieceGraph& graph = pool.graph();
  // Away from the boundary of a cut its field jumps only where modes do, which are links by the hundred among
  // thousands.
  std::vector<int> jumping;
  std::vector<char> jumps(graph.links.size(), 0);
  for (int k = 0; k < std::ssize(graph.links); ++k) {
    const auto [a, b, weight] = graph.links[k];
    jumps[k] = std::ranges::any_of(modes, [a = a, b = b](const auto& mode) { return mode[a] != mode[b]; });
    if (jumps[k] != 0) jumping.push_back(k);
  }
  std::vector<char> inside(graph.size(), 0);
  std::vector<CutEnergy> energies;
  for (int c = 0; c < std::ssize(pool.cuts()); ++c) {
    if (!pool.is_usable(c)) continue;
    const Cut& cut = pool.cuts()[c];
    double mass = 0;
    for (const int p : cut.members) mass += graph.masses[p];
    const double whole = pool.component_masses()[pool.component()[cut.members.front()]];
    double square = mass * (1 - mass / whole);
    const double before = square;
    for (std::size_t i = 0; i < modes.size(); ++i) square -= cut.sums[i] * cut.sums[i];
    if (!(square > 1e-6 * before)) continue;
    for (const int p : cut.members) inside[p] = 1;
    double energy = 0;
    for (const int k : jumping) {
      const auto& [a, b, weight] = graph.links[k];
      double jump = inside[a] - inside[b];
      for (std::size_t i = 0; i < modes.size(); ++i) jump -= cut.sums[i] * (modes[i][a] - modes[i][b]);
      energy += weight * std::abs(jump);
    }
    for (std::size_t k = 0; k < graph.links.size(); ++k)
      if (jumps[k] == 0 && inside[graph.links[k].a] != inside[graph.links[k].b])
        energy += graph.links[k].weight;
    for (const int p : cut.members) inside[p] = 0;
    energies.push_back({c, energy / std::sqrt(square)});
  }
  std::ranges::stable_sort(energies, {}, &CutEnergy::energy);
  return energies;
}

std::vector<double> indicator(const CutPool& pool, int cut) {
  std::vector<double> field(pool.graph().size(), 0.0);
  for (const int p : pool.cuts()[cut].members) field[p] = 1;
  return field;
}

} // namespace recoil::solvers::fracture_modes

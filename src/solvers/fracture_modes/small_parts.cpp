#include "solvers/fracture_modes/small_parts.hpp"

#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace recoil::solvers::fracture_modes {

std::vector<int> join_small_parts(std::vector<double> masses, std::span<const double> least,
                                  std::span<const PartLink> links) {
  const int count = static_cast<int>(masses.size());
  std::vector<std::map<int, double>> beside(count);
  for (const PartLink& link : links) {
    if (link.a == link.b) continue;
    beside[link.a][link.b] += link.weight;
    beside[link.b][link.a] += link.weight;
  }
  std::vector<int> joined_to(count);
  std::iota(joined_to.begin(), joined_to.end(), 0);
  std::set<std::pair<double, int>> small;
  for (int part = 0; part < count; ++part)
    if (masses[part] < least[part]) small.emplace(masses[part], part);
  while (!small.empty()) {
    const int part = small.begin()->second;
    small.erase(small.begin());
    if (beside[part].empty()) continue;
    int best = -1;
    double most = 0;
    for (const auto& [other, weight] : beside[part])
      if (best < 0 || weight > most) {
        best = other;
        most = weight;
      }
    small.erase({masses[best], best});
    // The part with more neighbours stands for both.
    const auto [gone, kept] =
        beside[part].size() > beside[best].size() ? std::pair(best, part) : std::pair(part, best);
    for (const auto& [other, weight] : beside[gone]) {
      beside[other].erase(gone);
      if (other == kept) continue;
      beside[kept][other] += weight;
      beside[other][kept] += weight;
    }
    beside[gone].clear();
    joined_to[gone] = kept;
    masses[kept] += masses[gone];
    if (masses[kept] < least[kept]) small.emplace(masses[kept], kept);
  }
  for (int& to : joined_to)
    while (joined_to[to] != to) to = joined_to[to];
  return joined_to;
}

} // namespace recoil::solvers::fracture_modes

#include "solvers/fracture_modes/jump_parts.hpp"

#include <algorithm>
#include <utility>

#include "recoil/linalg/components.hpp"
#include "recoil/parallel/exchange.hpp"
#include "solvers/fracture_modes/small_parts.hpp"

namespace recoil::solvers::fracture_modes {

JumpParts connected_parts(const JumpProblem& problem, std::span<const char> joined) {
  std::vector<std::array<LocalIndex, 2>> edges;
  for (std::size_t l = 0; l < problem.links.size(); ++l)
    for (int k = 0; k < problem.pairs && joined[l] != 0; ++k)
      edges.push_back({problem.links[l].a[k], problem.links[l].b[k]});
  for (const JumpProblem::Element& element : problem.elements)
    for (int k = 1; k < element.stiffness.rows() / problem.dim; ++k)
      edges.push_back({element.nodes[0], element.nodes[k]});
  auto [of_local, count] = linalg::numbered_components(*problem.layout, problem.ids, edges);
  JumpParts parts{std::move(of_local), std::vector<double>(count, 0.0)};
  for (LocalIndex node = 0; node < problem.layout->num_owned; ++node)
    parts.masses[parts.of_local[node]] += problem.masses[node];
  problem.comm().sum(parts.masses);
  return parts;
}

LeastParts::LeastParts(const JumpProblem& problem, double least_share)
    : problem_(&problem), least_share_(least_share),
      components_(connected_parts(problem, std::vector<char>(problem.links.size(), 1))) {}

/// The component of each part.
std::vector<int> LeastParts::components_of(const JumpParts& parts) const {
  // One rank's word for each part: all say the same.
  std::vector<double> sums(2 * parts.masses.size(), 0.0);
  std::vector<char> seen(parts.masses.size(), 0);
  for (LocalIndex node = 0; node < problem_->layout->num_owned; ++node) {
    const int part = parts.of_local[node];
    if (std::exchange(seen[part], 1) != 0) continue;
    sums[2 * part] = components_.of_local[node];
    sums[2 * part + 1] = 1;
  }
  problem_->comm().sum(sums);
  std::vector<int> result;
  for (std::size_t part = 0; part < parts.masses.size(); ++part)
    result.push_back(static_cast<int>(sums[2 * part] / sums[2 * part + 1] + 0.5));
  return result;
}

double LeastParts::least_mass(int component) const {
  constexpr double rounding = 1e-9;
  return components_.masses[component] * (least_share_ - rounding);
}

bool LeastParts::is_small(const JumpParts& parts, int part, const std::vector<int>& component) const {
  return parts.masses[part] < least_mass(component[part]);
}

void LeastParts::absorb(std::vector<char>& inside) const {
  if (least_share_ <= 0) return;
  const JumpProblem& problem = *problem_;
  std::vector<char> joined(problem.links.size());
  for (;;) {
    for (std::size_t l = 0; l < joined.size(); ++l)
      joined[l] = inside[problem.links[l].a[0]] == inside[problem.links[l].b[0]] ? 1 : 0;
    const JumpParts parts = connected_parts(problem, joined);
    const std::vector<int> component = components_of(parts);
    const auto count = static_cast<int>(parts.masses.size());
    // Whether a smaller small part is beside each, which changes sides in its place.
    std::vector<double> beside(count, 0.0);
    const auto is_smaller = [&](int i, int j) {
      return std::pair(parts.masses[i], i) < std::pair(parts.masses[j], j);
    };
    for (std::size_t l = 0; l < joined.size(); ++l) {
      const int i = parts.of_local[problem.links[l].a[0]], j = parts.of_local[problem.links[l].b[0]];
      if (i != j && is_small(parts, i, component) && is_small(parts, j, component))
        beside[is_smaller(i, j) ? j : i] = 1;
    }
    problem.comm().sum(beside);
    bool any = false;
    std::vector<char> changes(count, 0);
    for (int part = 0; part < count; ++part) {
      changes[part] = is_small(parts, part, component) && beside[part] == 0 ? 1 : 0;
      any = any || changes[part] != 0;
    }
    if (!any) return;
    for (std::size_t node = 0; node < inside.size(); ++node)
      if (changes[parts.of_local[node]] != 0) inside[node] = inside[node] == 0 ? 1 : 0;
  }
}

void LeastParts::close(std::span<const char> passable, std::vector<char>& closed) const {
  if (least_share_ <= 0) return;
  const JumpProblem& problem = *problem_;
  const auto numbers = static_cast<Eigen::Index>(problem.size()) * problem.size();
  std::vector<char> joined(problem.links.size());
  for (std::size_t l = 0; l < joined.size(); ++l)
    joined[l] = closed[l] != 0 || passable[l] != 0 || !problem.links[l].breakable ? 1 : 0;
  JumpParts parts = connected_parts(problem, joined);
  const std::vector<int> component = components_of(parts);
  std::vector<PartLink> links;
  for (std::size_t l = 0; l < joined.size(); ++l) {
    const auto [a, b] =
        std::minmax(parts.of_local[problem.links[l].a[0]], parts.of_local[problem.links[l].b[0]]);
    if (problem.links[l].counted && a != b)
      links.push_back({a, b, Eigen::Map<const Eigen::VectorXd>(problem.matrix(l).data(), numbers).norm()});
  }
  links = parallel::gather(problem.comm(), 0, std::move(links));
  problem.comm().broadcast(links);

  std::vector<double> least;
  for (std::size_t part = 0; part < parts.masses.size(); ++part) least.push_back(least_mass(component[part]));
  const std::vector<int> joined_to = join_small_parts(parts.masses, least, links);
  for (std::size_t l = 0; l < closed.size(); ++l) {
    const int a = parts.of_local[problem.links[l].a[0]], b = parts.of_local[problem.links[l].b[0]];
    if (a != b && joined_to[a] == joined_to[b]) closed[l] = 1;
  }
}

} // namespace recoil::solvers::fracture_modes

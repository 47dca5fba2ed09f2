#include "recoil/solvers/fracture_modes/piece_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "recoil/parallel/exchange.hpp"
#include "solvers/fracture_modes/union_find.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// The smallest input id of an element of the piece of each local element: union-find over the faces of this
/// rank, then rounds in which ghosts bring the ids of other ranks, until nothing changes. Ids are exact in
/// double precision.
std::vector<GlobalIndex> smallest_ids(const ElementGraph& elements, std::span<const char> joined) {
  UnionFind sets(elements.cell_ids.size());
  for (std::size_t f = 0; f < elements.faces.size(); ++f)
    if (joined[f] != 0) sets.unite(elements.faces[f].a, elements.faces[f].b);
  std::vector<double> smallest(elements.cell_ids.begin(), elements.cell_ids.end());
  for (std::size_t e = 0; e < smallest.size(); ++e) {
    double& of_root = smallest[sets.root(e)];
    of_root = std::min(of_root, double(elements.cell_ids[e]));
  }
  linalg::Vector labels(elements.layout);
  for (bool changed = true; elements.comm().any(changed);) {
    changed = false;
    const auto owned = labels.write_owned();
    for (std::size_t e = 0; e < owned.size(); ++e) owned[e] = smallest[sets.root(e)];
    labels.update_ghosts();
    for (std::size_t e = owned.size(); e < smallest.size(); ++e) {
      double& of_root = smallest[sets.root(e)];
      if (labels.local()[e] >= of_root) continue;
      of_root = labels.local()[e];
      changed = true;
    }
  }
  std::vector<GlobalIndex> result(smallest.size());
  for (std::size_t e = 0; e < result.size(); ++e)
    result[e] = static_cast<GlobalIndex>(smallest[sets.root(e)]);
  return result;
}

/// A link, or a share of one; travels as bytes.
struct GatheredLink {
  std::int32_t a, b;
  double weight;
};

/// Adds up equal pairs of neighbours in a sorted list, in its order.
std::vector<GatheredLink> merged(std::vector<GatheredLink> links) {
  std::ranges::stable_sort(links, {}, [](const GatheredLink& link) { return std::pair(link.a, link.b); });
  std::vector<GatheredLink> result;
  for (const GatheredLink& link : links)
    if (!result.empty() && result.back().a == link.a && result.back().b == link.b)
      result.back().weight += link.weight;
    else
      result.push_back(link);
  return result;
}

} // namespace

GatheredPieces gather_pieces(const ElementGraph& elements, std::span<const char> joined) {
  const parallel::Communicator& comm = elements.comm();
  const std::vector<GlobalIndex> first = smallest_ids(elements, joined);
  const auto unique = [](std::vector<GlobalIndex> ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  };
  const std::size_t num_owned = elements.layout->num_owned;
  const auto firsts = unique(comm.all_gather_parts(unique({first.begin(), first.begin() + num_owned})));
  GatheredPieces pieces;
  for (const GlobalIndex id : first)
    pieces.of_local.push_back(static_cast<int>(std::ranges::lower_bound(firsts, id) - firsts.begin()));
  pieces.graph.masses.resize(firsts.size());
  pieces.graph.masses = sum_over_pieces(elements, pieces, std::vector<double>(num_owned, 1.0));

  std::vector<GatheredLink> links;
  for (const ElementFace& face : elements.faces) {
    const auto [a, b] = std::minmax(pieces.of_local[face.a], pieces.of_local[face.b]);
    if (face.counted && a != b) links.push_back({a, b, face.weight});
  }
  links = merged(parallel::gather(comm, 0, merged(std::move(links))));
  comm.broadcast(links);
  for (const GatheredLink& link : links) pieces.graph.links.push_back({link.a, link.b, link.weight});
  return pieces;
}

std::vector<double> sum_over_pieces(const ElementGraph& elements, const GatheredPieces& pieces,
                                    std::span<const double> values) {
  std::vector<double> sums(pieces.graph.size(), 0.0);
  for (LocalIndex e = 0; e < elements.layout->num_owned; ++e)
    sums[pieces.of_local[e]] += elements.masses[e] * values[e];
  elements.comm().sum(sums);
  return sums;
}

std::vector<int> components(const PieceGraph& graph) {
  UnionFind sets(graph.masses.size());
  for (const PieceGraph::Link& link : graph.links) sets.unite(link.a, link.b);
  std::vector<int> number(graph.masses.size(), -1), result;
  int count = 0;
  for (std::size_t p = 0; p < number.size(); ++p) {
    int& of_root = number[sets.root(p)];
    if (of_root < 0) of_root = count++;
    result.push_back(of_root);
  }
  return result;
}

double discontinuity_energy(const PieceGraph& graph, std::span<const double> field) {
  double energy = 0;
  for (const PieceGraph::Link& link : graph.links)
    energy += link.weight * std::abs(field[link.a] - field[link.b]);
  return energy;
}

} // namespace recoil::solvers::fracture_modes

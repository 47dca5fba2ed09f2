#include "recoil/solvers/fracture_modes/piece_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "recoil/base/union_find.hpp"
#include "recoil/linalg/components.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// The pieces of local elements.
linalg::Components pieces_of(const ElementGraph& elements, std::span<const char> joined) {
  std::vector<std::array<LocalIndex, 2>> closed;
  for (std::size_t f = 0; f < elements.faces.size(); ++f)
    if (joined[f] != 0) closed.push_back({elements.faces[f].a, elements.faces[f].b});
  return linalg::numbered_components(*elements.layout, elements.cell_ids, closed);
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
  GatheredPieces pieces;
  auto [of_local, count] = pieces_of(elements, joined);
  pieces.of_local = std::move(of_local);
  pieces.graph.masses.resize(count);
  pieces.graph.masses =
      sum_over_pieces(elements, pieces, std::vector<double>(elements.layout->num_owned, 1.0));

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
  UnionFind<int> sets(graph.size());
  for (const PieceGraph::Link& link : graph.links) sets.unite(link.a, link.b);
  return sets.numbers();
}

double discontinuity_energy(const PieceGraph& graph, std::span<const double> field) {
  double energy = 0;
  for (const PieceGraph::Link& link : graph.links)
    energy += link.weight * std::abs(field[link.a] - field[link.b]);
  return energy;
}

} // namespace recoil::solvers::fracture_modes

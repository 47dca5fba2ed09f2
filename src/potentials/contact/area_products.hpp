#pragma once

#include <map>
#include <utility>
#include <vector>

#include "recoil/parallel/exchange.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_vertices.hpp"

namespace recoil::potentials {

/// Derivative of a scalar by the rest areas that the terms of one rank are weighed with.
template <int dim>
class AreaProducts {
public:
  explicit AreaProducts(const ContactVertices<dim>& vertices)
      : vertices_(&vertices), by_vertex_(vertices.size(), 0.0) {}

  /// Adds the derivative by the weight of a term.
  void add(const ContactPair<dim>& term, double by_weight) {
    if (term.kind != geometry::StencilKind::edge_edge) {
      by_vertex_[term.vertices[0]] += term.weight_by_area[0] * by_weight;
      return;
    }
    for (const std::size_t edge : {0, 1}) {
      const double by_area = term.weight_by_area[edge] * by_weight;
      if (by_area != 0) by_edge_[{term.vertices[2 * edge], term.vertices[2 * edge + 1]}] += by_area;
    }
  }

  /// Adds up the shares of all ranks where vertices and edges are owned. Collective.
  void add_to_owners(const parallel::Communicator& comm, fem::AreaSum& sum) const {
    std::vector<double> by_vertex = by_vertex_;
    const std::size_t num_owned = vertices_->num_owned();
    vertices_->halo().add_back(std::span(by_vertex).subspan(num_owned), 1,
                               std::span(by_vertex).first(num_owned));
    for (std::size_t v = 0; v < num_owned; ++v) sum.vertices[v] += by_vertex[v];
    // The owner of an edge is that of its first vertex.
    std::vector<std::vector<EdgeShare>> shares(comm.size());
    for (const auto& [edge, share] : by_edge_) {
      const fem::VertexAddress& first = (*vertices_)[edge.first].address;
      shares[first.rank].push_back({first.index, (*vertices_)[edge.second].id, share});
    }
    for (const auto& from_rank : parallel::exchange(comm, shares))
      for (const EdgeShare& share : from_rank) sum.edges[{share.first, share.second}] += share.value;
  }

private:
  struct EdgeShare {
    LocalIndex first;
    GlobalIndex second;
    double value;
  };

  const ContactVertices<dim>* vertices_;
  std::vector<double> by_vertex_;
  std::map<std::pair<LocalIndex, LocalIndex>, double> by_edge_; ///< numbers of the edge's vertices
};

} // namespace recoil::potentials

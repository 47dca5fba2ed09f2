#pragma once

#include <map>
#include <utility>
#include <vector>

#include "recoil/parallel/exchange.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_vertices.hpp"

namespace recoil::potentials {

/// of_vertex(number, derivative) and of_edge(numbers, derivative) of the weight of a term by the rest areas
/// that it is made of.
template <int dim, class OfVertex, class OfEdge>
void for_each_area(const ContactPair<dim>& term, OfVertex of_vertex, OfEdge of_edge) {
  if (term.kind != geometry::StencilKind::edge_edge)
    return of_vertex(term.vertices[0], term.weight_by_area[0]);
  for (const std::size_t edge : {0, 1})
    if (term.weight_by_area[edge] != 0)
      of_edge(std::pair(term.vertices[2 * edge], term.vertices[2 * edge + 1]), term.weight_by_area[edge]);
}

/// Derivative of a scalar by the rest areas that the terms of one rank are weighed with.
template <int dim>
class AreaProducts {
public:
  explicit AreaProducts(const ContactVertices<dim>& vertices)
      : vertices_(&vertices), by_vertex_(vertices.size(), 0.0) {}

  /// Adds the derivative by the weight of a term.
  void add(const ContactPair<dim>& term, double by_weight) {
    for_each_area(
        term, [&](LocalIndex vertex, double by_area) { by_vertex_[vertex] += by_area * by_weight; },
        [&](const auto& edge, double by_area) { by_edge_[edge] += by_area * by_weight; });
  }

  /// Adds up the shares of all ranks where vertices and edges are owned. Collective.
  void add_to_owners(const parallel::Communicator& comm, fem::AreaField& sum) const {
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

/// The transpose: changes of the rest areas that the terms of one rank are weighed with.
template <int dim>
class AreaChanges {
public:
  /// Of `terms`, from those where vertices and edges are owned. Collective.
  AreaChanges(const parallel::Communicator& comm, const ContactVertices<dim>& vertices,
              const std::vector<ContactPair<dim>>& terms, const fem::AreaField& owned)
      : of_vertex_(owned.vertices) {
    of_vertex_.resize(vertices.size());
    vertices.halo().forward(owned.vertices, 1, std::span(of_vertex_).subspan(vertices.num_owned()));
    for (const ContactPair<dim>& term : terms)
      for_each_area(
          term, [](LocalIndex, double) {}, [&](const auto& edge, double) { of_edge_[edge] = 0; });
    // The owner of an edge is that of its first vertex.
    std::vector<std::vector<Question>> questions(comm.size());
    for (const auto& [edge, change] : of_edge_) {
      const fem::VertexAddress& first = vertices[edge.first].address;
      questions[first.rank].push_back({first.index, vertices[edge.second].id});
    }
    const auto asked = parallel::exchange(comm, questions);
    std::vector<std::vector<double>> replies(asked.size());
    for (std::size_t rank = 0; rank < asked.size(); ++rank)
      for (const Question& edge : asked[rank]) {
        const auto found = owned.edges.find({edge.first, edge.second});
        replies[rank].push_back(found == owned.edges.end() ? 0 : found->second);
      }
    const auto answers = parallel::exchange(comm, replies);
    std::vector<std::size_t> next(answers.size(), 0);
    for (auto& [edge, change] : of_edge_) {
      const std::size_t rank = vertices[edge.first].address.rank;
      change = answers[rank][next[rank]++];
    }
  }

  /// Of one of the terms.
  double of_weight(const ContactPair<dim>& term) const {
    double change = 0;
    for_each_area(
        term, [&](LocalIndex vertex, double by_area) { change += by_area * of_vertex_[vertex]; },
        [&](const auto& edge, double by_area) { change += by_area * of_edge_.at(edge); });
    return change;
  }

private:
  struct Question {
    LocalIndex first;
    GlobalIndex second;
  };

  std::vector<double> of_vertex_;
  std::map<std::pair<LocalIndex, LocalIndex>, double> of_edge_; ///< numbers of the edge's vertices
};

} // namespace recoil::potentials

#pragma once

#include <map>
#include <utility>
#include <vector>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/contact/contact_state.hpp"

/// Derivatives of the terms of contact by where the surface is at rest and where obstacles are, and the
/// transposes: how the surface changes.
namespace recoil::potentials {

template <class Field>
void add_field(const Field& field, double factor, Field& result) {
  for (std::size_t v = 0; v < field.size(); ++v) result[v] += factor * field[v];
}

/// Adds to the array of `quantity`, if there is one.
template <int dim>
void add_to_array(const typename ContactState<dim>::Field& field, double factor,
                  const parameters::Quantity& quantity, parameters::PhysicalGradient<dim>& g) {
  auto* array = g.find_vectors(quantity);
  if (array == nullptr) return;
  array->resize(field.size(), ContactState<dim>::Point::Zero());
  add_field(field, factor, *array);
}

/// A derivative by the rest positions of surface vertices, in parts.
template <int dim>
struct ShapeProducts {
  typename ContactState<dim>::Field rest;
  surface::AreaField areas;

  explicit ShapeProducts(const surface::Surface<dim>& surface)
      : rest(surface.num_owned(), ContactState<dim>::Point::Zero()), areas{std::vector<double>(rest.size(),
                                                                                               0.0),
                                                                           {}} {}

  void add_to(const surface::Surface<dim>& surface, parameters::PhysicalGradient<dim>& g) const {
    auto field = surface.area_gradient(areas);
    add_field(rest, 1, field);
    surface.add_to_rest(field, *g.rest_positions(), g.vectors(parameters::quantities::obstacle_vertices));
  }
};

/// How the surface moves with what `dq` changes.
template <int dim>
struct SurfaceChanges {
  using Field = typename ContactState<dim>::Field;

  bool has_rest;                         ///< rest positions change
  Field known_rest, rest;                ///< changes of all vertices known here, of the owned ones
  Field obstacles_now, obstacles_before; ///< relative to rest, at the ends of the step

  SurfaceChanges(const surface::Surface<dim>& surface, const parameters::PhysicalDirection<dim>& dq)
      : has_rest(dq.rest_positions() || dq.find_vectors(parameters::quantities::obstacle_vertices)),
        known_rest(surface.rest_changes(entries(dq.rest_positions()),
                                        entries(dq.find_vectors(parameters::quantities::obstacle_vertices)))),
        rest(known_rest.begin(), known_rest.begin() + surface.num_owned()),
        obstacles_now(at_obstacles(surface, dq.find_vectors(parameters::quantities::obstacle_positions))),
        obstacles_before(
            at_obstacles(surface, dq.find_vectors(parameters::quantities::previous_obstacle_positions))) {}

private:
  static std::span<const typename ContactState<dim>::Point> entries(const Field* array) {
    if (array == nullptr) return {};
    return *array;
  }
  static Field at_obstacles(const surface::Surface<dim>& surface, const Field* array) {
    Field field(surface.num_owned(), ContactState<dim>::Point::Zero());
    for (LocalIndex v = 0; array != nullptr && v < surface.num_owned(); ++v)
      if (surface.node(v) < 0) field[v] = (*array)[v];
    return field;
  }
};

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
  explicit AreaProducts(const surface::StencilVertices<dim>& vertices)
      : vertices_(&vertices), by_vertex_(vertices.size(), 0.0) {}

  /// Adds the derivative by the weight of a term.
  void add(const ContactPair<dim>& term, double by_weight) {
    for_each_area(
        term, [&](LocalIndex vertex, double by_area) { by_vertex_[vertex] += by_area * by_weight; },
        [&](const auto& edge, double by_area) { by_edge_[edge] += by_area * by_weight; });
  }

  /// Adds up the shares of all ranks where vertices and edges are owned. Collective.
  void add_to_owners(const parallel::Communicator& comm, surface::AreaField& sum) const {
    std::vector<double> by_vertex = by_vertex_;
    const std::size_t num_owned = vertices_->num_owned();
    vertices_->halo().add_back(std::span(by_vertex).subspan(num_owned), 1,
                               std::span(by_vertex).first(num_owned));
    for (std::size_t v = 0; v < num_owned; ++v) sum.vertices[v] += by_vertex[v];
    // The owner of an edge is that of its first vertex.
    std::vector<std::vector<EdgeShare>> shares(comm.size());
    for (const auto& [edge, share] : by_edge_) {
      const surface::VertexAddress& first = (*vertices_)[edge.first].address;
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

  const surface::StencilVertices<dim>* vertices_;
  std::vector<double> by_vertex_;
  std::map<std::pair<LocalIndex, LocalIndex>, double> by_edge_; ///< numbers of the edge's vertices
};

/// The transpose of AreaProducts: changes of the rest areas that the terms of one rank are weighed with.
template <int dim>
class AreaChanges {
public:
  /// Fetches the changes that `terms` need from where vertices and edges are owned. Collective.
  AreaChanges(const parallel::Communicator& comm, const surface::StencilVertices<dim>& vertices,
              const std::vector<ContactPair<dim>>& terms, const surface::AreaField& owned)
      : of_vertex_(owned.vertices) {
    of_vertex_.resize(vertices.size());
    vertices.halo().forward(owned.vertices, 1, std::span(of_vertex_).subspan(vertices.num_owned()));
    for (const ContactPair<dim>& term : terms)
      for_each_area(
          term, [](LocalIndex, double) {}, [&](const auto& edge, double) { of_edge_[edge] = 0; });
    // The owner of an edge is that of its first vertex.
    std::vector<std::vector<Question>> questions(comm.size());
    for (const auto& [edge, change] : of_edge_) {
      const surface::VertexAddress& first = vertices[edge.first].address;
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

  /// The change of the weight of one of the terms.
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

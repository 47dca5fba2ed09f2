#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/potentials/contact/barrier.hpp"

namespace recoil::objectives {

/// The pairs of surface primitives of some bodies that are closer than a distance, found as contact finds its
/// own, and derivatives of sums over them. Everything is collective unless it says otherwise.
template <int dim>
class SurfacePairs {
public:
  using Pair = potentials::ContactPair<dim>;
  using Point = typename surface::Surface<dim>::Point;
  /// One vector per owned vertex of the surface.
  using Field = std::vector<Point>;

  /// @param meet which bodies, obstacles and planes do, by their numbers
  /// @param what names the distance in messages: "min_distance: the limit". `surface` must outlive it.
  SurfacePairs(const surface::Surface<dim>& surface, double distance,
               std::vector<potentials::Plane<dim>> planes, collide::GroupFilter meet, std::string what)
      : surface_(&surface), barrier_(distance, every_primitive, std::move(planes)), meet_(std::move(meet)),
        search_(surface, distance, meet_), what_(std::move(what)) {}

  const surface::Surface<dim>& surface() const { return *surface_; }
  const parallel::Communicator& comm() const { return surface_->comm(); }
  /// A barrier whose terms are those of the pairs and whose dhat is the distance.
  const potentials::Barrier<dim>& barrier() const { return barrier_; }

  /// Finds the pairs of the surface displaced by u (owned nodes, then ghosts) and of obstacles that are
  /// displaced by `obstacles` (dim entries per local obstacle vertex).
  /// @throws InputError on every rank where there are more than memory holds.
  void move_to(std::span<const double> u, std::span<const double> obstacles) {
    known_ = surface_->positions(u, obstacles);
    try {
      search_.cover(known_, known_);
    } catch (const InputError&) {
      throw InputError(what_ + " of " + std::to_string(barrier_.dhat()) +
                       " m has more pairs of surface primitives within it than memory holds; take a smaller "
                       "one");
    }
    vertices_ = search_.vertices();
    pairs_ = barrier_.active_pairs(search_.candidates(), *vertices_,
                                   vertices_->gather(std::span(known_).first(surface_->num_owned())));
    // The search knows no planes.
    std::erase_if(pairs_, [&](const Pair& pair) { return !meet_(pair.bodies[0], pair.bodies[1]); });
  }
  /// The pairs of this rank; over all ranks every pair is there once. Not collective.
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Number of intersections of bodies that meet, as potentials::count_intersections has it; those beyond a
  /// plane touch it instead.
  GlobalIndex num_intersections(std::vector<std::string>& first) const {
    return potentials::count_intersections<dim>(*surface_, known_, &first, meet_);
  }

  /// A derivative of a term by the positions of its vertices, and by the threshold of its mollifier, which
  /// rest edges make.
  struct TermDerivative {
    geometry::StencilVector<dim> by_points;
    double by_mollifier_eps = 0;
  };
  /// The derivative of the sum of a function over all pairs by where the owned vertices are, and what it
  /// depends on their rest positions besides.
  struct Derivative {
    Field by_position, by_rest;
  };
  /// @param of_term its derivative, by the pair.
  template <class OfTerm>
  Derivative derivative(OfTerm of_term) const {
    Field by_position(vertices_->size(), Point::Zero()), by_rest = by_position;
    for (const Pair& pair : pairs_) {
      const TermDerivative term = of_term(pair);
      potentials::add_at_stencil<dim>(pair, term.by_points, by_position);
      if constexpr (dim == 3)
        if (term.by_mollifier_eps != 0) {
          geometry::StencilPoints<3> rest;
          for (int i = 0; i < 4; ++i) rest.col(i) = vertices_->rest(pair.vertices[i]);
          potentials::add_at_stencil<3>(
              pair, term.by_mollifier_eps * geometry::edge_edge_mollifier_eps_gradient(rest), by_rest);
        }
    }
    for (Field* field : {&by_position, &by_rest}) {
      vertices_->add_to_owners(*field);
      field->resize(vertices_->num_owned());
    }
    return {std::move(by_position), std::move(by_rest)};
  }

  /// du += factor times the derivative by the displacement of owned nodes. Not collective.
  void add_to_nodes(const Derivative& of, double factor, std::span<double> du) const {
    for (LocalIndex v = 0; v < surface_->num_owned(); ++v)
      if (const LocalIndex node = surface_->node(v); node >= 0)
        fem::node_block<dim>(du, node) += factor * of.by_position[v];
  }
  /// g += factor times the derivative by where obstacles are. Not collective.
  void add_to_obstacles(const Derivative& of, double factor, parameters::PhysicalGradient<dim>& g) const {
    auto* by_obstacle = g.find_vectors(quantities::obstacle_positions);
    if (!by_obstacle) return;
    by_obstacle->resize(of.by_position.size(), Point::Zero());
    for (std::size_t v = 0; v < of.by_position.size(); ++v) (*by_obstacle)[v] += factor * of.by_position[v];
  }
  /// g += factor times the derivative by the rest positions of bodies and obstacles, those that vertices at
  /// X + u take with them included. Not collective.
  void add_to_rest(const Derivative& of, double factor, parameters::PhysicalGradient<dim>& g) const {
    auto* by_vertex = g.rest_positions();
    if (!by_vertex) return;
    Field field(surface_->num_vertices(), Point::Zero());
    for (std::size_t v = 0; v < of.by_position.size(); ++v)
      field[v] = factor * (of.by_position[v] + of.by_rest[v]);
    surface_->add_to_rest(field, *by_vertex, g.vectors(quantities::obstacle_vertices));
  }

  /// The change by a derivative, the transpose of these three, along du (owned entries, then ghosts) and dq.
  double change(const Derivative& of, std::span<const double> du,
                const parameters::PhysicalDirection<dim>& dq) const {
    const auto entries = [](const Field* array) {
      return array ? std::span<const Point>(*array) : std::span<const Point>();
    };
    const Field rest = surface_->rest_changes(entries(dq.rest_positions()),
                                              entries(dq.find_vectors(quantities::obstacle_vertices)));
    const Field* moved = dq.find_vectors(quantities::obstacle_positions);
    double sum = 0;
    for (LocalIndex v = 0; v < surface_->num_owned(); ++v) {
      Point motion = rest[v];
      if (const LocalIndex node = surface_->node(v); node >= 0)
        motion += fem::node_block<dim>(du, node);
      else if (moved)
        motion += (*moved)[v];
      sum += of.by_position[v].dot(motion) + of.by_rest[v].dot(rest[v]);
    }
    return comm().sum(sum);
  }

private:
  /// Distances between all primitives, with equal weights.
  static constexpr potentials::BarrierForm every_primitive{true, false, false, false};

  const surface::Surface<dim>* surface_;
  potentials::Barrier<dim> barrier_;
  collide::GroupFilter meet_;
  potentials::ContactSearch<dim> search_;
  std::string what_;
  Field known_; ///< positions of all vertices of the surface known here
  std::shared_ptr<const surface::StencilVertices<dim>> vertices_;
  std::vector<Pair> pairs_;
};

} // namespace recoil::objectives

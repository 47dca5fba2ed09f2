#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recoil/collide/candidates.hpp"
#include "recoil/geometry/stencil.hpp"
#include "recoil/surface/stencil_vertices.hpp"

namespace recoil::potentials {

/// Two primitives that may come close: a vertex and an edge (2D) or face, or two edges (3D).
struct ContactCandidate {
  geometry::StencilKind kind;
  std::array<std::int8_t, 3> edge_faces; ///< Surface::edge_faces of vertex-face pairs
  std::uint8_t flat_edges;               ///< Surface::face_flat_edges of vertex-face pairs
  std::array<LocalIndex, 4> vertices;    ///< StencilVertices numbers, in the order of the stencil
  std::array<double, 2> edge_areas;      ///< areas of edge-edge pairs [m^2]
  /// False if one of the two is an edge or a vertex that the triangles of a flat part or the pieces of a
  /// straight edge of an obstacle make: it takes part in no contact before other pairs do
  /// (inclusion_exclusion.hpp), and has no barrier.
  bool has_barrier;
};

/// Where obstacles, or the copies of a cell that repeats, have so many vertices or more, over all ranks,
/// searches look at those of their primitives alone that are near bodies: all of fewer are searched in less
/// than a few hundredths of a second and tens of MB. Which rank evaluates a pair may then be another one,
/// pairs are the same.
inline constexpr GlobalIndex sieve_obstacles_from = 50000;

template <int dim>
class RemotePrimitives;

/// The pairs of primitives that this rank evaluates, kept as long as no vertex leaves the box around its path
/// that they were searched with. Over all ranks every pair is there once.
template <int dim>
class ContactSearch {
public:
  using Point = typename surface::Surface<dim>::Point;

  /// Pairs closer than `reach` are found, of bodies and obstacles that `meet`; empty: of all. Obstacles never
  /// meet each other. `with_rings`: vertices() knows the facets around the vertices of candidates. `surface`
  /// must outlive the search. Collective.
  ContactSearch(const surface::Surface<dim>& surface, double reach, collide::GroupFilter meet = {},
                bool with_rings = false, GlobalIndex sieve_from = sieve_obstacles_from);

  /// Makes the candidates valid for all positions on the straight way `from` + s (`to` - `from`), s in [0,
  /// covered]; the result is `covered`, which falls below 1 only where the whole way would meet too many
  /// pairs. Positions are those of all vertices of the surface known here. Collective. @throws InputError on
  /// every rank where the pairs of standing bodies are more than memory holds.
  double cover(const std::vector<Point>& from, const std::vector<Point>& to);

  /// Makes the next cover() search, so that candidates and their order do not depend on the past.
  void forget() { covered_anything_ = false; }

  const std::vector<ContactCandidate>& candidates() const { return candidates_; }
  /// The vertices that the candidates refer to. A new object after every new search.
  std::shared_ptr<const surface::StencilVertices<dim>> vertices() const { return vertices_; }

  double mean_edge() const { return mean_edge_; } ///< rest length over all ranks [m]
  std::int64_t num_searches() const { return num_searches_; }
  const collide::Traffic& traffic() const { return traffic_; }

private:
  bool still_covers(const std::vector<Point>& from, const std::vector<Point>& to) const;
  bool search(const std::vector<Point>& from, const std::vector<Point>& to, double margin,
              GlobalIndex max_pairs);
  void take(const RemotePrimitives<dim>& remote, const collide::Candidates& found,
            std::span<const collide::SetPair> which);

  const surface::Surface<dim>* surface_;
  double reach_;
  collide::GroupFilter meet_;
  GlobalIndex sieve_from_;
  std::optional<surface::SurfaceRings<dim>> rings_;
  double mean_edge_ = 0;
  std::vector<collide::Box<dim>> covered_; ///< boxes of owned vertices
  std::vector<ContactCandidate> candidates_;
  std::shared_ptr<const surface::StencilVertices<dim>> vertices_;
  bool covered_anything_ = false;
  std::int64_t num_searches_ = 0;
  collide::Traffic traffic_;
};

/// Pairs of a face and an edge (3D) or of two edges (2D) that intersect, over all ranks, by exact predicates;
/// primitives that share a vertex and obstacles among themselves do not count, and where `meet` is given no
/// bodies and obstacles that do not. Independent of distances. `first` (optional) takes up to ten of them
/// with the names of their bodies and their place. Collective.
template <int dim>
GlobalIndex count_intersections(const surface::Surface<dim>& surface,
                                const std::vector<typename surface::Surface<dim>::Point>& positions,
                                std::vector<std::string>* first = nullptr,
                                const collide::GroupFilter& meet = {},
                                GlobalIndex sieve_from = sieve_obstacles_from);

} // namespace recoil::potentials

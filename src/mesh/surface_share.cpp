#include "mesh/surface_share.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/flat_parts.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// +1 where the vertices in ascending order go round as they do in the triangle, else -1.
std::int8_t orientation_of(const std::array<LocalIndex, 3>& triangle) {
  const auto& [a, b, c] = triangle;
  return (a < b) + (b < c) + (c < a) == 2 ? 1 : -1;
}

/// A question to the owner of a vertex, of it or of its edge to the vertex with the id `second`.
struct OwnerQuestion {
  std::int32_t owner;
  LocalIndex index_at_owner;
  GlobalIndex second;
};

/// What is known of an edge on the ranks that own its vertices.
struct AtEdge {
  std::int32_t faces;
  std::int32_t is_flat;
};

/// What is known of a vertex where it is owned.
struct AtVertex {
  double area;
  VertexDegrees degrees;
};

/// Triangles and edges around the owned vertices. Vertices are numbered here as they ascend in id, so that
/// all orders are those of ids.
template <int dim>
class AroundVertices {
public:
  AroundVertices(int rank, SurfaceParcel parcel, double extent);

  DistributedSurfaces<dim> share(const parallel::Communicator& comm) const;

private:
  using Edge = FlatParts::Edge;
  using Face = FlatParts::Face;

  void find_edges(const std::vector<Edge>& free_edges, const std::vector<double>& shares);
  void count_degrees();
  void find_flat_parts(double extent);
  void add_areas_without_faces();

  OwnerQuestion about(LocalIndex vertex, GlobalIndex second) const {
    return {records_[vertex].owner, records_[vertex].index_at_owner, second};
  }
  bool is_owned(LocalIndex vertex) const { return records_[vertex].owner == rank_; }
  double length(const Edge& edge) const { return (points_[edge[0]] - points_[edge[1]]).norm(); }
  LocalIndex number(GlobalIndex id) const {
    return LocalIndex(std::ranges::lower_bound(records_, id, {}, &SurfaceVertexRecord::id) -
                      records_.begin());
  }
  Edge edge_of_face(const Face& face, std::size_t i) const {
    const auto [low, high] = std::minmax(face[i], face[(i + 1) % 3]);
    return {low, high};
  }
  std::size_t find(const Edge& edge) const { return std::ranges::lower_bound(edges_, edge) - edges_.begin(); }
  AtEdge at_edge(const Edge& edge) const {
    const std::size_t e = find(edge);
    return {std::int32_t(faces_around_[e].size()), edge_is_flat_[e]};
  }
  /// Faces with their vertices ascending: whether all that is around side (1, 2) is known here.
  bool knows_far_side(const Face& face) const { return is_owned(face[1]) || is_owned(face[2]); }
  std::vector<AtEdge> ask_far_sides(const parallel::Communicator& comm) const;
  std::vector<LocalIndex> vertices_of_share() const;
  void add_vertices(const parallel::Communicator& comm, const std::vector<LocalIndex>& vertices,
                    DistributedSurfaces<dim>& share) const;
  void add_faces(const std::vector<AtEdge>& far_sides, const std::vector<LocalIndex>& local,
                 DistributedSurfaces<dim>& share) const;

  int rank_;
  std::vector<SurfaceVertexRecord> records_;
  std::vector<Eigen::Vector3d> points_;
  std::vector<AtVertex> at_vertices_;     ///< complete where owned
  std::vector<LocalIndex> owned_;         ///< in the order of index_at_owner
  std::vector<Face> faces_;               ///< vertices ascending
  std::vector<std::int8_t> orientations_; ///< of faces, in 2D of edges
  std::vector<Edge> edges_;               ///< ascending
  std::vector<double> edge_areas_;
  Lists faces_around_; ///< of edges
  std::vector<char> edge_is_flat_;
};

template <int dim>
AroundVertices<dim>::AroundVertices(int rank, SurfaceParcel parcel, double extent)
    : rank_(rank), records_(std::move(parcel.vertices)), at_vertices_(records_.size()) {
  for (const SurfaceVertexRecord& record : records_) {
    points_.emplace_back(Eigen::Map<const Eigen::Vector3d>(record.position.data()));
    if (record.owner == rank) owned_.push_back(LocalIndex(points_.size()) - 1);
  }
  std::ranges::sort(owned_, {}, [&](LocalIndex v) { return records_[v].index_at_owner; });
  std::vector<double> shares; // of vertices and sides in the areas of faces
  for (const auto& [a, b, c] : parcel.triangles) {
    Face face{number(a), number(b), number(c)};
    const auto way = [&](std::size_t i) -> Eigen::Vector3d { return points_[face[i]] - points_[face[0]]; };
    shares.push_back(way(1).cross(way(2)).norm() / 6);
    orientations_.push_back(orientation_of(face));
    for (const LocalIndex v : face) at_vertices_[v].area += shares.back();
    std::ranges::sort(face);
    faces_.push_back(face);
  }
  std::vector<Edge> free_edges;
  for (const auto& [a, b] : parcel.edges) free_edges.push_back({number(a), number(b)});
  parcel = {};
  find_edges(free_edges, shares);
  count_degrees();
  find_flat_parts(extent);
  add_areas_without_faces();
}

/// Edges with the faces around them, in the order of these.
template <int dim>
void AroundVertices<dim>::find_edges(const std::vector<Edge>& free_edges, const std::vector<double>& shares) {
  const auto num_faces = std::ssize(faces_);
  std::vector<std::pair<Edge, std::int32_t>> sides; // of a face, or behind all faces a free edge
  sides.reserve(3 * faces_.size() + free_edges.size());
  for (std::int32_t f = 0; f < num_faces; ++f)
    for (std::size_t i = 0; i < 3; ++i) sides.emplace_back(edge_of_face(faces_[f], i), f);
  for (std::int32_t e = 0; e < std::ssize(free_edges); ++e) {
    const auto [low, high] = std::minmax(free_edges[e][0], free_edges[e][1]);
    sides.emplace_back(Edge{low, high}, std::int32_t(num_faces) + e);
  }
  std::ranges::sort(sides);
  if (dim == 2) orientations_.clear();
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    double area = 0;
    std::int8_t orientation = 1;
    for (end = i; end < sides.size() && sides[end].first == sides[i].first; ++end) {
      const std::int32_t face = sides[end].second;
      if (face < num_faces) {
        area += shares[face];
        faces_around_.items.push_back(face);
      } else {
        const Edge& edge = free_edges[face - num_faces];
        orientation = edge[0] < edge[1] ? 1 : -1;
      }
    }
    edges_.push_back(sides[i].first);
    edge_areas_.push_back(area);
    faces_around_.begin.push_back(std::int32_t(faces_around_.items.size()));
    if (dim == 2) orientations_.push_back(orientation);
  }
}

template <int dim>
void AroundVertices<dim>::count_degrees() {
  for (std::size_t e = 0; e < edges_.size(); ++e)
    for (const LocalIndex v : edges_[e]) {
      VertexDegrees& degrees = at_vertices_[v].degrees;
      ++degrees.edges;
      if (!faces_around_[e].empty()) ++degrees.face_edges;
    }
  for (const Face& face : faces_)
    for (const LocalIndex v : face) ++at_vertices_[v].degrees.faces;
}

/// Marks what only the cut into triangles makes of flat parts. Curves in 2D count by their pieces.
template <int dim>
void AroundVertices<dim>::find_flat_parts(double extent) {
  if (dim == 2) {
    for (AtVertex& at : at_vertices_) at.degrees.creases = at.degrees.edges;
    edge_is_flat_.assign(edges_.size(), 0);
    return;
  }
  FlatParts parts(points_, extent, faces_, edges_, faces_around_);
  for (std::size_t e = 0; e < edges_.size(); ++e)
    if (parts.edge_is_flat()[e] == 0)
      for (const LocalIndex v : edges_[e]) ++at_vertices_[v].degrees.creases;
  for (std::size_t v = 0; v < at_vertices_.size(); ++v)
    at_vertices_[v].degrees.shape = parts.vertex_shapes()[v];
  edge_is_flat_ = parts.edge_is_flat();
}

/// What has no face gets the measure of what it has: an edge its length, a vertex half of the edges around
/// it, a single point 1 (as the IPC Toolkit).
template <int dim>
void AroundVertices<dim>::add_areas_without_faces() {
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    if (dim == 3 && faces_around_[e].empty()) edge_areas_[e] = length(edges_[e]);
    for (const LocalIndex v : edges_[e])
      if (at_vertices_[v].degrees.faces == 0) at_vertices_[v].area += 0.5 * length(edges_[e]);
  }
  for (AtVertex& at : at_vertices_)
    if (at.degrees.edges == 0) at.area = 1;
}

/// Of the owned faces whose side (1, 2) has neither end here, in their order.
template <int dim>
std::vector<AtEdge> AroundVertices<dim>::ask_far_sides(const parallel::Communicator& comm) const {
  std::vector<OwnerQuestion> questions;
  for (const Face& face : faces_)
    if (is_owned(face[0]) && !knows_far_side(face)) questions.push_back(about(face[1], records_[face[2]].id));
  return parallel::ask_owners(
      comm, questions, [](const OwnerQuestion& question) { return question.owner; },
      [&](const OwnerQuestion& question, int /*rank*/) {
        return at_edge({owned_[question.index_at_owner], number(question.second)});
      });
}

/// Owned ones, then the others of owned faces and edges, ascending in id.
template <int dim>
std::vector<LocalIndex> AroundVertices<dim>::vertices_of_share() const {
  std::vector<char> is_ghost(records_.size(), 0);
  const auto mark = [&](const auto& primitives) {
    for (const auto& primitive : primitives)
      if (is_owned(primitive[0]))
        for (const LocalIndex v : primitive) is_ghost[v] = is_owned(v) ? 0 : 1;
  };
  mark(edges_);
  mark(faces_);
  std::vector<LocalIndex> vertices = owned_;
  for (LocalIndex v = 0; v < std::ssize(is_ghost); ++v)
    if (is_ghost[v] != 0) vertices.push_back(v);
  return vertices;
}

template <int dim>
void AroundVertices<dim>::add_vertices(const parallel::Communicator& comm,
                                       const std::vector<LocalIndex>& vertices,
                                       DistributedSurfaces<dim>& share) const {
  std::vector<OwnerQuestion> questions;
  for (std::size_t k = owned_.size(); k < vertices.size(); ++k) questions.push_back(about(vertices[k], -1));
  const std::vector<AtVertex> at_ghosts = parallel::ask_owners(
      comm, questions, [](const OwnerQuestion& question) { return question.owner; },
      [&](const OwnerQuestion& question, int /*rank*/) {
        return at_vertices_[owned_[question.index_at_owner]];
      });
  share.num_owned_vertices = LocalIndex(owned_.size());
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const SurfaceVertexRecord& record = records_[vertices[k]];
    const AtVertex& at = k < owned_.size() ? at_vertices_[vertices[k]] : at_ghosts[k - owned_.size()];
    share.vertices.push_back(points_[vertices[k]].template head<dim>());
    share.vertex_ids.push_back(record.id);
    share.vertex_owner.push_back(record.owner);
    share.index_at_owner.push_back(record.index_at_owner);
    share.vertex_surface.push_back(record.surface);
    share.vertex_area.push_back(at.area);
    share.vertex_degrees.push_back(at.degrees);
  }
}

template <int dim>
void AroundVertices<dim>::add_faces(const std::vector<AtEdge>& far_sides,
                                    const std::vector<LocalIndex>& local,
                                    DistributedSurfaces<dim>& share) const {
  constexpr std::int32_t most = std::numeric_limits<std::int8_t>::max();
  auto far_side = far_sides.begin();
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    const Face& face = faces_[f];
    if (!is_owned(face[0])) continue;
    std::array<std::int8_t, 3> edge_faces{};
    std::uint8_t flat_edges = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const bool is_far = i == 1 && !knows_far_side(face);
      const AtEdge side = is_far ? *far_side++ : at_edge(edge_of_face(face, i));
      edge_faces[i] = static_cast<std::int8_t>(std::min(most, side.faces));
      if (side.is_flat != 0) flat_edges |= 1U << i;
    }
    share.faces.push_back({local[face[0]], local[face[1]], local[face[2]]});
    share.edge_faces.push_back(edge_faces);
    share.face_flat_edges.push_back(flat_edges);
    share.facet_orientation.push_back(orientations_[f]);
  }
}

template <int dim>
DistributedSurfaces<dim> AroundVertices<dim>::share(const parallel::Communicator& comm) const {
  DistributedSurfaces<dim> share;
  const std::vector<LocalIndex> vertices = vertices_of_share();
  add_vertices(comm, vertices, share);
  std::vector<LocalIndex> local(records_.size(), -1);
  for (std::size_t k = 0; k < vertices.size(); ++k) local[vertices[k]] = LocalIndex(k);
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    if (!is_owned(edges_[e][0])) continue;
    share.edges.push_back({local[edges_[e][0]], local[edges_[e][1]]});
    share.edge_area.push_back(edge_areas_[e]);
    share.edge_is_flat.push_back(edge_is_flat_[e]);
    if (dim == 2) share.facet_orientation.push_back(orientations_[e]);
  }
  const std::vector<AtEdge> far_sides = ask_far_sides(comm);
  if (dim == 3) add_faces(far_sides, local, share);
  return share;
}

} // namespace

template <int dim>
DistributedSurfaces<dim> make_share(const parallel::Communicator& comm, SurfaceParcel parcel, double extent) {
  const auto around = parallel::collectively(
      comm, [&] { return AroundVertices<dim>(comm.rank(), std::move(parcel), extent); });
  return around.share(comm);
}

template DistributedSurfaces<2> make_share(const parallel::Communicator&, SurfaceParcel, double);
template DistributedSurfaces<3> make_share(const parallel::Communicator&, SurfaceParcel, double);

} // namespace recoil::mesh

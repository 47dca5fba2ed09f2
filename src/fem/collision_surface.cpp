#include "recoil/fem/collision_surface.hpp"

#include <algorithm>
#include <map>

#include <Eigen/Geometry>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::fem {

namespace {

/// Linear facets over the boundary nodes of the cells that this rank holds, as local nodes ascending in
/// canonical number; all around an owned node are here.
template <int dim>
std::vector<std::array<LocalIndex, dim>> linear_facets(const FunctionSpace<dim>& space) {
  std::vector<std::array<LocalIndex, dim>> result;
  for (const BoundaryFacet& facet : space.boundary_facets()) {
    const auto nodes = space.cell_nodes(facet.cell);
    for (const auto& piece : subdivide_facet<dim>(space.order(facet.cell), facet.facet)) {
      std::array<LocalIndex, dim> corners;
      for (std::size_t i = 0; i < dim; ++i) corners[i] = nodes[piece[i]];
      std::sort(corners.begin(), corners.end(), [&](LocalIndex a, LocalIndex b) {
        return space.canonical_ids()[a] < space.canonical_ids()[b];
      });
      result.push_back(corners);
    }
  }
  return result;
}

/// On which side of each of linear_facets the body is (CollisionSurface::facet_sides).
template <int dim>
std::vector<std::int8_t> sides_of_facets(const FunctionSpace<dim>& space,
                                         const std::vector<std::array<LocalIndex, dim>>& facets) {
  std::vector<std::int8_t> result;
  for (const BoundaryFacet& facet : space.boundary_facets()) {
    const std::size_t num_pieces = subdivide_facet<dim>(space.order(facet.cell), facet.facet).size();
    const auto& inner = space.mesh().vertices[space.mesh().cells[facet.cell][facet.facet]];
    for (std::size_t piece = 0; piece < num_pieces; ++piece) {
      const auto& corners = facets[result.size()];
      const auto x = [&](std::size_t i) { return space.node_positions()[corners[i]]; };
      Eigen::Matrix<double, dim, 1> normal, along = x(1) - x(0);
      if constexpr (dim == 2)
        normal << along[1], -along[0];
      else
        normal = along.cross(x(2) - x(0));
      result.push_back(normal.dot(x(0) - inner) > 0 ? 1 : -1);
    }
  }
  return result;
}

template <int dim>
double measure(const FunctionSpace<dim>& space, const std::array<LocalIndex, dim>& facet) {
  const auto x = [&](std::size_t i) { return space.node_positions()[facet[i]]; };
  if constexpr (dim == 2)
    return (x(1) - x(0)).norm();
  else
    return 0.5 * (x(1) - x(0)).cross(x(2) - x(0)).norm();
}

/// Body of every local node.
template <int dim>
std::vector<std::int32_t> bodies_of_nodes(const FunctionSpace<dim>& space) {
  std::vector<std::int32_t> bodies(space.num_nodes(), -1);
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) bodies[node] = space.mesh().cell_body[cell];
  return bodies;
}

} // namespace

/// Fills a surface step by step.
template <int dim>
struct CollisionSurface<dim>::Builder {
  CollisionSurface& self;
  std::span<const char> prescribed, stays_flat;
  const FunctionSpace<dim>& space = *self.space_;
  const mesh::DistributedObstacles<dim>& obstacles = *self.obstacles_;
  std::vector<std::array<LocalIndex, dim>> facets = linear_facets(space);
  std::vector<std::int32_t> bodies = bodies_of_nodes(space);
  std::vector<LocalIndex> vertex_of_node = std::vector<LocalIndex>(space.num_nodes(), -1);
  std::vector<LocalIndex> vertex_of_obstacle = std::vector<LocalIndex>(obstacles.num_vertices(), -1);

  bool owns(LocalIndex node) const { return node < space.num_owned_nodes(); }
  /// Of an obstacle vertex.
  bool is_flat_obstacle(LocalIndex index) const {
    const std::size_t i = index;
    return !stays_flat.empty() && stays_flat[obstacles.vertex_surface[i]] != 0;
  }

  void add_node(LocalIndex node) {
    LocalIndex& vertex = vertex_of_node[node];
    if (vertex >= 0) return;
    vertex = self.num_vertices();
    SurfaceVertex<dim> data{};
    const std::size_t index = node;
    for (std::size_t i = 0; i < dim; ++i) {
      data.rest[i] = space.node_positions()[index][i];
      if (prescribed[index * dim + i] != 0) data.prescribed |= 1U << i;
    }
    data.id = space.canonical_ids()[index];
    const auto& layout = *space.layout();
    data.block = owns(node) ? layout.offset + node : layout.ghosts[index - layout.num_owned];
    data.body = bodies[index];
    self.vertices_.push_back(data);
    self.nodes_.push_back(node);
    self.obstacle_vertices_.push_back(-1);
  }

  void add_obstacle_vertex(LocalIndex index) {
    LocalIndex& vertex = vertex_of_obstacle[index];
    if (vertex >= 0) return;
    vertex = self.num_vertices();
    const std::size_t i = index;
    SurfaceVertex<dim> data{};
    for (std::size_t k = 0; k < dim; ++k) data.rest[k] = obstacles.vertices[i][k];
    data.area = obstacles.vertex_area[i];
    data.degrees = obstacles.vertex_degrees[i];
    if (!is_flat_obstacle(index)) {
      data.degrees.creases = data.degrees.edges;
      data.degrees.shape = mesh::VertexShape::corner;
    }
    data.id = space.num_nodes_global() + obstacles.vertex_ids[i];
    data.block = -1;
    data.body = self.num_bodies_ + obstacles.vertex_surface[i];
    data.prescribed = (1U << dim) - 1;
    self.vertices_.push_back(data);
    self.nodes_.push_back(-1);
    self.obstacle_vertices_.push_back(index);
  }

  void add_vertices() {
    for (const auto& facet : facets)
      for (const LocalIndex node : facet)
        if (owns(node)) add_node(node);
    for (LocalIndex i = 0; i < obstacles.num_owned_vertices; ++i) add_obstacle_vertex(i);
    self.num_owned_ = self.num_vertices();
    // The owner of a facet owns its first vertex; the other vertices may be ghosts.
    for (const auto& facet : facets)
      if (owns(facet[0]))
        for (const LocalIndex node : facet) add_node(node);
    for (LocalIndex i = obstacles.num_owned_vertices; i < obstacles.num_vertices(); ++i)
      add_obstacle_vertex(i);
    if constexpr (dim == 3)
      for (const auto& facet : facets)
        if (owns(facet[1])) add_node(facet[2]);
  }

  void add_areas() {
    for (const auto& facet : facets) {
      const double share = measure<dim>(space, facet) / dim;
      for (const LocalIndex node : facet)
        if (owns(node)) self.vertices_[vertex_of_node[node]].area += share;
    }
  }

  mesh::VertexDegrees& degrees(LocalIndex node) { return self.vertices_[vertex(node)].degrees; }

  /// Of owned nodes, around which all facets are here.
  void add_degrees() {
    std::vector<std::array<LocalIndex, 2>> edges;
    for (const auto& facet : facets)
      for (std::size_t i = 0; i < dim; ++i) {
        for (std::size_t j = i + 1; j < dim; ++j) edges.push_back({facet[i], facet[j]});
        if (dim == 2 || !owns(facet[i])) continue;
        ++degrees(facet[i]).faces;
        // A closed surface has as many edges as faces around a vertex.
        ++degrees(facet[i]).face_edges;
      }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const auto& edge : edges)
      for (const LocalIndex node : edge)
        if (owns(node)) {
          ++degrees(node).edges;
          ++degrees(node).creases;
        }
  }

  LocalIndex vertex(LocalIndex node) const { return vertex_of_node[node]; }

  void add_primitives() {
    std::map<std::array<LocalIndex, 2>, double> edges; // of local nodes
    std::map<std::array<LocalIndex, 2>, std::int8_t> edge_sides;
    const std::vector<std::int8_t> sides = sides_of_facets<dim>(space, facets);
    for (std::size_t f = 0; f < facets.size(); ++f) {
      const auto& facet = facets[f];
      if constexpr (dim == 2) {
        if (!owns(facet[0])) continue;
        edges[facet] = 0;
        edge_sides[facet] = sides[f];
      } else {
        const double share = measure<dim>(space, facet) / 3;
        for (const auto& [a, b] : {std::array{0, 1}, std::array{0, 2}, std::array{1, 2}}) {
          const std::array<LocalIndex, 2> edge{facet[a], facet[b]};
          if (owns(edge[0])) edges[edge] += share;
        }
        if (!owns(facet[0])) continue;
        self.faces_.push_back({vertex(facet[0]), vertex(facet[1]), vertex(facet[2])});
        self.edge_faces_.push_back({2, 2, 2});
        self.face_flat_edges_.push_back(0);
        self.facet_sides_.push_back(sides[f]);
      }
    }
    for (const auto& [edge, side] : edge_sides) self.facet_sides_.push_back(side);
    for (const auto& [edge, area] : edges) {
      self.edges_.push_back({vertex(edge[0]), vertex(edge[1])});
      self.edge_areas_.push_back(area);
      self.edge_is_flat_.push_back(0);
    }
    const auto of_obstacle = [&](LocalIndex i) { return vertex_of_obstacle[i]; };
    for (std::size_t e = 0; e < obstacles.edges.size(); ++e) {
      self.edges_.push_back({of_obstacle(obstacles.edges[e][0]), of_obstacle(obstacles.edges[e][1])});
      self.edge_areas_.push_back(obstacles.edge_area[e]);
      self.edge_is_flat_.push_back(is_flat_obstacle(obstacles.edges[e][0]) ? obstacles.edge_is_flat[e]
                                                                           : char{0});
    }
    for (std::size_t f = 0; f < obstacles.faces.size(); ++f) {
      const auto& face = obstacles.faces[f];
      self.faces_.push_back({of_obstacle(face[0]), of_obstacle(face[1]), of_obstacle(face[2])});
      self.face_flat_edges_.push_back(is_flat_obstacle(face[0]) ? obstacles.face_flat_edges[f]
                                                                : std::uint8_t{0});
    }
    self.edge_faces_.insert(self.edge_faces_.end(), obstacles.edge_faces.begin(), obstacles.edge_faces.end());
    self.facet_sides_.resize(dim == 2 ? self.edges_.size() : self.faces_.size(), 0);
  }

  /// Owners know where their vertices are; the holders of ghosts ask them. Collective.
  void find_addresses() {
    const parallel::Communicator& comm = space.comm();
    const int own = comm.rank();
    LocalIndex num_nodes_owned = 0;
    while (num_nodes_owned < self.num_owned_ && self.node(num_nodes_owned) >= 0) ++num_nodes_owned;
    const auto first_obstacle = comm.all_gather(GlobalIndex{num_nodes_owned});
    const auto offsets = comm.all_gather(space.layout()->offset);
    std::vector<std::vector<LocalIndex>> questions(offsets.size()), askers(offsets.size());
    for (LocalIndex v = 0; v < self.num_vertices(); ++v) {
      SurfaceVertex<dim>& data = self.vertices_[v];
      if (v < self.num_owned_) {
        data.address = {own, v};
      } else if (data.block < 0) {
        const std::size_t i = self.obstacle_vertex(v);
        const int rank = obstacles.vertex_owner[i];
        data.address = {rank, static_cast<LocalIndex>(first_obstacle[rank]) + obstacles.index_at_owner[i]};
      } else {
        // Ranks without nodes share their offset with the next one; the last of equals owns the block.
        const std::size_t rank =
            std::upper_bound(offsets.begin(), offsets.end(), data.block) - offsets.begin() - 1;
        questions[rank].push_back(static_cast<LocalIndex>(data.block - offsets[rank]));
        askers[rank].push_back(v);
      }
    }
    auto asked = parallel::exchange(comm, questions);
    for (auto& list : asked)
      for (LocalIndex& node : list) node = vertex(node);
    const auto answers = parallel::exchange(comm, asked);
    for (int rank = 0; rank < comm.size(); ++rank)
      for (std::size_t k = 0; k < answers[rank].size(); ++k)
        self.vertices_[askers[rank][k]].address = {rank, answers[rank][k]};
  }
};

template <int dim>
CollisionSurface<dim>::CollisionSurface(const FunctionSpace<dim>& space,
                                        const mesh::DistributedObstacles<dim>& obstacles,
                                        std::span<const char> prescribed, std::span<const char> stays_flat)
    : space_(&space), obstacles_(&obstacles), num_bodies_(space.mesh().body_names.size()) {
  Builder builder{*this, prescribed, stays_flat};
  builder.add_vertices();
  builder.add_areas();
  builder.add_degrees();
  builder.add_primitives();
  builder.find_addresses();
}

template <int dim>
const std::string& CollisionSurface<dim>::body_name(std::int32_t body) const {
  return is_obstacle(body) ? obstacles_->names[body - num_bodies_] : space_->mesh().body_names[body];
}

template <int dim>
std::vector<typename CollisionSurface<dim>::Point>
CollisionSurface<dim>::displacements(std::span<const double> u,
                                     std::span<const double> obstacle_displacement) const {
  std::vector<Point> result(vertices_.size());
  for (std::size_t v = 0; v < vertices_.size(); ++v) {
    const bool is_node = nodes_[v] >= 0;
    const std::size_t index = is_node ? nodes_[v] : obstacle_vertices_[v];
    const double* entries = (is_node ? u.data() : obstacle_displacement.data()) + index * dim;
    for (int i = 0; i < dim; ++i) result[v][i] = entries[i];
  }
  return result;
}

template <int dim>
std::vector<typename CollisionSurface<dim>::Point>
CollisionSurface<dim>::positions(std::span<const double> u,
                                 std::span<const double> obstacle_displacement) const {
  std::vector<Point> result = displacements(u, obstacle_displacement);
  for (std::size_t v = 0; v < vertices_.size(); ++v)
    for (std::size_t i = 0; i < dim; ++i) result[v][i] += vertices_[v].rest[i];
  return result;
}

template class CollisionSurface<2>;
template class CollisionSurface<3>;

} // namespace recoil::fem

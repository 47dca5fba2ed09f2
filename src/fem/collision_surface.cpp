#include "recoil/fem/collision_surface.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <Eigen/Geometry>

#include "fem/boundary_parts.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/surface/build.hpp"

namespace recoil::fem {

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

namespace {

/// On which side of each of linear_facets the body is (Surface::facet_sides).
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

/// Fills the parts of a surface step by step.
template <int dim>
struct BoundaryBuilder {
  const FunctionSpace<dim>& space;
  std::span<const char> prescribed;
  surface::SurfaceParts<dim>& parts;
  std::vector<std::array<LocalIndex, dim>> facets = linear_facets<dim>(space);
  std::vector<std::int8_t> sides = sides_of_facets<dim>(space, facets);
  std::vector<std::int32_t> bodies = bodies_of_nodes(space);
  std::vector<LocalIndex> vertex_of_node = std::vector<LocalIndex>(space.num_nodes(), -1);

  /// Leaves out the facets that are not to collide.
  void keep(const FacetFilter<dim>& keeps) {
    std::size_t kept = 0;
    for (std::size_t f = 0; f < facets.size(); ++f) {
      if (!keeps(facets[f])) continue;
      facets[kept] = facets[f];
      sides[kept++] = sides[f];
    }
    facets.resize(kept);
    sides.resize(kept);
  }

  bool owns(LocalIndex node) const { return node < space.num_owned_nodes(); }
  LocalIndex vertex(LocalIndex node) const { return vertex_of_node[node]; }
  mesh::VertexDegrees& degrees(LocalIndex node) { return parts.vertices[vertex(node)].degrees; }

  void add_node(LocalIndex node) {
    if (vertex_of_node[node] >= 0) return;
    vertex_of_node[node] = parts.num_vertices();
    surface::SurfaceVertex<dim> data{};
    for (std::size_t i = 0; i < dim; ++i) {
      data.rest[i] = space.node_positions()[node][i];
      if (prescribed[std::size_t{dim} * node + i] != 0) data.prescribed |= 1U << i;
    }
    data.id = space.canonical_ids()[node];
    data.block = space.layout()->global(node);
    data.body = bodies[node];
    parts.vertices.push_back(data);
    parts.nodes.push_back(node);
    parts.obstacle_vertices.push_back(-1);
  }

  void add_vertices() {
    for (const auto& facet : facets)
      for (const LocalIndex node : facet)
        if (owns(node)) add_node(node);
    parts.num_owned = parts.num_vertices();
    // The owner of a facet owns its first vertex; the other vertices may be ghosts.
    for (const auto& facet : facets)
      if (owns(facet[0]))
        for (const LocalIndex node : facet) add_node(node);
    if constexpr (dim == 3)
      for (const auto& facet : facets)
        if (owns(facet[1])) add_node(facet[2]);
  }

  void add_areas() {
    for (const auto& facet : facets) {
      const double share = measure<dim>(space, facet) / dim;
      for (const LocalIndex node : facet)
        if (owns(node)) parts.vertices[vertex(node)].area += share;
    }
  }

  /// Counts what is around owned nodes, of which all facets are here.
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

  void add_primitives() {
    std::map<std::array<LocalIndex, 2>, double> edges; // of local nodes
    std::map<std::array<LocalIndex, 2>, std::int8_t> edge_sides;
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
        parts.faces.push_back({vertex(facet[0]), vertex(facet[1]), vertex(facet[2])});
        parts.edge_faces.push_back({2, 2, 2});
        parts.face_flat_edges.push_back(0);
        parts.facet_sides.push_back(sides[f]);
      }
    }
    for (const auto& [edge, side] : edge_sides) parts.facet_sides.push_back(side);
    for (const auto& [edge, area] : edges) {
      parts.edges.push_back({vertex(edge[0]), vertex(edge[1])});
      parts.edge_areas.push_back(area);
      parts.edge_is_flat.push_back(0);
    }
    parts.facet_orientations = parts.facet_sides;
  }

  /// Owners know where their vertices are; the holders of ghosts ask them. Collective.
  void find_addresses() {
    const parallel::Communicator& comm = space.comm();
    const auto offsets = comm.all_gather(space.layout()->offset);
    std::vector<std::vector<LocalIndex>> questions(offsets.size()), askers(offsets.size());
    for (LocalIndex v = 0; v < parts.num_vertices(); ++v) {
      surface::SurfaceVertex<dim>& data = parts.vertices[v];
      if (v < parts.num_owned) {
        data.address = {comm.rank(), v};
        continue;
      }
      // Ranks without nodes share their offset with the next one; the last of equals owns the block.
      const std::size_t rank =
          std::upper_bound(offsets.begin(), offsets.end(), data.block) - offsets.begin() - 1;
      questions[rank].push_back(static_cast<LocalIndex>(data.block - offsets[rank]));
      askers[rank].push_back(v);
    }
    auto asked = parallel::exchange(comm, questions);
    for (auto& list : asked)
      for (LocalIndex& node : list) node = vertex(node);
    const auto answers = parallel::exchange(comm, asked);
    for (int rank = 0; rank < comm.size(); ++rank)
      for (std::size_t k = 0; k < answers[rank].size(); ++k)
        parts.vertices[askers[rank][k]].address = {rank, answers[rank][k]};
  }

  /// A node on an edge or face moves with the mesh vertices around it by its barycentric coordinates.
  void add_carriers() {
    std::vector<LocalIndex> left = vertex_of_node;
    for (const BoundaryFacet& facet : space.boundary_facets()) {
      const LagrangeBasis<dim>& basis = space.basis(space.order(facet.cell));
      const auto& cell = space.mesh().cells[facet.cell];
      for (const int node : basis.facet_nodes(facet.facet)) {
        // Every node once, in whichever cell comes first.
        const LocalIndex vertex = std::exchange(left[space.cell_nodes(facet.cell)[node]], -1);
        for (std::size_t i = 0; vertex >= 0 && i <= dim; ++i)
          if (const int part = basis.multi_index(node)[i]; part != 0)
            parts.carriers.push_back({vertex, cell[i], part / double(basis.order())});
      }
    }
  }
};

} // namespace

template <int dim>
surface::SurfaceParts<dim> boundary_parts(const FunctionSpace<dim>& space, std::span<const char> prescribed,
                                          const FacetFilter<dim>& keeps) {
  surface::SurfaceParts<dim> parts;
  parts.layout = space.layout();
  parts.names = space.mesh().body_names;
  parts.num_bodies = parts.names.size();
  parts.num_nodes_global = space.num_nodes_global();
  BoundaryBuilder<dim> builder{space, prescribed, parts};
  if (keeps) builder.keep(keeps);
  builder.add_vertices();
  builder.add_areas();
  builder.add_degrees();
  builder.add_primitives();
  builder.find_addresses();
  builder.add_carriers();
  return parts;
}

template <int dim>
surface::Surface<dim> boundary_surface(const FunctionSpace<dim>& space, std::span<const char> prescribed) {
  return surface::Surface<dim>(boundary_parts<dim>(space, prescribed));
}

template <int dim>
std::unique_ptr<const surface::Surface<dim>>
collision_surface(const FunctionSpace<dim>& space, const mesh::DistributedObstacles<dim>& obstacles,
                  std::span<const char> prescribed, std::span<const char> stays_flat) {
  return std::make_unique<const surface::Surface<dim>>(
      surface::joined(boundary_surface(space, prescribed),
                      surface::surface_of_obstacles(space.comm(), obstacles, stays_flat)));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<std::array<LocalIndex, dim>> linear_facets<dim>(const FunctionSpace<dim>&);           \
  template surface::SurfaceParts<dim> boundary_parts<dim>(const FunctionSpace<dim>&, std::span<const char>,  \
                                                          const FacetFilter<dim>&);                          \
  template surface::Surface<dim> boundary_surface(const FunctionSpace<dim>&, std::span<const char>);         \
  template std::unique_ptr<const surface::Surface<dim>> collision_surface(                                   \
      const FunctionSpace<dim>&, const mesh::DistributedObstacles<dim>&, std::span<const char>,              \
      std::span<const char>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::fem

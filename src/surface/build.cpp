#include "recoil/surface/build.hpp"

#include "recoil/base/error.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::surface {

namespace {

template <class List>
void append(List& list, const List& added) {
  list.insert(list.end(), added.begin(), added.end());
}

/// What deforms keeps none of its flat parts.
void forget_shape(mesh::VertexDegrees& degrees) {
  degrees.creases = degrees.edges;
  degrees.shape = mesh::VertexShape::corner;
}

/// Vertices and primitives; who moves them is left open.
template <int dim>
SurfaceParts<dim> parts_of(const mesh::DistributedSurfaces<dim>& surfaces) {
  SurfaceParts<dim> parts;
  parts.names = surfaces.names;
  parts.num_owned = surfaces.num_owned_vertices;
  for (LocalIndex v = 0; v < surfaces.num_vertices(); ++v) {
    SurfaceVertex<dim> vertex{};
    for (std::size_t k = 0; k < dim; ++k) vertex.rest[k] = surfaces.vertices[v][k];
    vertex.area = surfaces.vertex_area[v];
    vertex.id = surfaces.vertex_ids[v];
    vertex.block = -1;
    vertex.body = surfaces.vertex_surface[v];
    vertex.address = {surfaces.vertex_owner[v], surfaces.index_at_owner[v]};
    vertex.degrees = surfaces.vertex_degrees[v];
    parts.vertices.push_back(vertex);
  }
  parts.nodes.assign(parts.vertices.size(), -1);
  parts.obstacle_vertices = parts.nodes;
  parts.edges = surfaces.edges;
  parts.edge_areas = surfaces.edge_area;
  parts.edge_is_flat = surfaces.edge_is_flat;
  parts.faces = surfaces.faces;
  parts.edge_faces = surfaces.edge_faces;
  parts.face_flat_edges = surfaces.face_flat_edges;
  parts.facet_orientations = surfaces.facet_orientation;
  parts.facet_sides.assign(parts.facet_orientations.size(), 0);
  return parts;
}

template <int dim>
std::shared_ptr<linalg::VectorLayout> layout_of(const parallel::Communicator& comm, LocalIndex num_owned) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->block_size = dim;
  layout->num_owned = num_owned;
  layout->offset = comm.exclusive_scan(GlobalIndex{num_owned});
  layout->num_global = comm.sum(GlobalIndex{num_owned});
  return layout;
}

} // namespace

template <int dim>
Surface<dim> surface_of_sheets(const parallel::Communicator& comm,
                               const mesh::DistributedSurfaces<dim>& sheets,
                               std::span<const char> prescribed) {
  RECOIL_ASSERT(prescribed.empty() || std::ssize(prescribed) == dim * sheets.num_vertices());
  SurfaceParts<dim> parts = parts_of(sheets);
  const auto layout = layout_of<dim>(comm, parts.num_owned);
  const auto offsets = comm.all_gather(layout->offset);
  for (LocalIndex v = 0; v < parts.num_vertices(); ++v) {
    SurfaceVertex<dim>& vertex = parts.vertices[v];
    vertex.block = offsets[vertex.address.rank] + vertex.address.index;
    if (v >= parts.num_owned) layout->ghosts.push_back(vertex.block);
    for (int i = 0; i < dim && !prescribed.empty(); ++i)
      if (prescribed[v * dim + i] != 0) vertex.prescribed |= 1U << i;
    forget_shape(vertex.degrees);
    parts.nodes[v] = v;
    parts.carriers.push_back({v, v, 1.0});
  }
  parts.edge_is_flat.assign(parts.edges.size(), 0);
  parts.face_flat_edges.assign(parts.faces.size(), 0);
  parts.num_bodies = parts.names.size();
  parts.num_nodes_global = sheets.num_vertices_global;
  parts.layout = layout;
  return Surface<dim>(std::move(parts));
}

template <int dim>
Surface<dim> surface_of_obstacles(const parallel::Communicator& comm,
                                  const mesh::DistributedObstacles<dim>& obstacles,
                                  std::span<const char> stays_flat) {
  SurfaceParts<dim> parts = parts_of(obstacles);
  const auto is_flat = [&](LocalIndex vertex) {
    return !stays_flat.empty() && stays_flat[obstacles.vertex_surface[vertex]] != 0;
  };
  for (LocalIndex v = 0; v < parts.num_vertices(); ++v) {
    parts.vertices[v].prescribed = (1U << dim) - 1;
    parts.obstacle_vertices[v] = v;
    if (!is_flat(v)) forget_shape(parts.vertices[v].degrees);
  }
  for (std::size_t e = 0; e < parts.edges.size(); ++e)
    if (!is_flat(parts.edges[e][0])) parts.edge_is_flat[e] = 0;
  for (std::size_t f = 0; f < parts.faces.size(); ++f)
    if (!is_flat(parts.faces[f][0])) parts.face_flat_edges[f] = 0;
  parts.num_obstacle_vertices = parts.num_vertices();
  parts.num_obstacle_vertices_global = obstacles.num_vertices_global;
  parts.layout = layout_of<dim>(comm, 0);
  return Surface<dim>(std::move(parts));
}

template <int dim>
Surface<dim> joined(const Surface<dim>& bodies, const Surface<dim>& obstacles) {
  RECOIL_ASSERT(obstacles.num_bodies() == 0);
  const SurfaceParts<dim>&first = bodies.parts(), &second = obstacles.parts();
  const auto first_owned = bodies.comm().all_gather(GlobalIndex{first.num_owned});
  const GlobalIndex first_id = first.num_nodes_global + first.num_obstacle_vertices_global;

  // Owned vertices of both, then ghosts of both.
  SurfaceParts<dim> all = first;
  const auto insert = [&](auto& list, const auto& added) {
    list.insert(list.begin() + first.num_owned, added.begin(), added.begin() + second.num_owned);
    list.insert(list.end(), added.begin() + second.num_owned, added.end());
  };
  std::vector<SurfaceVertex<dim>> vertices = second.vertices;
  for (SurfaceVertex<dim>& vertex : vertices) {
    vertex.id += first_id;
    vertex.body += static_cast<std::int32_t>(first.names.size());
    vertex.address.index += static_cast<LocalIndex>(first_owned[vertex.address.rank]);
  }
  std::vector<LocalIndex> obstacle_vertices = second.obstacle_vertices;
  for (LocalIndex& vertex : obstacle_vertices) vertex += first.num_obstacle_vertices;
  insert(all.vertices, vertices);
  insert(all.nodes, second.nodes);
  insert(all.obstacle_vertices, obstacle_vertices);
  all.num_owned += second.num_owned;

  const auto of_first = [&](LocalIndex& v) { v += v < first.num_owned ? 0 : second.num_owned; };
  const auto of_second = [&](LocalIndex& v) {
    v += v < second.num_owned ? first.num_owned : first.num_vertices();
  };
  const auto renumber = [&](auto& primitives, std::size_t num_first) {
    for (std::size_t i = 0; i < primitives.size(); ++i)
      for (LocalIndex& v : primitives[i]) i < num_first ? of_first(v) : of_second(v);
  };
  for (Carrier& carrier : all.carriers) of_first(carrier.vertex);
  append(all.edges, second.edges);
  append(all.faces, second.faces);
  renumber(all.edges, first.edges.size());
  renumber(all.faces, first.faces.size());
  append(all.edge_areas, second.edge_areas);
  append(all.edge_is_flat, second.edge_is_flat);
  append(all.edge_faces, second.edge_faces);
  append(all.face_flat_edges, second.face_flat_edges);
  append(all.facet_sides, second.facet_sides);
  append(all.facet_orientations, second.facet_orientations);
  append(all.names, second.names);
  all.num_obstacle_vertices += second.num_obstacle_vertices;
  all.num_obstacle_vertices_global += second.num_obstacle_vertices_global;
  return Surface<dim>(std::move(all));
}

template <int dim>
mesh::DistributedSurfaces<dim> read_sheets(const parallel::Communicator& comm,
                                           std::span<const mesh::GeometrySpec> meshes) {
  std::vector<mesh::SurfaceMesh> sheets;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::vector<mesh::GeometrySpec> specs(meshes.begin(), meshes.end());
    for (mesh::GeometrySpec& spec : specs) spec.is_obstacle = true;
    sheets = mesh::assemble_geometry(specs, dim).obstacles;
  });
  return mesh::distribute_surfaces<dim>(comm, sheets, mesh::SurfacePartition::graph);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template Surface<dim> surface_of_sheets(const parallel::Communicator&,                                     \
                                          const mesh::DistributedSurfaces<dim>&, std::span<const char>);     \
  template Surface<dim> surface_of_obstacles(const parallel::Communicator&,                                  \
                                             const mesh::DistributedObstacles<dim>&, std::span<const char>); \
  template Surface<dim> joined(const Surface<dim>&, const Surface<dim>&);                                    \
  template mesh::DistributedSurfaces<dim> read_sheets(const parallel::Communicator&,                         \
                                                      std::span<const mesh::GeometrySpec>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::surface

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>

#include "mesh/broadcast_names.hpp"
#include "mesh/partition.hpp"
#include "mesh/plex.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

namespace {

struct VertexData {
  std::array<double, 3> position; ///< plain, so that it can travel as bytes
  std::int32_t point_id;
};

struct CellData {
  std::array<std::int32_t, 4> vertices, facet_ids;
  std::int32_t body, volume_id;
  GlobalIndex source;
};

/// Answers every rank's request for the entries `ids` of an array that rank 0 holds. Collective.
template <class T, class Get>
std::vector<T> fetch_from_root(const parallel::Communicator& comm, const std::vector<GlobalIndex>& ids,
                               Get get) {
  std::vector<std::vector<GlobalIndex>> requests(comm.size());
  requests[0] = ids;
  const auto asked = parallel::exchange(comm, requests);
  std::vector<std::vector<T>> answers(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const GlobalIndex id : asked[rank]) answers[rank].push_back(get(id));
  return parallel::exchange(comm, answers)[0];
}

std::vector<int> parts_on_root(const parallel::Communicator& comm, const SimplexMesh& mesh,
                               const PartitionOptions& options) {
  std::vector<int> parts;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::vector<int> weights;
    if (!options.body_weights.empty())
      for (const std::int32_t body : mesh.cell_body) weights.push_back(options.body_weights[body]);
    parts = partition_cells(mesh, comm.size(), weights);
  });
  return parts;
}

/// Ghost cells without an owned vertex contribute to no owned row.
template <int dim>
void drop_needless_cells(const parallel::Communicator& comm, PlexPart& part) {
  std::unordered_map<GlobalIndex, bool> owned;
  for (std::size_t i = 0; i < part.vertex_ids.size(); ++i)
    owned[part.vertex_ids[i]] = part.vertex_owner[i] == comm.rank();
  std::unordered_map<GlobalIndex, bool> used;
  PlexPart kept;
  for (std::size_t cell = 0; cell < part.cell_ids.size(); ++cell) {
    const std::span<const GlobalIndex> vertices(&part.cell_vertices[cell * (dim + 1)], dim + 1);
    const bool needed =
        part.cell_owner[cell] == comm.rank() ||
        std::any_of(vertices.begin(), vertices.end(), [&](GlobalIndex v) { return owned[v]; });
    if (!needed) continue;
    kept.cell_ids.push_back(part.cell_ids[cell]);
    kept.cell_owner.push_back(part.cell_owner[cell]);
    for (const GlobalIndex v : vertices) used[v] = true;
  }
  for (std::size_t i = 0; i < part.vertex_ids.size(); ++i)
    if (used.count(part.vertex_ids[i]) != 0) {
      kept.vertex_ids.push_back(part.vertex_ids[i]);
      kept.vertex_owner.push_back(part.vertex_owner[i]);
    }
  part = std::move(kept);
}

/// Order: what this rank owns first, then along the Morton curve, then by input id.
template <int dim>
std::vector<std::size_t> local_order(const parallel::Communicator& comm, const std::vector<GlobalIndex>& ids,
                                     const std::vector<int>& owner, const std::vector<std::uint64_t>& codes) {
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool ghost_a = owner[a] != comm.rank(), ghost_b = owner[b] != comm.rank();
    return std::tuple(ghost_a, codes[a], ids[a]) < std::tuple(ghost_b, codes[b], ids[b]);
  });
  return order;
}

template <int dim>
void bounding_box(const parallel::Communicator& comm, const SimplexMesh& mesh, DistributedMesh<dim>& result) {
  std::array<double, 2 * dim> box{};
  if (comm.rank() == 0)
    for (int axis = 0; axis < dim; ++axis) {
      const auto [low, high] =
          std::minmax_element(mesh.vertices.begin(), mesh.vertices.end(),
                              [axis](const auto& a, const auto& b) { return a[axis] < b[axis]; });
      box[axis] = (*low)[axis];
      box[dim + axis] = (*high)[axis];
    }
  comm.broadcast(std::as_writable_bytes(std::span(box)));
  for (int axis = 0; axis < dim; ++axis) {
    result.min_corner[axis] = box[axis];
    result.max_corner[axis] = box[dim + axis];
  }
}

template <int dim>
void add_vertices(const parallel::Communicator& comm, const SimplexMesh& mesh, const PlexPart& part,
                  DistributedMesh<dim>& result) {
  const auto data = fetch_from_root<VertexData>(comm, part.vertex_ids, [&](std::size_t id) {
    const Eigen::Vector3d& position = mesh.vertices[id];
    return VertexData{{position.x(), position.y(), position.z()}, mesh.vertex_point_id[id]};
  });
  const auto position = [&](std::size_t i) {
    return Eigen::Matrix<double, dim, 1>(
        Eigen::Map<const Eigen::Matrix<double, dim, 1>>(data[i].position.data()));
  };
  std::vector<std::uint64_t> codes(data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    codes[i] = geometry::morton_code<dim>(position(i), result.min_corner, result.max_corner);
  for (const std::size_t i : local_order<dim>(comm, part.vertex_ids, part.vertex_owner, codes)) {
    result.vertices.push_back(position(i));
    result.vertex_ids.push_back(part.vertex_ids[i]);
    result.vertex_owner.push_back(part.vertex_owner[i]);
    result.vertex_point_id.push_back(data[i].point_id);
    if (part.vertex_owner[i] == comm.rank()) ++result.num_owned_vertices;
  }
}

template <int dim>
void add_cells(const parallel::Communicator& comm, const SimplexMesh& mesh, const PlexPart& part,
               DistributedMesh<dim>& result) {
  const auto data = fetch_from_root<CellData>(comm, part.cell_ids, [&](std::size_t id) {
    return CellData{mesh.cells[id], mesh.facet_ids[id], mesh.cell_body[id], mesh.cell_volume_id[id],
                    mesh.cell_source[id]};
  });
  std::unordered_map<GlobalIndex, LocalIndex> local_vertex;
  for (LocalIndex i = 0; i < std::ssize(result.vertex_ids); ++i) local_vertex[result.vertex_ids[i]] = i;
  std::vector<std::uint64_t> codes(data.size());
  for (std::size_t cell = 0; cell < data.size(); ++cell) {
    Eigen::Matrix<double, dim, 1> centroid = Eigen::Matrix<double, dim, 1>::Zero();
    for (std::size_t i = 0; i <= dim; ++i)
      centroid += result.vertices[local_vertex.at(data[cell].vertices[i])] / (dim + 1);
    codes[cell] = geometry::morton_code<dim>(centroid, result.min_corner, result.max_corner);
  }
  for (const std::size_t cell : local_order<dim>(comm, part.cell_ids, part.cell_owner, codes)) {
    std::array<std::size_t, dim + 1> corner;
    std::iota(corner.begin(), corner.end(), std::size_t{0});
    const CellData& values = data[cell];
    std::sort(corner.begin(), corner.end(),
              [&](std::size_t a, std::size_t b) { return values.vertices[a] < values.vertices[b]; });
    std::array<LocalIndex, dim + 1> vertices;
    std::array<std::int32_t, dim + 1> facets;
    for (std::size_t i = 0; i <= dim; ++i) {
      vertices[i] = local_vertex.at(values.vertices[corner[i]]);
      facets[i] = values.facet_ids[corner[i]];
    }
    result.cells.push_back(vertices);
    result.facet_ids.push_back(facets);
    result.cell_ids.push_back(part.cell_ids[cell]);
    result.cell_body.push_back(values.body);
    result.cell_volume_id.push_back(values.volume_id);
    result.cell_source.push_back(values.source);
    if (part.cell_owner[cell] == comm.rank()) ++result.num_owned_cells;
  }
}

} // namespace

template <int dim>
DistributedMesh<dim> distribute(const parallel::Communicator& comm, const SimplexMesh& mesh,
                                const PartitionOptions& options) {
  DistributedMesh<dim> result;
  result.comm = &comm;
  const bool root = comm.rank() == 0;
  result.num_cells_global = comm.sum(root ? std::ssize(mesh.cells) : GlobalIndex{0});
  result.num_vertices_global = comm.sum(root ? std::ssize(mesh.vertices) : GlobalIndex{0});
  if (result.num_cells_global == 0)
    throw InputError("geometry", "no deformable body: there is nothing to simulate");
  result.body_names = mesh.body_names;
  broadcast_names(comm, result.body_names);
  bounding_box(comm, mesh, result);

  SimplexMesh topology;
  topology.dim = dim;
  PlexPart part = distribute_with_plex(comm, root ? mesh : topology, parts_on_root(comm, mesh, options));
  drop_needless_cells<dim>(comm, part);
  add_vertices(comm, mesh, part, result);
  add_cells(comm, mesh, part, result);
  return result;
}

template DistributedMesh<2> distribute(const parallel::Communicator&, const SimplexMesh&,
                                       const PartitionOptions&);
template DistributedMesh<3> distribute(const parallel::Communicator&, const SimplexMesh&,
                                       const PartitionOptions&);

} // namespace recoil::mesh

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include <Eigen/Geometry>
#include <petscdmplex.h>

#include "mesh/halve_shared.hpp"
#include "mesh/local_share.hpp"
#include "mesh/partition.hpp"
#include "recoil/base/error.hpp"
#include "recoil/linalg/petsc.hpp"
#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// One rank's cells and vertices after distribution with one layer of ghost cells, in input ids. Vertices
/// have owners of their own, not those of DMPlex, where the highest rank gets all that it shares.
struct PlexPart {
  std::vector<GlobalIndex> cell_ids;
  std::vector<int> cell_owner;
  std::vector<GlobalIndex> cell_vertices; ///< (num cells, dim + 1) input vertex ids
  std::vector<GlobalIndex> vertex_ids;
  std::vector<int> vertex_owner;
  std::vector<VertexData> vertices;
};

using DmHandle = UniqueHandle<linalg::PetscTraits<DM, DMDestroy>>;

DmHandle create_plex(const parallel::Communicator& comm, const SimplexMesh& mesh) {
  const PetscInt dim = mesh.dim, corners = dim + 1;
  const bool root = comm.rank() == 0;
  PetscInt num_cells = 0, num_vertices = 0;
  parallel::collectively(comm, [&] {
    if (!root) return;
    linalg::petsc_int(std::ssize(mesh.cells) * corners);
    num_cells = linalg::petsc_int(mesh.cells.size());
    num_vertices = linalg::petsc_int(mesh.vertices.size());
  });
  std::vector<PetscInt> cells(num_cells * corners);
  for (PetscInt cell = 0; cell < num_cells; ++cell)
    for (PetscInt i = 0; i < corners; ++i) cells[cell * corners + i] = mesh.cells[cell][i];
  // Positions travel by input id (add_vertices); Plex only sees the topology but insists on an array.
  std::vector<PetscReal> no_positions(num_vertices * dim, 0.0);
  DmHandle plex;
  linalg::StarForestHandle vertices;
  RECOIL_PETSC(DMPlexCreateFromCellListParallelPetsc(
      comm.get(), dim, num_cells, num_vertices, PETSC_DECIDE, corners, PETSC_FALSE, cells.data(), dim,
      no_positions.data(), vertices.put(), nullptr, plex.put()));
  return plex;
}

void set_parts(const parallel::Communicator& comm, DM plex, std::span<const int> parts) {
  std::vector<PetscInt> sizes(comm.size(), 0), points(parts.size());
  for (const int part : parts) ++sizes[part];
  std::vector<PetscInt> next(sizes.size(), 0);
  for (std::size_t part = 1; part < sizes.size(); ++part) next[part] = next[part - 1] + sizes[part - 1];
  for (PetscInt cell = 0; cell < std::ssize(parts); ++cell) points[next[parts[cell]]++] = cell;
  PetscPartitioner partitioner = nullptr;
  RECOIL_PETSC(DMPlexGetPartitioner(plex, &partitioner));
  RECOIL_PETSC(PetscPartitionerSetType(partitioner, PETSCPARTITIONERSHELL));
  RECOIL_PETSC(PetscPartitionerShellSetPartition(partitioner, comm.size(), sizes.data(), points.data()));
}

/// Carries a number per point of `from` along `migration` to the points of `to`.
std::vector<PetscInt> carry(DM to, PetscSF migration, const std::vector<PetscInt>& numbers) {
  PetscInt begin = 0, end = 0;
  RECOIL_PETSC(DMPlexGetChart(to, &begin, &end));
  std::vector<PetscInt> carried(end, -1);
  RECOIL_PETSC(PetscSFBcastBegin(migration, MPIU_INT, numbers.data(), carried.data(), MPI_REPLACE));
  RECOIL_PETSC(PetscSFBcastEnd(migration, MPIU_INT, numbers.data(), carried.data(), MPI_REPLACE));
  return carried;
}

PlexPart read_part(const parallel::Communicator& comm, DM plex, const std::vector<PetscInt>& input_ids) {
  PetscInt cells_begin = 0, cells_end = 0, vertices_begin = 0, vertices_end = 0;
  RECOIL_PETSC(DMPlexGetHeightStratum(plex, 0, &cells_begin, &cells_end));
  RECOIL_PETSC(DMPlexGetDepthStratum(plex, 0, &vertices_begin, &vertices_end));
  PetscSF ownership = nullptr;
  RECOIL_PETSC(DMGetPointSF(plex, &ownership));
  PetscInt num_roots = 0, num_leaves = 0;
  const PetscInt* leaves = nullptr;
  const PetscSFNode* roots = nullptr;
  RECOIL_PETSC(PetscSFGetGraph(ownership, &num_roots, &num_leaves, &leaves, &roots));
  std::vector<int> owner(input_ids.size(), comm.rank());
  for (PetscInt i = 0; i < num_leaves; ++i) owner[leaves != nullptr ? leaves[i] : i] = roots[i].rank;

  PlexPart part;
  for (PetscInt vertex = vertices_begin; vertex < vertices_end; ++vertex)
    part.vertex_ids.push_back(input_ids[vertex]);
  for (PetscInt cell = cells_begin; cell < cells_end; ++cell) {
    part.cell_ids.push_back(input_ids[cell]);
    part.cell_owner.push_back(owner[cell]);
    const PetscInt* cone = nullptr;
    PetscInt size = 0;
    RECOIL_PETSC(DMPlexGetConeSize(plex, cell, &size));
    RECOIL_PETSC(DMPlexGetCone(plex, cell, &cone));
    for (PetscInt i = 0; i < size; ++i) part.cell_vertices.push_back(input_ids[cone[i]]);
  }
  return part;
}

/// Distributes `mesh` (read on rank 0) with DMPlex by the given parts (on rank 0) and adds every cell around
/// a shared vertex as ghost. Collective.
PlexPart distribute_with_plex(const parallel::Communicator& comm, const SimplexMesh& mesh,
                              std::span<const int> parts) {
  DmHandle plex = create_plex(comm, mesh);
  PetscInt begin = 0, end = 0;
  RECOIL_PETSC(DMPlexGetChart(plex.get(), &begin, &end));
  std::vector<PetscInt> input_ids(end);
  const PetscInt num_cells = comm.rank() == 0 ? std::ssize(mesh.cells) : 0;
  for (PetscInt point = 0; point < end; ++point)
    input_ids[point] = point < num_cells ? point : point - num_cells;
  if (comm.size() > 1) {
    set_parts(comm, plex.get(), parts);
    DmHandle distributed, overlapping;
    linalg::StarForestHandle migration, ghost_migration;
    RECOIL_PETSC(DMPlexDistribute(plex.get(), 0, migration.put(), distributed.put()));
    input_ids = carry(distributed.get(), migration.get(), input_ids);
    // Neighbours through vertices: a rank needs every cell around its vertices, not only across its facets.
    RECOIL_PETSC(DMSetBasicAdjacency(distributed.get(), PETSC_FALSE, PETSC_TRUE));
    RECOIL_PETSC(DMPlexDistributeOverlap(distributed.get(), 1, ghost_migration.put(), overlapping.put()));
    input_ids = carry(overlapping.get(), ghost_migration.get(), input_ids);
    plex = std::move(overlapping);
  }
  return read_part(comm, plex.get(), input_ids);
}

/// The entries `ids` of an array that rank 0 holds. Collective.
template <class Get>
auto fetch_from_root(const parallel::Communicator& comm, const std::vector<GlobalIndex>& ids, Get get) {
  return parallel::ask_owners(
      comm, ids, [](GlobalIndex) { return 0; }, [&](GlobalIndex id, int) { return get(std::size_t(id)); });
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

void fetch_vertices(const parallel::Communicator& comm, const SimplexMesh& mesh, PlexPart& part) {
  part.vertices = fetch_from_root(comm, part.vertex_ids, [&](std::size_t id) {
    const Eigen::Vector3d& position = mesh.vertices[id];
    return VertexData{{position.x(), position.y(), position.z()}, mesh.vertex_point_id[id]};
  });
}

/// Owners of the vertices of own cells; those of others are asked from the owner of a cell that has them.
template <int dim>
void find_owners(const parallel::Communicator& comm, GlobalIndex num_vertices, PlexPart& part) {
  part.vertex_owner.assign(part.vertex_ids.size(), 0);
  if (comm.size() == 1) return;
  std::unordered_map<GlobalIndex, int> rank_of; // of a cell that has the vertex, an own one if there is
  for (std::size_t k = 0; k < part.cell_vertices.size(); ++k) {
    int& rank = rank_of.try_emplace(part.cell_vertices[k], -1).first->second;
    if (rank != comm.rank()) rank = part.cell_owner[k / (dim + 1)];
  }
  struct Ghost {
    GlobalIndex id;
    int rank;
  };
  std::vector<Ghost> ghosts;
  std::vector<std::size_t> own, ghost_places;
  for (std::size_t i = 0; i < part.vertex_ids.size(); ++i) {
    const auto found = rank_of.find(part.vertex_ids[i]);
    if (found == rank_of.end()) continue; // a vertex without cells
    if (found->second == comm.rank()) {
      own.push_back(i);
    } else {
      ghosts.push_back({found->first, found->second});
      ghost_places.push_back(i);
    }
  }
  std::ranges::sort(own, {}, [&](std::size_t i) { return part.vertex_ids[i]; });
  std::vector<GlobalIndex> ids;
  std::vector<std::array<double, 3>> positions;
  for (const std::size_t i : own) {
    ids.push_back(part.vertex_ids[i]);
    positions.push_back(part.vertices[i].position);
  }
  const std::vector<int> owners = halve_shared_vertices(comm, num_vertices, ids, positions);
  const std::vector<int> owners_of_ghosts = parallel::ask_owners(
      comm, ghosts, [](const Ghost& ghost) { return ghost.rank; },
      [&](const Ghost& ghost, int) { return owners[std::ranges::lower_bound(ids, ghost.id) - ids.begin()]; });
  for (std::size_t k = 0; k < own.size(); ++k) part.vertex_owner[own[k]] = owners[k];
  for (std::size_t k = 0; k < ghosts.size(); ++k) part.vertex_owner[ghost_places[k]] = owners_of_ghosts[k];
}

/// Ghost cells without an owned vertex contribute to no owned row.
template <int dim>
void drop_needless_cells(const parallel::Communicator& comm, PlexPart& part) {
  std::unordered_set<GlobalIndex> owned, used;
  for (std::size_t i = 0; i < part.vertex_ids.size(); ++i)
    if (part.vertex_owner[i] == comm.rank()) owned.insert(part.vertex_ids[i]);
  PlexPart kept;
  for (std::size_t cell = 0; cell < part.cell_ids.size(); ++cell) {
    const std::span<const GlobalIndex> vertices(&part.cell_vertices[cell * (dim + 1)], dim + 1);
    const bool needed = part.cell_owner[cell] == comm.rank() ||
                        std::ranges::any_of(vertices, [&](GlobalIndex v) { return owned.contains(v); });
    if (!needed) continue;
    kept.cell_ids.push_back(part.cell_ids[cell]);
    kept.cell_owner.push_back(part.cell_owner[cell]);
    used.insert(vertices.begin(), vertices.end());
  }
  for (std::size_t i = 0; i < part.vertex_ids.size(); ++i)
    if (used.contains(part.vertex_ids[i])) {
      kept.vertex_ids.push_back(part.vertex_ids[i]);
      kept.vertex_owner.push_back(part.vertex_owner[i]);
      kept.vertices.push_back(part.vertices[i]);
    }
  part = std::move(kept);
}

template <int dim>
void set_bounding_box(const parallel::Communicator& comm, const SimplexMesh& mesh,
                      DistributedMesh<dim>& result) {
  Eigen::AlignedBox<double, dim> box;
  if (comm.rank() == 0)
    for (const Eigen::Vector3d& vertex : mesh.vertices) box.extend(vertex.head<dim>());
  result.min_corner = box.min();
  result.max_corner = box.max();
  for (auto* corner : {&result.min_corner, &result.max_corner})
    comm.broadcast(std::as_writable_bytes(std::span<double>(corner->data(), dim)));
}

LocalShare fetch_share(const parallel::Communicator& comm, const SimplexMesh& mesh, PlexPart&& part) {
  LocalShare share;
  share.cells = fetch_from_root(comm, part.cell_ids, [&](std::size_t id) {
    return CellData{mesh.cells[id], mesh.facet_ids[id], mesh.cell_body[id], mesh.cell_volume_id[id],
                    mesh.cell_source[id]};
  });
  share.cell_ids = std::move(part.cell_ids);
  share.cell_owner = std::move(part.cell_owner);
  share.vertex_ids = std::move(part.vertex_ids);
  share.vertex_owner = std::move(part.vertex_owner);
  share.vertices = std::move(part.vertices);
  return share;
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
  comm.broadcast(result.body_names);
  set_bounding_box(comm, mesh, result);

  SimplexMesh topology;
  topology.dim = dim;
  PlexPart part = distribute_with_plex(comm, root ? mesh : topology, parts_on_root(comm, mesh, options));
  fetch_vertices(comm, mesh, part);
  find_owners<dim>(comm, result.num_vertices_global, part);
  drop_needless_cells<dim>(comm, part);
  add_share(fetch_share(comm, mesh, std::move(part)), result);
  return result;
}

template DistributedMesh<2> distribute(const parallel::Communicator&, const SimplexMesh&,
                                       const PartitionOptions&);
template DistributedMesh<3> distribute(const parallel::Communicator&, const SimplexMesh&,
                                       const PartitionOptions&);

} // namespace recoil::mesh

#include "mesh/plex.hpp"

#include <petscdmplex.h>

#include "recoil/linalg/petsc.hpp"

namespace recoil::mesh {

namespace {

using DmHandle = UniqueHandle<linalg::PetscTraits<DM, DMDestroy>>;

DmHandle create_plex(const parallel::Communicator& comm, const SimplexMesh& mesh) {
  const PetscInt dim = mesh.dim, corners = dim + 1;
  const bool root = comm.rank() == 0;
  const PetscInt num_cells = root ? static_cast<PetscInt>(mesh.cells.size()) : 0;
  const PetscInt num_vertices = root ? static_cast<PetscInt>(mesh.vertices.size()) : 0;
  std::vector<PetscInt> cells(num_cells * corners);
  for (PetscInt cell = 0; cell < num_cells; ++cell)
    for (PetscInt i = 0; i < corners; ++i) cells[cell * corners + i] = mesh.cells[cell][i];
  // Positions travel by input id (distribute.cpp); Plex only sees the topology but insists on an array.
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
  for (PetscInt vertex = vertices_begin; vertex < vertices_end; ++vertex) {
    part.vertex_ids.push_back(input_ids[vertex]);
    part.vertex_owner.push_back(owner[vertex]);
  }
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

} // namespace

PlexPart distribute_with_plex(const parallel::Communicator& comm, const SimplexMesh& mesh,
                              std::span<const int> parts) {
  DmHandle plex = create_plex(comm, mesh);
  PetscInt begin = 0, end = 0;
  RECOIL_PETSC(DMPlexGetChart(plex.get(), &begin, &end));
  std::vector<PetscInt> input_ids(end);
  const PetscInt num_cells = comm.rank() == 0 ? static_cast<PetscInt>(mesh.cells.size()) : 0;
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

} // namespace recoil::mesh

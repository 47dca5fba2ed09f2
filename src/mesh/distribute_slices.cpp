#include <algorithm>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/halve_shared.hpp"
#include "mesh/local_share.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/sliced_mesh.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

namespace {

struct SentCell {
  std::int32_t id;
  CellData data;
};

struct SentVertex {
  std::int32_t id;
  std::int32_t owner; ///< -1 as long as it is not known
  VertexData data;
};

/// Cells on their way to other ranks, with their vertices, each once per rank. Filled for one rank after the
/// other.
struct Shipment {
  std::vector<std::vector<SentCell>> cells;
  std::vector<std::vector<SentVertex>> vertices;

  explicit Shipment(int ranks) : cells(ranks), vertices(ranks) {}
};

Shipment exchange(const parallel::Communicator& comm, Shipment&& outgoing) {
  Shipment incoming(comm.size());
  incoming.cells = parallel::exchange(comm, outgoing.cells);
  outgoing.cells.clear();
  incoming.vertices = parallel::exchange(comm, outgoing.vertices);
  return incoming;
}

/// Cells in the order of their destinations, with these.
std::vector<std::pair<int, std::int32_t>> by_destination(const std::vector<int>& parts) {
  std::vector<std::pair<int, std::int32_t>> order;
  for (std::size_t c = 0; c < parts.size(); ++c) order.emplace_back(parts[c], std::int32_t(c));
  std::sort(order.begin(), order.end());
  return order;
}

Shipment pack_parts(const SlicedMesh& mesh, const std::vector<int>& parts, int ranks) {
  const SimplexMesh& share = mesh.share;
  Shipment outgoing(ranks);
  std::vector<int> last_rank(share.vertices.size(), -1);
  for (const auto& [rank, c] : by_destination(parts)) {
    CellData data{share.cells[c], share.facet_ids[c], share.cell_body[c], share.cell_volume_id[c],
                  share.cell_source[c]};
    for (int i = 0; i <= share.dim; ++i) {
      const std::int32_t v = share.cells[c][i];
      data.vertices[i] = mesh.vertex_ids[v];
      if (std::exchange(last_rank[v], rank) == rank) continue;
      const Eigen::Vector3d& p = share.vertices[v];
      outgoing.vertices[rank].push_back(
          {mesh.vertex_ids[v], -1, {{p.x(), p.y(), p.z()}, share.vertex_point_id[v]}});
    }
    outgoing.cells[rank].push_back({mesh.cell_ids[c], data});
  }
  return outgoing;
}

/// All vertices that arrived, ascending, each once.
std::vector<SentVertex> unite_vertices(const std::vector<std::vector<SentVertex>>& arrived) {
  std::vector<SentVertex> vertices;
  for (const auto& part : arrived) vertices.insert(vertices.end(), part.begin(), part.end());
  std::ranges::sort(vertices, {}, &SentVertex::id);
  const auto again = std::ranges::unique(vertices, {}, &SentVertex::id);
  vertices.erase(again.begin(), again.end());
  return vertices;
}

/// @param vertices of the cells of this rank, ascending
void find_owners(const parallel::Communicator& comm, GlobalIndex num_vertices,
                 std::vector<SentVertex>& vertices) {
  std::vector<GlobalIndex> ids;
  std::vector<std::array<double, 3>> positions;
  for (const SentVertex& vertex : vertices) {
    ids.push_back(vertex.id);
    positions.push_back(vertex.data.position);
  }
  const std::vector<int> owners = halve_shared_vertices(comm, num_vertices, ids, positions);
  for (std::size_t i = 0; i < owners.size(); ++i) vertices[i].owner = owners[i];
}

const SentVertex& vertex_of(const std::vector<SentVertex>& vertices, std::int32_t id) {
  return *std::ranges::lower_bound(vertices, id, {}, &SentVertex::id);
}

/// Cells that have vertices of other ranks go to these.
Shipment pack_ghosts(int rank, int ranks, int dim, const std::vector<SentCell>& cells,
                     const std::vector<SentVertex>& vertices) {
  std::vector<int> destinations;
  std::vector<std::int32_t> sent;
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (int i = 0; i <= dim; ++i) {
      const int owner = vertex_of(vertices, cells[c].data.vertices[i]).owner;
      if (owner == rank) continue;
      destinations.push_back(owner);
      sent.push_back(std::int32_t(c));
    }
  auto order = by_destination(destinations);
  for (auto& [destination, place] : order) place = sent[place];
  order.erase(std::unique(order.begin(), order.end()), order.end());
  Shipment outgoing(ranks);
  for (const auto& [destination, c] : order) {
    outgoing.cells[destination].push_back(cells[c]);
    for (int i = 0; i <= dim; ++i)
      outgoing.vertices[destination].push_back(vertex_of(vertices, cells[c].data.vertices[i]));
  }
  for (auto& part : outgoing.vertices) part = unite_vertices({part});
  return outgoing;
}

template <int dim>
void set_corners_of_slices(const parallel::Communicator& comm, const SimplexMesh& share,
                           DistributedMesh<dim>& result) {
  Eigen::AlignedBox<double, dim> box;
  for (const Eigen::Vector3d& vertex : share.vertices) box.extend(vertex.head<dim>());
  for (int k = 0; k < dim; ++k) {
    result.min_corner[k] = comm.min(box.min()[k]);
    result.max_corner[k] = comm.max(box.max()[k]);
  }
}

void add_cells_of(int owner, const std::vector<SentCell>& cells, LocalShare& share) {
  for (const SentCell& cell : cells) {
    share.cell_ids.push_back(cell.id);
    share.cell_owner.push_back(owner);
    share.cells.push_back(cell.data);
  }
}

} // namespace

template <int dim>
DistributedMesh<dim> distribute_slices(const parallel::Communicator& comm, SlicedMesh&& mesh,
                                       const std::vector<int>& parts) {
  if (mesh.num_cells == 0) throw InputError("geometry", "no deformable body: there is nothing to simulate");
  DistributedMesh<dim> result;
  result.comm = &comm;
  result.num_cells_global = mesh.num_cells;
  result.num_vertices_global = mesh.num_vertices;
  result.body_names = mesh.share.body_names;
  set_corners_of_slices(comm, mesh.share, result);

  Shipment outgoing = pack_parts(mesh, parts, comm.size());
  mesh = {};
  Shipment arrived = exchange(comm, std::move(outgoing));
  std::vector<SentCell> own;
  for (auto& part : arrived.cells) own.insert(own.end(), part.begin(), part.end());
  std::vector<SentVertex> vertices = unite_vertices(arrived.vertices);
  arrived = Shipment(0);
  find_owners(comm, result.num_vertices_global, vertices);

  arrived = exchange(comm, pack_ghosts(comm.rank(), comm.size(), dim, own, vertices));
  LocalShare share;
  add_cells_of(comm.rank(), own, share);
  for (int rank = 0; rank < comm.size(); ++rank) add_cells_of(rank, arrived.cells[rank], share);
  arrived.vertices.push_back(std::move(vertices));
  for (const SentVertex& vertex : unite_vertices(arrived.vertices)) {
    share.vertex_ids.push_back(vertex.id);
    share.vertex_owner.push_back(vertex.owner);
    share.vertices.push_back(vertex.data);
  }
  add_share(share, result);
  return result;
}

template DistributedMesh<2> distribute_slices(const parallel::Communicator&, SlicedMesh&&,
                                              const std::vector<int>&);
template DistributedMesh<3> distribute_slices(const parallel::Communicator&, SlicedMesh&&,
                                              const std::vector<int>&);

} // namespace recoil::mesh

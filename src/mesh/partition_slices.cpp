#include <algorithm>
#include <array>
#include <utility>

#include <Eigen/Geometry>

#include "mesh/facet_entries.hpp"
#include "mesh/meet_keys.hpp"
#include "recoil/mesh/partition_items.hpp"
#include "recoil/mesh/sliced_mesh.hpp"

namespace recoil::mesh {

namespace {

Eigen::Vector3d barycentre(const SimplexMesh& mesh, std::size_t cell) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int i = 0; i <= mesh.dim; ++i) sum += mesh.vertices[mesh.cells[cell][i]];
  return sum / (mesh.dim + 1);
}

Eigen::AlignedBox3d box_of_cell(const SimplexMesh& mesh, std::size_t cell) {
  Eigen::AlignedBox3d box;
  for (int i = 0; i <= mesh.dim; ++i) box.extend(mesh.vertices[mesh.cells[cell][i]]);
  return box;
}

/// A facet of a cell here that has its other cell on another rank.
struct HalfFacet {
  std::array<std::int32_t, 3> vertices; ///< ascending
  std::int32_t cluster;

  auto operator<=>(const HalfFacet&) const = default;
};

/// An edge for every facet between two clusters.
void add_contact(std::int32_t a, std::int32_t b, std::vector<ClusterEdge>& contacts) {
  if (a != b) contacts.push_back({std::min(a, b), std::max(a, b), 1});
}

std::vector<ClusterEdge> find_contacts(const parallel::Communicator& comm, const SlicedMesh& mesh,
                                       const std::vector<std::int32_t>& cluster) {
  const SimplexMesh& share = mesh.share;
  std::vector<ClusterEdge> contacts;
  const Blocks blocks{mesh.num_vertices, comm.size()};
  std::vector<std::vector<HalfFacet>> halves(comm.size());
  for_each_facet(share.cells, share.vertices.size(), share.dim, [&](std::span<const FacetEntry> cells) {
    const std::int32_t c = cells[0].reference / 4, local = cells[0].reference % 4;
    if (cells.size() > 1) return add_contact(cluster[c], cluster[cells[1].reference / 4], contacts);
    if (share.facet_ids[c][local] != interior_facet) return;
    HalfFacet half{sorted_vertices(share.cells[c], local, share.dim), cluster[c]};
    for (int i = 0; i < share.dim; ++i) half.vertices[i] = mesh.vertex_ids[half.vertices[i]];
    halves[blocks.of(half.vertices[0])].push_back(half);
  });
  std::vector<HalfFacet> met;
  for (const auto& part : parallel::exchange(comm, halves)) met.insert(met.end(), part.begin(), part.end());
  std::sort(met.begin(), met.end());
  for (std::size_t k = 1; k < met.size(); ++k)
    if (met[k].vertices == met[k - 1].vertices) add_contact(met[k - 1].cluster, met[k].cluster, contacts);
  return contacts;
}

} // namespace

std::vector<int> partition_slices(const parallel::Communicator& comm, const SlicedMesh& mesh,
                                  const PartitionOptions& options) {
  const SimplexMesh& share = mesh.share;
  ItemShare items;
  items.dim = share.dim;
  items.size = share.cells.size();
  items.num_groups = std::int32_t(share.body_names.size());
  items.place = [&](std::size_t cell) { return barycentre(share, cell); };
  items.box = [&](std::size_t cell) { return box_of_cell(share, cell); };
  items.group = [&](std::size_t cell) { return share.cell_body[cell]; };
  if (!options.body_weights.empty())
    items.work = [&](std::size_t cell) { return double(options.body_weights[share.cell_body[cell]]); };
  return partition_items(comm, items, [&](const std::vector<std::int32_t>& cluster) {
    return find_contacts(comm, mesh, cluster);
  });
}

} // namespace recoil::mesh

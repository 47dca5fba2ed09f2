#include "mesh/local_share.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "recoil/geometry/morton.hpp"

namespace recoil::mesh {

namespace {

std::vector<std::size_t> order_of_share(int rank, const std::vector<GlobalIndex>& ids,
                                        const std::vector<int>& owner,
                                        const std::vector<std::uint64_t>& codes) {
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool ghost_a = owner[a] != rank, ghost_b = owner[b] != rank;
    return std::tuple(ghost_a, codes[a], ids[a]) < std::tuple(ghost_b, codes[b], ids[b]);
  });
  return order;
}

/// Local numbers of vertices by their input ids.
class LocalNumbers {
public:
  explicit LocalNumbers(const std::vector<GlobalIndex>& ids) {
    for (LocalIndex i = 0; i < std::ssize(ids); ++i) sorted_.emplace_back(ids[i], i);
    std::sort(sorted_.begin(), sorted_.end());
  }
  /// @pre the vertex is here.
  LocalIndex of(GlobalIndex id) const {
    return std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(id, LocalIndex{0}))->second;
  }

private:
  std::vector<std::pair<GlobalIndex, LocalIndex>> sorted_;
};

template <int dim>
void add_vertices(const LocalShare& share, DistributedMesh<dim>& result) {
  const int rank = result.comm->rank();
  const auto position = [&](std::size_t i) {
    return Eigen::Matrix<double, dim, 1>(
        Eigen::Map<const Eigen::Matrix<double, dim, 1>>(share.vertices[i].position.data()));
  };
  std::vector<std::uint64_t> codes(share.vertices.size());
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = geometry::morton_code<dim>(position(i), result.min_corner, result.max_corner);
  for (const std::size_t i : order_of_share(rank, share.vertex_ids, share.vertex_owner, codes)) {
    result.vertices.push_back(position(i));
    result.vertex_ids.push_back(share.vertex_ids[i]);
    result.vertex_owner.push_back(share.vertex_owner[i]);
    result.vertex_point_id.push_back(share.vertices[i].point_id);
    if (share.vertex_owner[i] == rank) ++result.num_owned_vertices;
  }
}

template <int dim>
void add_cells(const LocalShare& share, DistributedMesh<dim>& result) {
  const int rank = result.comm->rank();
  const LocalNumbers local_vertex(result.vertex_ids);
  std::vector<std::uint64_t> codes(share.cells.size());
  for (std::size_t cell = 0; cell < codes.size(); ++cell) {
    Eigen::Matrix<double, dim, 1> centroid = Eigen::Matrix<double, dim, 1>::Zero();
    for (std::size_t i = 0; i <= dim; ++i)
      centroid += result.vertices[local_vertex.of(share.cells[cell].vertices[i])] / (dim + 1);
    codes[cell] = geometry::morton_code<dim>(centroid, result.min_corner, result.max_corner);
  }
  for (const std::size_t cell : order_of_share(rank, share.cell_ids, share.cell_owner, codes)) {
    std::array<std::size_t, dim + 1> corner;
    std::iota(corner.begin(), corner.end(), std::size_t{0});
    const CellData& values = share.cells[cell];
    std::sort(corner.begin(), corner.end(),
              [&](std::size_t a, std::size_t b) { return values.vertices[a] < values.vertices[b]; });
    std::array<LocalIndex, dim + 1> vertices;
    std::array<std::int32_t, dim + 1> facets;
    for (std::size_t i = 0; i <= dim; ++i) {
      vertices[i] = local_vertex.of(values.vertices[corner[i]]);
      facets[i] = values.facet_ids[corner[i]];
    }
    result.cells.push_back(vertices);
    result.facet_ids.push_back(facets);
    result.cell_ids.push_back(share.cell_ids[cell]);
    result.cell_body.push_back(values.body);
    result.cell_volume_id.push_back(values.volume_id);
    result.cell_source.push_back(values.source);
    if (share.cell_owner[cell] == rank) ++result.num_owned_cells;
  }
}

} // namespace

template <int dim>
void add_share(const LocalShare& share, DistributedMesh<dim>& result) {
  add_vertices(share, result);
  add_cells(share, result);
}

template void add_share(const LocalShare&, DistributedMesh<2>&);
template void add_share(const LocalShare&, DistributedMesh<3>&);

} // namespace recoil::mesh

#include <algorithm>
#include <utility>

#include "mesh/input/slice_checks.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

VertexOwners::VertexOwners(const parallel::Communicator& comm, std::int64_t num_vertices,
                           const std::vector<std::int32_t>& ids)
    : comm_(comm), blocks_{num_vertices, comm.size()} {
  const auto had = give_owners(comm_, ids, [&](std::int32_t id) { return blocks_.of(id); });
  for (int rank = 0; rank < comm_.size(); ++rank)
    for (const std::int32_t id : had[rank]) slices_.emplace_back(id, rank);
  std::sort(slices_.begin(), slices_.end());
}

std::vector<FileVertex> VertexOwners::ask(const std::vector<std::int32_t>& ids,
                                          const std::vector<Eigen::Vector3d>& positions,
                                          std::int64_t& num_lone) const {
  const std::int64_t begin = blocks_.begin(comm_.rank());
  std::vector<FileVertex> vertices;
  std::int64_t lone = 0;
  auto slice = slices_.begin();
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Eigen::Vector3d& p = positions[k];
    FileVertex vertex{{p.x(), p.y(), p.z()}, 0, std::int32_t(lone)};
    for (; slice != slices_.end() && slice->first == begin + std::int64_t(k); ++slice) ++vertex.slices;
    if (vertex.slices == 0) ++lone;
    vertices.push_back(vertex);
  }
  const GlobalIndex before = comm_.exclusive_scan(GlobalIndex(lone));
  for (FileVertex& vertex : vertices) vertex.lone_before += std::int32_t(before);
  num_lone = comm_.sum(GlobalIndex(lone));
  const auto block_of = [&](std::int32_t id) { return blocks_.of(id); };
  return ask_owners(comm_, ids, block_of, [&](std::int32_t id, int) { return vertices[id - begin]; });
}

std::vector<FileSlices::Facet>
VertexOwners::facets_of_slice(const std::vector<FileSlices::Facet>& facets) const {
  const auto first = [](const FileSlices::Facet& facet) { return facet.vertices[0]; };
  const auto at_owners =
      give_owners(comm_, facets, [&](const FileSlices::Facet& facet) { return blocks_.of(first(facet)); });
  std::vector<std::vector<FileSlices::Facet>> outgoing(comm_.size());
  for (const auto& part : at_owners)
    for (const auto& facet : part) {
      const auto having = std::ranges::equal_range(slices_, first(facet), {}, &Having::first);
      for (const auto& [id, rank] : having) outgoing[rank].push_back(facet);
    }
  std::vector<FileSlices::Facet> own;
  for (const auto& part : parallel::exchange(comm_, outgoing))
    own.insert(own.end(), part.begin(), part.end());
  std::ranges::sort(own, {}, [](const FileSlices::Facet& f) { return std::pair(f.tag, f.number); });
  return own;
}

} // namespace recoil::mesh

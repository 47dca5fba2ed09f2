#include "mesh/input/gmsh_slices.hpp"

#include "mesh/input/gmsh_part.hpp"
#include "recoil/base/log.hpp"

namespace recoil::mesh {

namespace {

struct NumberedCell {
  std::array<std::int32_t, 4> vertices;
  std::int32_t tag;
};

std::array<std::int32_t, 4> small(const std::array<std::int64_t, 4>& numbers) {
  return {std::int32_t(numbers[0]), std::int32_t(numbers[1]), std::int32_t(numbers[2]),
          std::int32_t(numbers[3])};
}

/// Gives each rank its block of the cells. Collective.
void share_cells(const parallel::Communicator& comm, ReadSimplices&& read, FileSlices& slices) {
  slices.num_cells = comm.sum(GlobalIndex(read.corners.size()));
  const Blocks blocks{slices.num_cells, comm.size()};
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(read.corners.size()));
  std::vector<std::vector<NumberedCell>> cells(comm.size());
  for (std::size_t i = 0; i < read.corners.size(); ++i)
    cells[blocks.of(first + std::int64_t(i))].push_back({small(read.corners[i]), read.groups[i]});
  read = {};
  cells = parallel::exchange(comm, cells);
  for (const auto& part : cells)
    for (const NumberedCell& cell : part) {
      slices.cells.push_back(cell.vertices);
      slices.tags.push_back(cell.tag);
    }
}

void take_facets(const parallel::Communicator& comm, const ReadSimplices& read, FileSlices& slices) {
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(read.corners.size()));
  for (std::size_t i = 0; i < read.corners.size(); ++i) {
    if (read.groups[i] <= 0) continue;
    const auto v = small(read.corners[i]);
    slices.facets.push_back({{v[0], v[1], v[2]}, read.groups[i], first + std::int64_t(i)});
  }
}

} // namespace

std::shared_ptr<const FileSlices> read_gmsh_slices(const parallel::Communicator& comm,
                                                   const std::filesystem::path& path) {
  const auto layout = find_gmsh_layout(comm, path);
  if (!layout) return {};
  ReadPart part;
  if (!all_succeed(comm, [&] { part = read_gmsh_part(path, *layout, comm.rank(), comm.size()); })) return {};
  const auto has = [&](int dim) { return comm.any(!part.simplices[dim].corners.empty()); };
  auto slices = std::make_shared<FileSlices>();
  slices->dim = has(3) ? 3 : 2;
  if (slices->dim == 2 && !has(2)) return {};
  for (int dim = slices->dim; dim <= 3; ++dim)
    if (comm.any(part.refused[dim])) return {};
  if (!number_nodes(comm, part)) return {};
  slices->num_vertices = layout->num_nodes;
  const Blocks blocks{slices->num_vertices, comm.size()};
  if (!straighten_edges(comm, blocks, part, path.string())) return {};
  slices->vertices = std::move(part.positions);
  take_facets(comm, part.simplices[slices->dim - 1], *slices);
  part.simplices[slices->dim - 1] = {};
  if (!layout->sections.version4) merge_repeats(comm, blocks, slices->dim, part);
  share_cells(comm, std::move(part.simplices[slices->dim]), *slices);
  part.groups.add_up(comm);
  const std::string warning = part.groups.warning(slices->dim, path.string());
  if (!warning.empty() && comm.rank() == 0) log_warning_once(warning);
  return slices;
}

} // namespace recoil::mesh

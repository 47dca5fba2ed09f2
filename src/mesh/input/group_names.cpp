#include "recoil/mesh/input/group_names.hpp"

#include <algorithm>

#include "mesh/input/gmsh_layout.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::mesh {

namespace {

bool has_tetrahedra(const std::filesystem::path& path, const GmshLayout& layout) {
  bool found = std::ranges::any_of(layout.elements, [](const GmshBlock& block) {
    return block.count > 0 && gmsh_linear_type(block.type) == 4;
  });
  if (layout.sections.version4 || layout.sections.format.binary) return found;
  // Elements that are lines of text say themselves what they are.
  constexpr std::int64_t at_once = 4096;
  FileParts file(path, std::int64_t(1) << 16);
  for (std::int64_t k = 0; k < layout.num_elements && !found; k += at_once)
    read_lines(file, layout.lines, layout.elements[0].begin + k, std::min(at_once, layout.num_elements - k),
               [&](FileCursor& cursor, std::int64_t) {
                 cursor.integer("an element number");
                 found = gmsh_linear_type(cursor.small_integer("an element type")) == 4 || found;
                 while (!cursor.skip_blanks()) cursor.word();
               });
  return found;
}

} // namespace

GroupNames read_group_names(const std::filesystem::path& path) {
  if (parallel::mpi_is_active()) {
    const parallel::Communicator alone(MPI_COMM_SELF);
    GroupNames groups;
    const auto layout = find_gmsh_layout(alone, path);
    if (layout && all_succeed(alone, [&] { groups.dim = has_tetrahedra(path, *layout) ? 3 : 2; })) {
      GmshGroups read;
      read.read_names(layout->sections.names);
      groups.names = read.names_without_quotes();
      return groups;
    }
  }
  const FileMesh mesh = read_mesh(path);
  return {mesh.tetrahedra.empty() ? 2 : 3, mesh.group_names};
}

} // namespace recoil::mesh

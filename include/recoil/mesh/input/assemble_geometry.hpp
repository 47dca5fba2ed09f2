#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// The meshes of a scene, on one rank.
struct AssembledGeometry {
  SimplexMesh deformable;
  std::vector<SurfaceMesh> obstacles; ///< in the order of their entries
  std::vector<EmptySelection> empty_selections;
  std::vector<SurfaceMesh> body_surfaces; ///< take_body_surfaces(); only those of particles
};

struct FileSlices;

/// Mesh files read once and kept for those who need them again. Pass one to geometry_dimension() and then to
/// assemble_geometry(), which empties it.
class MeshFiles {
public:
  /// @param least_bytes_in_slices size from which on files are worth the messages to be read by several ranks
  explicit MeshFiles(std::uintmax_t least_bytes_in_slices = std::uintmax_t(1) << 22)
      : least_bytes_in_slices_(least_bytes_in_slices) {}

  /// Reads the file unless it is there already.
  const FileMesh& load(const std::filesystem::path& path);
  /// Loads the file as load() does, and hands the mesh over.
  FileMesh take(const std::filesystem::path& path);
  /// Keeps a mesh that was made in memory, as that of a file `name`.
  void put(const std::filesystem::path& name, RawMesh mesh) {
    files_[name.string()] = {std::move(mesh), {}, {}, {}};
  }

  /// The file as all ranks have read it together, once; null on all of them if one rank has to, as
  /// for files with anything wrong in them, of which load() tells. Collective.
  std::shared_ptr<const FileSlices> load_slices(const parallel::Communicator& comm,
                                                const std::filesystem::path& path);
  /// Frees what load_slices() keeps; it gives null from then on. Not collective, but on every rank alike.
  void drop_slices(const std::filesystem::path& path) { slices_[path.string()] = nullptr; }
  /// Of the triangles or tetrahedra of a file; loads it as load() does unless it is there in slices.
  /// @throws InputError as load() does.
  std::pair<int, std::int64_t> dimension_and_cells(const std::filesystem::path& path);

private:
  std::map<std::string, FileMesh> files_;
  std::map<std::string, std::shared_ptr<const FileSlices>> slices_; ///< null if one rank has to read it
  std::uintmax_t least_bytes_in_slices_;
};

/// 2 if the deformable entries are triangle meshes, 3 if they are tetrahedra.
/// @throws InputError if there is none, if they differ, or if a file cannot be read.
int geometry_dimension(std::span<const GeometrySpec> specs, MeshFiles& files);
int geometry_dimension(std::span<const GeometrySpec> specs);

/// Builds the deformable mesh and the obstacles of a scene. Each deformable entry is read, normalised,
/// transformed, its bounding box taken, refined, its points, facets and cells selected, copied; then appended
/// without welding. Cells are made positively oriented. Vertices that no cell uses take part in bounding
/// boxes and in the numbering of selection files, then are removed, the others keeping their order, so that
/// they never become unknowns. `body_names` and `cell_body` count deformable entries only; without any the
/// mesh is empty. In 2D cells and facet_ids use three entries; the fourth is -1 and interior_facet.
/// @throws InputError with the entry's JSON pointer and file for all that is wrong with it.
/// @note Serial, called on one rank.
AssembledGeometry assemble_geometry(std::span<const GeometrySpec> specs, int dim, MeshFiles& files);
AssembledGeometry assemble_geometry(std::span<const GeometrySpec> specs, int dim);

/// The kinematic surface of an obstacle entry from what its file or generator holds. Coordinates are cut to
/// `dim`, then normalised and transformed; tetrahedra are reduced to their surface; in 2D triangles to their
/// boundary edges. `Extract::edges` turns triangles into their edges, `points` keeps all vertices of the
/// surface and nothing else. `n_refs` splits edges at their middle; copies of a `mesh_array` follow each
/// other. Vertices keep the order of the file; those that no primitive uses are dropped.
/// @throws InputError naming the entry for an empty surface, `n_refs` with triangles, or array sizes below 1.
SurfaceMesh obstacle_surface(RawMesh raw, const GeometrySpec& spec, int dim);

/// Removes the deformable entries whose files hold no tetrahedra from `specs` and returns what they have
/// instead, the triangles of surfaces that particles can fill, in the order of the entries. Normalised,
/// transformed and copied as bodies of tetrahedra are; edges and lone vertices only count for bounding boxes.
/// @throws InputError naming the entry for a file that cannot be read or has no triangles, and for `n_refs`.
std::vector<SurfaceMesh> take_body_surfaces(std::vector<GeometrySpec>& specs, MeshFiles& files);

} // namespace recoil::mesh

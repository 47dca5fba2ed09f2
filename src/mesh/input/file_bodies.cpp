#include "mesh/input/file_bodies.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "mesh/input/describe.hpp"
#include "mesh/input/entry_checks.hpp"
#include "mesh/input/refinement.hpp"
#include "mesh/input/slice_checks.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {

namespace {

Eigen::AlignedBox3d box_of_all(const parallel::Communicator& comm,
                               const std::vector<Eigen::Vector3d>& vertices) {
  const Eigen::AlignedBox3d own = bounding_box(vertices);
  Eigen::Vector3d low, high;
  for (int k = 0; k < 3; ++k) {
    low[k] = comm.min(own.min()[k]);
    high[k] = comm.max(own.max()[k]);
  }
  return {low, high};
}

/// Whether triangles lie in a plane of constant z, which becomes z = 0.
bool flatten(const parallel::Communicator& comm, std::vector<Eigen::Vector3d>& vertices) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Eigen::Vector3d& p : vertices) {
    low = std::min(low, p.z());
    high = std::max(high, p.z());
  }
  if (comm.max(high) > comm.min(low)) return false;
  for (Eigen::Vector3d& p : vertices) p.z() = 0;
  return true;
}

bool have_one_tag(const parallel::Communicator& comm, const std::vector<std::int32_t>& tags) {
  GlobalIndex low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
  for (const std::int32_t tag : tags) {
    low = std::min<GlobalIndex>(low, tag);
    high = std::max<GlobalIndex>(high, tag);
  }
  return comm.max(high) <= comm.min(low);
}

} // namespace

Eigen::AlignedBox3d place_vertices(const parallel::Communicator& comm, const GeometrySpec& spec, int dim,
                                   std::vector<Eigen::Vector3d>& vertices) {
  const std::string where = describe(spec);
  if (spec.normalize_mesh) {
    const Eigen::AlignedBox3d box = box_of_all(comm, vertices);
    parallel::collectively(comm, [&] { normalize(vertices, box, where); });
  }
  const Eigen::AlignedBox3d box = box_of_all(comm, vertices);
  parallel::collectively(
      comm, [&] { transform_vertices(affine_map(spec.transformation, box, dim, where), vertices); });
  return box_of_all(comm, vertices);
}

std::optional<SlicedBody> body_of_file(const parallel::Communicator& comm, const GeometrySpec& spec,
                                       const FileSlices& file, int dim) {
  const std::string where = describe(spec);
  std::vector<Eigen::Vector3d> vertices = file.vertices;
  for (Eigen::Vector3d& p : vertices) p *= spec.file_scale;
  if (file.dim == 2 && !flatten(comm, vertices)) return {};
  SlicedBody body;
  BodyMesh& mesh = body.mesh;
  mesh.dim = file.dim;
  parallel::collectively(comm, [&] { check_dimension(mesh, dim, where); });
  body.box = place_vertices(comm, spec, dim, vertices);

  const Blocks cells{file.num_cells, comm.size()};
  mesh.cells = file.cells;
  mesh.tags = file.tags;
  mesh.cell_source.resize(mesh.cells.size());
  std::iota(mesh.cell_source.begin(), mesh.cell_source.end(), cells.begin(comm.rank()));
  mesh.place = PlaceInBody{number_locally(mesh.cells, dim), cells.begin(comm.rank()), file.num_vertices,
                           file.num_cells};
  const std::vector<std::int32_t>& ids = mesh.place->vertex_ids;
  const VertexOwners owners(comm, file.num_vertices, ids);
  const std::vector<FileVertex> known = owners.ask(ids, vertices, body.num_lone);
  vertices = {};
  for (const FileVertex& vertex : known) {
    mesh.vertices.emplace_back(vertex.position.data());
    body.lone_before.push_back(vertex.lone_before);
  }
  parallel::collectively(comm, [&] { orient(mesh, where); });
  if (spec.n_refs > 0 && !have_one_tag(comm, mesh.tags)) return {};
  parallel::collectively(comm, [&] { check_refinement(mesh, spec.n_refs, where, comm.size()); });
  if (!is_sound(comm, body, owners.blocks(), known, where)) return {};
  std::vector<std::array<std::int32_t, 3>> facets;
  std::vector<std::int32_t> tags;
  for (const FileSlices::Facet& facet : owners.facets_of_slice(file.facets)) {
    facets.push_back(facet.vertices);
    tags.push_back(facet.tag);
  }
  keep_facets(facets, tags, mesh);
  return body;
}

} // namespace recoil::mesh

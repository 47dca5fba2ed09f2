#include <algorithm>
#include <map>
#include <set>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/solvers/elastodynamics/validate_against_mesh.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

std::string list_ids(const std::set<int>& ids) {
  std::string text;
  for (const int id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text.empty() ? "none" : text;
}

/// The same, without regard to bodies, and those of obstacles.
struct SceneIds {
  std::set<int> surface; ///< facets of deformables
  std::set<int> point, volume, obstacle;
};

MeshIds ids_of(const mesh::SimplexMesh& mesh) {
  MeshIds ids;
  ids.bodies = mesh.body_names;
  ids.surface.resize(mesh.body_names.size());
  ids.volume.resize(mesh.body_names.size());
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    const std::size_t body = mesh.cell_body[cell];
    ids.volume[body].insert(mesh.cell_volume_id[cell]);
    for (int i = 0; i <= mesh.dim; ++i) {
      const int id = mesh.facet_ids[cell][i];
      if (id != mesh::interior_facet && id != mesh::unselected_facet) ids.surface[body].insert(id);
    }
  }
  for (const int id : mesh.vertex_point_id)
    if (id != 0) ids.point.insert(id);
  return ids;
}

SceneIds united(const MeshIds& ids, std::span<const mesh::SurfaceMesh> obstacles) {
  SceneIds all{{}, ids.point, {}, {}};
  for (const auto& own : ids.surface) all.surface.insert(own.begin(), own.end());
  for (const auto& own : ids.volume) all.volume.insert(own.begin(), own.end());
  for (const auto& obstacle : obstacles)
    if (obstacle.surface_id >= 0) all.obstacle.insert(obstacle.surface_id);
  return all;
}

std::set<int> of_all_ranks(const parallel::Communicator& comm, const std::set<int>& own) {
  const auto all = comm.all_gather_parts(std::vector<GlobalIndex>(own.begin(), own.end()));
  return {all.begin(), all.end()};
}

void check_materials(const Scene& scene, const MeshIds& ids) {
  for (std::size_t body = 0; body < ids.bodies.size(); ++body)
    for (const int id : ids.volume[body])
      if (!find_material(scene, ids.bodies[body], id))
        throw InputError(scene.file.string() + " (/materials)",
                         "elements of body '" + ids.bodies[body] + "' with volume id " + std::to_string(id) +
                             " have no material; add an entry with this `id` or with `body`");
}

void check_surface_ids(const IdUse& use, const SceneIds& ids, bool points) {
  for (const int id : use.ids) {
    if (ids.surface.contains(id) || (points && (ids.point.contains(id) || ids.obstacle.contains(id))))
      continue;
    throw InputError(use.where, "no facet has the surface id " + std::to_string(id) +
                                    "; ids in this scene: " + list_ids(ids.surface) +
                                    ". A `surface_selection` gives ids");
  }
}

std::vector<IdUse> prescribed_on_ids(const Scene& scene) {
  std::vector<IdUse> uses;
  for (const auto& entry : scene.boundary_conditions.dirichlet) uses.push_back({entry.ids, entry.where});
  return uses;
}

/// The places of a scene that name volume ids.
std::vector<IdUse> regions_by_ids(const Scene& scene) {
  std::vector<IdUse> uses;
  for (const Region* region : scene.initial_conditions.regions())
    uses.push_back({region->ids, region->where});
  return uses;
}

/// Where the scene uses an id that a selection of this kind gives; empty if nowhere.
std::string user_of_id(const Scene& scene, int id, mesh::EmptySelection::Kind kind) {
  using Kind = mesh::EmptySelection::Kind;
  std::vector<IdUse> uses;
  if (kind == Kind::volume) {
    for (const MaterialEntry& material : elements_of(scene).materials)
      uses.push_back({material.ids, material.where});
    std::ranges::copy(regions_by_ids(scene), std::back_inserter(uses));
  } else {
    std::ranges::copy(prescribed_on_ids(scene), std::back_inserter(uses));
    if (kind != Kind::point) std::ranges::copy(loads_on_ids(scene), std::back_inserter(uses));
  }
  const auto found =
      std::ranges::find_if(uses, [id](const IdUse& use) { return std::ranges::count(use.ids, id) > 0; });
  return found == uses.end() ? "" : found->where;
}

/// A selection of nothing is a mistake where something uses its id and no other gives it.
void check_empty_selections(Scene& scene, const SceneIds& ids,
                            std::span<const mesh::EmptySelection> selections) {
  for (const mesh::EmptySelection& selection : selections) {
    for (const int id : selection.ids) {
      const bool given =
          selection.kind == mesh::EmptySelection::Kind::volume
              ? ids.volume.contains(id)
              : ids.surface.contains(id) || ids.point.contains(id) || ids.obstacle.contains(id);
      if (given) continue;
      const std::string user = user_of_id(scene, id, selection.kind);
      if (!user.empty())
        throw InputError(selection.where,
                         selection.message + "; " + user + " uses its id " + std::to_string(id));
    }
    scene.warnings.push_back(selection.where + ": " + selection.message);
  }
}

void check_volume_ids(const IdUse& use, const SceneIds& ids) {
  for (const int id : use.ids)
    if (!ids.volume.contains(id))
      throw InputError(use.where, "no element has the volume id " + std::to_string(id) +
                                      "; ids in this scene: " + list_ids(ids.volume));
}

void check_orders(const Scene& scene, const mesh::SimplexMesh& mesh) {
  if (elements_of(scene).space.body_orders.empty()) return;
  std::vector<int> owner(mesh.vertices.size(), -1);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    for (int i = 0; i <= mesh.dim; ++i) {
      const std::size_t vertex = mesh.cells[cell][i];
      const int body = mesh.cell_body[cell];
      if (owner[vertex] < 0) owner[vertex] = body;
      const auto& a = mesh.body_names[owner[vertex]];
      const auto& b = mesh.body_names[body];
      if (owner[vertex] != body && order_of_body(scene, a) != order_of_body(scene, b))
        throw InputError(scene.file.string() + " (/space/discr_order)",
                         "bodies '" + a + "' and '" + b + "' share vertex " + std::to_string(vertex) +
                             " but have orders " + std::to_string(order_of_body(scene, a)) + " and " +
                             std::to_string(order_of_body(scene, b)) + "; give them one order");
    }
}

} // namespace

MeshIds collect_ids(const parallel::Communicator& comm, const mesh::SimplexMesh& share) {
  MeshIds ids = ids_of(share);
  for (auto& own : ids.surface) own = of_all_ranks(comm, own);
  for (auto& own : ids.volume) own = of_all_ranks(comm, own);
  ids.point = of_all_ranks(comm, ids.point);
  return ids;
}

void validate_against_ids(Scene& scene, int dim, const MeshIds& found,
                          std::span<const mesh::SurfaceMesh> obstacles,
                          std::span<const mesh::EmptySelection> empty_selections) {
  set_dimension(scene, dim);
  const SceneIds ids = united(found, obstacles);
  check_empty_selections(scene, ids, empty_selections);
  check_materials(scene, found);
  for (const IdUse& use : prescribed_on_ids(scene)) check_surface_ids(use, ids, true);
  for (const IdUse& use : loads_on_ids(scene)) check_surface_ids(use, ids, false);
  for (const IdUse& use : regions_by_ids(scene)) check_volume_ids(use, ids);
}

void validate_against_mesh(Scene& scene, const mesh::SimplexMesh& mesh,
                           std::span<const mesh::SurfaceMesh> obstacles,
                           std::span<const mesh::EmptySelection> empty_selections) {
  validate_against_ids(scene, mesh.dim, ids_of(mesh), obstacles, empty_selections);
  check_orders(scene, mesh);
}

} // namespace recoil::app

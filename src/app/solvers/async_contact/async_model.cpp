#include "app/solvers/async_contact/async_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <ranges>
#include <span>

#include <fmt/format.h>

#include "app/solvers/async_contact/async_loads.hpp"
#include "app/solvers/async_contact/scripted_motion.hpp"
#include "recoil/app/run/finite_values.hpp"
#include "recoil/app/run/scene_contact.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/input/transform.hpp"
#include "recoil/potentials/contact/contact_search.hpp"
#include "recoil/solvers/async_contact/shell.hpp"
#include "recoil/solvers/async_contact/solid.hpp"
#include "recoil/surface/build.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
namespace async = solvers::async_contact;

/// Vertices that follow an entry of the scene.
struct Held {
  const DirichletEntry* entry;
  std::vector<LocalIndex> vertices;
};

class Builder {
public:
  Builder(const Scene& scene, const AsyncInputs& inputs)
      : scene_(scene), spec_(async_of(scene).solver), inputs_(inputs) {
    for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) held_.push_back({&entry, {}});
  }

  AsyncModel build() {
    for (const mesh::GeometrySpec& entry : scene_.geometry)
      if (!entry.is_obstacle) add_body(entry);
    require_holders();
    set_initial_values();
    for (const Held& held : held_) move(*held.entry, held.vertices);
    for (const mesh::SurfaceMesh& obstacle : inputs_.obstacles) add_obstacle(obstacle);
    for (const PlaneObstacle& plane : scene_.planes) add_plane(plane);
    name_vertices();
    add_settings();
    if (scene_.contact.enabled) join_surfaces();
    result_.alone = alone_;
    return std::move(result_);
  }

private:
  async::Model& model() { return result_.model; }

  void add_body(const mesh::GeometrySpec& entry) {
    const auto& spheres = async_of(scene_).spheres;
    const auto found = std::ranges::find(spheres, entry.name, &SphereBody::body);
    AsyncBody& body = result_.bodies.emplace_back();
    body.name = entry.name;
    body.first = model().num_vertices();
    begin_part("'" + entry.name + "'", entry.where);
    try {
      if (found != spheres.end())
        add_spheres(entry, *found, body);
      else if (find_async_material(scene_, entry.name)->kind == AsyncBodyKind::solid)
        add_solid(entry, body);
      else
        add_shell(entry, body);
    } catch (const InputError& error) {
      // What is of the scene says its place itself.
      if (std::string_view(error.what()).starts_with(scene_.file.string())) throw;
      const std::string file = found != spheres.end() ? found->file.string() : entry.mesh.string();
      throw InputError(file.empty() ? entry.where : entry.where + " (" + file + ")", error.what());
    }
    body.count = model().num_vertices() - body.first;
  }

  /// The entries of the boundary conditions that hold these points; -1: none does.
  std::vector<int> holders(const mesh::GeometrySpec& entry, const std::vector<Vector3d>& points) const {
    const mesh::PointIds found =
        mesh::select_points(points, entry.point_selection, mesh::bounding_box(points));
    for (std::size_t s = 0; s < entry.point_selection.size(); ++s)
      if (!found.matched[s])
        throw InputError(entry.point_selection[s].where, "selects no vertex of body '" + entry.name + "'");
    std::vector<int> result;
    for (const std::int32_t id : found.ids) {
      int holder = -1;
      for (std::size_t k = 0; k < held_.size() && holder < 0; ++k)
        if (id > 0 && acts_on(*held_[k].entry, id)) holder = static_cast<int>(k);
      result.push_back(holder);
    }
    return result;
  }

  void hold(int holder, LocalIndex vertex) {
    if (holder >= 0) held_[holder].vertices.push_back(vertex);
  }

  void add_shell(const mesh::GeometrySpec& entry, AsyncBody& body) {
    const mesh::SurfaceMesh& mesh = *std::ranges::find(inputs_.sheets, entry.name, &mesh::SurfaceMesh::name);
    if (mesh.triangles.empty())
      throw InputError("a shell is of triangles, and the mesh has none; take another mesh, or `spheres`");
    const mesh::DistributedSurfaces<3> sheets =
        mesh::distribute_surfaces<3>(*alone_, {mesh}, mesh::SurfacePartition::curve);
    const std::vector<int> holder = holders(entry, sheets.vertices);
    std::vector<char> prescribed;
    for (const int one : holder) prescribed.insert(prescribed.end(), 3, one >= 0 ? 1 : 0);
    const surface::Surface<3> surface = surface::surface_of_sheets<3>(*alone_, sheets, prescribed);
    const AsyncMaterial& of = *find_async_material(scene_, entry.name);
    async::add_shell(model(), surface,
                     {.stretching_stiffness = of.stretching_stiffness,
                      .poisson = of.poisson,
                      .bending_stiffness = of.bending_stiffness,
                      .area_density = of.area_density,
                      .stretch_damping = of.stretch_damping,
                      .bend_damping = of.bend_damping,
                      .yield_angle = of.yield_angle.value_or(std::numeric_limits<double>::infinity()),
                      .alpha = spec_.element_share});
    for (LocalIndex v = 0; v < surface.num_vertices(); ++v) {
      hold(holder[surface.node(v)], body.first + v);
      result_.rest.push_back(model().positions[body.first + v]);
      result_.node.push_back(body.first + surface.vertices()[v].id);
    }
    body.triangles = mesh.triangles.size();
    surfaces_.push_back(mesh);
    const std::size_t ids = result_.of_surface.size();
    result_.of_surface.resize(ids + mesh.vertices.size());
    for (LocalIndex v = 0; v < surface.num_vertices(); ++v)
      result_.of_surface[ids + surface.vertices()[v].id] = body.first + v;
    for (const auto& face : surface.faces())
      result_.triangles.push_back({face[0] + body.first, face[1] + body.first, face[2] + body.first});
  }

  void add_solid(const mesh::GeometrySpec& entry, AsyncBody& body) {
    const SolidMesh& mesh = *std::ranges::find(inputs_.solids, entry.name, &SolidMesh::name);
    const std::vector<int> holder = holders(entry, mesh.vertices);
    std::vector<char> prescribed;
    for (const int one : holder) prescribed.push_back(one >= 0 ? 1 : 0);
    const AsyncMaterial& of = *find_async_material(scene_, entry.name);
    const std::size_t first_facet = model().triangles.size();
    async::add_solid(model(), mesh.vertices, mesh.cells,
                     {.law = async::find_solid_law(of.law->name),
                      .parameters = of.parameters,
                      .density = of.density,
                      .alpha = spec_.element_share},
                     prescribed);
    for (LocalIndex v = 0; v < std::ssize(mesh.vertices); ++v) {
      hold(holder[v], body.first + v);
      result_.rest.push_back(mesh.vertices[v]);
      result_.node.push_back(body.first + v);
    }
    body.kind = AsyncBodyKind::solid;
    body.tetrahedra = mesh.cells.size();
    add_boundary(entry.name, std::span(model().triangles).subspan(first_facet));
    for (auto cell : mesh.cells) {
      for (LocalIndex& v : cell) v += body.first;
      result_.tetrahedra.push_back(cell);
    }
  }

  /// The boundary of a solid with the vertices that it uses.
  void add_boundary(const std::string& name, std::span<const std::array<LocalIndex, 3>> facets) {
    mesh::SurfaceMesh& boundary = surfaces_.emplace_back();
    boundary.name = name;
    std::map<LocalIndex, std::int32_t> number;
    for (const auto& facet : facets) {
      auto& triangle = boundary.triangles.emplace_back();
      for (int i = 0; i < 3; ++i) {
        const auto [found, is_new] =
            number.emplace(facet[i], static_cast<std::int32_t>(boundary.vertices.size()));
        triangle[i] = found->second;
        if (!is_new) continue;
        boundary.vertices.push_back(model().positions[facet[i]]);
        result_.of_surface.push_back(facet[i]);
      }
    }
  }

  particles::ParticleSet spheres_of(const mesh::GeometrySpec& entry, const SphereBody& body) const {
    particles::ParticleSet set = inputs_.spheres[&body - async_of(scene_).spheres.data()];
    mesh::transform_vertices(mesh::affine_map(entry.transformation, {}, 3, entry.where), set.positions);
    for (double& radius : set.radii) radius *= entry.transformation.scale[0];
    return set;
  }

  void add_spheres(const mesh::GeometrySpec& entry, const SphereBody& given, AsyncBody& body) {
    const particles::ParticleSet set = spheres_of(entry, given);
    const AsyncMaterial& of = *find_async_material(scene_, entry.name);
    const std::vector<int> holder = holders(entry, set.positions);
    body.kind = AsyncBodyKind::spheres;
    for (std::size_t k = 0; k < set.positions.size(); ++k) {
      const double volume = 4 * std::numbers::pi / 3 * std::pow(set.radii[k], 3);
      const double mass = holder[k] >= 0 ? async::prescribed_mass : of.mass.value_or(of.density * volume);
      const LocalIndex vertex = model().add_sphere(set.positions[k], Vector3d::Zero(), mass, set.radii[k]);
      model().points.push_back(vertex); // it meets triangles, too
      hold(holder[k], vertex);
      result_.rest.push_back(set.positions[k]);
      result_.node.push_back(vertex);
      result_.spheres.push_back(vertex);
    }
    for (const auto& [a, b] : given.springs) {
      if (std::max(a, b) >= std::ssize(set.positions))
        throw InputError(given.where,
                         fmt::format("`springs` name sphere {}, but the file has {}, counted from 0",
                                     std::max(a, b), set.positions.size()));
      add_spring(body.first + a, body.first + b, of);
      ++body.springs;
    }
  }

  void add_spring(LocalIndex a, LocalIndex b, const AsyncMaterial& of) {
    const double compliance = 1 / model().masses[a] + 1 / model().masses[b];
    if (compliance == 0) return;
    const double squared = of.spring_stiffness * compliance;
    async::Spring spring{.vertices = {a, b},
                         .length = (model().positions[b] - model().positions[a]).norm(),
                         .stiffness = of.spring_stiffness,
                         .damping = of.spring_damping,
                         .step = spec_.element_share * 2 / std::sqrt(squared)};
    if (spring.damping > 0)
      spring.step = std::min(spring.step, spring.stiffness / (spring.damping * squared));
    model().springs.push_back(spring);
    result_.segments.push_back({a, b});
  }

  /// An entry that holds nothing is a mistake.
  void require_holders() const {
    for (const Held& held : held_) {
      const bool moves_obstacles = std::ranges::any_of(inputs_.obstacles,
                                                       [&](const auto& obstacle) {
                                                         return acts_on(*held.entry, obstacle.surface_id);
                                                       }) ||
                                   std::ranges::any_of(scene_.planes, [&](const PlaneObstacle& plane) {
                                     return plane.id && acts_on(*held.entry, *plane.id);
                                   });
      if (held.vertices.empty() && !moves_obstacles)
        throw InputError(held.entry->where,
                         "no vertex has this id; give ids to vertices by `point_selection` of a body");
    }
  }

  template <class Put>
  void for_initial_values(const std::vector<InitialField>& fields, const char* what, Put put) const {
    for (const InitialField& field : fields)
      for (const AsyncBody& body : result_.bodies) {
        if (!contains(field.region, body.name, 0)) continue;
        for (LocalIndex v = body.first; v < body.first + body.count; ++v) {
          const Vector3d& X = result_.rest[v];
          const ExpressionPoint at{X[0], X[1], X[2], 0};
          for (int i = 0; i < 3; ++i)
            put(v, i, require_finite(field.value[i](at), field.region.where, what, i, at));
        }
      }
  }

  Vector3d centre_of(const Region& region) {
    double total = 0;
    Vector3d moment = Vector3d::Zero();
    for (const AsyncBody& body : result_.bodies)
      if (contains(region, body.name, 0))
        for (LocalIndex v = body.first; v < body.first + body.count; ++v)
          if (std::isfinite(model().masses[v])) {
            total += model().masses[v];
            moment += model().masses[v] * result_.rest[v];
          }
    return total > 0 ? Vector3d(moment / total) : Vector3d::Zero();
  }

  void set_initial_values() {
    const InitialConditions& initial = scene_.initial_conditions;
    for_initial_values(initial.solution, "initial displacement", [&](LocalIndex v, int i, double value) {
      model().positions[v][i] = result_.rest[v][i] + value;
    });
    for_initial_values(initial.velocity, "initial velocity",
                       [&](LocalIndex v, int i, double value) { model().velocities[v][i] = value; });
    for (const AngularVelocity& spin : initial.angular_velocity) {
      const Vector3d centre = spin.center ? *spin.center : centre_of(spin.region),
                     w(spin.value[0], spin.value[1], spin.value[2]);
      for (const AsyncBody& body : result_.bodies)
        if (contains(spin.region, body.name, 0))
          for (LocalIndex v = body.first; v < body.first + body.count; ++v)
            model().velocities[v] += w.cross(result_.rest[v] - centre);
    }
  }

  /// Prescribed vertices, of bodies at their places at rest.
  void move(const DirichletEntry& entry, const std::vector<LocalIndex>& vertices) {
    std::vector<Vector3d> rest;
    for (const LocalIndex v : vertices)
      rest.push_back(v < result_.num_nodes() ? result_.rest[v] : model().positions[v]);
    add_motion(entry, scene_.time, spec_.motion_step.value_or(scene_.time.dt), vertices, rest, model());
  }

  void move_obstacle(int id, const std::vector<LocalIndex>& vertices) {
    if (const DirichletEntry* entry = find_obstacle_motion(scene_.boundary_conditions, id))
      move(*entry, vertices);
  }

  void add_obstacle(const mesh::SurfaceMesh& obstacle) {
    if (!scene_.contact.enabled) return;
    const mesh::DistributedSurfaces<3> mesh =
        mesh::distribute_surfaces<3>(*alone_, {obstacle}, mesh::SurfacePartition::curve);
    const std::vector<char> prescribed(3 * mesh.vertices.size(), 1);
    const LocalIndex first =
        async::add_shell(model(), surface::surface_of_sheets<3>(*alone_, mesh, prescribed),
                         {.stretching_stiffness = 0, .bending_stiffness = 0, .area_density = 1});
    std::vector<LocalIndex> vertices;
    begin_part("obstacle '" + obstacle.name + "'", place_of(obstacle.name), first);
    const GlobalIndex before = std::ssize(obstacle_id_);
    for (LocalIndex v = first; v < model().num_vertices(); ++v) {
      vertices.push_back(v);
      obstacle_id_.push_back(before + mesh.vertex_ids[v - first]);
    }
    move_obstacle(obstacle.surface_id, vertices);
  }

  void add_plane(const PlaneObstacle& plane) {
    if (!scene_.contact.enabled) return;
    begin_part("plane '" + plane.name + "'", plane.where);
    const LocalIndex vertex = model().add_plane(plane.point, plane.normal);
    move_obstacle(plane.id.value_or(-1), {vertex});
  }

  /// What may not intersect, in one surface.
  void join_surfaces() {
    if (surfaces_.empty()) return;
    const auto share = [&](const std::vector<mesh::SurfaceMesh>& meshes) {
      return mesh::distribute_surfaces<3>(*alone_, meshes, mesh::SurfacePartition::curve);
    };
    auto bodies = surface::surface_of_sheets<3>(*alone_, share(surfaces_));
    result_.surface = std::make_shared<surface::Surface<3>>(
        surface::joined(bodies, surface::surface_of_obstacles<3>(*alone_, share(inputs_.obstacles))));
    std::vector<LocalIndex> of_id = std::move(result_.of_surface);
    const std::size_t of_bodies = of_id.size();
    of_id.resize(of_bodies + obstacle_id_.size());
    for (std::size_t k = 0; k < obstacle_id_.size(); ++k)
      of_id[of_bodies + obstacle_id_[k]] = result_.num_nodes() + static_cast<LocalIndex>(k);
    result_.of_surface.clear();
    for (const auto& vertex : result_.surface->vertices()) result_.of_surface.push_back(of_id[vertex.id]);
  }

  const std::string& place_of(const std::string& name) const {
    return std::ranges::find(scene_.geometry, name, &mesh::GeometrySpec::name)->where;
  }

  /// Vertices from `first` on are of a body, obstacle or plane.
  void begin_part(const std::string& name, const std::string& where, LocalIndex first) {
    parts_.push_back({name + " [" + where + "]", first});
  }
  void begin_part(const std::string& name, const std::string& where) {
    begin_part(name, where, model().num_vertices());
  }

  /// Vertices are called by the numbers that they have in the files.
  void name_vertices() {
    std::vector<GlobalIndex> number = result_.node;
    for (const GlobalIndex id : obstacle_id_) number.push_back(result_.num_nodes() + id);
    while (std::ssize(number) < model().num_vertices()) number.push_back(std::ssize(number));
    model().vertex_name = [parts = parts_, number = std::move(number)](LocalIndex v) {
      const auto part =
          std::ranges::find_if(std::views::reverse(parts), [v](const Part& of) { return of.first <= v; });
      return part->name.starts_with("plane")
                 ? part->name
                 : fmt::format("vertex {} of {}", number[v] - part->first, part->name);
    };
  }

  struct Lengths {
    double shortest = std::numeric_limits<double>::infinity(), sum = 0;
    int count = 0;
  };

  Lengths edge_lengths(const AsyncBody& body) {
    Lengths lengths;
    for (const auto& edge : model().edges) {
      if (edge[0] < body.first || edge[0] >= body.first + body.count) continue;
      const double length = (result_.rest[edge[0]] - result_.rest[edge[1]]).norm();
      lengths.shortest = std::min(lengths.shortest, length);
      lengths.sum += length;
      ++lengths.count;
    }
    return lengths;
  }

  /// Layers as thick as elements are: what is next to each other would push itself apart, everywhere.
  void check_thickness() {
    const double dhat = scene_.contact.dhat;
    for (const AsyncBody& body : result_.bodies) {
      const Lengths lengths = edge_lengths(body);
      if (lengths.count == 0 || dhat <= 0.5 * lengths.shortest) continue;
      const std::string what = fmt::format(
          "is {:g} m, but edges of body '{}' [{}] are {:g} m long on average and {:g} m at least: "
          "next neighbours push each other apart at rest; write at most {:.3g} m, half of the "
          "shortest edge, or take a coarser mesh",
          dhat, body.name, place_of(body.name), lengths.sum / lengths.count, lengths.shortest,
          0.5 * lengths.shortest);
      const std::string where = scene_.file.string() + " (/contact/dhat)";
      if (dhat >= lengths.sum / lengths.count) throw InputError(where, what);
      result_.warnings.push_back(where + ": " + what);
    }
    for (const AsyncBody& body : result_.bodies) check_spheres(body);
  }

  /// Layers as thick as a body of several spheres is wide: all of them would push all others.
  void check_spheres(const AsyncBody& body) {
    if (body.kind != AsyncBodyKind::spheres || body.count < 3) return;
    const auto places = std::span(result_.rest).subspan(body.first, body.count);
    const double size = mesh::bounding_box({places.begin(), places.end()}).diagonal().norm();
    double least = std::numeric_limits<double>::infinity();
    for (LocalIndex v = body.first; v < body.first + body.count; ++v)
      least = std::min(least, model().radii[v]);
    if (scene_.contact.dhat >= size)
      throw InputError(
          scene_.file.string() + " (/contact/dhat)",
          fmt::format("is {:g} m, as much as the {:g} m across which the spheres of body '{}' [{}] "
                      "lie: all would push all others; write at most {:.3g} m, the smallest radius",
                      scene_.contact.dhat, size, body.name, place_of(body.name), least));
  }

  void add_settings() {
    async::Model& model = result_.model;
    model.gravity_step = spec_.gravity_step;
    add_body_force(scene_, result_.rest, model);
    add_surface_loads(scene_, surfaces_, result_.of_surface, model);
    model.max_stretch = spec_.max_stretch;
    model.staggered = spec_.staggered;
    if (!scene_.contact.enabled) {
      model.points.clear();
      model.spheres.clear();
      model.edges.clear();
      model.triangles.clear();
      return;
    }
    model.contact.eta = scene_.contact.dhat / 2;
    model.contact.stiffness = spec_.layer_stiffness;
    model.contact.alpha = spec_.layer_share;
    model.contact.restitution = spec_.restitution;
    model.contact.friction = scene_.contact.friction_coefficient;
    model.contact.anchor_stiffness = spec_.anchor_stiffness;
    model.contact.aligned = spec_.aligned;
    model.contact.max_layers = spec_.max_layers;
    check_thickness();
  }

  const Scene& scene_;
  const AsyncSpec& spec_;
  const AsyncInputs& inputs_;
  std::shared_ptr<const parallel::Communicator> alone_ =
      std::make_shared<parallel::Communicator>(MPI_COMM_SELF);
  /// What comes from one entry of the geometry.
  struct Part {
    std::string name;
    LocalIndex first;
  };
  std::vector<Part> parts_;
  std::vector<mesh::SurfaceMesh> surfaces_; ///< of bodies that may not intersect
  std::vector<GlobalIndex> obstacle_id_;    ///< among the vertices of obstacles in their files
  std::vector<Held> held_;
  AsyncModel result_;
};

} // namespace

AsyncModel make_async_model(const Scene& scene, const AsyncInputs& inputs) {
  return Builder(scene, inputs).build();
}

GlobalIndex count_intersections(const AsyncModel& model, const std::function<Vector3d(LocalIndex)>& position,
                                std::vector<std::string>* first) {
  if (!model.surface) return 0;
  std::vector<Vector3d> places;
  for (const LocalIndex v : model.of_surface) places.push_back(position(v));
  return potentials::count_intersections<3>(*model.surface, places, first);
}

} // namespace recoil::app

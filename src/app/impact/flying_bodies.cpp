#include "app/impact/flying_bodies.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/impact/body_meshes.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::app {

namespace {

using OrderedJson = nlohmann::ordered_json;

template <int dim>
std::string mesh_text(const cage::CellMesh<dim>& mesh) {
  std::vector<Eigen::Vector3d> vertices;
  for (const auto& x : mesh.vertices) vertices.emplace_back(Eigen::Vector3d::Zero()).template head<dim>() = x;
  std::vector<std::array<std::int32_t, 4>> cells;
  for (const auto& cell : mesh.cells) {
    auto& four = cells.emplace_back();
    four.fill(-1);
    std::ranges::copy(cell, four.begin());
  }
  return mesh::gmsh_text(vertices, cells, std::vector<std::int32_t>(cells.size(), 0));
}

template <int dim>
std::vector<double> numbers_of(const cage::Point<dim>& x) {
  return {x.data(), x.data() + dim};
}

/// A plane across gravity, `below` the lowest point of the bodies.
template <int dim>
OrderedJson floor_under(const std::vector<BodyCells<dim>>& bodies, const cage::Point<dim>& gravity,
                        double below) {
  const cage::Point<dim> up = -gravity.normalized();
  double lowest = std::numeric_limits<double>::infinity();
  cage::Point<dim> centre = cage::Point<dim>::Zero();
  for (const auto& body : bodies)
    for (const auto& x : body.mesh.vertices)
      if (const double height = up.dot(x); height < lowest) {
        lowest = height;
        centre = x;
      }
  return {{"name", "floor"},
          {"type", "plane"},
          {"is_obstacle", true},
          {"point", numbers_of<dim>(centre - below * up)},
          {"normal", numbers_of<dim>(up)}};
}

} // namespace

template <int dim>
OrderedJson write_flying_bodies(const BreakableShape<dim>& shape, const BrokenBody<dim>& broken,
                                const std::vector<FragmentMotion<dim>>& motions, const BodiesSpec& spec,
                                const std::filesystem::path& folder) {
  std::vector<double> volumes(motions.size(), 0.0);
  for (const auto& piece : broken.pieces) volumes[piece.fragment] += piece.moments.volume;
  GappedBodies kept;
  auto bodies = bodies_with_gaps<dim>(broken.cells, spec.gap * mean_edge(shape.mesh), kept);
  std::erase_if(bodies, [&](const auto& body) { return !(volumes[body.label] > 0); });
  if (kept.gap == 0)
    return {{"written", false}, {"reason", "pieces would intersect whatever the gap between them is"}};
  // Masses of the materials of the shape are relative ones, as far as users have given no densities there.
  const double mass = std::accumulate(shape.model.masses.begin(), shape.model.masses.end(), 0.0);
  const double volume = std::accumulate(shape.model.volumes.begin(), shape.model.volumes.end(), 0.0);
  OrderedJson geometry = OrderedJson::array(), materials = OrderedJson::array(),
              velocities = OrderedJson::array();
  for (const auto& body : bodies) {
    const auto name = fmt::format("body_{}", body.label);
    write_file_atomically(folder / (name + ".msh"), mesh_text<dim>(body.mesh));
    double cells = 0;
    for (std::size_t c = 0; c < body.mesh.cells.size(); ++c) cells += cage::volume<dim>(body.mesh, c);
    const int id = body.label + 1;
    geometry.push_back({{"name", name}, {"mesh", name + ".msh"}, {"volume_selection", id}});
    materials.push_back({{"id", id},
                         {"type", "NeoHookean"},
                         {"E", spec.youngs_modulus},
                         {"nu", spec.poisson_ratio},
                         {"rho", spec.density * motions[body.label].density / (mass / volume) *
                                     volumes[body.label] / cells}});
    velocities.push_back({{"body", name}, {"value", numbers_of<dim>(motions[body.label].velocity)}});
  }
  const double dhat = kept.gap / 2;
  const cage::Point<dim> gravity = Eigen::Map<const cage::Point<dim>>(spec.gravity.data());
  if (spec.floor && gravity.norm() > 0) geometry.push_back(floor_under<dim>(bodies, gravity, 2 * kept.gap));
  const OrderedJson scene{
      {"gravity", spec.gravity},
      {"geometry", geometry},
      {"materials", materials},
      {"contact", {{"enabled", true}, {"dhat", dhat}, {"friction_coefficient", spec.friction}}},
      {"initial_conditions", {{"velocity", velocities}}},
      {"time", {{"dt", spec.time_step}, {"tend", spec.end}}}};
  write_file_atomically(folder / "scene.json", scene.dump(2) + "\n");
  return {{"written", true}, {"count", bodies.size()}, {"gap", kept.gap}};
}

template OrderedJson write_flying_bodies(const BreakableShape<2>&, const BrokenBody<2>&,
                                         const std::vector<FragmentMotion<2>>&, const BodiesSpec&,
                                         const std::filesystem::path&);
template OrderedJson write_flying_bodies(const BreakableShape<3>&, const BrokenBody<3>&,
                                         const std::vector<FragmentMotion<3>>&, const BodiesSpec&,
                                         const std::filesystem::path&);

} // namespace recoil::app

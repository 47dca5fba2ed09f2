#include "app/solvers/async_contact/async_loads.hpp"

#include <algorithm>
#include <array>

#include <Eigen/Geometry>

#include "recoil/app/run/finite_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using solvers::async_contact::Model;
using solvers::async_contact::Points;

ExpressionPoint point_at(const Vector3d& X, double t) { return {X[0], X[1], X[2], t}; }

/// Twice the area vector of a triangle.
Vector3d twice_area(const Points<3>& x) {
  return Vector3d(x.col(1) - x.col(0)).cross(Vector3d(x.col(2) - x.col(0)));
}

/// A triangle of a body that loads may act on.
struct Facet {
  std::array<LocalIndex, 3> vertices;
  Points<3> rest;
  std::int32_t id;
};

std::vector<Facet> facets_of(const Scene& scene, std::span<const mesh::SurfaceMesh> surfaces,
                             std::span<const LocalIndex> vertices) {
  std::vector<Facet> facets;
  std::size_t first = 0;
  for (const mesh::SurfaceMesh& surface : surfaces) {
    const auto entry = std::ranges::find(scene.geometry, surface.name, &mesh::GeometrySpec::name);
    std::vector<Vector3d> middles;
    for (const auto& [a, b, c] : surface.triangles)
      middles.push_back((surface.vertices[a] + surface.vertices[b] + surface.vertices[c]) / 3);
    const mesh::PointIds found =
        mesh::select_points(middles, entry->surface_selection, mesh::bounding_box(surface.vertices));
    for (std::size_t s = 0; s < entry->surface_selection.size(); ++s)
      if (!found.matched[s])
        throw InputError(entry->surface_selection[s].where,
                         "selects no triangle of body '" + entry->name + "'");
    for (std::size_t k = 0; k < surface.triangles.size(); ++k) {
      if (found.ids[k] <= 0) continue;
      Facet& facet = facets.emplace_back();
      facet.id = found.ids[k];
      for (int i = 0; i < 3; ++i) {
        facet.vertices[i] = vertices[first + surface.triangles[k][i]];
        facet.rest.col(i) = surface.vertices[surface.triangles[k][i]];
      }
    }
    first += surface.vertices.size();
  }
  return facets;
}

Vector3d traction(const TractionEntry& entry, const ExpressionPoint& at) {
  Vector3d value;
  for (int i = 0; i < 3; ++i) value[i] = time_factor(entry.interpolation, i, at.t) * entry.value[i](at);
  return value;
}

double pressure(const PressureEntry& entry, const ExpressionPoint& at) {
  return time_factor(entry.interpolation, 0, at.t) * entry.evaluate(at);
}

/// `force_on(facet)`: the force on it.
template <class Entry, class ForceOn>
void add_loads(const Entry& entry, const std::vector<Facet>& facets, Model& model, const ForceOn& force_on) {
  bool acts = false;
  for (const Facet& facet : facets) {
    if (!acts_on(entry, facet.id)) continue;
    acts = true;
    model.loads.push_back({facet.vertices, force_on(facet), model.gravity_step});
  }
  if (!acts)
    throw InputError(entry.where,
                     "no triangle has this id; give ids to triangles by `surface_selection` of a body");
}

} // namespace

void add_body_force(const Scene& scene, std::span<const Vector3d> rest, Model& model) {
  std::array<Expression, 3> varying{Expression(0.0), Expression(0.0), Expression(0.0)};
  bool varies = false;
  const auto& rhs = scene.boundary_conditions.rhs;
  for (std::size_t i = 0; i < 3; ++i) {
    double& constant = model.gravity[Eigen::Index(i)];
    constant = i < scene.gravity.size() ? scene.gravity[i] : 0.0;
    if (i >= rhs.size()) continue;
    if (const auto value = constant_of(rhs[i])) {
      constant -= *value;
      continue;
    }
    varies = true;
    varying[i] = std::get<Expression>(rhs[i]);
  }
  if (!varies) return;
  const double t0 = scene.time.t0;
  const auto acceleration = [varying, t0](const Vector3d& X, double time) {
    const ExpressionPoint at = point_at(X, t0 + time);
    return Vector3d(-varying[0](at), -varying[1](at), -varying[2](at));
  };
  for (const Vector3d& X : rest)
    for (int i = 0; i < 3; ++i)
      require_finite(varying[i](point_at(X, t0)), scene.file.string() + " (/boundary_conditions/rhs)",
                     "acceleration", i, point_at(X, t0));
  model.acceleration = [acceleration, places = std::vector<Vector3d>(rest.begin(), rest.end())](
                           LocalIndex vertex, double time) -> Vector3d {
    if (vertex >= std::ssize(places)) return Vector3d::Zero();
    return acceleration(places[vertex], time);
  };
}

void add_surface_loads(const Scene& scene, std::span<const mesh::SurfaceMesh> surfaces,
                       std::span<const LocalIndex> vertices, Model& model) {
  const std::vector<Facet> facets = facets_of(scene, surfaces, vertices);
  const double t0 = scene.time.t0;
  for (const TractionEntry& entry : scene.boundary_conditions.neumann)
    add_loads(entry, facets, model, [&](const Facet& facet) {
      const Vector3d middle = facet.rest.rowwise().mean();
      const double area = 0.5 * twice_area(facet.rest).norm();
      const ExpressionPoint start = point_at(middle, t0);
      for (int i = 0; i < 3; ++i)
        require_finite(traction(entry, start)[i], entry.where, "traction", i, start);
      return [&entry, middle, area, t0](const Points<3>&, double time) {
        return Vector3d(area * traction(entry, point_at(middle, t0 + time)));
      };
    });
  for (const PressureEntry& entry : scene.boundary_conditions.pressure)
    add_loads(entry, facets, model, [&](const Facet& facet) {
      const Vector3d middle = facet.rest.rowwise().mean();
      const ExpressionPoint start = point_at(middle, t0);
      require_finite(pressure(entry, start), entry.where, "pressure", {}, start);
      return [&entry, middle, t0](const Points<3>& x, double time) {
        return Vector3d(0.5 * pressure(entry, point_at(middle, t0 + time)) * twice_area(x));
      };
    });
}

} // namespace recoil::app

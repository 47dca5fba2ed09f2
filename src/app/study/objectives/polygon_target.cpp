#include "recoil/objectives/polygon_target.hpp"

#include "app/study/objectives/surface_target.hpp"

namespace recoil::app {
namespace {

struct PolygonTarget final : SurfaceTarget<PolygonTarget> {
  explicit PolygonTarget(const Item& entry)
      : SurfaceTarget(entry, "a file, such as \"goal.csv\" in 2D or \"goal.stl\" in 3D") {}

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const auto polygon =
        std::make_shared<const objectives::Polygon<dim>>(objectives::read_polygon<dim>(at.comm(), target));
    return [this, polygon](const Observables<dim>& at) {
      return objectives::make_polygon_target<dim>(region_of(at, bodies), polygon, facets);
    };
  }
};

} // namespace

std::vector<ObjectiveType> polygon_target_objectives() {
  return {{.name = "polygon_target",
           .doc =
               "int |X + u - c|^2 over boundary facets at rest, c the closest point of a polygon (2D) or a "
               "surface (3D). Without `boundary` all facets of the boundary count.",
           .keys = {body_key, time_key, boundary_key,
                    surface_target_key(
                        "in 2D a CSV file with the columns `x,y`, a row per vertex in order, closed "
                        "where the last is the first one again; in 3D a mesh of triangles (`.obj`, "
                        "`.stl`, `.msh`, `.mesh`).")},
           .read = PolygonTarget::read,
           .asks = ObservableKind::boundary,
           .sees_place = true}};
}

} // namespace recoil::app

#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/shape.hpp"

namespace recoil::app {
namespace {

struct VolumeBound final : ObjectiveOf<VolumeBound> {
  explicit VolumeBound(const Item& entry) : limit(entry["limit"].number()) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_volume_bound<dim>(region_of(at, bodies), limit);
  }

  double limit;
};

struct BoundarySmoothing final : ObjectiveOf<BoundarySmoothing> {
  explicit BoundarySmoothing(const Item& entry) : p(entry["p"].number()) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_boundary_smoothing<dim>(region_of(at, bodies), p);
  }

  double p;
};

struct MaterialSmoothing final : ObjectiveOf<MaterialSmoothing> {
  explicit MaterialSmoothing(const Item&) {}

  template <int dim>
  auto make(const Observables<dim>& at) const {
    DiscreteScene<dim>& discrete = elements_of(at);
    const Scene& scene = discrete.scene();
    const objectives::Region<dim> cells = region_of(at, bodies);
    const auto lame =
        cell_lame_constants(scene, discrete.space(), discrete.materials(), discrete.overrides());
    objectives::CellConstants constants{{"lambda", "mu"}, {}, {}};
    parallel::collectively(discrete.space().comm(), [&] {
      for (LocalIndex cell = 0; cell < std::ssize(lame); ++cell) {
        const MaterialEntry& entry = elements_of(scene).materials[discrete.materials()[cell]];
        if (!entry.law->lame && cells.selects(cell))
          throw InputError(where.of("type"),
                           "material_smoothing compares lambda and mu, which the material at " + entry.where +
                               " does not have; name the bodies of other materials in `body`");
        constants.law.push_back(static_cast<int>(entry.law - potentials::laws().data()));
        constants.values.insert(constants.values.end(), lame[cell].begin(), lame[cell].end());
      }
    });
    return objectives::make_material_smoothing<dim>(cells, std::move(constants));
  }
};

} // namespace

std::vector<ObjectiveType> regularization_objectives() {
  return {
      {.name = "volume_bound",
       .doc = "max(V - limit, 0)^2, V the rest volume (2D: area).",
       .keys = {body_key, limit_key("m^3")},
       .read = VolumeBound::read,
       .asks = ObservableKind::rest_shape},
      {.name = "boundary_smoothing",
       .doc = "sum over boundary vertices of |s|^p, s the offset from the neighbours by their distance, at "
              "rest.",
       .keys = {body_key, exponent_key},
       .read = BoundarySmoothing::read,
       .asks = ObservableKind::rest_shape},
      {.name = "material_smoothing",
       .doc =
           "sum over elements that share a face and a law, both ways, of (1 - c'/c)^2 for c = lambda and mu "
           "(neither 0; not of MooneyRivlin or Ogden).",
       .keys = {body_key},
       .read = MaterialSmoothing::read,
       .asks = ObservableKind::elastic_constants,
       .compares_materials = true}};
}

} // namespace recoil::app

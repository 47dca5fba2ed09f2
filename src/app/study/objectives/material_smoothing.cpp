#include "recoil/objectives/material_smoothing.hpp"

#include "app/study/objectives/objective_type.hpp"
#include "recoil/app/simulation/materials.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

class MaterialSmoothing final : public ObjectiveOf<MaterialSmoothing> {
public:
  explicit MaterialSmoothing(const Item&) {}

  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    const Scene& scene = discrete.scene();
    const objectives::Region<dim> cells = region_of(*this, discrete);
    const auto lame =
        cell_lame_constants(scene, discrete.space(), discrete.materials(), discrete.overrides());
    objectives::CellConstants constants{{"lambda", "mu"}, {}, {}};
    parallel::collectively(discrete.space().comm(), [&] {
      for (std::size_t cell = 0; cell < lame.size(); ++cell) {
        const MaterialEntry& entry = scene.materials[discrete.materials()[cell]];
        if (!entry.law->lame && cells.selects(static_cast<LocalIndex>(cell)))
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

ObjectiveType material_smoothing_objective() {
  return {
      .name = "material_smoothing",
      .doc =
          "sum over elements that share a face and a law, both ways, of (1 - c'/c)^2 for c = lambda and mu "
          "(neither 0; not of MooneyRivlin).",
      .keys = {body_key()},
      .read = MaterialSmoothing::read,
      .compares_materials = true};
}

} // namespace recoil::app

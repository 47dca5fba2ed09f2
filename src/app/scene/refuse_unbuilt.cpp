#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

void refuse_unbuilt(const Scene& scene) {
  const auto file = scene.file.string();
  if (scene.contact.enabled && scene.contact.use_convergent_formulation) {
    if (scene.contact.use_improved_max_operator)
      throw InputError(
          file + " (/contact/use_improved_max_operator)",
          "the improved max operator is not built yet; set it to false to use the convergent formulation "
          "with area weights alone");
    if (!scene.contact.use_area_weighting)
      throw InputError(file + " (/contact/use_area_weighting)",
                       "the convergent formulation is built with area weights only; set it to true");
  }
  if (scene.contact.enabled) return;
  for (const auto field : scene.output.fields)
    if (field == OutputField::contact_force || field == OutputField::friction_force)
      throw InputError(file + " (/output/fields)",
                       "contact_force and friction_force need contact: set contact/enabled to true");
}

} // namespace recoil::app

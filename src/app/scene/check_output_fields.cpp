#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

void check_output_fields(const Scene& scene) {
  if (scene.contact.enabled) return;
  for (const auto field : scene.output.fields)
    if (field == OutputField::contact_force || field == OutputField::friction_force)
      throw InputError(scene.file.string() + " (/output/fields)",
                       "contact_force and friction_force need contact: set contact/enabled to true");
}

} // namespace recoil::app

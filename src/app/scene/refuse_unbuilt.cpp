#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

void refuse_unbuilt(const Scene& scene) {
  const auto file = scene.file.string();
  if (scene.contact.enabled) return;
  for (const auto field : scene.output.fields)
    if (field == OutputField::contact_force || field == OutputField::friction_force)
      throw InputError(file + " (/output/fields)",
                       "contact_force and friction_force need contact: set contact/enabled to true");
}

} // namespace recoil::app

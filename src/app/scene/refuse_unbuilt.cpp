#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

void refuse_unbuilt(const Scene& scene) {
  const auto file = scene.file.string();
  if (scene.contact.enabled)
    throw InputError(file + " (/contact/enabled)", "contact is not built yet; set it to false to simulate "
                                                   "without contact (obstacles then have no effect)");
  for (const auto field : scene.output.fields)
    if (field == OutputField::contact_force || field == OutputField::friction_force)
      throw InputError(file + " (/output/fields)",
                       "contact_force and friction_force are not built yet, as contact is not");
}

} // namespace recoil::app

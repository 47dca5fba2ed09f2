#include "recoil/app/simulation/conventions.hpp"

namespace recoil::app {

potentials::DampingRate damping_rate(const Scene& scene) {
  return scene.conventions == Conventions::polyfem ? potentials::DampingRate::endpoint
                                                   : potentials::DampingRate::green_difference;
}

potentials::BarrierForm barrier_form(const Scene& scene) {
  const ContactSpec& contact = scene.contact;
  if (!contact.use_convergent_formulation) return potentials::BarrierForm::plain;
  return {scene.conventions == Conventions::polyfem, contact.use_area_weighting,
          contact.use_improved_max_operator};
}

double stiffness_unit(const Scene& scene, double dhat) {
  if (!scene.contact.use_convergent_formulation || !scene.contact.use_physical_barrier) return 1;
  return barrier_form(scene).squared ? dhat * dhat * dhat : dhat;
}

} // namespace recoil::app

#pragma once

#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/potentials/contact/barrier.hpp"
#include "recoil/potentials/damping.hpp"

/// What the `conventions` of a scene mean in formulas: nothing else asks for them.
namespace recoil::app {

inline potentials::DampingRate damping_rate(const Scene& scene) {
  return elements_of(scene).conventions == Conventions::polyfem ? potentials::DampingRate::endpoint
                                                                : potentials::DampingRate::green_difference;
}

inline potentials::BarrierForm barrier_form(const Scene& scene) {
  const ContactSpec& contact = scene.contact;
  if (contact.use_gcp_formulation)
    return {true, false, false, false,
            potentials::GeometricAngles{contact.alpha_t, contact.beta_t, contact.alpha_n, contact.beta_n}};
  if (!contact.use_convergent_formulation) return potentials::BarrierForm::plain;
  return {elements_of(scene).conventions == Conventions::polyfem, contact.use_area_weighting,
          contact.use_improved_max_operator};
}

/// The barrier stiffness of a scene over the factor of the barrier: where the barrier is the physical one
/// dhat for b(d), and dhat^3 for b(d^2), which is dhat^2 times larger.
inline double stiffness_unit(const Scene& scene, double dhat) {
  if (!scene.contact.use_convergent_formulation || !scene.contact.use_physical_barrier) return 1;
  return barrier_form(scene).squared ? dhat * dhat * dhat : dhat;
}

/// The largest force of tangential adhesion over the largest one of adhesion, per unit of the coefficient of
/// a scene. PolyFEM takes the largest slope of its A(d^2) for the normal force.
inline double tangential_adhesion_unit(const Scene& scene) {
  return elements_of(scene).conventions == Conventions::polyfem ? 1 / (2 * scene.contact.adhesion_peak) : 1;
}

/// Whether contact counts the flat parts of obstacles once, and not by their triangles.
inline bool counts_flat_parts_once(const Scene& scene) {
  return elements_of(scene).conventions != Conventions::polyfem && !scene.contact.use_gcp_formulation;
}

} // namespace recoil::app

#pragma once

#include "recoil/app/scene/scene.hpp"
#include "recoil/potentials/contact/barrier.hpp"
#include "recoil/potentials/damping.hpp"

/// What the `conventions` of a scene mean in formulas: nothing else asks for them.
namespace recoil::app {

potentials::DampingRate damping_rate(const Scene& scene);

potentials::BarrierForm barrier_form(const Scene& scene);

/// The barrier stiffness of a scene over the factor of the barrier: where the barrier is the physical one
/// dhat for b(d), and dhat^3 for b(d^2), which is dhat^2 times larger.
double stiffness_unit(const Scene& scene, double dhat);

} // namespace recoil::app

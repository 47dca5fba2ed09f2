#pragma once

#include "recoil/app/study/objectives/observables.hpp"
#include "recoil/solvers/bdem/problem.hpp"

/// What can be seen of bonded particles. States have 7 numbers a particle and 6 as a velocity, derivatives 6
/// along the tangent space (solvers::BondedParticlesSolver).
namespace recoil::app {

std::span<const ObservableKind> observables_on_particles();

/// The specimen of an experiment with these particles. Arguments must outlive it.
std::unique_ptr<Specimen<3>> make_specimen(const Study& study, int experiment, const Scene& scene,
                                           const particles::DistributedParticles& particles);
/// What can be seen of the states of a problem. Arguments must outlive it.
std::unique_ptr<Observables<3>> make_observables(const Scene& scene, const solvers::BondedParticles& problem);

} // namespace recoil::app

#pragma once

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/study/objectives/observables.hpp"
#include "recoil/objectives/region.hpp"

/// What can be seen of finite elements.
namespace recoil::app {

std::span<const ObservableKind> observables_on_meshes();

/// The specimen of an experiment on the mesh that its files give. Arguments must outlive it.
template <int dim>
std::unique_ptr<Specimen<dim>> make_specimen(const Study& study, int experiment, const Scene& scene,
                                             const mesh::DistributedMesh<dim>& mesh);
/// What can be seen of the states of a discrete scene, which must outlive it.
template <int dim>
std::unique_ptr<Observables<dim>> make_observables(DiscreteScene<dim>& discrete);

// For objectives that ask for what only finite elements have.

template <int dim>
const mesh::DistributedMesh<dim>& mesh_of(const Specimen<dim>& at);
template <int dim>
DiscreteScene<dim>& elements_of(const Observables<dim>& at);
/// The elements of some bodies, none: of all. Collective.
template <int dim>
objectives::Region<dim> region_of(const Observables<dim>& at, const std::vector<std::string>& bodies);

/// What the barrier is multiplied by in the energy. @pre the scene has contact of a given stiffness.
template <int dim>
double barrier_stiffness(DiscreteScene<dim>& discrete);

} // namespace recoil::app

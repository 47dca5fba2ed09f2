#pragma once

#include <array>
#include <map>
#include <memory>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/target.hpp"

namespace recoil::app {

/// What a target is measured against, opened once for all runs of an experiment: displacements, or positions
/// that stay where they are when a shape moves the mesh.
template <int dim>
class NodalReference {
public:
  virtual ~NodalReference() = default;
  /// @throws InputError where it does not reach both ends of `interval` [s]. Not collective.
  virtual void check_interval(const std::array<double, 2>& interval) const = 0;
  /// The field on a space of the experiment, whatever has moved its mesh. This must outlive it. Collective,
  /// also when it is called.
  virtual objectives::ReferenceField on(const fem::FunctionSpace<dim>& space) const = 0;
};

/// References of the objectives of a study that have one, by their numbers in it.
template <int dim>
using NodalReferences = std::map<std::size_t, std::unique_ptr<const NodalReference<dim>>>;

/// Those of the objectives of an experiment, from `reference` of each:
/// - a run folder, linear in time between its stored states. Its mesh must have the cells of `mesh` at the
///   same places, in whatever order; where a shape is a parameter a target of positions may also be a run of
///   another shape, node by node. Positions are those of the run.
/// - an HDF5 file with one array `u` for all times, a row of dim numbers [m] per node in the order of the
///   trajectory. Positions are those of `mesh` plus u.
/// @param mesh of the scene as its files give it, moved by no shape.
/// Collective. @throws InputError on every rank, at the place of the objective's `reference`, for a file of
/// another mesh or with values that are not finite.
template <int dim>
NodalReferences<dim> open_references(const Study& study, int experiment, const Scene& scene,
                                     const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app

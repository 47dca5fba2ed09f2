#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "recoil/app/scene/scene.hpp"
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

/// Opens the reference at `path`:
/// - a run folder, linear in time between its stored states. Its mesh must have the cells of `mesh` at the
///   same places, in whatever order; with `other_shape` it may also be a run of another shape, node by node.
///   Positions are those of the run.
/// - an HDF5 file with one array `u` for all times, a row of dim numbers [m] per node in the order of the
///   trajectory. Positions are those of `mesh` plus u.
/// @param where for messages.
/// @param mesh of the scene as its files give it, moved by no shape.
/// @param positions whether positions are compared, not displacements.
/// Collective. @throws InputError on every rank, at `where`, for a file of another mesh or with values that
/// are not finite.
template <int dim>
std::unique_ptr<const NodalReference<dim>>
open_reference(const std::filesystem::path& path, const std::string& where, const Scene& scene,
               const mesh::DistributedMesh<dim>& mesh, bool positions, bool other_shape);

} // namespace recoil::app

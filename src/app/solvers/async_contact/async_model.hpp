#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/async_contact/model.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::app {

/// A deformable body within the vertices of a model.
struct AsyncBody {
  std::string name;
  LocalIndex first = 0, count = 0; ///< vertices
  std::size_t triangles = 0, springs = 0, tetrahedra = 0;
  AsyncBodyKind kind = AsyncBodyKind::shell;
};

/// What an asynchronous scene moves, with what is drawn of it: the vertices of the deformable bodies, which
/// come first in the model, before those of obstacles and planes.
struct AsyncModel {
  solvers::async_contact::Model model;
  std::vector<AsyncBody> bodies;
  std::vector<Eigen::Vector3d> rest; ///< of the vertices of bodies [m]
  std::vector<GlobalIndex> node;     ///< their numbers in files: bodies in order, each as in its file
  std::vector<std::array<LocalIndex, 3>> triangles;  ///< of shells
  std::vector<std::array<LocalIndex, 4>> tetrahedra; ///< of solids
  std::vector<std::array<LocalIndex, 2>> segments;   ///< springs
  std::vector<LocalIndex> spheres;
  std::vector<std::string> warnings;

  std::shared_ptr<const parallel::Communicator> alone; ///< this rank, for the surface
  std::shared_ptr<const surface::Surface<3>> surface;  ///< of bodies and obstacles; none without contact
  std::vector<LocalIndex> of_surface;                  ///< vertex of the model of each of the surface

  LocalIndex num_nodes() const { return static_cast<LocalIndex>(rest.size()); }
};

/// A body of tetrahedra, positively oriented.
struct SolidMesh {
  std::string name;
  std::vector<Eigen::Vector3d> vertices; ///< [m]
  std::vector<std::array<std::int32_t, 4>> cells;
};

/// What files say of the bodies and obstacles of a scene, on every rank.
struct AsyncInputs {
  std::vector<mesh::SurfaceMesh> sheets, obstacles;
  std::vector<SolidMesh> solids;
  std::vector<particles::ParticleSet> spheres; ///< of each SphereBody, before its transformation
};

/// Reads what the first rank has not read yet and gives all ranks everything. Collective. @throws InputError
/// on every rank.
AsyncInputs share_inputs(const parallel::Communicator& comm, const LoadedScene& loaded);

/// The model of a scene in its initial state. Not collective; the same on every rank. @throws InputError.
AsyncModel make_async_model(const Scene& scene, const AsyncInputs& inputs);

/// Pairs of an edge and a triangle that intersect where `position` says that the vertices of the model are,
/// by exact predicates. `first` (optional) takes up to ten of them in words.
GlobalIndex count_intersections(const AsyncModel& model,
                                const std::function<Eigen::Vector3d(LocalIndex)>& position,
                                std::vector<std::string>* first = nullptr);

} // namespace recoil::app

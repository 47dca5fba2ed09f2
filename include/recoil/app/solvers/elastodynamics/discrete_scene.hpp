#pragma once

#include <functional>
#include <vector>

#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/solvers/elastodynamics/cell_overrides.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/mesh/distributed_surfaces.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// The rest shape of a scene on this rank.
template <int dim>
struct DistributedGeometry {
  mesh::DistributedMesh<dim> mesh;
  mesh::DistributedObstacles<dim> obstacles;
};

/// Gives every rank its share of the meshes of `loaded`, which loses them. `comm` must outlive the result.
/// Collective.
template <int dim>
DistributedGeometry<dim> distribute_geometry(const parallel::Communicator& comm, LoadedScene& loaded);

/// Order of the elements of each of `bodies`.
std::vector<int> body_orders(const Scene& scene, const std::vector<std::string>& bodies);

/// A scene on its finite element space, with the solver of its problem: what a run needs before its first
/// step, and what can be found wrong until then. All members but the accessors are collective.
template <int dim>
class DiscreteScene {
public:
  /// Builds the problem on `geometry`, with constants that differ from those of `scene`, if any. `scene` must
  /// outlive this. @throws InputError on every rank.
  DiscreteScene(const Scene& scene, DistributedGeometry<dim> geometry, CellOverrides overrides = {});
  DiscreteScene(const DiscreteScene&) = delete;
  DiscreteScene& operator=(const DiscreteScene&) = delete;

  /// Puts the solver at the initial state of the scene, with displacement and velocity as changed by
  /// `adjust`, to which spins are added.
  /// @throws InputError on every rank if an element is inverted there, something touches or intersects, or a
  /// formula has no finite value then or in the first step.
  void start(const std::function<void(stepping::State&)>& adjust = {});

  const Scene& scene() const { return scene_; }
  const mesh::DistributedMesh<dim>& mesh() const { return geometry_.mesh; }
  const mesh::DistributedObstacles<dim>& obstacles() const { return geometry_.obstacles; }
  /// The number of an obstacle, plane or mesh, as contact counts. @pre the scene has it, and contact.
  std::int32_t number_of_obstacle(const std::string& name) const;
  const fem::FunctionSpace<dim>& space() const { return space_; }
  /// Index into Scene::materials of every local cell.
  const std::vector<int>& materials() const { return materials_; }
  const CellOverrides& overrides() const { return overrides_; }
  solvers::ElastodynamicsSolver<dim>& solver() { return solver_; }
  const solvers::ElastodynamicsSolver<dim>& solver() const { return solver_; }

private:
  void evaluate_first_step();

  const Scene& scene_;
  DistributedGeometry<dim> geometry_;
  CellOverrides overrides_;
  fem::FunctionSpace<dim> space_;
  std::vector<int> materials_;
  solvers::ElastodynamicsSolver<dim> solver_;
};

} // namespace recoil::app

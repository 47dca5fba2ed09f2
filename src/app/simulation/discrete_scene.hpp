#pragma once

#include <vector>

#include "app/simulation/load_geometry.hpp"
#include "recoil/mesh/distributed_obstacles.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// A scene on its finite element space, with the solver of its problem: what a run needs before its first
/// step, and what can be found wrong until then. All members but the accessors are collective.
template <int dim>
class DiscreteScene {
public:
  /// Distributes the meshes of `loaded`, which loses them, and builds the problem. `comm` and `loaded` must
  /// outlive this. @throws InputError on every rank.
  DiscreteScene(const parallel::Communicator& comm, LoadedScene& loaded);
  DiscreteScene(const DiscreteScene&) = delete;
  DiscreteScene& operator=(const DiscreteScene&) = delete;

  /// Puts the solver at the initial state. @throws InputError on every rank if an element is inverted there,
  /// something touches or intersects, or a formula has no finite value then or in the first step.
  void start();

  const mesh::DistributedMesh<dim>& mesh() const { return mesh_; }
  const fem::FunctionSpace<dim>& space() const { return space_; }
  solvers::ElastodynamicsSolver<dim>& solver() { return solver_; }

private:
  std::vector<int> body_orders() const;
  void evaluate_first_step();

  const Scene& scene_;
  mesh::DistributedMesh<dim> mesh_;
  fem::FunctionSpace<dim> space_;
  std::vector<int> materials_;
  mesh::DistributedObstacles<dim> obstacles_;
  solvers::ElastodynamicsSolver<dim> solver_;
};

} // namespace recoil::app

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"

#include "recoil/app/solvers/elastodynamics/build_problem.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

std::vector<int> partition_weights(const LoadedScene& loaded) {
  std::vector<int> weights;
  const mesh::SimplexMesh& mesh = loaded.slices ? loaded.slices->share : loaded.geometry.deformable;
  for (const std::string& name : mesh.body_names) {
    int weight = 1;
    for (int i = 0; i < loaded.dim; ++i) weight *= order_of_body(loaded.file.scene, name);
    weights.push_back(weight);
  }
  return weights;
}

template <int dim>
mesh::DistributedMesh<dim> distribute_deformable(const parallel::Communicator& comm, LoadedScene& loaded) {
  const mesh::PartitionOptions options{partition_weights(loaded)};
  if (!loaded.slices) return mesh::distribute<dim>(comm, loaded.geometry.deformable, options);
  const std::vector<int> parts = mesh::partition_slices(comm, *loaded.slices, options);
  return mesh::distribute_slices<dim>(comm, std::move(*loaded.slices), parts);
}

} // namespace

std::vector<int> body_orders(const Scene& scene, const std::vector<std::string>& bodies) {
  std::vector<int> orders;
  for (const std::string& name : bodies) orders.push_back(order_of_body(scene, name));
  return orders;
}

template <int dim>
DistributedGeometry<dim> distribute_geometry(const parallel::Communicator& comm, LoadedScene& loaded) {
  DistributedGeometry<dim> geometry{distribute_deformable<dim>(comm, loaded),
                                    mesh::distribute_obstacles<dim>(comm, loaded.geometry.obstacles)};
  // The meshes as read are not needed any more, and rank 0 should not hold them.
  loaded.geometry = {};
  loaded.slices.reset();
  return geometry;
}

template <int dim>
DiscreteScene<dim>::DiscreteScene(const Scene& scene, DistributedGeometry<dim> geometry,
                                  CellOverrides overrides)
    : scene_(scene), geometry_(std::move(geometry)), overrides_(std::move(overrides)),
      space_(geometry_.mesh, body_orders(scene, geometry_.mesh.body_names),
             elements_of(scene).space.quadrature_degree),
      materials_(cell_materials(scene_, geometry_.mesh)),
      solver_(build_problem(scene_, space_, materials_, overrides_, geometry_.obstacles),
              solver_options(scene_, dim, (geometry_.mesh.max_corner - geometry_.mesh.min_corner).norm())) {}

template <int dim>
void DiscreteScene<dim>::start(const std::function<void(stepping::State&)>& adjust) {
  stepping::State state = initial_state(scene_, solver_.problem(), adjust);
  const solvers::Ledger ledger = solvers::measure_state(solver_.problem(), state.u, state.v);
  std::vector<stepping::State> states;
  states.push_back(std::move(state));
  solver_.start(0, std::move(states), ledger);
  if (const std::string wrong = solver_.check_state(solver_.history().newest().u); !wrong.empty())
    throw InputError(scene_.file.string() + " (/geometry or /initial_conditions/solution)",
                     wrong + "; start from a state without inverted elements and intersections");
  evaluate_first_step();
}

/// What has no value in the first step is told before a run has written anything.
template <int dim>
void DiscreteScene<dim>::evaluate_first_step() {
  const solvers::ElastodynamicsProblem<dim>& problem = solver_.problem();
  const double time = scene_.time.time_of_step(1);
  linalg::Vector prescribed(space_.layout());
  problem.dirichlet->set_values(time, 1, prescribed);
  if (problem.periodic) problem.periodic->displacement_gradient(time, 1);
  if (problem.contact) problem.obstacle_motion(time, 1);
  const std::span<const double> u = solver_.history().newest().u.local();
  parallel::collectively(space_.comm(), [&] {
    for (const auto& term : problem.terms)
      if (term.accounting == solvers::Accounting::work)
        term.potential->begin_step({time, scene_.time.dt, 1, u});
  });
}

template DistributedGeometry<2> distribute_geometry(const parallel::Communicator&, LoadedScene&);
template DistributedGeometry<3> distribute_geometry(const parallel::Communicator&, LoadedScene&);
template <int dim>
std::int32_t DiscreteScene<dim>::number_of_obstacle(const std::string& name) const {
  const auto& contact = *solver_.problem().contact;
  if (const int mesh = place_in(obstacles().names, name); mesh >= 0)
    return contact.surface().num_bodies() + mesh;
  const auto plane = std::ranges::find(scene_.planes, name, &PlaneObstacle::name);
  return contact.parameters().planes[plane - scene_.planes.begin()].body;
}

template class DiscreteScene<2>;
template class DiscreteScene<3>;

} // namespace recoil::app

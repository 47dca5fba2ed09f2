#include "recoil/solvers/elastodynamics/supports.hpp"

#include <Eigen/Geometry>

namespace recoil::solvers {

namespace {

/// Adds `factor` times a gradient at vertices, those of obstacles left out.
template <int dim, class Points>
void add_gradient(const surface::StencilVertices<dim>& vertices, const Points& positions,
                  const Points& gradient, double factor, Wrench& wrench) {
  for (std::size_t v = 0; v < gradient.size(); ++v) {
    if (vertices[static_cast<LocalIndex>(v)].block < 0) continue;
    Eigen::Vector3d x = Eigen::Vector3d::Zero(), force = Eigen::Vector3d::Zero();
    x.head<dim>() = positions[v];
    force.head<dim>() = factor * gradient[v];
    wrench.force += force;
    wrench.moment += x.cross(force);
  }
}

/// Positions of the vertices of pairs at u.
template <int dim>
auto positions_at(const potentials::ContactState<dim>& contact, const linalg::Vector& u,
                  std::span<const double> obstacles) {
  auto positions = contact.surface().positions(u.local(), obstacles);
  positions.resize(contact.surface().num_owned());
  return contact.vertices()->gather(positions);
}

/// Adds -factor times the gradient of the pairs of an obstacle.
template <int dim, class Points>
void add_pairs(const potentials::ContactState<dim>& contact, const Points& positions, std::int32_t obstacle,
               double factor, Wrench& wrench) {
  if (const auto pairs = potentials::pairs_with(contact.pairs(), obstacle); !pairs->empty())
    add_gradient(*contact.vertices(), positions, contact.barrier().gradient(*pairs, positions.size()),
                 -factor, wrench);
}

/// Adds what the lagged friction of an obstacle exerts.
template <int dim>
void add_friction(const potentials::ContactState<dim>& contact, std::int32_t obstacle, Wrench& wrench) {
  if (!contact.friction().acts_here()) return;
  if (const auto own = contact.friction().of(obstacle); own.acts_here())
    add_gradient(*own.vertices(), contact.friction_positions(), own.gradient(contact.friction_positions()),
                 -1, wrench);
}

} // namespace

template <int dim>
std::vector<char> nodes_on_boundary(const fem::FunctionSpace<dim>& space, std::int32_t id) {
  std::vector<char> flags(space.num_owned_nodes(), 0);
  for (const fem::BoundaryFacet& facet : space.boundary_facets()) {
    if (facet.id != id) continue;
    const auto nodes = space.cell_nodes(facet.cell);
    for (const int place : space.basis(space.order(facet.cell)).facet_nodes(facet.facet))
      if (nodes[place] < space.num_owned_nodes()) flags[nodes[place]] = 1;
  }
  return flags;
}

template <int dim>
std::vector<potentials::Summand<dim>> forces_on_nodes(const ElastodynamicsProblem<dim>& problem,
                                                      double barrier_stiffness) {
  std::vector<potentials::Summand<dim>> summands;
  for (const Term<dim>& term : problem.terms)
    summands.push_back(
        {term.potential.get(), term.potential.get() == problem.barrier ? barrier_stiffness : 1.0});
  return summands;
}

template <int dim>
ObstacleForces<dim> forces_of_obstacle(const ElastodynamicsProblem<dim>& problem, std::int32_t obstacle,
                                       double barrier_stiffness) {
  ObstacleForces<dim> forces;
  const auto add = [&](auto potential, double factor) {
    forces.summands.push_back({potential.get(), -factor});
    forces.owned.push_back(std::move(potential));
  };
  add(std::make_unique<potentials::BarrierPotential<dim>>(*problem.contact, obstacle), barrier_stiffness);
  add(std::make_unique<potentials::FrictionPotential<dim>>(*problem.contact, obstacle), 1);
  if (problem.adhesion != nullptr) add(problem.adhesion->of_body(obstacle), 1);
  if (problem.tangential_adhesion != nullptr)
    add(std::make_unique<potentials::FrictionPotential<dim>>(problem.adhesion->state(), obstacle), 1);
  return forces;
}

template <int dim>
std::vector<Wrench> wrenches_of_obstacles(const ElastodynamicsProblem<dim>& problem,
                                          std::span<const std::int32_t> obstacles, const linalg::Vector& u,
                                          double barrier_stiffness) {
  const potentials::ContactState<dim>& contact = *problem.contact;
  const auto* adhesion = problem.adhesion;
  const auto positions = positions_at(contact, u, contact.obstacle_displacement());
  auto adhering = positions;
  if (adhesion != nullptr) adhering = positions_at(adhesion->state(), u, contact.obstacle_displacement());
  std::vector<Wrench> wrenches;
  for (const std::int32_t obstacle : obstacles) {
    Wrench& wrench = wrenches.emplace_back();
    add_pairs(contact, positions, obstacle, barrier_stiffness, wrench);
    if (adhesion != nullptr) add_pairs(adhesion->state(), adhering, obstacle, adhesion->strength(), wrench);
    add_friction(contact, obstacle, wrench);
    if (adhesion != nullptr) add_friction(adhesion->state(), obstacle, wrench);
  }
  return wrenches;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<char> nodes_on_boundary(const fem::FunctionSpace<dim>&, std::int32_t);                \
  template std::vector<potentials::Summand<dim>> forces_on_nodes(const ElastodynamicsProblem<dim>&, double); \
  template ObstacleForces<dim> forces_of_obstacle(const ElastodynamicsProblem<dim>&, std::int32_t, double);  \
  template std::vector<Wrench> wrenches_of_obstacles(                                                        \
      const ElastodynamicsProblem<dim>&, std::span<const std::int32_t>, const linalg::Vector&, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers

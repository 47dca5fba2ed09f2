#include "recoil/solvers/elastodynamics/supports.hpp"

namespace recoil::solvers {

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
  return forces;
}

template <int dim>
linalg::Vector support_forces(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                              const linalg::Vector* acceleration, double barrier_stiffness) {
  linalg::Vector forces(u.shared_layout());
  const std::span<double> entries = forces.write_owned();
  potentials::add_gradients<dim>(forces_on_nodes(problem, barrier_stiffness), u.local(), entries);
  if (acceleration != nullptr) {
    std::vector<double> inertia(entries.size());
    problem.mass->multiply(acceleration->local(), inertia);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += inertia[i];
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (problem.dirichlet->flags()[i] == 0) entries[i] = 0;
  return forces;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<char> nodes_on_boundary(const fem::FunctionSpace<dim>&, std::int32_t);                \
  template std::vector<potentials::Summand<dim>> forces_on_nodes(const ElastodynamicsProblem<dim>&, double); \
  template ObstacleForces<dim> forces_of_obstacle(const ElastodynamicsProblem<dim>&, std::int32_t, double);  \
  template linalg::Vector support_forces(const ElastodynamicsProblem<dim>&, const linalg::Vector&,           \
                                         const linalg::Vector*, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers

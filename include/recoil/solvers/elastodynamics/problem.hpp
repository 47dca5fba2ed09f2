#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/potentials/contact/contact.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/mass.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::solvers {

/// What is simulated: the space, the energies on it, and what is prescribed. Everything refers to `space`,
/// which lives elsewhere.
template <int dim>
struct ElastodynamicsProblem {
  const fem::FunctionSpace<dim>* space = nullptr;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  std::vector<std::unique_ptr<potentials::ElasticPotential<dim>>> elastic;
  std::vector<std::unique_ptr<potentials::Potential<dim>>> damping;
  std::vector<std::unique_ptr<potentials::Potential<dim>>> loads; ///< body forces, tractions, pressure
  std::unique_ptr<potentials::MassMatrix<dim>> mass;
  potentials::Density density; ///< that mass was built with
  potentials::MassLumping lumping = potentials::MassLumping::consistent;
  std::unique_ptr<fem::DirichletDofs<dim>> dirichlet;
  std::unique_ptr<potentials::Contact<dim>> contact; ///< null without contact
  /// factor * displacement of the local obstacle vertices at a time, dim entries each [m].
  std::function<std::vector<double>(double time, double factor)> obstacle_motion;
};

/// Calls act(potential) for elastic energies, damping and loads, in this order.
template <int dim, class Act>
void for_each_potential(const ElastodynamicsProblem<dim>& problem, Act act) {
  for (const auto& potential : problem.elastic) act(*potential);
  for (const auto& potential : problem.damping) act(*potential);
  for (const auto& potential : problem.loads) act(*potential);
}

} // namespace recoil::solvers

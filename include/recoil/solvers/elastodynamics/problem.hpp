#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/fem/periodic_boundary.hpp"
#include "recoil/potentials/contact/adhesion.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/mass.hpp"
#include "recoil/solvers/elastodynamics/ledger.hpp"

namespace recoil::solvers {

/// How the balance of energy counts a term.
enum class Accounting {
  energy,      ///< its value is stored energy
  dissipation, ///< the work against its forces is lost
  work         ///< its forces work from outside
};

/// A term of the energy besides inertia.
template <int dim>
struct Term {
  std::unique_ptr<potentials::Potential<dim>> potential;
  Accounting accounting;
  double Ledger::*entry; ///< where the balance counts it
  bool of_surfaces =
      false; ///< couples what comes close: its Hessian is of stencils, and comes and goes with the pairs
};

/// What is simulated: the space, the energies on it, and what is prescribed. Everything refers to `space`,
/// which lives elsewhere.
template <int dim>
struct ElastodynamicsProblem {
  const fem::FunctionSpace<dim>* space = nullptr;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  std::vector<Term<dim>> terms;
  std::unique_ptr<potentials::MassMatrix<dim>> mass;
  potentials::Density density; ///< that mass was built with
  std::unique_ptr<fem::DirichletDofs<dim>> dirichlet;
  std::unique_ptr<fem::PeriodicBoundary<dim>> periodic; ///< null where nothing repeats; without inertia
  /// factor * displacement of the local obstacle vertices at a time, dim entries each [m].
  std::function<std::vector<double>(double time, double factor)> obstacle_motion;

  /// One flag per local entry: 1 = no unknown.
  std::span<const char> fixed() const { return periodic ? periodic->fixed() : dirichlet->flags(); }
  /// The gradient of the unknowns from that of all entries: what works on those that follow others goes to
  /// these, fixed entries are zero. Collective where a boundary is periodic.
  void reduce(linalg::Vector& g) const {
    if (periodic) periodic->constraints().gather(g);
    dirichlet->clear(g.write_owned());
  }
  /// Takes the entries that follow others along with a change of the unknowns. Collective where a boundary is
  /// periodic.
  void expand(linalg::Vector& change) const {
    if (periodic) periodic->constraints().expand(change);
  }

  // What some of the terms are; null or empty where there are none.
  std::vector<const potentials::ElasticPotential<dim>*> elastic;
  std::unique_ptr<potentials::ContactState<dim>> contact;
  const potentials::BarrierPotential<dim>* barrier = nullptr;
  const potentials::FrictionPotential<dim>* friction = nullptr;
  potentials::AdhesionPotential<dim>* adhesion = nullptr;
  const potentials::FrictionPotential<dim>* tangential_adhesion = nullptr;

  void add_elastic(std::unique_ptr<potentials::ElasticPotential<dim>> potential) {
    elastic.push_back(potential.get());
    terms.push_back({std::move(potential), Accounting::energy, &Ledger::elastic});
  }
  void add_damping(std::unique_ptr<potentials::Potential<dim>> potential) {
    terms.push_back({std::move(potential), Accounting::dissipation, &Ledger::dissipated_damping});
  }
  /// Body forces, tractions, pressure.
  void add_load(std::unique_ptr<potentials::Potential<dim>> potential) {
    terms.push_back({std::move(potential), Accounting::work, &Ledger::external_work});
  }
  /// At most once, after all other terms but adhesion.
  void add_contact(std::unique_ptr<potentials::ContactState<dim>> state) {
    contact = std::move(state);
    auto of_barrier = std::make_unique<potentials::BarrierPotential<dim>>(*contact);
    auto of_friction = std::make_unique<potentials::FrictionPotential<dim>>(*contact);
    barrier = of_barrier.get();
    friction = of_friction.get();
    terms.push_back({std::move(of_barrier), Accounting::energy, &Ledger::barrier, true});
    terms.push_back({std::move(of_friction), Accounting::dissipation, &Ledger::dissipated_friction, true});
  }
  /// At most once, after contact, whose energy it counts with.
  void add_adhesion(std::unique_ptr<potentials::AdhesionPotential<dim>> potential) {
    adhesion = potential.get();
    terms.push_back({std::move(potential), Accounting::energy, &Ledger::barrier, true});
    if (!adhesion->state().parameters().friction) return;
    auto tangential = std::make_unique<potentials::FrictionPotential<dim>>(adhesion->state());
    tangential_adhesion = tangential.get();
    terms.push_back({std::move(tangential), Accounting::dissipation, &Ledger::dissipated_friction, true});
  }

  // Contact and adhesion search for pairs of their own, and each has its lagged friction. All collective.

  void clear_friction() const {
    contact->clear_friction();
    if (adhesion != nullptr) adhesion->state().clear_friction();
  }
  /// Takes the start of a step at (u, obstacles), without lagged friction.
  void start_contact(std::span<const double> u) const {
    clear_friction();
    contact->start_step(u);
    if (adhesion != nullptr) adhesion->state().start_step(u);
  }
  /// Takes frames and normal forces of friction from (u, obstacles); `dt` the length of the step.
  void lag_friction(std::span<const double> u, double barrier_stiffness, double dt,
                    potentials::LaggedAt at = potentials::LaggedAt::start) const {
    contact->update(u);
    contact->lag_friction(barrier_stiffness, dt, at);
    if (tangential_adhesion == nullptr) return;
    adhesion->state().update(u);
    adhesion->state().lag_friction(adhesion->strength(), dt, at);
  }
  /// Whether pairs may have friction.
  bool is_frictional() const {
    return contact && (contact->parameters().friction || tangential_adhesion != nullptr);
  }
  /// Whether pairs of any rank have lagged friction.
  bool has_friction() const {
    return contact->has_friction() || (tangential_adhesion != nullptr && adhesion->state().has_friction());
  }
};

} // namespace recoil::solvers

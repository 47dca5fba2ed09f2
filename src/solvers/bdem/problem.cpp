#include "recoil/solvers/bdem/problem.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"
#include "solvers/bdem/free_cell.hpp"

namespace recoil::solvers {

void BondedParticles::set_bonds(std::unique_ptr<potentials::BondPotential> potential) {
  RECOIL_ASSERT(!contact && bool(particles->cell) == bool(cell_motion));
  if (cell_motion) potential->follow(*cell_motion);
  bonds = potential.get();
  terms.clear();
  terms.push_back(std::move(potential));
  bond_damping = nullptr;
  if (!bonds->material().damping_time) return;
  auto damping_of_bonds = std::make_unique<potentials::BondDampingPotential>(*bonds);
  bond_damping = damping_of_bonds.get();
  terms.push_back(std::move(damping_of_bonds));
}

Eigen::Vector3d BondedParticles::carried(LocalIndex particle) const {
  if (!cell_motion) return Eigen::Vector3d::Zero();
  return (cell_motion->end() - cell_motion->start()) *
         (particles->positions[particle] - cell_motion->cell().origin);
}

void BondedParticles::carry(std::span<double> u) const {
  if (!cell_motion) return;
  for (std::size_t k = 0; 7 * k < u.size(); ++k)
    Eigen::Map<Eigen::Vector3d>(&u[7 * k]) += carried(LocalIndex(k));
}

void BondedParticles::add_contact(potentials::SphereObstacles obstacles, double dhat, double stiffness,
                                  potentials::FrictionCoefficients coefficients, double rolling, double eps_v,
                                  double restitution) {
  RECOIL_ASSERT(bonds && !contact);
  contact = std::make_unique<potentials::SphereContact>(*particles, prescribed, *bonds, std::move(obstacles),
                                                        dhat, cell_motion.get());
  auto of_barrier = std::make_unique<potentials::SphereBarrierPotential>(*contact, stiffness);
  auto of_friction = std::make_unique<potentials::SphereFrictionPotential>(
      *contact, *of_barrier, std::move(coefficients), rolling, eps_v);
  barrier = of_barrier.get();
  friction = of_friction.get();
  terms.push_back(std::move(of_barrier));
  terms.push_back(std::move(of_friction));
  if (restitution == 1) return;
  auto of_damping = std::make_unique<potentials::SphereDampingPotential>(
      *contact, *barrier, restitution, std::span(mass).first(particles->num_owned()));
  damping = of_damping.get();
  terms.push_back(std::move(of_damping));
}

void BondedParticles::update(std::span<const double> u) const {
  if (servo) servo->balance(u);
  balance_cell(*this, u);
  for (const auto& term : terms) term->update(u);
}

void BondedParticles::begin_contact(double time, double dt, std::span<const double> u) const {
  begin_cell(time, dt);
  if (!contact) return;
  if (servo) servo->begin_step(time, dt);
  contact->begin_step(time, dt, u);
  friction->lag(u, u, dt);
  if (damping) damping->lag(u, dt);
}

void restore_contact(potentials::SphereContact& contact, potentials::SphereBarrierPotential& barrier,
                     potentials::SphereFrictionPotential& friction,
                     potentials::SphereDampingPotential* damping, double time, double dt,
                     std::span<const double> start, std::span<const double> u) {
  contact.begin_step(time, dt, start);
  friction.lag(start, start, dt);
  if (damping) damping->lag(start, dt);
  contact.move_obstacles(1);
  contact.cover(u);
  barrier.update(u);
  friction.update(u);
  if (damping) damping->update(u);
}

std::vector<parameters::Quantity> quantities_of(const BondedParticles& problem) {
  std::vector<parameters::Quantity> all{particle_mass, gravity_vector, particle_loads, particle_moments};
  for (const auto& term : problem.terms)
    for (const parameters::Quantity& quantity : term->quantities())
      if (std::ranges::find(all, quantity) == all.end()) all.push_back(quantity);
  if (problem.softens()) all.insert(all.end(), {tensile_strength, shear_strength});
  return all;
}

parameters::PhysicalArrays<3>::Sizes sizes_of(const BondedParticles& problem) {
  using parameters::Place;
  return {{Place::bond, problem.particles->bonds.size()},
          {Place::particle, problem.particles->num_owned()},
          {Place::scene, 1},
          {Place::coefficient, problem.friction ? problem.friction->coefficients().values.size() : 0}};
}

} // namespace recoil::solvers

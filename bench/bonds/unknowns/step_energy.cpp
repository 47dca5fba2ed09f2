#include "bonds/unknowns/step_energy.hpp"

#include <algorithm>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::bench {

using geometry::Quaternion;
using potentials::BondDerivatives;
using potentials::BondStiffness;
using potentials::BondVector;
using potentials::Particle;
using solvers::particle_at;

namespace {

BondStiffness without_turns(const BondStiffness& k) { return {k.stretch, k.shear, 0, 0, k.shear_energy}; }
BondStiffness turns_of(const BondStiffness& k) { return {0, 0, k.twist, k.bend, k.shear_energy}; }

/// |q_i|^2 |q_j|^2.
double product_of_lengths(const Particle& i, const Particle& j) {
  return i.q.squaredNorm() * j.q.squaredNorm();
}

BondVector gradient_of_lengths(const Particle& i, const Particle& j) {
  BondVector g = BondVector::Zero();
  g.segment<4>(3) = 2 * j.q.squaredNorm() * i.q;
  g.segment<4>(10) = 2 * i.q.squaredNorm() * j.q;
  return g;
}

/// w f and its derivatives, w = |q_i|^2 |q_j|^2.
BondVector times_lengths(double f, const BondVector& by_x, const Particle& i, const Particle& j) {
  return product_of_lengths(i, j) * by_x + f * gradient_of_lengths(i, j);
}

BondDerivatives times_lengths(double f, const BondDerivatives& d, const Particle& i, const Particle& j) {
  const BondVector w = gradient_of_lengths(i, j);
  BondDerivatives result{times_lengths(f, d.gradient, i, j), product_of_lengths(i, j) * d.hessian +
                                                                 w * d.gradient.transpose() +
                                                                 d.gradient * w.transpose()};
  result.hessian.block<4, 4>(3, 3).diagonal().array() += 2 * f * j.q.squaredNorm();
  result.hessian.block<4, 4>(10, 10).diagonal().array() += 2 * f * i.q.squaredNorm();
  const Eigen::Matrix4d mixed = 4 * f * i.q * j.q.transpose();
  result.hessian.block<4, 4>(3, 10) += mixed;
  result.hessian.block<4, 4>(10, 3) += mixed.transpose();
  return result;
}

} // namespace

double StepEnergy::stiffness() const {
  double largest = 0;
  for (LocalIndex bond = 0; bond < std::ssize(problem_.particles->bonds); ++bond)
    largest = std::max(largest, problem_.bonds->stiffness(bond).stretch);
  return scale_ * largest;
}

StepEnergy::Bond StepEnergy::bond_at(LocalIndex bond, const Points& x) const {
  const auto& [a, b, id] = problem_.particles->bonds[bond];
  return {problem_.bonds->shape(bond), scale_ * problem_.bonds->stiffness(bond), particle_at(x, a),
          particle_at(x, b)};
}

double StepEnergy::bond_energy(LocalIndex bond, const Points& x) const {
  const auto [shape, k, i, j] = bond_at(bond, x);
  if (extension_ == Extension::degree_zero) return potentials::bond_energy(shape, k, i, j);
  return potentials::bond_energy(shape, without_turns(k), i, j) +
         product_of_lengths(i, j) * potentials::bond_energy(shape, turns_of(k), i, j);
}

BondVector StepEnergy::bond_gradient(LocalIndex bond, const Points& x) const {
  const auto [shape, k, i, j] = bond_at(bond, x);
  if (extension_ == Extension::degree_zero) return potentials::bond_gradient(shape, k, i, j);
  return potentials::bond_gradient(shape, without_turns(k), i, j) +
         times_lengths(potentials::bond_energy(shape, turns_of(k), i, j),
                       potentials::bond_gradient(shape, turns_of(k), i, j), i, j);
}

BondDerivatives StepEnergy::bond_derivatives(LocalIndex bond, const Points& x) const {
  const auto [shape, k, i, j] = bond_at(bond, x);
  if (extension_ == Extension::degree_zero) return potentials::bond_derivatives(shape, k, i, j);
  BondDerivatives sum = potentials::bond_derivatives(shape, without_turns(k), i, j);
  const BondDerivatives turns = times_lengths(potentials::bond_energy(shape, turns_of(k), i, j),
                                              potentials::bond_derivatives(shape, turns_of(k), i, j), i, j);
  sum.gradient += turns.gradient;
  sum.hessian += turns.hessian;
  return sum;
}

Eigen::Vector3d StepEnergy::inertia_by_position(LocalIndex particle, const Points& x) const {
  return problem_.mass[particle] * (particle_at(x, particle).p - particle_at(target_, particle).p);
}

Quaternion StepEnergy::inertia_by_quaternion(LocalIndex particle, const Points& x) const {
  const Quaternion q = particle_at(x, particle).q, target = particle_at(target_, particle).q;
  const double sign = q.dot(target) < 0 ? -1 : 1;
  return 4 * problem_.inertia(particle) * (q - sign * target);
}

double StepEnergy::value(const Points& x) const {
  double sum = 0;
  for (LocalIndex bond = 0; bond < std::ssize(problem_.particles->bonds); ++bond) sum += bond_energy(bond, x);
  for (LocalIndex k = 0; k < num_particles(); ++k)
    sum += inertia_by_position(k, x).squaredNorm() / (2 * problem_.mass[k]) +
           inertia_by_quaternion(k, x).squaredNorm() / (8 * problem_.inertia(k));
  return sum;
}

} // namespace recoil::bench

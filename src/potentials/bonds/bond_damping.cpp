#include "recoil/potentials/bonds/bond_damping.hpp"

#include "potentials/bonds/bond_ends.hpp"
#include "recoil/geometry/psd_projection.hpp"

namespace recoil::potentials {

namespace {

/// What the strains of the energy see, without the kink of the angle.
BondStiffness by_strains(double factor, const BondStiffness& k) {
  BondStiffness result = factor * k;
  result.shear_energy = ShearEnergy::smooth;
  return result;
}

/// Of the strains, by the unknowns of the ends.
Eigen::Matrix<double, 12, 7> gradients_of_strains(const BondShape& shape, const BondAt& ends) {
  const BondStrainGradients by_ends = bond_strain_gradients(shape, ends.at[0], ends.at[1]);
  Eigen::Matrix<double, 12, 7> result;
  for (int k = 0; k < 7; ++k) result.col(k) = ends.gradient(by_ends.col(k));
  return result;
}

} // namespace

void BondDampingPotential::begin_step(const StepContext& context) {
  previous_ = context.previous;
  dt_ = context.dt;
  const particles::DistributedParticles& particles = bonds_->particles();
  start_.resize(particles.bonds.size());
  for (LocalIndex bond = 0; bond < std::ssize(start_); ++bond) {
    const BondAt ends = bond_at(particles, previous_, bond, bonds_->image_at_start(bond));
    start_[bond] = bond_shape_at(bonds_->shape(bond), ends.at[0], ends.at[1]);
  }
}

/// act(bond) for all that are damped.
template <class Act>
void BondDampingPotential::for_acting(Act act) const {
  if (dt_ == 0) return;
  for (LocalIndex bond = 0; bond < std::ssize(start_); ++bond)
    if (bonds_->integrity(bond) > 0 && damping_time(bond) > 0) act(bond);
}

BondStiffness BondDampingPotential::viscosity(LocalIndex bond) const {
  return by_strains(damping_time(bond) / dt_, bonds_->acting_stiffness(bond));
}

BondEnds BondDampingPotential::gradient_of(LocalIndex bond, const BondStiffness& viscosity,
                                           std::span<const double> u) const {
  const BondAt ends = bond_at(bonds_->particles(), u, bond, bonds_->image(bond));
  return ends.gradient(bond_gradient(start_[bond], viscosity, ends.at[0], ends.at[1]));
}

double BondDampingPotential::value(std::span<const double> u) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (!particles.owns(particles.bonds[bond])) return;
    const BondAt ends = bond_at(particles, u, bond, bonds_->image(bond));
    sum += bond_energy(start_[bond], viscosity(bond), ends.at[0], ends.at[1]);
  });
  return sum;
}

void BondDampingPotential::add_gradient(std::span<const double> u, double factor, std::span<double> g) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  for_acting([&](LocalIndex bond) {
    add_to_owned_ends(gradient_of(bond, viscosity(bond), u), particles.bonds[bond], particles.num_owned(),
                      factor, g);
  });
}

void BondDampingPotential::add_hessian(std::span<const double> u, double factor, Projection projection,
                                       const linalg::HessianSink& H) const {
  for_acting([&](LocalIndex bond) {
    const BondAt ends = bond_at(bonds_->particles(), u, bond, bonds_->image(bond));
    const BondDerivatives d = bond_derivatives(start_[bond], viscosity(bond), ends.at[0], ends.at[1]);
    auto K = ends.hessian(d);
    ends.add_curvature(d.gradient, K);
    if (projection == Projection::per_element) geometry::project_psd<12>(K);
    K *= factor;
    H.elements->add_element(bond, K.data());
  });
}

void BondDampingPotential::add_hessian_product(std::span<const double> u, std::span<const double> p,
                                               double factor, std::span<double> y) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  for_acting([&](LocalIndex bond) {
    const BondAt ends = bond_at(particles, u, bond, bonds_->image(bond));
    const BondDerivatives d = bond_derivatives(start_[bond], viscosity(bond), ends.at[0], ends.at[1]);
    auto K = ends.hessian(d);
    ends.add_curvature(d.gradient, K);
    add_to_owned_ends(K * unknowns_of_ends(particles.bonds[bond], p), particles.bonds[bond],
                      particles.num_owned(), factor, y);
  });
}

/// Adds the forces at u, or at the start of the step, that hold against the change of the strains at the
/// other one along `field`.
void BondDampingPotential::add_resistance(std::span<const double> u, bool at_start,
                                          std::span<const double> field, double factor,
                                          std::span<double> y) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  for_acting([&](LocalIndex bond) {
    const BondShape& shape = bonds_->shape(bond);
    const BondEnds along = unknowns_of_ends(particles.bonds[bond], field);
    const Eigen::Matrix<double, 12, 7> now = gradients_of_strains(
                                           shape, bond_at(particles, u, bond, bonds_->image(bond))),
                                       start =
                                           gradients_of_strains(shape, bond_at(particles, previous_, bond,
                                                                               bonds_->image_at_start(bond)));
    const Eigen::Matrix<double, 7, 1> change = (at_start ? now : start).transpose() * along;
    add_to_owned_ends((at_start ? start : now) * strain_stiffness(viscosity(bond)).cwiseProduct(change),
                      particles.bonds[bond], particles.num_owned(), factor, y);
  });
}

double BondDampingPotential::image_work(std::span<const double> u) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  double sum = 0;
  if (!particles.cell) return sum;
  for_acting([&](LocalIndex bond) {
    if (!particles.owns(particles.bonds[bond]) || particles::is_zero(particles.bond_shifts[bond])) return;
    const BondAt ends = bond_at(particles, u, bond, bonds_->image(bond));
    sum += bond_gradient(start_[bond], viscosity(bond), ends.at[0], ends.at[1])
               .segment<3>(7)
               .dot(bonds_->image(bond) - bonds_->image_at_start(bond));
  });
  return sum;
}

/// The strains at the start enter those at the end with the other sign.
void BondDampingPotential::add_previous_tangent(std::span<const double> u, std::span<const double> x,
                                                double factor, std::span<double> y) const {
  add_resistance(u, false, x, -factor, y);
}

void BondDampingPotential::add_previous_product(std::span<const double> u, std::span<const double> p,
                                                double factor, std::span<double> y) const {
  add_resistance(u, true, p, -factor, y);
}

std::vector<parameters::Quantity> BondDampingPotential::quantities() const {
  return {young_modulus_of_bonds, poisson_ratio_of_bonds, damping_time_of_bonds};
}

/// The derivatives of viscosity() by E, nu, the integrity and tau.
std::vector<BondStiffness> BondDampingPotential::by_constants(LocalIndex bond) const {
  std::vector<BondStiffness> result;
  for (const BondStiffness& k : bonds_->acting_by_constants(bond))
    result.push_back(by_strains(damping_time(bond) / dt_, k));
  result.push_back(by_strains(1 / dt_, bonds_->acting_stiffness(bond)));
  return result;
}

void BondDampingPotential::add_parameter_products(std::span<const double> u, std::span<const double> p,
                                                  double factor, parameters::PhysicalGradient<3>& g) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  const std::array by{g.find_numbers(young_modulus_of_bonds), g.find_numbers(poisson_ratio_of_bonds),
                      g.find_numbers(bond_integrity), g.find_numbers(damping_time_of_bonds)};
  for (LocalIndex bond = 0; bond < std::ssize(start_) && dt_ > 0; ++bond) {
    const bool is_counted = bonds_->integrity(bond) > 0 && particles.owns(particles.bonds[bond]);
    if (!is_counted && !by[2]) continue;
    const auto viscosities = by_constants(bond);
    const BondEnds along = unknowns_of_ends(particles.bonds[bond], p);
    for (std::size_t k = 0; k < by.size(); ++k)
      if (by[k] && (is_counted || k == 2))
        (*by[k])[bond] += factor * gradient_of(bond, viscosities[k], u).dot(along);
  }
}

void BondDampingPotential::add_parameter_tangent(std::span<const double> u,
                                                 const parameters::PhysicalDirection<3>& dq, double factor,
                                                 std::span<double> y) const {
  const particles::DistributedParticles& particles = bonds_->particles();
  const std::array changes{dq.find_numbers(young_modulus_of_bonds), dq.find_numbers(poisson_ratio_of_bonds),
                           dq.find_numbers(bond_integrity), dq.find_numbers(damping_time_of_bonds)};
  for (LocalIndex bond = 0; bond < std::ssize(start_) && dt_ > 0; ++bond) {
    const auto viscosities = by_constants(bond);
    for (std::size_t k = 0; k < changes.size(); ++k)
      if (changes[k])
        add_to_owned_ends(gradient_of(bond, viscosities[k], u), particles.bonds[bond], particles.num_owned(),
                          factor * (*changes[k])[bond], y);
  }
}

} // namespace recoil::potentials

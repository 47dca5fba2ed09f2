#include "recoil/potentials/bonds/bond_potential.hpp"

#include <cmath>
#include <limits>

#include "potentials/bonds/bond_ends.hpp"
#include "recoil/geometry/psd_projection.hpp"

namespace recoil::potentials {

namespace {

using Matrix12 = Eigen::Matrix<double, 12, 12>;

double shear_modulus(double E, double nu) { return E / (2 * (1 + nu)); }

} // namespace

void add_to_owned_ends(const BondEnds& values, const particles::DistributedParticles::Bond& bond,
                       LocalIndex num_owned, double factor, std::span<double> y) {
  const std::array<LocalIndex, 2> ends{bond.a, bond.b};
  for (int e = 0; e < 2; ++e)
    if (ends[e] < num_owned)
      for (int i = 0; i < 6; ++i) y[6 * std::size_t(ends[e]) + i] += factor * values[6 * e + i];
}

BondEnds unknowns_of_ends(const particles::DistributedParticles::Bond& bond, std::span<const double> x) {
  BondEnds result;
  const std::array<LocalIndex, 2> ends{bond.a, bond.b};
  for (int e = 0; e < 2; ++e)
    for (int i = 0; i < 6; ++i) result[6 * e + i] = x[6 * std::size_t(ends[e]) + i];
  return result;
}

/// The ends of bonds where a potential takes its energy.
class BondPotential::Places {
public:
  Places(const BondPotential& of, std::span<const double> u) : Places(of, u, of.at_) {}
  Places(const BondPotential& of, std::span<const double> u, At at) : Places(of, u, of.previous_, at) {}
  Places(const BondPotential& of, std::span<const double> u, std::span<const double> previous, At at)
      : of_(of), u_(u), previous_(previous), at_(at) {}

  BondAt operator()(LocalIndex bond) const {
    const auto& [a, b, id] = of_.particles_->bonds[bond];
    BondAt ends = bond_at(*of_.particles_, u_, bond, of_.image(bond));
    if (at_ == At::end) return ends;
    const Eigen::Vector3d image_before = of_.image_at_start(bond);
    for (int e = 0; e < 2; ++e) {
      Particle& now = ends.at[e];
      Particle before = particle_in(previous_, e == 0 ? a : b);
      if (e == 1) before.p += image_before;
      const double s = before.q.dot(now.q) < 0 ? -1 : 1;
      now = {(now.p + before.p) / 2, (now.q + s * before.q) / 2};
    }
    ends.share = 0.5;
    return ends;
  }
  /// With the rows of the tangent spaces at the start of the step.
  BondAt transported(LocalIndex bond) const {
    BondAt ends = (*this)(bond);
    const auto& [a, b, id] = of_.particles_->bonds[bond];
    for (int e = 0; e < 2; ++e) {
      const geometry::Quaternion before = particle_in(previous_, e == 0 ? a : b).q;
      const double s = before.dot(ends.q[e]) < 0 ? -1 : 1;
      ends.rotation[e] = geometry::left_tangent(s * before) / (2 * ends.radius[e]);
    }
    return ends;
  }

private:
  const BondPotential& of_;
  std::span<const double> u_, previous_;
  At at_;
};

BondPotential::BondPotential(const particles::DistributedParticles& particles, BondMaterial material)
    : particles_(&particles), material_(std::move(material)), integrity_(particles.bonds.size(), 1.0),
      broken_(particles.bonds.size(), 0) {
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    const auto& [a, b, id] = particles.bonds[k];
    if (particles.cell) periods_.push_back(particles.cell->vector(particles.bond_shifts[k]));
    shapes_.push_back(bond_shape(particles.positions[a], particles.positions[b] + period(LocalIndex(k))));
    const double E = material_.young_modulus[k];
    stiffness_.push_back(stiffness_of_moduli(LocalIndex(k), E, shear_modulus(E, material_.poisson_ratio[k])));
  }
}

Eigen::Vector3d BondPotential::period(LocalIndex bond) const {
  return periods_.empty() ? Eigen::Vector3d(Eigen::Vector3d::Zero()) : periods_[bond];
}

Eigen::Vector3d BondPotential::image(LocalIndex bond) const {
  if (motion_ == nullptr || periods_.empty()) return period(bond);
  return motion_->now() * periods_[bond];
}

Eigen::Vector3d BondPotential::image_at_start(LocalIndex bond) const {
  if (motion_ == nullptr || periods_.empty()) return period(bond);
  return motion_->start() * periods_[bond];
}

/// At u.
std::array<Particle, 2> BondPotential::ends_of(LocalIndex bond, std::span<const double> u) const {
  const auto& [a, b, id] = particles_->bonds[bond];
  std::array<Particle, 2> ends{particle_in(u, a), particle_in(u, b)};
  ends[1].p += image(bond);
  return ends;
}

double BondPotential::image_work(std::span<const double> u) const {
  if (periods_.empty() || motion_ == nullptr) return 0;
  const Places places(*this, u);
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (!particles_->owns(particles_->bonds[bond]) || periods_[bond].isZero(0)) return;
    const BondAt ends = places(bond);
    sum += bond_gradient(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1])
               .segment<3>(7)
               .dot(image(bond) - image_at_start(bond));
  });
  return sum;
}

BondStiffness BondPotential::stiffness_of_moduli(LocalIndex bond, double E, double G) const {
  return bond_stiffness(E, G, section_radius(bond), shapes_[bond].length, form(bond));
}

void BondPotential::set_section_share(LocalIndex bond, double share) {
  if (section_share_.empty()) section_share_.assign(shapes_.size(), 1.0);
  section_share_[bond] = share;
  const double E = material_.young_modulus[bond];
  stiffness_[bond] = stiffness_of_moduli(bond, E, shear_modulus(E, material_.poisson_ratio[bond]));
}

/// act(bond) for all that are not severed.
template <class Act>
void BondPotential::for_acting(Act act) const {
  for (LocalIndex bond = 0; bond < std::ssize(particles_->bonds); ++bond)
    if (integrity_[bond] > 0) act(bond);
}

/// The energy is linear in it.
BondStiffness BondPotential::acting_stiffness(LocalIndex bond) const {
  return integrity_[bond] * stiffness_[bond];
}

double BondPotential::value(std::span<const double> u) const {
  const Places places(*this, u);
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (!particles_->owns(particles_->bonds[bond])) return;
    const BondAt ends = places(bond);
    sum += bond_energy(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
  });
  return sum;
}

double BondPotential::squared_round_off(std::span<const double> u) const {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (!particles_->owns(particles_->bonds[bond])) return;
    const auto [i, j] = ends_of(bond, u);
    const BondForces forces = bond_forces(shapes_[bond], acting_stiffness(bond), i, j);
    const double size = i.p.cwiseAbs().maxCoeff() + j.p.cwiseAbs().maxCoeff(),
                 error = epsilon * (std::abs(forces.normal) * size + forces.shear * size +
                                    4 * (forces.twist + forces.bending));
    sum += error * error;
  });
  return sum;
}

void BondPotential::add_gradient(std::span<const double> u, double factor, std::span<double> g) const {
  const Places places(*this, u);
  for_acting([&](LocalIndex bond) {
    const BondAt ends = places(bond);
    const BondVector by_ends = bond_gradient(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
    add_to_owned_ends(ends.gradient(by_ends), particles_->bonds[bond], particles_->points->num_owned, factor,
                      g);
  });
}

void BondPotential::add_transported_gradient(std::span<const double> u, double factor,
                                             std::span<double> g) const {
  const Places places(*this, u);
  for_acting([&](LocalIndex bond) {
    const BondAt ends = places.transported(bond);
    const BondVector by_ends = bond_gradient(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
    add_to_owned_ends(ends.gradient(by_ends), particles_->bonds[bond], particles_->points->num_owned, factor,
                      g);
  });
}

void BondPotential::add_hessian(std::span<const double> u, double factor, Projection projection,
                                const linalg::HessianSink& H) const {
  const Places places(*this, u);
  for_acting([&](LocalIndex bond) {
    const BondAt ends = places(bond);
    const BondDerivatives d = bond_derivatives(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
    Matrix12 K = ends.hessian(d);
    ends.add_curvature(d.gradient, K);
    if (projection == Projection::per_element) geometry::project_psd<12>(K);
    K *= factor;
    H.elements->add_element(bond, K.data());
  });
}

void BondPotential::add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                                        std::span<double> y) const {
  const Places places(*this, u);
  for_acting([&](LocalIndex bond) {
    const BondAt ends = places(bond);
    const BondDerivatives d = bond_derivatives(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
    Matrix12 K = ends.hessian(d);
    ends.add_curvature(d.gradient, K);
    add_to_owned_ends(K * unknowns_of_ends(particles_->bonds[bond], p), particles_->bonds[bond],
                      particles_->points->num_owned, factor, y);
  });
}

void BondPotential::add_transported_product(std::span<const double> u, std::span<const double> x,
                                            double factor, std::span<double> y) const {
  add_transported_product(Places(*this, u), x, factor, y);
}

void BondPotential::add_transported_product(const Places& places, std::span<const double> x, double factor,
                                            std::span<double> y) const {
  for_acting([&](LocalIndex bond) {
    const BondAt ends = places.transported(bond);
    const BondDerivatives d = bond_derivatives(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
    add_to_owned_ends(ends.hessian(d) * unknowns_of_ends(particles_->bonds[bond], x), particles_->bonds[bond],
                      particles_->points->num_owned, factor, y);
  });
}

void BondPotential::add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                                         std::span<double> y) const {
  if (at_ == At::middle) add_transported_product(u, p, factor, y);
}

/// The energy at the middle is the same function of both ends of a step: with the ends exchanged the product
/// with rows at the start has rows at the end.
void BondPotential::add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                                         std::span<double> y) const {
  if (at_ == At::middle) add_transported_product(Places(*this, previous_, u, at_), x, factor, y);
}

std::vector<parameters::Quantity> BondPotential::quantities() const {
  return {young_modulus_of_bonds, poisson_ratio_of_bonds};
}

/// dK/dE and dK/dnu, in which the energy of a bond is linear.
std::array<BondStiffness, 2> BondPotential::stiffness_by_moduli(LocalIndex bond) const {
  const double E = material_.young_modulus[bond], nu = material_.poisson_ratio[bond];
  return {stiffness_of_moduli(bond, 1, shear_modulus(1, nu)),
          stiffness_of_moduli(bond, 0, -E / (2 * (1 + nu) * (1 + nu)))};
}

std::array<BondStiffness, 3> BondPotential::acting_by_constants(LocalIndex bond) const {
  const auto [by_E, by_nu] = stiffness_by_moduli(bond);
  return {integrity_[bond] * by_E, integrity_[bond] * by_nu, stiffness_[bond]};
}

void BondPotential::add_parameter_products(std::span<const double> u, std::span<const double> p,
                                           double factor, parameters::PhysicalGradient<3>& g) const {
  const Places places(*this, u);
  const std::array by{g.find_numbers(young_modulus_of_bonds), g.find_numbers(poisson_ratio_of_bonds),
                      g.find_numbers(bond_integrity)};
  for (LocalIndex bond = 0; bond < std::ssize(particles_->bonds); ++bond) {
    const bool is_counted = integrity_[bond] > 0 && particles_->owns(particles_->bonds[bond]);
    if (!is_counted && !by[2]) continue;
    const BondAt ends = places(bond);
    const auto stiffness = acting_by_constants(bond);
    const BondEnds along = unknowns_of_ends(particles_->bonds[bond], p);
    for (std::size_t k = is_counted ? 0 : 2; k < by.size(); ++k)
      if (by[k])
        (*by[k])[bond] +=
            factor *
            ends.gradient(bond_gradient(shapes_[bond], stiffness[k], ends.at[0], ends.at[1])).dot(along);
  }
}

void BondPotential::add_parameter_tangent(std::span<const double> u,
                                          const parameters::PhysicalDirection<3>& dq, double factor,
                                          std::span<double> y) const {
  const Places places(*this, u);
  const std::array changes{dq.find_numbers(young_modulus_of_bonds), dq.find_numbers(poisson_ratio_of_bonds),
                           dq.find_numbers(bond_integrity)};
  for (LocalIndex bond = 0; bond < std::ssize(particles_->bonds); ++bond) {
    if (integrity_[bond] == 0 && !changes[2]) continue;
    const BondAt ends = places(bond);
    const auto stiffness = acting_by_constants(bond);
    for (std::size_t k = 0; k < changes.size(); ++k)
      if (changes[k])
        add_to_owned_ends(ends.gradient(bond_gradient(shapes_[bond], stiffness[k], ends.at[0], ends.at[1])),
                          particles_->bonds[bond], particles_->points->num_owned,
                          factor * (*changes[k])[bond], y);
  }
}

double BondPotential::stored_energy(std::span<const double> u) const {
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (particles_->owns(particles_->bonds[bond])) sum += integrity_[bond] * energy_of(bond, u);
  });
  return sum;
}

double BondPotential::stored_energy_at_start() const {
  double sum = 0;
  for_acting([&](LocalIndex bond) {
    if (!particles_->owns(particles_->bonds[bond])) return;
    const auto& [a, b, id] = particles_->bonds[bond];
    Particle j = particle_in(previous_, b);
    j.p += image_at_start(bond);
    sum += integrity_[bond] * bond_energy(shapes_[bond], stiffness_[bond], particle_in(previous_, a), j);
  });
  return sum;
}

double BondPotential::energy_of(LocalIndex bond, std::span<const double> u) const {
  const auto [i, j] = ends_of(bond, u);
  return bond_energy(shapes_[bond], stiffness_[bond], i, j);
}

Eigen::Vector3d BondPotential::pull_of(LocalIndex bond, std::span<const double> u) const {
  const auto [i, j] = ends_of(bond, u);
  return bond_gradient(shapes_[bond], acting_stiffness(bond), i, j).segment<3>(7);
}

std::array<Eigen::Vector3d, 3> BondPotential::pull_by_constants(LocalIndex bond,
                                                                std::span<const double> u) const {
  const auto [i, j] = ends_of(bond, u);
  std::array<Eigen::Vector3d, 3> pulls;
  const auto stiffness = acting_by_constants(bond);
  for (std::size_t k = 0; k < pulls.size(); ++k)
    pulls[k] = bond_gradient(shapes_[bond], stiffness[k], i, j).segment<3>(7);
  return pulls;
}

Eigen::Matrix<double, 12, 3> BondPotential::pull_gradient_of(LocalIndex bond,
                                                             std::span<const double> u) const {
  const BondAt ends = Places(*this, u, At::end)(bond);
  const BondDerivatives d = bond_derivatives(shapes_[bond], acting_stiffness(bond), ends.at[0], ends.at[1]);
  return ends.hessian(d).middleCols<3>(6);
}

std::array<double, 2> BondPotential::energy_by_moduli(LocalIndex bond, std::span<const double> u) const {
  const auto [by_E, by_nu] = stiffness_by_moduli(bond);
  const auto [i, j] = ends_of(bond, u);
  return {bond_energy(shapes_[bond], by_E, i, j), bond_energy(shapes_[bond], by_nu, i, j)};
}

BondForces BondPotential::forces_of(LocalIndex bond, std::span<const double> u) const {
  const auto [i, j] = ends_of(bond, u);
  return bond_forces(shapes_[bond], stiffness_[bond], i, j);
}

Eigen::Matrix<double, 12, 4> BondPotential::force_gradients_of(LocalIndex bond,
                                                               std::span<const double> u) const {
  const BondAt ends = Places(*this, u, At::end)(bond);
  const BondForceGradients by_ends =
      bond_force_gradients(shapes_[bond], stiffness_[bond], ends.at[0], ends.at[1]);
  Eigen::Matrix<double, 12, 4> result;
  for (int k = 0; k < 4; ++k) result.col(k) = ends.gradient(by_ends.col(k));
  return result;
}

std::array<BondForces, 2> BondPotential::forces_by_moduli(LocalIndex bond, std::span<const double> u) const {
  const auto [by_E, by_nu] = stiffness_by_moduli(bond);
  const auto [i, j] = ends_of(bond, u);
  return {bond_forces(shapes_[bond], by_E, i, j), bond_forces(shapes_[bond], by_nu, i, j)};
}

} // namespace recoil::potentials

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using geometry::Quaternion;

void ParticleManifold::retract(const linalg::Vector& x, const linalg::Vector& d, double s,
                               linalg::Vector& result) const {
  const auto to = result.write_owned();
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    const potentials::Particle from = particle_at(x.owned(), k);
    const Quaternion turn = geometry::quaternion_exponential(s / radii_[k] * turn_of(d.owned(), k));
    set_particle(to, k, {from.p + s * shift_of(d.owned(), k), geometry::product(from.q, turn).normalized()});
  }
}

void ParticleManifold::difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const {
  const auto result = d.write_local();
  for (LocalIndex k = 0; k < x.layout().num_local(); ++k) {
    const potentials::Particle from = particle_at(x.local(), k), to = particle_at(y.local(), k);
    shift_of(result, k) = to.p - from.p;
    turn_of(result, k) =
        radii_[k] * geometry::quaternion_logarithm(geometry::product(geometry::conjugate(from.q), to.q));
  }
}

} // namespace recoil::solvers

#include "solvers/bdem/particle_step.hpp"

#include <algorithm>
#include <array>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using Eigen::Vector3d;
using linalg::Vector;

ParticleLedger measure(const BondedParticles& problem, const Vector& u, const Vector& v,
                       double contact_energy) {
  std::array<double, 9> sums{};
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    const auto at = particle_at(u.local(), k);
    const Vector3d p = problem.mass[k] * shift_of(v.owned(), k),
                   spin = turn_of(v.owned(), k) / problem.particles->radii[k],
                   L = at.p.cross(p) + problem.inertia(k) * (geometry::rotation_matrix(at.q) * spin);
    sums[0] += p.squaredNorm() / (2 * problem.mass[k]) + problem.inertia(k) * spin.squaredNorm() / 2;
    for (int i = 0; i < 3; ++i) {
      sums[2 + i] += p[i];
      sums[5 + i] += L[i];
    }
  }
  sums[1] = problem.bonds->stored_energy(u.local());
  sums[8] = contact_energy;
  u.layout().comm->sum(sums);
  ParticleLedger ledger;
  ledger.kinetic = sums[0];
  ledger.elastic = sums[1];
  ledger.barrier = sums[8];
  std::copy_n(sums.begin() + 2, 3, ledger.linear_momentum.begin());
  std::copy_n(sums.begin() + 5, 3, ledger.angular_momentum.begin());
  return ledger;
}

std::vector<double> reactions(const ParticleIncrementalPotential& objective, const BondedParticles& problem,
                              const stepping::State& from, double dt, std::span<const double> gradient,
                              const ParticleStep& step) {
  std::vector<double> result(objective.loads().size(), 0.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (problem.prescribed[i] == 0) continue;
    const double dv = step.v.owned()[i] - from.v.owned()[i];
    result[i] =
        gradient[i] + (objective.has_inertia() ? objective.mass()[i] * dv / dt : 0) - objective.loads()[i];
  }
  return result;
}

} // namespace recoil::solvers

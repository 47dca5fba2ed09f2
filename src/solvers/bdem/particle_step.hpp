#pragma once

#include <string>
#include <vector>

#include "recoil/solvers/bdem/solver.hpp"
#include "solvers/bdem/incremental_potential.hpp"

namespace recoil::solvers {

/// What one step or sub-step has come to.
struct ParticleStep {
  bool done = false, interrupted = false;
  bool breaks_suddenly = false; ///< not done, since more bonds break in a pass than were allowed
  std::string failure;
  linalg::Vector u, v;
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity(); ///< of the cell at u
  std::vector<double>
      internal;                ///< of bonds that soften, as in softening.hpp; then `springs`, once it is done
  std::vector<double> springs; ///< of contacts, as springs_of() has them
  std::vector<BrokenBond> broken;
  std::vector<double> reactions; ///< BondedParticlesSolver::reactions()
  ParticleLedger ledger;
};

/// Energies and momenta of a state; works and dissipations are zero. `contact_energy`: this rank's share [J].
/// Collective.
ParticleLedger measure(const BondedParticles& problem, const linalg::Vector& u, const linalg::Vector& v,
                       double contact_energy);

/// BondedParticlesSolver::reactions() of a step of length dt from `from`, from Newton's second law for
/// prescribed components, with the gradient of the energies at its end and the loads of the objective. Not
/// collective.
std::vector<double> reactions(const ParticleIncrementalPotential& objective, const BondedParticles& problem,
                              const stepping::State& from, double dt, std::span<const double> gradient,
                              const ParticleStep& step);

} // namespace recoil::solvers

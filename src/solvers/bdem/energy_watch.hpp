#pragma once

#include <string>

#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::solvers {

/// Compares what the integrator of a run gives or takes with the energies in play: the largest sum of kinetic
/// energy, elastic energy, that of contact, and what broken bonds and friction have taken, that any state of
/// the run had. All members but the constructor are local.
class EnergyWatch {
public:
  /// Collective.
  explicit EnergyWatch(const BondedParticles& problem);

  /// Starts from the ledger of an initial state.
  void begin(const ParticleLedger& ledger) { in_play_ = held(ledger); }
  void follow(const ParticleLedger& ledger);
  /// What a restart needs [J].
  double in_play() const { return in_play_; }
  void restore(double in_play) { in_play_ = in_play; }

  /// What the ledger of the newest state says: energy that the integrator has given, over the energies in
  /// play; 0 where both are rounding.
  double fed(const ParticleLedger& ledger) const;
  /// Why a run is not to be trusted into which its integrator has fed a quarter and more of all energy; else
  /// empty. `sub_step` [s]: of leapfrog.
  std::string fault(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                    double sub_step) const;
  /// What its user should know of a run at its end; else empty.
  std::string warning(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                      double sub_step) const;

private:
  static double held(const ParticleLedger& ledger);
  std::string of_feeding(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                         double sub_step) const;

  double resolution_; ///< energies below are rounding [J]
  double in_play_ = 0;
};

} // namespace recoil::solvers

#include "solvers/bdem/energy_watch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace recoil::solvers {

namespace {

/// Shares of the energies in play that an integrator may give before its run is warned of, and before it is
/// ended, and that an implicit one may take.
constexpr double fed_with_warning = 0.05, fed_at_most = 0.25, damped_with_warning = 0.1;
/// Rounding as a share of the energy of a bond or contact that is stretched by its radius.
constexpr double share_of_rounding = 1e-14;

bool is_quasistatic(const BondedParticlesOptions& options) {
  return options.integrator == ParticleIntegrator::quasistatic;
}

bool is_backward_euler(ParticleIntegrator integrator) {
  return integrator == ParticleIntegrator::be_reflect || integrator == ParticleIntegrator::paper_literal;
}

} // namespace

EnergyWatch::EnergyWatch(const BondedParticles& problem) {
  double stiffness = problem.barrier ? problem.barrier->stiffness() : 0, radius = 0;
  for (LocalIndex bond = 0; bond < std::ssize(problem.particles->bonds); ++bond)
    stiffness = std::max(stiffness, problem.bonds->stiffness(bond).stretch);
  for (const double r : problem.particles->radii) radius = std::max(radius, r);
  const parallel::Communicator& comm = *problem.particles->points->comm;
  stiffness = comm.max(stiffness);
  radius = comm.max(radius);
  resolution_ =
      share_of_rounding * double(problem.particles->points->num_global) * stiffness * radius * radius;
}

double EnergyWatch::held(const ParticleLedger& ledger) {
  return ledger.kinetic + ledger.elastic + ledger.barrier + ledger.broken + ledger.dissipated_friction +
         ledger.dissipated_damping + ledger.dissipated_bonds;
}

void EnergyWatch::follow(const ParticleLedger& ledger) { in_play_ = std::max(in_play_, held(ledger)); }

double EnergyWatch::fed(const ParticleLedger& ledger) const {
  const double given = -ledger.dissipated_integrator;
  return given > resolution_ ? given / in_play_ : 0;
}

std::string EnergyWatch::of_feeding(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                                    double sub_step) const {
  const std::string of =
      fmt::format("the integrator has fed {:.3g} into the run, {:.3g} % of all energy that it has held "
                  "(dissipated_integrator in ledger.csv)",
                  -ledger.dissipated_integrator, 100 * fed(ledger));
  if (options.integrator == ParticleIntegrator::leapfrog)
    return of + fmt::format("; leapfrog does so in sub-steps that are too long, of {:.3g} here: lower "
                            "<explicit_share> from {:g}",
                            sub_step, options.explicit_share);
  return of + fmt::format("; take steps shorter than <dt> = {:g}", options.dt);
}

std::string EnergyWatch::fault(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                               double sub_step) const {
  if (is_quasistatic(options) || !(fed(ledger) > fed_at_most)) return "";
  return of_feeding(ledger, options, sub_step);
}

std::string EnergyWatch::warning(const ParticleLedger& ledger, const BondedParticlesOptions& options,
                                 double sub_step) const {
  if (is_quasistatic(options)) return "";
  if (fed(ledger) > fed_with_warning) return of_feeding(ledger, options, sub_step);
  const double damped = ledger.dissipated_integrator, taken = ledger.broken + ledger.dissipated_friction +
                                                              ledger.dissipated_damping +
                                                              ledger.dissipated_bonds;
  if (options.integrator == ParticleIntegrator::leapfrog || damped < resolution_ || damped < taken ||
      damped < damped_with_warning * in_play_)
    return "";
  std::string cure = is_backward_euler(options.integrator)
                         ? "take \"mid_reflectT\" as <integrator>, which does not damp, or "
                           "shorter steps"
                         : fmt::format("take steps shorter than <dt> = {:g}", options.dt);
  if (ledger.broken > 0 && options.sudden_breaking != SuddenBreaking::leapfrog)
    cure += "; or have leapfrog take the steps that break bonds, <sudden_breaking> \"leapfrog\" with a small "
            "<max_broken_share>";
  return fmt::format("the integrator has dissipated {:.3g}, more than the {:.3g} that broken bonds and "
                     "friction have taken (dissipated_integrator in ledger.csv): the motion is damped by its "
                     "steps, not by the material; {}",
                     damped, taken, cure);
}

} // namespace recoil::solvers

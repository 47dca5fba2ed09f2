#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "solvers/bdem/particle_manifold.hpp"
#include "solvers/bdem/particle_step.hpp"

namespace recoil::solvers {

/// Steps that minimise the incremental potential, or solve the discrete Euler-Lagrange equations, then break
/// the bonds that are overstressed most, let the others take over what these bore, and so on until none is
/// overstressed at the minimum. Bonds that soften do so after the step.
class ImplicitSteps {
public:
  /// All must outlive it. Collective.
  ImplicitSteps(BondedParticles& problem, const BondedParticlesOptions& options,
                ParticleIncrementalPotential& objective);

  /// One step or sub-step of length dt to `time` [s]; the bonds that it breaks stay broken only if it is
  /// done. Fails where more than this share of all bonds breaks in a pass. Collective.
  ParticleStep take(const stepping::State& from, const ParticleLedger& before, double time, double dt,
                    double max_broken_share);
  /// This rank's share of the energy of contact [J], 0 without. Collective.
  double contact_energy(const linalg::Vector& u) const;

  const std::shared_ptr<const ParticleManifold>& manifold() const { return manifold_; }
  /// Newton iterations so far.
  GlobalIndex iterations() const { return iterations_; }
  /// Times that bonds have broken together so far.
  GlobalIndex passes() const { return passes_; }
  /// Whether to give up; may be empty.
  void interrupt_when(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

private:
  linalg::Vector way_of(bool prescribed, const linalg::Vector& x, const linalg::Vector& goal) const;
  void carry_free(double share, linalg::Vector& way) const;
  bool advance_prescribed(const linalg::Vector& goal, linalg::Vector& x);
  void advance_free(const linalg::Vector& goal, linalg::Vector& x);
  /// How well the state of a step is known.
  enum class Accuracy { relaxed, nearly_converged, converged };
  newton::NewtonOptions newton_options(int max_iterations, double tolerance) const;
  bool fly_on(linalg::Vector& x);
  bool solve(std::span<const double> momentum, linalg::Vector& x, ParticleStep& step);
  bool nearly_solve(std::span<const double> momentum, linalg::Vector& x, ParticleStep& step);
  bool relax(std::span<const double> momentum, ParticleStep& step);
  bool improve(const stepping::State& from, std::span<const double> momentum, double dt, ParticleStep& step);
  bool minimize(const newton::NewtonOptions& newton, linalg::Vector& x, ParticleStep& step);
  bool solve_at_once() const;
  GlobalIndex break_group(double time, ParticleStep& step);
  bool break_until_none(const stepping::State& from, std::span<const double> momentum, double time, double dt,
                        double max_broken_share, ParticleStep& step);
  std::string worst_particle(const linalg::Vector& x);
  std::string particle_of_largest(const linalg::Vector& vector, const linalg::Vector& x,
                                  std::string_view what) const;
  std::string last_break(const ParticleStep& step) const;
  void name_loose_piece(ParticleStep& step) const;
  bool relag_friction(const stepping::State& from, std::span<const double> momentum, double dt,
                      ParticleStep& step);
  void take_predictor_of_paper(const linalg::Vector& from, const linalg::Vector& momentum,
                               linalg::Vector& target) const;
  double loss_by_predictor(const stepping::State& from, const linalg::Vector& way, double dt,
                           const ParticleStep& step) const;
  bool solve_with_motion(const linalg::Vector& start, std::span<const double> momentum, double time,
                         ParticleStep& step);
  bool solve_balance(std::span<const double> momentum, linalg::Vector& x, ParticleStep& step);
  void velocity(const linalg::Vector& from, const linalg::Vector& x, double dt, linalg::Vector& v);
  void close(const stepping::State& from, const ParticleLedger& before, double dt, ParticleStep& step) const;
  void soften(const stepping::State& from, double time, ParticleStep& step);

  BondedParticles& problem_;
  const BondedParticlesOptions& options_;
  ParticleIncrementalPotential& objective_;
  std::shared_ptr<const ParticleManifold> manifold_;
  double smallest_radius_;
  std::function<bool()> interrupted_;
  GlobalIndex iterations_ = 0, passes_ = 0;
  Accuracy accuracy_ = Accuracy::converged; ///< of the last solve
};

} // namespace recoil::solvers

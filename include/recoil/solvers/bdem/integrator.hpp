#pragma once

namespace recoil::solvers {

/// How a step finds its end. All but quasistatic carry momenta: v at the end of a step is M^-1 times the
/// momentum that leads into the next one.
enum class ParticleIntegrator {
  quasistatic, ///< V + loads at rest
  be_reflect,  ///< backward Euler: minimum of inertia about x_n + dt v_n, plus V(x); first order, damps
  /// Minimum of inertia about the same point plus V((x + x_n) / 2); second order.
  mid_reflectT,
  /// The discrete Euler-Lagrange equations on the sphere of the same Lagrangian: momentum balance in the
  /// tangent space at x_n; second order, conserves momenta and does not drift in energy.
  del_exact,
  /// Backward Euler as [Lu, Cao, Li, Hu] write it, with inertia about 2 x_n - x_n-1: spins slow down by a
  /// factor of 1 - (w dt / 2)^2 per step. For comparisons.
  paper_literal,
  /// Explicit: as many leapfrog sub-steps as a step needs to be stable; second order, conserves momenta and
  /// does not drift in energy.
  leapfrog
};

/// What becomes of an implicit step in which many bonds break at once.
enum class SuddenBreaking {
  shorter_steps, ///< it is repeated like a failed one, but the shortest sub-steps are taken as they are
  /// Leapfrog repeats the step, with the same law of contact, and takes the next ones until one breaks no
  /// more than that and motion changes so little in it that an implicit step would lose next to no energy.
  leapfrog,
  /// Impacts, for be_reflect and mid_reflectT with contact, brittle bonds and time steps of at most
  /// BondedParticlesOptions::longest_impact_step: where any bond breaks in a step that begins with more
  /// kinetic than elastic energy, as `leapfrog`; others as `shorter_steps`.
  impacts
};

} // namespace recoil::solvers

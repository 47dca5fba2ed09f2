#pragma once

#include "bonds/unknowns/saddle_point.hpp"

/// Newton's method for one step. All kinds of it share the line search (Armijo, halving, from
/// Unknowns::max_step), the tolerance of linear solves, min(1/2, sqrt(|g| / |g_0|)) in the norm of M^-1, at
/// least 1e-10, and the stopping rule: largest component of the direction whose step was taken [m].
namespace recoil::bench {

struct Effort {
  int newton = 0, linear = 0, energies = 0; ///< iterations, and values of the energy
  int projected = 0;                        ///< iterations whose exact Hessian gave no acceptable step
  bool converged = true;
};

struct Rules {
  double tolerance = 0; ///< [m]
  int max_iterations = 300;
  bool only_projected = false; ///< never the exact Hessian
};

/// Minimum in unknowns that need no constraint, or with a penalty. With the exact Hessian where conjugate
/// gradients find no negative curvature and the line search a step, else with the projected one.
void minimise(Unknowns& unknowns, Points& x, const Rules& rules, const LengthTerms& lengths, Effort& effort);

/// Augmented Lagrangian: multipliers += weight c after minimisations of rising accuracy.
void minimise_augmented(Unknowns& unknowns, Points& x, const Rules& rules, double weight, Effort& effort);

/// Lagrange multipliers: Newton's method for the stationary point of energy + lambda c, with the line search
/// on the exact penalty function energy + nu |c|_1, nu > |lambda|_inf, with a second-order correction.
void solve_with_multipliers(Unknowns& unknowns, Points& x, const Rules& rules, SaddleSolver solver,
                            Effort& effort);

/// Newton's method for the equations g = 0 in place of the minimum: the line search is on 1/2 |g|^2 in the
/// norm of M^-1 (effort.energies counts these), the matrix always exact, and MINRES solves with it. The
/// direction is also that of Gauss and Newton's method for this sum of squares.
void solve_equations(Unknowns& unknowns, Points& x, const Rules& rules, Effort& effort);

/// First-order optimisation on the manifold [paper, algorithm 1]: steps along -M^-1 g, each search from twice
/// the last step. It is told when it is within `rules.tolerance` of `solution`, since it has no Newton step
/// to judge by.
void descend(Unknowns& unknowns, Points& x, const Rules& rules, const Points& solution, Effort& effort);

/// Largest way or r times turn between the particles of two states [m].
double distance(const Unknowns& unknowns, const Points& x, const Points& y);

} // namespace recoil::bench

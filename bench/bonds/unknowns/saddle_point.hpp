#pragma once

#include "bonds/unknowns/krylov.hpp"
#include "bonds/unknowns/unknowns.hpp"

/// The linear systems of Newton's method with Lagrange multipliers of |q| = 1.
namespace recoil::bench {

/// The constraints c of Unknowns::constraints(), linearised: c + n' d = 0, one a particle, n its quaternion.
struct Constraints {
  Eigen::VectorXd normals, values;

  Constraints(const Unknowns& unknowns, const Points& x);
  /// n' y of each particle.
  Eigen::VectorXd along(const Eigen::VectorXd& y) const;
  /// n times a number of each particle.
  Eigen::VectorXd times(const Eigen::VectorXd& factors) const;
};

enum class SaddleSolver {
  projected_cg, ///< conjugate gradients within the linearised constraints [Gould, Hribar, Nocedal 2001]
  minres        ///< on the whole system
};

struct SaddlePoint {
  Eigen::VectorXd d, multipliers;
  KrylovResult solved;
};

/// W d + n lambda = -g, n' d = -c, with the matrix W that the unknowns have assembled with the normals. Its
/// diagonal blocks D, and n' D^-1 n, precondition. The equations are solved for the change of the multipliers
/// from `before`.
SaddlePoint solve_saddle_point(SaddleSolver solver, const Unknowns& unknowns, const Constraints& constraints,
                               const Eigen::VectorXd& g, const Eigen::VectorXd& before, double tolerance);

} // namespace recoil::bench

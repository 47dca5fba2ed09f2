#include "bonds/unknowns/saddle_point.hpp"

namespace recoil::bench {

using Eigen::VectorXd;

namespace {

/// n' n, 1 for particles that are held.
VectorXd squares_of(const Constraints& constraints) {
  VectorXd squares = constraints.along(constraints.normals);
  for (double& entry : squares)
    if (entry == 0) entry = 1;
  return squares;
}

/// D^-1 n and n' D^-1 n, 1 for particles that are held.
struct Schur {
  VectorXd normals, diagonal;
  Schur(const Unknowns& unknowns, const Constraints& constraints) {
    unknowns.precondition(constraints.normals, normals);
    diagonal = constraints.along(normals);
    for (double& entry : diagonal)
      if (entry == 0) entry = 1;
  }
};

SaddlePoint solve_projected(const Unknowns& unknowns, const Constraints& constraints, const VectorXd& g,
                            const VectorXd& before, double tolerance) {
  const Schur schur(unknowns, constraints);
  const VectorXd squares = squares_of(constraints);
  const auto multiply = [&](const VectorXd& y, VectorXd& Wy) { unknowns.multiply(y, Wy); };
  // z = D^-1 (r - n lambda) with n' z = 0.
  const auto precondition = [&](const VectorXd& r, VectorXd& z) {
    unknowns.precondition(r, z);
    const VectorXd lambda = constraints.along(z).cwiseQuotient(schur.diagonal);
    for (Eigen::Index k = 0; k < lambda.size(); ++k)
      z.segment<7>(7 * k) -= lambda[k] * schur.normals.segment<7>(7 * k);
  };
  SaddlePoint result;
  result.d = constraints.times(-constraints.values.cwiseQuotient(squares));
  VectorXd Wd;
  multiply(result.d, Wd);
  VectorXd r = -g - constraints.times(before) - Wd;
  result.solved = conjugate_gradients(multiply, precondition, r, result.d, tolerance);
  multiply(result.d, Wd);
  result.multipliers = constraints.along(-g - Wd).cwiseQuotient(squares);
  return result;
}

SaddlePoint solve_minres(const Unknowns& unknowns, const Constraints& constraints, const VectorXd& g,
                         const VectorXd& before, double tolerance) {
  const Schur schur(unknowns, constraints);
  const Eigen::Index count = constraints.values.size();
  const auto multiply = [&](const VectorXd& y, VectorXd& result) {
    VectorXd Wy;
    unknowns.multiply(y.head(7 * count), Wy);
    result.resize(8 * count);
    result << Wy + constraints.times(y.tail(count)), constraints.along(y.head(7 * count));
  };
  const auto precondition = [&](const VectorXd& r, VectorXd& z) {
    VectorXd above;
    unknowns.precondition(r.head(7 * count), above);
    z.resize(8 * count);
    z << above, r.tail(count).cwiseQuotient(schur.diagonal);
  };
  VectorXd rhs(8 * count), solution;
  rhs << -g - constraints.times(before), -constraints.values;
  SaddlePoint result;
  result.solved = minres(multiply, precondition, rhs, solution, tolerance);
  result.d = solution.head(7 * count);
  result.multipliers = before + solution.tail(count);
  // Loose solves leave the constraints, too, and might not descend.
  result.d -= constraints.times(
      (constraints.values + constraints.along(result.d)).cwiseQuotient(squares_of(constraints)));
  return result;
}

} // namespace

Constraints::Constraints(const Unknowns& unknowns, const Points& x)
    : normals(VectorXd::Zero(7 * unknowns.energy().num_particles())), values(unknowns.constraints(x)) {
  for (LocalIndex k = 0; k < values.size(); ++k)
    if (unknowns.energy().is_free(k)) normals.segment<4>(7 * k + 3) = solvers::particle_at(x, k).q;
}

VectorXd Constraints::along(const VectorXd& y) const {
  VectorXd result(values.size());
  for (Eigen::Index k = 0; k < result.size(); ++k)
    result[k] = normals.segment<7>(7 * k).dot(y.segment<7>(7 * k));
  return result;
}

VectorXd Constraints::times(const VectorXd& factors) const {
  VectorXd result(normals.size());
  for (Eigen::Index k = 0; k < factors.size(); ++k)
    result.segment<7>(7 * k) = factors[k] * normals.segment<7>(7 * k);
  return result;
}

SaddlePoint solve_saddle_point(SaddleSolver solver, const Unknowns& unknowns, const Constraints& constraints,
                               const VectorXd& g, const VectorXd& before, double tolerance) {
  return solver == SaddleSolver::projected_cg ? solve_projected(unknowns, constraints, g, before, tolerance)
                                              : solve_minres(unknowns, constraints, g, before, tolerance);
}

} // namespace recoil::bench

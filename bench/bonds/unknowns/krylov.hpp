#pragma once

#include <cmath>

#include <Eigen/Core>

/// Krylov solvers that stop at a share of the preconditioned residual at the start. `multiply` and
/// `precondition` take the vector and the result.
namespace recoil::bench {

struct KrylovResult {
  int iterations = 0;
  bool indefinite = false; ///< a direction of no positive curvature was met
};

inline constexpr int max_krylov_iterations = 20000;

/// Conjugate gradients from `x` with residual `r`; both are overwritten.
template <class Multiply, class Precondition>
KrylovResult conjugate_gradients(const Multiply& multiply, const Precondition& precondition,
                                 Eigen::VectorXd& r, Eigen::VectorXd& x, double tolerance) {
  Eigen::VectorXd z, p, Ap;
  precondition(r, z);
  p = z;
  double rz = r.dot(z);
  const double enough = tolerance * tolerance * rz;
  KrylovResult result;
  while (rz > enough && result.iterations < max_krylov_iterations) {
    multiply(p, Ap);
    ++result.iterations;
    const double curvature = p.dot(Ap);
    if (!(curvature > 0)) {
      result.indefinite = true;
      break;
    }
    x += rz / curvature * p;
    r -= rz / curvature * Ap;
    precondition(r, z);
    const double next = r.dot(z);
    p = z + next / rz * p;
    rz = next;
  }
  return result;
}

/// MINRES from x = 0 [Elman, Silvester, Wathen, Finite Elements and Fast Iterative Solvers, algorithm 4.1].
template <class Multiply, class Precondition>
KrylovResult minres(const Multiply& multiply, const Precondition& precondition, const Eigen::VectorXd& b,
                    Eigen::VectorXd& x, double tolerance) {
  x.setZero(b.size());
  Eigen::VectorXd v_before = x, v = b, w_before = x, w = x, z, z_next, Az;
  precondition(v, z);
  double gamma_before = 1, gamma = std::sqrt(v.dot(z)), eta = gamma;
  double c_before = 1, c = 1, s_before = 0, s = 0;
  const double enough = tolerance * eta;
  KrylovResult result;
  while (std::abs(eta) > enough && result.iterations < max_krylov_iterations) {
    z /= gamma;
    multiply(z, Az);
    ++result.iterations;
    const double delta = z.dot(Az);
    const Eigen::VectorXd v_next = Az - delta / gamma * v - gamma / gamma_before * v_before;
    precondition(v_next, z_next);
    const double gamma_next = std::sqrt(std::max(0.0, v_next.dot(z_next)));
    const double a0 = c * delta - c_before * s * gamma, a1 = std::hypot(a0, gamma_next),
                 a2 = s * delta + c_before * c * gamma, a3 = s_before * gamma;
    c_before = c;
    s_before = s;
    c = a0 / a1;
    s = gamma_next / a1;
    const Eigen::VectorXd w_next = (z - a3 * w_before - a2 * w) / a1;
    x += c * eta * w_next;
    eta *= -s;
    if (gamma_next == 0) break;
    v_before = v;
    v = v_next;
    w_before = w;
    w = w_next;
    z = z_next;
    gamma_before = gamma;
    gamma = gamma_next;
  }
  return result;
}

} // namespace recoil::bench

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/linalg/linear_solver.hpp"
#include "recoil/solvers/fracture_modes/element_graph.hpp"

namespace recoil::solvers::fracture_modes {

/// The convex problem of a mode on the elements of all ranks,
///     min sum_f w_f |v_a - v_b|  subject to  constants' M v = 0, U_j' M v = 0, c' M v = 1,
/// by the alternating direction method of multipliers [Boyd et al. 2011, section 3] with y = K v, K v = w_f
/// (v_a - v_b), over-relaxation and residual balancing. The matrix K'K + s M of all v-steps, a weighted
/// Laplacian of the graph of elements, is constant over all modes: it is factored, or its multigrid hierarchy
/// built, once. s is small and multiplies the step from the last v (a proximal term, which leaves the
/// solution alone). Members are collective.
class JumpAdmm {
public:
  /// The graph must outlive it; its faces that must not break have y = 0.
  explicit JumpAdmm(const ElementGraph& graph);

  /// Fields, with current ghosts, that v is orthogonal to in the mass.
  void add_orthogonal(const linalg::Vector& field);
  /// Drops all but the first `count` of them.
  void keep_orthogonal(std::size_t count) { conditions_.resize(count); }

  struct Outcome {
    linalg::Vector v;
    std::vector<char> closed; ///< per face, whether y is exactly zero
    int iterations = 0;
    double primal = 0, dual = 0; ///< relative residuals
  };
  /// From v = y = c until both residuals are below `tolerance` or the iterations are spent.
  Outcome solve(const linalg::Vector& c, double tolerance, int max_iterations);

private:
  /// A condition b . v = value, with (K'K + s M)^-1 b.
  struct Condition {
    linalg::Vector b, solved;
  };
  Condition make_condition(const linalg::Vector& field);
  void solve_laplacian(const linalg::Vector& b, linalg::Vector& x, double tolerance);
  /// out_e = sum over the faces of e of +- w_f y_f, on owned elements.
  void add_transposed(std::span<const double> y, std::span<double> out) const;

  const ElementGraph* graph_;
  double proximal_ = 0; ///< s
  linalg::BlockMatrix matrix_;
  std::unique_ptr<linalg::LinearSolver> solver_;
  std::vector<Condition> conditions_;
};

} // namespace recoil::solvers::fracture_modes

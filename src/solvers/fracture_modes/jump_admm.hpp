#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/linear_solver.hpp"
#include "solvers/fracture_modes/jump_problem.hpp"

namespace recoil::solvers::fracture_modes {

/// The convex problems of a JumpProblem,
///     min E(v)  subject to  u_j' M v = 0,  c' M v = 1,
/// by the alternating direction method of multipliers [Boyd et al. 2011, sections 3 and 3.4.1] on y_l = R_l
/// (v_a - v_b): y by block soft-thresholding, over-relaxed, v by one linear system
///     (Q / rho + B'B + tau M) dv = residual,   B v = (R_l (v_a - v_b))_l,
/// whose matrix does not change as long as Q = 0 and rarely otherwise (rho is balanced by the residuals),
/// with the conditions by a Schur complement of their number. tau M, tiny beside B'B and paid for in the
/// step from the last v alone (proximal method), makes the matrix definite. Collective.
class JumpAdmm {
public:
  /// The problem, and `zero_modes` of it, orthonormal in the mass, must outlive this.
  JumpAdmm(const JumpProblem& problem, std::span<const linalg::Vector> zero_modes);

  /// v is to be orthogonal to these beside the zero modes; orthonormal in the mass.
  void set_modes(std::span<const linalg::Vector> modes);
  /// Starts over from v = c, which must be feasible and of mass norm 1, without multipliers.
  void begin(const linalg::Vector& c);
  /// Linearises the norm around another c; multipliers stay.
  void linearise_around(const linalg::Vector& c);

  void iterate(int count);

  /// What iterate() has come to.
  struct Progress {
    double primal = 0, dual = 0; ///< residuals, relative
    double energy = 0;           ///< 1/2 v' Q v + sum |y|
    double bound = 0;            ///< the least E is not below it, but for the accuracy of linear solves
  };
  const Progress& progress() const { return progress_; }
  /// Satisfies the conditions; ghosts are current.
  const linalg::Vector& field() const { return v_; }
  /// Whether linear systems are solved to rounding, so that the bound holds to it.
  bool is_exact() const { return solver_->method() == linalg::LinearMethod::direct; }
  /// Whether y is zero, per link.
  std::vector<char> closed_links() const;

private:
  double first_rho() const;
  void assemble();
  void solve(const linalg::Vector& right, linalg::Vector& solution);
  void update_responses(std::size_t from);
  linalg::Vector response_of(const linalg::Vector& field);
  void set_conditions();
  void balance();
  void step();
  void threshold();
  void measure();

  const JumpProblem* problem_;
  std::span<const linalg::Vector> zero_modes_;
  bool by_component_;  ///< the matrix has one row per node
  bool has_stiffness_; ///< on some rank
  std::shared_ptr<const linalg::VectorLayout> matrix_layout_;
  linalg::BlockMatrix matrix_;
  std::unique_ptr<linalg::LinearSolver> solver_;
  double tau_ = 0, rho_ = 1, rho_of_matrix_ = 0;
  double last_step_ = 0; ///< mass norm of the last change of v

  std::vector<linalg::Vector> conditions_; ///< u_j and, last, c
  std::vector<linalg::Vector> responses_;  ///< (matrix)^-1 M of them
  std::size_t current_responses_ = 0;
  Eigen::MatrixXd schur_; ///< the inverse of conditions' M responses
  Eigen::VectorXd multipliers_;

  linalg::Vector v_, right_, change_;
  linalg::Vector component_right_, component_;
  std::vector<double> jumps_, y_, u_, old_y_, scratch_;
  bool has_c_ = false;
  Progress progress_;
};

} // namespace recoil::solvers::fracture_modes

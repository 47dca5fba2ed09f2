#pragma once

#include <limits>
#include <vector>

#include "discs/dense_objective.hpp"
#include "recoil/newton/minimize.hpp"

namespace recoil::newton::testing {

using discs::even_layout, discs::gather, discs::scatter;
using Eigen::MatrixXd;
using Eigen::VectorXd;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A vector of blocks of size 1. Collective.
linalg::Vector distribute(const parallel::Communicator& comm, const VectorXd& all);

/// Checks that the ghosts of `v`, whose global entries are `all`, are current.
void expect_current_ghosts(const linalg::Vector& v, const VectorXd& all);

/// A dense objective with hooks that let tests spoil any part of it; the counters and lists tell what the
/// minimiser did.
class ToyObjective : public discs::DenseObjective {
public:
  std::function<linalg::LinearResult(int call, VectorXd& d)> after_solve;
  std::function<double(const VectorXd&)> norm;
  std::function<double(double)> resolution;
  std::function<bool(const VectorXd&)> on_accepted;
  bool inexact = false;            ///< leave a residual of the tolerance asked for
  int most_projected_in_a_row = 0; ///< longest_projected_run
  double shortest_useful_step = 0; ///< useful_step

  std::vector<Projection> assemblies;
  std::vector<double> shifts, tolerances;
  int solves = 0;

  double value(const linalg::Vector& x) override { return checked(x), DenseObjective::value(x); }
  void gradient(const linalg::Vector& x, linalg::Vector& g) override {
    checked(x);
    DenseObjective::gradient(x, g);
  }
  void assemble_hessian(const linalg::Vector& x, Projection projection) override;
  void shift_hessian(double factor) override;
  linalg::LinearResult solve(const linalg::Vector& rhs, linalg::Vector& d,
                             double relative_tolerance) override;
  int longest_projected_run() const override { return most_projected_in_a_row; }
  double useful_step() const override { return shortest_useful_step; }
  double max_step(const linalg::Vector& x, const linalg::Vector& d) override {
    checked(x);
    checked(d);
    return DenseObjective::max_step(x, d);
  }
  double gradient_norm(const linalg::Vector& g) override { return norm ? norm(gather(g)) : g.norm(); }
  double value_resolution(const linalg::Vector& x, double value) override {
    return resolution ? resolution(value) : Objective::value_resolution(x, value);
  }
  bool accepted(const linalg::Vector& x) override { return on_accepted && on_accepted(checked(x)); }

private:
  /// All entries, with a failure that names the place where ghosts are not current.
  static VectorXd checked(const linalg::Vector& x) {
    VectorXd entries = gather(x);
    expect_current_ghosts(x, entries);
    return entries;
  }
};

/// 1/2 (x - centre)' H (x - centre) + offset.
ToyObjective quadratic(const MatrixXd& hessian, const VectorXd& centre, double offset = 0);

/// A chain of `stiffness.size()` neo-Hookean springs along a line from a fixed point at 0, rest length 1
/// each, with a dead load on its end: sum_k c_k/2 (l_k^2 - 1 - 2 log l_k) - load x_n + offset; +infinity
/// where a length is not positive.
ToyObjective springs(const VectorXd& stiffness, double load, double offset = 0);

/// The minimiser of springs(): each carries the load, c (l - 1/l) = load.
VectorXd springs_solution(const VectorXd& stiffness, double load);

/// The springs unstretched.
VectorXd at_rest(Eigen::Index n);

} // namespace recoil::newton::testing

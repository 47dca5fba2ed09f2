#include "newton/toy_objective.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace recoil::newton::testing {

linalg::Vector distribute(const parallel::Communicator& comm, const VectorXd& all) {
  linalg::Vector v(even_layout(comm, static_cast<int>(all.size())));
  scatter(all, v);
  return v;
}

void expect_current_ghosts(const linalg::Vector& v, const VectorXd& all) {
  const auto& layout = v.layout();
  for (std::size_t k = 0; k < layout.ghosts.size(); ++k)
    for (int c = 0; c < layout.block_size; ++c) {
      const auto local =
          (static_cast<std::size_t>(layout.num_owned) + k) * static_cast<std::size_t>(layout.block_size) +
          static_cast<std::size_t>(c);
      EXPECT_EQ(v.local()[local], all[layout.ghosts[k] * layout.block_size + c]) << "stale ghost";
    }
}

void ToyObjective::assemble_hessian(const linalg::Vector& x, Projection projection) {
  assemblies.push_back(projection);
  checked(x);
  DenseObjective::assemble_hessian(x, projection);
}

void ToyObjective::shift_hessian(double factor) {
  shifts.push_back(factor);
  DenseObjective::shift_hessian(factor);
}

linalg::LinearResult ToyObjective::solve(const linalg::Vector& rhs, linalg::Vector& d,
                                         double relative_tolerance) {
  tolerances.push_back(relative_tolerance);
  VectorXd b = gather(rhs), solution;
  if (inexact) b += 0.9 * relative_tolerance * b.norm() * VectorXd::Ones(b.size()).normalized();
  linalg::LinearResult result = DenseObjective::solve(b, solution);
  if (after_solve) {
    const linalg::LinearResult spoilt = after_solve(solves, solution);
    if (result.outcome == linalg::LinearOutcome::converged) result = spoilt;
  }
  ++solves;
  scatter(solution, d);
  return result;
}

ToyObjective quadratic(const MatrixXd& hessian, const VectorXd& centre, double offset) {
  ToyObjective toy;
  toy.f = [=](const VectorXd& x) { return 0.5 * (x - centre).dot(hessian * (x - centre)) + offset; };
  toy.df = [=](const VectorXd& x) { return VectorXd(hessian * (x - centre)); };
  toy.ddf = [=](const VectorXd&) { return hessian; };
  return toy;
}

ToyObjective springs(const VectorXd& stiffness, double load, double offset) {
  const auto lengths = [](const VectorXd& x) {
    VectorXd l = x;
    l.tail(x.size() - 1) -= x.head(x.size() - 1);
    return l;
  };
  ToyObjective toy;
  toy.f = [=](const VectorXd& x) {
    const VectorXd l = lengths(x);
    if (l.minCoeff() <= 0) return infinity;
    double sum = offset - load * x[x.size() - 1];
    for (Eigen::Index k = 0; k < l.size(); ++k)
      sum += stiffness[k] / 2 * (l[k] * l[k] - 1 - 2 * std::log(l[k]));
    return sum;
  };
  toy.df = [=](const VectorXd& x) {
    const VectorXd l = lengths(x);
    VectorXd g = VectorXd::Zero(x.size());
    for (Eigen::Index k = 0; k < l.size(); ++k) {
      const double force = stiffness[k] * (l[k] - 1 / l[k]);
      g[k] += force;
      if (k > 0) g[k - 1] -= force;
    }
    g[x.size() - 1] -= load;
    return g;
  };
  toy.ddf = [=](const VectorXd& x) {
    const VectorXd l = lengths(x);
    MatrixXd h = MatrixXd::Zero(x.size(), x.size());
    for (Eigen::Index k = 0; k < l.size(); ++k) {
      const double c = stiffness[k] * (1 + 1 / (l[k] * l[k]));
      h(k, k) += c;
      if (k == 0) continue;
      h(k - 1, k - 1) += c;
      h(k, k - 1) -= c;
      h(k - 1, k) -= c;
    }
    return h;
  };
  return toy;
}

VectorXd springs_solution(const VectorXd& stiffness, double load) {
  VectorXd x(stiffness.size());
  double end = 0;
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const double p = load / (2 * stiffness[k]);
    x[k] = end += p + std::sqrt(p * p + 1);
  }
  return x;
}

VectorXd at_rest(Eigen::Index n) { return VectorXd::LinSpaced(n, 1, static_cast<double>(n)); }

} // namespace recoil::newton::testing

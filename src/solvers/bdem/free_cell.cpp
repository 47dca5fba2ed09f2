#include "solvers/bdem/free_cell.hpp"

#include <algorithm>

#include <Eigen/Cholesky>

namespace recoil::solvers {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Changes of F by each unknown.
std::vector<Matrix3d> directions_of(const particles::CellMotion& motion) {
  const std::vector<int>& free = motion.free_entries();
  std::vector<Matrix3d> directions;
  for (const int entry : free) {
    const int i = entry / 3, j = entry % 3, mirrored = 3 * j + i;
    const bool is_pair = i != j && std::ranges::count(free, mirrored) > 0;
    if (is_pair && mirrored < entry) continue;
    Matrix3d D = Matrix3d::Zero();
    D(i, j) = 1;
    if (is_pair) D(j, i) = 1;
    directions.push_back(D);
  }
  return directions;
}

/// Gradient and Hessian of the energy by the unknowns, and the sum of the absolute terms of the gradient.
struct Derivatives {
  Eigen::VectorXd gradient, size;
  Eigen::MatrixXd hessian;
};

/// act(bond, ways of its end b by each unknown) for those across faces that act.
template <class Act>
void for_crossing(const BondedParticles& problem, const std::vector<Matrix3d>& directions, Act act) {
  Eigen::Matrix3Xd ways(3, directions.size());
  for (LocalIndex bond = 0; bond < std::ssize(problem.particles->bonds); ++bond) {
    const Vector3d period = problem.bonds->period(bond);
    if (problem.bonds->integrity(bond) == 0 || period.isZero(0)) continue;
    for (std::size_t k = 0; k < directions.size(); ++k) ways.col(Eigen::Index(k)) = directions[k] * period;
    act(bond, ways);
  }
}

Derivatives derivatives(const BondedParticles& problem, const std::vector<Matrix3d>& directions,
                        std::span<const double> u) {
  const auto count = Eigen::Index(directions.size());
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, count + 2);
  for_crossing(problem, directions, [&](LocalIndex bond, const Eigen::Matrix3Xd& ways) {
    if (!problem.particles->owns(problem.particles->bonds[bond])) return;
    const Eigen::VectorXd share = ways.transpose() * problem.bonds->pull_of(bond, u);
    const Matrix3d stiffness = problem.bonds->pull_gradient_of(bond, u).middleRows<3>(6);
    sums.col(count) += share;
    sums.col(count + 1) += share.cwiseAbs();
    sums.leftCols(count) += ways.transpose() * stiffness * ways;
  });
  problem.particles->points->comm->sum(std::span(sums.data(), std::size_t(sums.size())));
  return {sums.col(count), sums.col(count + 1), sums.leftCols(count)};
}

} // namespace

void balance_cell(const BondedParticles& problem, std::span<const double> u) {
  if (!problem.cell_motion || problem.cell_motion->free_entries().empty()) return;
  constexpr int most_iterations = 30;
  constexpr double accuracy = 1e-13;
  const std::vector<Matrix3d> directions = directions_of(*problem.cell_motion);
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    const Derivatives at = derivatives(problem, directions, u);
    if ((at.gradient.cwiseAbs().array() <= accuracy * at.size.array()).all()) return;
    const Eigen::LLT<Eigen::MatrixXd> factors(at.hessian);
    if (factors.info() != Eigen::Success) return;
    const Eigen::VectorXd step = -factors.solve(at.gradient);
    Matrix3d change = Matrix3d::Zero();
    for (std::size_t k = 0; k < directions.size(); ++k) change += step[Eigen::Index(k)] * directions[k];
    problem.cell_motion->balance(change);
    if (step.cwiseAbs().maxCoeff() < 1e-16) return;
  }
}

void add_columns_of_cell(const BondedParticles& problem, std::span<const double> u,
                         const linalg::Vector& like, std::vector<linalg::Vector>& columns) {
  if (!problem.cell_motion || problem.cell_motion->free_entries().empty()) return;
  const std::vector<Matrix3d> directions = directions_of(*problem.cell_motion);
  const Eigen::LLT<Eigen::MatrixXd> factors(derivatives(problem, directions, u).hessian);
  if (factors.info() != Eigen::Success) return;
  const std::size_t first = columns.size();
  for (std::size_t k = 0; k < directions.size(); ++k) columns.emplace_back(like).fill(0);
  for_crossing(problem, directions, [&](LocalIndex bond, const Eigen::Matrix3Xd& ways) {
    // Rows of L^-1 times the ways make the columns of V_xz L^-T.
    const Eigen::MatrixXd scaled = factors.matrixL().solve(Eigen::MatrixXd(ways.transpose())).transpose();
    const Eigen::MatrixXd by_ends = problem.bonds->pull_gradient_of(bond, u) * scaled;
    for (std::size_t k = 0; k < directions.size(); ++k)
      potentials::add_to_owned_ends(by_ends.col(Eigen::Index(k)), problem.particles->bonds[bond],
                                    problem.particles->num_owned(), 1, columns[first + k].write_owned());
  });
}

} // namespace recoil::solvers

#include "solvers/fracture_modes/jump_admm.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>
#include <Eigen/LU>

#include "recoil/base/error.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

constexpr int check_interval = 10;
constexpr double relaxation = 1.7;
constexpr int max_linear_iterations = 300;

/// Neighbours of each owned element and itself, in the order of global numbers.
std::shared_ptr<const linalg::NodeGraph> neighbours(const ElementGraph& graph) {
  const linalg::VectorLayout& layout = *graph.layout;
  std::vector<std::vector<LocalIndex>> lists(layout.num_owned);
  for (LocalIndex e = 0; e < layout.num_owned; ++e) lists[e].push_back(e);
  for (const ElementFace& face : graph.faces) {
    if (face.a < layout.num_owned) lists[face.a].push_back(face.b);
    if (face.b < layout.num_owned) lists[face.b].push_back(face.a);
  }
  auto result = std::make_shared<linalg::NodeGraph>();
  result->offsets.push_back(0);
  for (auto& list : lists) {
    std::ranges::sort(list, {}, [&](LocalIndex e) { return layout.global(e); });
    result->neighbours.insert(result->neighbours.end(), list.begin(), list.end());
    result->offsets.push_back(std::ssize(result->neighbours));
  }
  return result;
}

linalg::BlockMatrix laplacian(const ElementGraph& graph, double& proximal) {
  linalg::BlockMatrix matrix(graph.layout, neighbours(graph));
  double trace = 0, mass = 0;
  for (const ElementFace& face : graph.faces)
    if (face.counted) trace += 2 * face.weight * face.weight;
  for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) mass += graph.masses[e];
  const double elements = double(graph.layout->num_global);
  // Well below the least eigenvalue that is not zero, about the mean of the diagonal over elements^(2/dim).
  proximal = 1e-2 * graph.comm().sum(trace) / graph.comm().sum(mass) / elements;
  const auto values = matrix.begin_filling();
  const auto add = [&](LocalIndex row, LocalIndex column, double value) {
    if (row < graph.layout->num_owned) values.add<1>(row, matrix.position(row, column), &value, 1);
  };
  for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) add(e, e, proximal * graph.masses[e]);
  for (const ElementFace& face : graph.faces) {
    const double square = face.weight * face.weight;
    add(face.a, face.a, square);
    add(face.b, face.b, square);
    add(face.a, face.b, -square);
    add(face.b, face.a, -square);
  }
  matrix.finish_filling();
  return matrix;
}

} // namespace

JumpAdmm::JumpAdmm(const ElementGraph& graph)
    : graph_(&graph), matrix_(laplacian(graph, proximal_)),
      solver_(std::make_unique<linalg::LinearSolver>(
          graph.layout, linalg::LinearSolverOptions{.dimension = 3, .prefix = "recoil_fracture_"})) {
  solver_->update(matrix_, [layout = graph.layout] {
    return linalg::NearNullSpace(*layout, 1,
                                 [](int, std::span<double> values) { std::ranges::fill(values, 1.0); });
  });
}

void JumpAdmm::solve_laplacian(const linalg::Vector& b, linalg::Vector& x, double tolerance) {
  const linalg::LinearResult result = solver_->solve(b, x, tolerance, max_linear_iterations);
  if (result.outcome == linalg::LinearOutcome::indefinite)
    throw Error(ExitCode::no_solution,
                "fracture modes: the Laplacian of the elements is not positive definite; are "
                "there cells without volume?");
}

JumpAdmm::Condition JumpAdmm::make_condition(const linalg::Vector& field) {
  Condition condition{field, linalg::Vector(graph_->layout)};
  const auto values = condition.b.write_local();
  for (std::size_t e = 0; e < values.size(); ++e) values[e] *= graph_->masses[e];
  solve_laplacian(condition.b, condition.solved, 1e-10);
  return condition;
}

void JumpAdmm::add_orthogonal(const linalg::Vector& field) { conditions_.push_back(make_condition(field)); }

void JumpAdmm::add_transposed(std::span<const double> y, std::span<double> out) const {
  for (std::size_t f = 0; f < y.size(); ++f) {
    const ElementFace& face = graph_->faces[f];
    const double value = face.weight * y[f];
    if (face.a < graph_->layout->num_owned) out[face.a] += value;
    if (face.b < graph_->layout->num_owned) out[face.b] -= value;
  }
}

JumpAdmm::Outcome JumpAdmm::solve(const linalg::Vector& c, double tolerance, int max_iterations) {
  const parallel::Communicator& comm = graph_->comm();
  const auto& faces = graph_->faces;
  std::vector<const Condition*> conditions;
  for (const Condition& condition : conditions_) conditions.push_back(&condition);
  const Condition linearised = make_condition(c);
  conditions.push_back(&linearised);
  const int n = static_cast<int>(conditions.size());
  Eigen::MatrixXd schur(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) schur(i, j) = conditions[i]->b.dot(conditions[j]->solved);
  const Eigen::PartialPivLU<Eigen::MatrixXd> schur_factor(schur);
  const Eigen::VectorXd target = Eigen::VectorXd::Unit(n, n - 1);

  Outcome outcome{c, std::vector<char>(faces.size(), 0)};
  linalg::Vector right(graph_->layout), step(graph_->layout);
  std::vector<double> jumps(faces.size()), y(faces.size()), u(faces.size(), 0.0), change(faces.size());
  const auto find_jumps = [&] {
    const auto v = outcome.v.local();
    for (std::size_t f = 0; f < faces.size(); ++f)
      jumps[f] = faces[f].weight * (v[faces[f].a] - v[faces[f].b]);
  };
  find_jumps();
  y = jumps;
  double sum = 0, count = 0;
  for (std::size_t f = 0; f < faces.size(); ++f)
    if (faces[f].counted) sum += std::abs(jumps[f]);
  for (const ElementFace& face : faces) count += face.counted ? 1 : 0;
  double penalty = comm.sum(count) / std::max(comm.sum(sum), 1e-300);
  for (; outcome.iterations < max_iterations;) {
    ++outcome.iterations;
    // v-step, as a correction to the last v: K'K dv = K'(y - u - K v), then back to the conditions.
    for (std::size_t f = 0; f < faces.size(); ++f) change[f] = y[f] - u[f] - jumps[f];
    right.fill(0);
    add_transposed(change, right.write_owned());
    solve_laplacian(right, step, 1e-3);
    outcome.v.add(1, step);
    std::vector<double> defects;
    for (const Condition* condition : conditions) {
      double product = 0;
      for (LocalIndex e = 0; e < graph_->layout->num_owned; ++e)
        product += condition->b.local()[e] * outcome.v.local()[e];
      defects.push_back(product);
    }
    comm.sum(defects);
    const Eigen::VectorXd amounts =
        schur_factor.solve(Eigen::Map<const Eigen::VectorXd>(defects.data(), n) - target);
    for (int i = 0; i < n; ++i) outcome.v.add(-amounts[i], conditions[i]->solved);
    find_jumps();
    // y-step: shrinkage; faces that must not break stay closed.
    double gap = 0, size = 0;
    for (std::size_t f = 0; f < faces.size(); ++f) {
      const double t = relaxation * jumps[f] + (1 - relaxation) * y[f] + u[f];
      const double shrunk =
          faces[f].breakable ? std::copysign(std::max(std::abs(t) - 1 / penalty, 0.0), t) : 0;
      change[f] = shrunk - y[f];
      y[f] = shrunk;
      u[f] = t - shrunk;
      if (!faces[f].counted) continue;
      gap += (jumps[f] - shrunk) * (jumps[f] - shrunk);
      size += jumps[f] * jumps[f];
    }
    if (outcome.iterations % check_interval != 0) continue;
    std::vector<double> moved(graph_->layout->num_owned, 0.0), forces(moved.size(), 0.0);
    add_transposed(change, moved);
    add_transposed(u, forces);
    std::vector<double> sums{gap, size, 0, 0};
    for (std::size_t e = 0; e < moved.size(); ++e) {
      sums[2] += moved[e] * moved[e];
      sums[3] += forces[e] * forces[e];
    }
    comm.sum(sums);
    outcome.primal = std::sqrt(sums[0] / std::max(sums[1], 1e-300));
    outcome.dual = std::sqrt(sums[2] / std::max(sums[3], 1e-300));
    if (outcome.primal < tolerance && outcome.dual < tolerance) break;
    if (outcome.iterations % (2 * check_interval) != 0) continue;
    const double factor = std::clamp(std::sqrt(outcome.primal / std::max(outcome.dual, 1e-300)), 0.2, 5.0);
    if (factor < 1.5 && factor > 1 / 1.5) continue;
    penalty *= factor;
    for (double& value : u) value /= factor;
  }
  for (std::size_t f = 0; f < faces.size(); ++f) outcome.closed[f] = y[f] == 0 ? 1 : 0;
  outcome.v.update_ghosts();
  return outcome;
}

} // namespace recoil::solvers::fracture_modes

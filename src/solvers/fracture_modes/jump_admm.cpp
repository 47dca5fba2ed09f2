#include "solvers/fracture_modes/jump_admm.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// Shift of the matrix by the mass, relative to its diagonal.
constexpr double relative_shift = 1e-10;
constexpr double over_relaxation = 1.7;
/// Ratio of the residuals that leads to another rho.
constexpr double imbalance = 5;

std::shared_ptr<const linalg::NodeGraph> coupling(const JumpProblem& problem) {
  const LocalIndex owned = problem.layout->num_owned;
  std::vector<std::vector<LocalIndex>> rows(owned);
  const auto couple = [&](std::span<const LocalIndex> nodes) {
    for (const LocalIndex row : nodes)
      if (row < owned) rows[row].insert(rows[row].end(), nodes.begin(), nodes.end());
  };
  std::vector<LocalIndex> nodes;
  for (const JumpProblem::Link& link : problem.links) {
    nodes.assign(link.a.begin(), link.a.begin() + problem.pairs);
    nodes.insert(nodes.end(), link.b.begin(), link.b.begin() + problem.pairs);
    couple(nodes);
  }
  for (const JumpProblem::Element& element : problem.elements)
    couple(std::span(element.nodes).first(element.stiffness.rows() / problem.dim));
  auto graph = std::make_shared<linalg::NodeGraph>();
  graph->offsets.push_back(0);
  for (LocalIndex row = 0; row < owned; ++row) {
    auto& list = rows[row];
    list.push_back(row);
    std::ranges::sort(list, {}, [&](LocalIndex k) { return problem.layout->global(k); });
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph->neighbours.insert(graph->neighbours.end(), list.begin(), list.end());
    graph->offsets.push_back(std::ssize(graph->neighbours));
  }
  return graph;
}

} // namespace

JumpAdmm::JumpAdmm(const JumpProblem& problem, std::span<const linalg::Vector> zero_modes)
    : problem_(&problem), zero_modes_(zero_modes), by_component_(problem.isotropic),
      has_stiffness_(problem.comm().any(!problem.elements.empty())), matrix_layout_(problem.layout),
      v_(problem.layout), right_(problem.layout), change_(problem.layout) {
  if (by_component_) {
    auto layout = std::make_shared<linalg::VectorLayout>(*problem.layout);
    layout->block_size = 1;
    matrix_layout_ = layout;
    component_right_ = linalg::Vector(layout);
    component_ = linalg::Vector(layout);
  }
  matrix_ = linalg::BlockMatrix(matrix_layout_, coupling(problem));
  const std::size_t numbers = problem.links.size() * problem.size();
  for (auto* list : {&jumps_, &y_, &u_, &old_y_, &scratch_}) list->assign(numbers, 0.0);
}

/// Q / rho + B'B + tau M.
void JumpAdmm::assemble() {
  const JumpProblem& problem = *problem_;
  const LocalIndex owned = problem.layout->num_owned;
  const int dim = by_component_ ? 1 : problem.dim, size = problem.size();
  matrix_.set_zero();
  const auto values = matrix_.begin_filling();
  const auto add = [&](LocalIndex row, LocalIndex column, const double* block, int row_stride) {
    values.add(dim, row, matrix_.position(row, column), block, row_stride);
  };
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const JumpProblem::Link& link = problem.links[l];
    const Eigen::Map<const Eigen::MatrixXd> of_link(problem.matrix(l).data(), size, size);
    const Eigen::MatrixXd square = of_link.transpose() * of_link, opposite = -square;
    for (int i = 0; i < problem.pairs; ++i)
      for (int j = 0; j < problem.pairs; ++j) {
        // Symmetric, so that rows may be columns.
        const double* same = &square(j * problem.dim, i * problem.dim);
        const double* other = &opposite(j * problem.dim, i * problem.dim);
        if (link.a[i] < owned) {
          add(link.a[i], link.a[j], same, size);
          add(link.a[i], link.b[j], other, size);
        }
        if (link.b[i] < owned) {
          add(link.b[i], link.b[j], same, size);
          add(link.b[i], link.a[j], other, size);
        }
      }
  }
  for (const JumpProblem::Element& element : problem.elements) {
    const Eigen::MatrixXd stiffness = element.stiffness / rho_;
    const auto rows = static_cast<int>(stiffness.rows());
    for (int i = 0; i < rows / dim; ++i)
      for (int j = 0; j < rows / dim; ++j)
        add(element.nodes[i], element.nodes[j], &stiffness(j * dim, i * dim), rows);
  }
  std::array<double, 2> sums{}; // of the diagonal and the masses
  for (std::size_t l = 0; l < problem.links.size(); ++l)
    if (problem.links[l].counted)
      sums[0] += 2 * Eigen::Map<const Eigen::MatrixXd>(problem.matrix(l).data(), size, size).squaredNorm();
  for (const JumpProblem::Element& element : problem.elements) sums[0] += element.stiffness.trace() / rho_;
  for (LocalIndex node = 0; node < owned; ++node) sums[1] += problem.dim * problem.masses[node];
  problem.comm().sum(sums);
  tau_ = relative_shift * (sums[0] > 0 ? sums[0] / sums[1] : 1);
  for (LocalIndex node = 0; node < owned; ++node) {
    const Eigen::MatrixXd mass = tau_ * problem.masses[node] * Eigen::MatrixXd::Identity(dim, dim);
    add(node, node, mass.data(), dim);
  }
  matrix_.finish_filling();
  if (!solver_) {
    // Factors are used hundreds of times: they pay where multigrid takes less time for one solve.
    constexpr GlobalIndex most_factored = 100000;
    const bool direct = problem.comm().size() == 1 && problem.layout->num_global * dim <= most_factored;
    solver_ = std::make_unique<linalg::LinearSolver>(
        matrix_layout_, linalg::LinearSolverOptions{.dimension = problem.dim,
                                                    .method = direct ? linalg::LinearMethod::direct
                                                                     : linalg::LinearMethod::automatic,
                                                    .prefix = "recoil_modes_admm_"});
  }
  solver_->begin_sequence();
  solver_->update(matrix_, [this] {
    if (by_component_)
      return linalg::NearNullSpace(*matrix_layout_, 1,
                                   [](int, std::span<double> to) { std::ranges::fill(to, 1.0); });
    return linalg::NearNullSpace(*matrix_layout_, static_cast<int>(problem_->motions.size()),
                                 [this](int mode, std::span<double> to) {
                                   std::copy_n(problem_->motions[mode].begin(), to.size(), to.begin());
                                 });
  });
  rho_of_matrix_ = rho_;
  current_responses_ = 0;
}

void JumpAdmm::solve(const linalg::Vector& right, linalg::Vector& solution) {
  // Corrections to the last v: their accuracy is gained over the iterations.
  const double tolerance = is_exact() ? 1e-8 : 1e-4;
  constexpr int most_iterations = 500;
  if (!by_component_) {
    solver_->solve(right, solution, tolerance, most_iterations);
    return;
  }
  const int dim = problem_->dim;
  const auto to = solution.write_local();
  for (int i = 0; i < dim; ++i) {
    const auto part = component_right_.write_owned();
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = right.owned()[k * dim + i];
    solver_->solve(component_right_, component_, tolerance, most_iterations);
    const auto solved = component_.local();
    for (std::size_t k = 0; k < solved.size(); ++k) to[k * dim + i] = solved[k];
  }
}

/// (matrix)^-1 M field, to the accuracy of the conditions.
linalg::Vector JumpAdmm::response_of(const linalg::Vector& field) {
  linalg::Vector response(problem_->layout);
  const auto times_mass = [&](double factor, const linalg::Vector& of, std::span<double> to) {
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] += factor * problem_->masses[k / problem_->dim] * of.local()[k];
  };
  for (int round = 0; round < 3; ++round) { // refinement
    right_.fill(0);
    const auto right = right_.write_owned();
    times_mass(1, field, right);
    if (round > 0) {
      jumps(*problem_, response.local(), scratch_);
      add_transposed_jumps(*problem_, scratch_, -1, right);
      add_stiffness_product(*problem_, response.local(), -1 / rho_of_matrix_, right);
      times_mass(-tau_, response, right);
    }
    solve(right_, change_);
    response.add(1, change_);
  }
  orthogonalise(*problem_, response, zero_modes_);
  return response;
}

void JumpAdmm::update_responses(std::size_t from) {
  if (rho_of_matrix_ == 0 || (has_stiffness_ && rho_ != rho_of_matrix_)) {
    assemble();
    from = 0;
  }
  from = std::min(from, current_responses_);
  responses_.resize(from);
  for (std::size_t k = from; k < conditions_.size(); ++k) responses_.push_back(response_of(conditions_[k]));
  current_responses_ = conditions_.size();
  const auto count = static_cast<Eigen::Index>(conditions_.size());
  schur_.resize(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto row = mass_products(*problem_, responses_[k], conditions_);
    for (Eigen::Index j = 0; j < count; ++j) schur_(k, j) = row[j];
  }
  schur_ = linalg::inverse((schur_ + schur_.transpose()) / 2);
}

void JumpAdmm::set_modes(std::span<const linalg::Vector> modes) {
  // Modes are never changed, only appended or dropped, but for rebuilt lists, which cost one solve each.
  conditions_.assign(modes.begin(), modes.end());
  current_responses_ = 0;
  has_c_ = false;
}

/// Thresholds of the size of the jumps that c has, or, if it hardly has any, of a part of those of its mass
/// norm.
double JumpAdmm::first_rho() const {
  constexpr double least_part = 0.01;
  const JumpProblem& problem = *problem_;
  std::array<double, 5> sums{};
  const int size = problem.size();
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    if (!problem.links[l].counted) continue;
    const double length = Eigen::Map<const Eigen::VectorXd>(y_.data() + l * size, size).norm();
    sums[0] += length;
    sums[1] += length * length;
    sums[2] += Eigen::Map<const Eigen::VectorXd>(problem.matrix(l).data(), size * size).norm();
    sums[3] += 1;
  }
  for (LocalIndex node = 0; node < problem.layout->num_owned; ++node) sums[4] += problem.masses[node];
  problem.comm().sum(sums);
  if (!(sums[3] > 0)) return 1;
  const double most = std::sqrt(sums[4]) * sums[3] / (least_part * sums[2]);
  return sums[1] > 0 ? std::min(sums[0] / sums[1], most) : most;
}

void JumpAdmm::begin(const linalg::Vector& c) {
  v_ = c;
  v_.update_ghosts();
  std::ranges::fill(u_, 0.0);
  jumps(*problem_, v_.local(), jumps_);
  y_ = jumps_;
  rho_ = first_rho();
  multipliers_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(conditions_.size()) + (has_c_ ? 0 : 1));
  linearise_around(c);
}

void JumpAdmm::linearise_around(const linalg::Vector& c) {
  if (has_c_)
    conditions_.back() = c;
  else
    conditions_.push_back(c);
  has_c_ = true;
  update_responses(conditions_.size() - 1);
}

void JumpAdmm::step() {
  const JumpProblem& problem = *problem_;
  // What is missing for the last v and multipliers to be the solution.
  for (std::size_t k = 0; k < scratch_.size(); ++k) scratch_[k] = y_[k] - u_[k] - jumps_[k];
  right_.fill(0);
  const auto right = right_.write_owned();
  add_transposed_jumps(problem, scratch_, 1, right);
  add_stiffness_product(problem, v_.local(), -1 / rho_, right);
  for (std::size_t j = 0; j < conditions_.size(); ++j)
    for (std::size_t k = 0; k < right.size(); ++k)
      right[k] += multipliers_[j] * problem.masses[k / problem.dim] * conditions_[j].owned()[k];
  solve(right_, change_);
  v_.add(1, change_);
  if (!zero_modes_.empty()) {
    const auto parts = mass_products(problem, v_, zero_modes_);
    for (std::size_t k = 0; k < parts.size(); ++k) v_.add(-parts[k], zero_modes_[k]);
  }
  const auto now = mass_products(problem, v_, conditions_);
  Eigen::VectorXd missing(static_cast<Eigen::Index>(now.size()));
  for (std::size_t j = 0; j < now.size(); ++j) missing[j] = (j + 1 == now.size() ? 1 : 0) - now[j];
  const Eigen::VectorXd more = schur_ * missing;
  for (std::size_t j = 0; j < now.size(); ++j) v_.add(more[j], responses_[j]);
  multipliers_ += more;
  v_.update_ghosts();
  jumps(problem, v_.local(), jumps_);
}

/// y by block soft-thresholding, then the scaled multipliers u.
void JumpAdmm::threshold() {
  const int size = problem_->size();
  std::swap(old_y_, y_);
  for (std::size_t l = 0; l < problem_->links.size(); ++l) {
    const std::size_t first = l * size;
    double squares = 0;
    for (int i = 0; i < size; ++i) {
      double& relaxed = scratch_[first + i];
      relaxed = over_relaxation * jumps_[first + i] + (1 - over_relaxation) * old_y_[first + i];
      const double target = relaxed + u_[first + i];
      squares += target * target;
    }
    const double length = std::sqrt(squares);
    const double factor = problem_->links[l].breakable && length * rho_ > 1 ? 1 - 1 / (length * rho_) : 0;
    for (int i = 0; i < size; ++i) {
      const double target = scratch_[first + i] + u_[first + i];
      y_[first + i] = factor * target;
      u_[first + i] = target - y_[first + i];
    }
  }
}

void JumpAdmm::measure() {
  const JumpProblem& problem = *problem_;
  const int size = problem.size();
  // u before the last thresholding: the multipliers that the last v is the solution for.
  std::array<double, 7> sums{};
  double largest = 0;
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    if (!problem.links[l].counted) continue;
    double y2 = 0, p2 = 0, primal = 0, dual = 0, v2 = 0, u2 = 0;
    for (int i = 0; i < size; ++i) {
      const std::size_t k = l * size + i;
      const double relaxed = over_relaxation * jumps_[k] + (1 - over_relaxation) * old_y_[k];
      const double old_u = u_[k] + y_[k] - relaxed;
      const double p = rho_ * (jumps_[k] - old_y_[k] + old_u);
      y2 += y_[k] * y_[k];
      v2 += jumps_[k] * jumps_[k];
      u2 += u_[k] * u_[k];
      p2 += p * p;
      primal += (jumps_[k] - y_[k]) * (jumps_[k] - y_[k]);
      dual += (y_[k] - old_y_[k]) * (y_[k] - old_y_[k]);
      sums[0] += p * jumps_[k];
    }
    sums[1] += std::sqrt(y2);
    sums[2] += primal;
    sums[3] += dual;
    sums[4] += std::max(y2, v2);
    sums[5] += u2;
    if (problem.links[l].breakable) largest = std::max(largest, p2);
  }
  if (!problem.elements.empty()) {
    right_.fill(0);
    add_stiffness_product(problem, v_.local(), 0.5, right_.write_owned());
    const auto left = v_.owned(), right = right_.owned();
    for (std::size_t k = 0; k < left.size(); ++k) sums[6] += left[k] * right[k];
  }
  problem.comm().sum(sums);
  largest = std::sqrt(problem.comm().max(largest));
  progress_.primal = std::sqrt(sums[2] / std::max(sums[4], 1e-300));
  progress_.dual = std::sqrt(sums[3] / std::max(sums[5], 1e-300));
  progress_.energy = sums[6] + sums[1];
  const double scale = !has_stiffness_ || largest > 1 ? 1 / std::max(largest, 1e-300) : 1;
  // tau M in the step to the last v is not in the energy.
  const double of_step = 2 * rho_ * tau_ * std::sqrt(mass_product(problem, v_, v_)) * last_step_;
  progress_.bound = (sums[6] + sums[0] - of_step) * scale;
}

/// rho where the residuals differ by much [Boyd et al. 2011, 3.4.1].
void JumpAdmm::balance() {
  const double ratio = progress_.primal / std::max(progress_.dual, 1e-300);
  if (ratio < imbalance && ratio > 1 / imbalance) return;
  const double factor = std::clamp(std::sqrt(ratio), 0.2, 5.0);
  rho_ *= factor;
  for (double& value : u_) value /= factor;
  multipliers_ /= factor;
  if (has_stiffness_) update_responses(0);
}

void JumpAdmm::iterate(int count) {
  for (int k = 0; k < count; ++k) {
    linalg::Vector before;
    if (k + 1 == count) before = v_;
    step();
    if (k + 1 == count) {
      before.add(-1, v_);
      last_step_ = std::sqrt(mass_product(*problem_, before, before));
    }
    threshold();
  }
  measure();
  balance();
}

std::vector<char> JumpAdmm::closed_links() const {
  const int size = problem_->size();
  std::vector<char> closed;
  for (std::size_t l = 0; l < problem_->links.size(); ++l)
    closed.push_back(std::all_of(y_.begin() + l * size, y_.begin() + (l + 1) * size,
                                 [](double value) { return value == 0; })
                         ? 1
                         : 0);
  return closed;
}

} // namespace recoil::solvers::fracture_modes

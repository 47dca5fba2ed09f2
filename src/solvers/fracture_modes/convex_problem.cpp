#include "solvers/fracture_modes/convex_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

#include "recoil/base/error.hpp"

namespace recoil::solvers::fracture_modes {

namespace {
/// Reduced costs, relative to the cost of a column, that count as zero.
constexpr double reduced_cost_tolerance = 1e-12;
/// Steps without progress after which Bland's rule [1977] takes over, with which the simplex method does not
/// cycle.
constexpr int patience = 60;
} // namespace

Eigen::VectorXd RestrictedProblem::entries(const Column& column) const {
  const int rows = pool_->num_rows();
  if (column.cut < 0) return column.sign * Eigen::VectorXd::Unit(rows, ~column.cut);
  return column.sign * Eigen::Map<const Eigen::VectorXd>(pool_->cuts()[column.cut].sums.data(), rows);
}

double RestrictedProblem::cost(const Column& column) const {
  return column.cut < 0 ? artificial_cost_ : pool_->cuts()[column.cut].weight;
}

void RestrictedProblem::begin() {
  for (int row = 0; row < pool_->num_rows(); ++row) columns_.push_back({~row, 1});
  // More than any multiplier can be: the dearest cut, for the least that a cut may count in a row.
  double dearest = 0, largest = 0;
  for (const Cut& cut : pool_->cuts()) {
    dearest = std::max(dearest, cut.weight);
    for (const double sum : cut.sums) largest = std::max(largest, std::abs(sum));
  }
  artificial_cost_ = artificial_factor_ * dearest / (largest > 0 ? largest : 1.0);
}

bool RestrictedProblem::solve() {
  const int rows = pool_->num_rows();
  if (std::ssize(columns_) != rows) {
    columns_.clear();
    begin();
  }
  const Eigen::VectorXd target = Eigen::VectorXd::Unit(rows, rows - 1);
  Eigen::MatrixXd basis(rows, rows);
  Eigen::VectorXd costs(rows);
  double before = std::numeric_limits<double>::infinity();
  for (int step = 0, idle = 0;; ++step) {
    for (int i = 0; i < rows; ++i) {
      basis.col(i) = entries(columns_[i]);
      costs[i] = cost(columns_[i]);
    }
    const Eigen::PartialPivLU<Eigen::MatrixXd> factor(basis);
    amounts_ = factor.solve(target);
    multipliers_ = factor.transpose().solve(costs);
    const double value = costs.dot(amounts_);
    idle = value < before * (1 - 1e-13) ? 0 : idle + 1;
    before = value;
    const bool by_order = idle > patience;
    if (step > 20000) break; // cannot happen but for rounding; what is there is feasible

    Column entering{-1, 0};
    double best = reduced_cost_tolerance;
    for (int k = 0; k < std::ssize(pool_->cuts()); ++k) {
      if (!pool_->is_usable(k)) continue;
      const Cut& cut = pool_->cuts()[k];
      const double gain = multipliers_.dot(Eigen::Map<const Eigen::VectorXd>(cut.sums.data(), rows));
      const double excess = std::abs(gain) / cut.weight - 1;
      if (excess <= best) continue;
      best = excess;
      entering = {k, gain < 0 ? -1.0 : 1.0};
      if (by_order) break;
    }
    if (entering.sign == 0) break;
    const Eigen::VectorXd direction = factor.solve(entries(entering));
    const double tiny = 1e-10 * direction.lpNorm<Eigen::Infinity>();
    int leaving = -1;
    double shortest = std::numeric_limits<double>::infinity();
    const auto length = [&](int i) {
      return direction[i] > tiny ? std::max(amounts_[i], 0.0) / direction[i]
                                 : std::numeric_limits<double>::infinity();
    };
    for (int i = 0; i < rows; ++i) shortest = std::min(shortest, length(i));
    for (int i = 0; i < rows; ++i) {
      if (!(length(i) <= shortest * (1 + 1e-12) + 1e-15)) continue;
      const bool is_better = leaving < 0 || (by_order ? columns_[i].cut < columns_[leaving].cut
                                                      : direction[i] > direction[leaving]);
      if (is_better) leaving = i;
    }
    if (leaving < 0) break; // costs are positive: only by rounding
    columns_[leaving] = entering;
  }
  for (int i = 0; i < rows; ++i)
    if (columns_[i].cut < 0 && std::abs(amounts_[i]) > 1e-11) return false;
  return true;
}

std::vector<double> RestrictedProblem::field() const {
  std::vector<double> field(pool_->graph().size(), 0.0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].cut < 0) continue;
    const double amount = columns_[i].sign * amounts_[i];
    if (amount == 0) continue;
    for (const int p : pool_->cuts()[columns_[i].cut].members) field[p] += amount;
  }
  pool_->center(field);
  return field;
}

Excess find_excess(CutPool& pool, MinimumCut& minimum_cut, const Eigen::VectorXd& multipliers) {
  const PieceGraph& graph = pool.graph();
  std::vector<double> gains(graph.size(), 0.0);
  for (int row = 0; row < pool.num_rows(); ++row)
    for (int p = 0; p < graph.size(); ++p) gains[p] += multipliers[row] * pool.rows()[row][p];
  Excess excess{1, 0};
  // Each round has a larger ratio than the one before; a dozen is more than are ever needed.
  for (int round = 0; round < 50; ++round) {
    const std::vector<char> set = minimum_cut.best_set(gains, excess.factor);
    double gain = 0, weight = 0;
    for (int p = 0; p < graph.size(); ++p)
      if (set[p] != 0) gain += gains[p];
    for (const PieceGraph::Link& link : graph.links)
      if (set[link.a] != set[link.b]) weight += link.weight;
    if (!(weight > 0) || gain <= excess.factor * weight * (1 + 1e-13)) break;
    const std::size_t known = pool.cuts().size();
    pool.add(set);
    double largest = excess.factor;
    for (std::size_t k = known; k < pool.cuts().size(); ++k) {
      const Cut& cut = pool.cuts()[k];
      largest = std::max(largest, std::abs(multipliers.dot(
                                      Eigen::Map<const Eigen::VectorXd>(cut.sums.data(), pool.num_rows()))) /
                                      cut.weight);
    }
    // What is left of sets whose parts were too small need not have the ratio of the set.
    if (!(largest > excess.factor * (1 + 1e-13))) break;
    excess.factor = largest;
    excess.added += static_cast<int>(pool.cuts().size() - known);
  }
  return excess;
}

} // namespace recoil::solvers::fracture_modes

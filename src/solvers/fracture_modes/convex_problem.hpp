#pragma once

#include <vector>

#include <Eigen/Core>

#include "solvers/fracture_modes/cut_pool.hpp"
#include "solvers/fracture_modes/minimum_cut.hpp"

namespace recoil::solvers::fracture_modes {

/// The least E_D over combinations of the cuts of a pool for which the last row of the pool gives 1 and the
/// others 0:
///     min sum_S |alpha_S| weight_S  subject to  sum_S alpha_S (row_r over S) = (0, .., 0, 1),
/// a linear program with as many rows as there are modes, by the primal simplex method. Between calls cuts
/// may be added to the pool and its last row may change; the simplex method goes on from where it was.
class RestrictedProblem {
public:
  explicit RestrictedProblem(const CutPool& pool) : pool_(&pool) {}

  /// False where no combination of these cuts satisfies the conditions.
  bool solve();
  /// Makes artificial columns dearer, where these are in the solution although no cut is missing.
  void raise_artificial_cost() {
    artificial_factor_ *= 1000;
    artificial_cost_ *= 1000;
  }
  /// Forgets the basis; for another set of cuts or rows.
  void restart() { columns_.clear(); }
  /// sum of alpha_S times indicators of the members of S, less the means of components.
  std::vector<double> field() const;
  /// Multipliers of the rows; the last one is the energy, where solve() was true.
  const Eigen::VectorXd& multipliers() const { return multipliers_; }

private:
  struct Column {
    int cut;     ///< its number in the pool, or ~row of an artificial column
    double sign; ///< +-1
  };
  Eigen::VectorXd entries(const Column& column) const;
  double cost(const Column& column) const;
  void begin();

  const CutPool* pool_;
  double artificial_factor_ = 1e4, artificial_cost_ = 0;
  std::vector<Column> columns_; ///< the basis
  Eigen::VectorXd amounts_, multipliers_;
};

/// By what factor multipliers are too large for E_D(x) >= sum_r multipliers_r (row_r . x) to hold for all
/// fields x of cuts that the pool admits: the largest of |gains over S| / weight_S over all S, gains = sum of
/// multipliers_r row_r, by Dinkelbach's method [1967] on minimum cuts. The sets met on the way are added to
/// the pool; `added` counts those by which the factor grew. Where the pool refuses small pieces the factor is
/// that of what is left of the sets without these, and may be too small. Serial.
struct Excess {
  double factor;
  int added;
};
Excess find_excess(CutPool& pool, MinimumCut& minimum_cut, const Eigen::VectorXd& multipliers);

} // namespace recoil::solvers::fracture_modes

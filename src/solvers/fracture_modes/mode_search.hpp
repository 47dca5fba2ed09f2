#pragma once

#include <span>
#include <vector>

#include "solvers/fracture_modes/convex_problem.hpp"
#include "solvers/fracture_modes/cut_pool.hpp"
#include "solvers/fracture_modes/minimum_cut.hpp"

namespace recoil::solvers::fracture_modes {

/// Where a descent has ended.
struct FoundMode {
  std::vector<double>
      field; ///< a number per piece, of mass norm 1, orthogonal to all rows; empty if there is none
  double energy = 0;
  /// Part of the energy by which the convex problem around the field may have a lower value; of rounding
  /// where the field is a fixed point.
  double gap = 0;
  int iterations = 0; ///< convex problems
  int start = 0;      ///< which descent for the mode it was
};

/// Scalar fracture modes on a graph of pieces. A mode minimises E_D(c) over fields with c' M c = 1 that are
/// orthogonal to the constants of each component and to given rows. Iterated convexification [Brandt,
/// Hildebrandt 2017]: c becomes v / |v| of the v of least E_D with c' M v = 1, which never raises E_D, as |v|
/// >= 1. Each such problem is a linear program over cuts, solved exactly: what the known cuts allow
/// (RestrictedProblem), then cuts that are missing, by minimum cuts (find_excess). Cuts of one field that run
/// along each other, or along faults of earlier modes, leave crumbs between them; where such are lighter than
/// is allowed they are joined to what lies beside them, and the field is found again on the parts that are
/// left. Serial and without randomness.
class ModeSearch {
public:
  /// The graph must outlive it.
  /// @param least as of CutPool; its `part` holds for all cuts of a mode together.
  ModeSearch(const PieceGraph& graph, LeastShares least);

  CutPool& pool() { return pool_; }
  const CutPool& pool() const { return pool_; }
  /// Fields to come are orthogonal in the mass to these, whose means over each component are zero.
  const std::vector<std::vector<double>>& modes() const { return modes_; }
  void add_mode(std::vector<double> mode);
  /// Drops all but the first `count` of them.
  void keep_modes(std::size_t count);
  /// Adds level sets of `field` to the pool: all if there are at most `count`, else from each of `count`
  /// classes of equal mass the one of the least E_D of its indicator, centred and of mass norm 1.
  void add_level_sets(std::span<const double> field, int count);
  /// Least E_D in reach from `start`, which need be neither normal nor orthogonal.
  FoundMode descend(std::span<const double> start);
  /// Takes constants and modes out of `field` and scales it to mass norm 1. Returns false where nothing is
  /// left.
  bool make_feasible(std::vector<double>& field) const;

private:
  /// The first `size` pieces by falling values of a field.
  struct LevelSet {
    std::size_t size;
    double mass, weight;
  };
  std::vector<LevelSet> level_sets(std::span<const double> field, const std::vector<int>& order) const;
  double mass_norm(std::span<const double> field) const;
  FoundMode descend_to_any_parts(std::span<const double> start);
  void tell_faults();
  FoundMode without_crumbs(FoundMode found) const;
  std::vector<char> jumping_links(std::span<const double> field) const;
  std::vector<int> joined_crumbs(std::span<const double> field) const;

  const PieceGraph* graph_;
  LeastShares least_;
  std::vector<std::vector<double>> modes_;
  std::vector<int> faults_; ///< of each link: how many modes jump there
  CutPool pool_;
  MinimumCut minimum_cut_;
};

} // namespace recoil::solvers::fracture_modes

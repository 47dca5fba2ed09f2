#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/solvers/fracture_modes/vector_modes.hpp"
#include "solvers/fracture_modes/jump_admm.hpp"
#include "solvers/fracture_modes/jump_parts.hpp"
#include "solvers/fracture_modes/jump_problem.hpp"

namespace recoil::solvers::fracture_modes {

/// A mode of a JumpProblem, or a start of a search: the values of the owned nodes.
struct FoundField {
  std::vector<double> values;
  double energy = 0, gap = 0;
  int iterations = 0, start = 0;
  bool exists = false; ///< ranks without nodes have no values of any
};

/// Where a JumpSearch stands, but for what follows from its arguments.
struct JumpSearchState {
  std::vector<FoundField> modes, dropped;
  int searches = 0, descents = 0;
  FoundField best; ///< may not exist yet
};

/// Modes of a JumpProblem one after the other, each the field of the least energy that is found with mass
/// norm 1 orthogonal to the zero modes and to the modes before: iterated convexification [Brandt, Hildebrandt
/// 2017] from several starts, each convex problem by JumpAdmm and polish().
class JumpSearch {
public:
  /// @param starts fields of nodes, @param cut_sources one number per owned node: fields whose level sets are
  /// starts, too.
  /// @param team ranks that hold the same problem, each for itself, between which the starts are divided;
  /// nullptr where the problem is distributed. Collective over either.
  JumpSearch(const JumpProblem& problem, const parallel::Communicator* team,
             std::vector<std::vector<double>> starts, const std::vector<std::vector<double>>& cut_sources,
             const VectorModeOptions& options);

  const std::vector<linalg::Vector>& zero_modes() const { return zero_modes_; }
  const std::vector<FoundField>& modes() const { return modes_; }
  int searches() const { return searches_; }
  /// Finds another mode, false where there is none. One with less energy than earlier ones takes the place of
  /// these, which are starts for what follows. `observe` is called where state() may be asked for.
  bool find_next(const std::function<void(double)>& observe);

  JumpSearchState state() const { return {modes_, dropped_, searches_, descents_, best_}; }
  /// Goes on from a state. @pre nothing was found yet.
  void resume(JumpSearchState state);

private:
  /// A set of nodes, with directions in which to move it.
  struct Cut {
    std::vector<char> inside; ///< of local nodes
    Eigen::MatrixXd directions;
    double energy; ///< of the cheapest direction, before it is made orthogonal to modes
  };

  struct Start {
    linalg::Vector field;
    bool has_pieces; ///< a sum of moved cuts and modes
  };
  /// Where a descent stands.
  struct Descent {
    linalg::Vector c;
    double energy;
    bool has_pieces;
    std::vector<char> tried; ///< what was closed in the last polish
  };

  void glue_unbreakable(std::vector<double>& field) const;
  bool make_feasible(linalg::Vector& field) const;
  std::vector<double> thresholds_of(const std::vector<double>& owned) const;
  std::vector<Cut> level_sets(std::vector<double> owned) const;
  linalg::Vector moved(const Cut& cut, int direction) const;
  std::vector<Cut> cuts_of_mode(const linalg::Vector& field) const;
  std::vector<std::vector<double>> energies_of(std::span<const Cut* const> cuts) const;
  void add_cut_starts(std::vector<Start>& chosen) const;
  std::vector<Start> choose_starts() const;
  std::vector<char> earlier_faults() const;
  bool lower_energy(Descent& now, std::span<const char> faults);
  FoundField descend(linalg::Vector c, bool has_pieces, double gap, int most_iterations);
  FoundField best_descent(const std::vector<Start>& starts, const std::function<void(double)>& observe);
  FoundField below_cuts(FoundField mode);
  FoundField on_first(const std::function<FoundField()>& search) const;
  FoundField finished(const FoundField& from);
  void share(FoundField& found, int root) const;
  void insert(FoundField mode);
  void add_mode(FoundField mode);

  const JumpProblem& problem_;
  const parallel::Communicator* team_;
  std::vector<std::vector<double>> starts_;
  VectorModeOptions options_;
  bool painted_ = false; ///< there are links that must not break
  LeastParts least_parts_;
  std::vector<linalg::Vector> zero_modes_, fields_;
  std::vector<Cut> cuts_;
  std::vector<std::vector<Cut>> cuts_of_modes_; ///< of fields_
  JumpAdmm admm_;
  std::vector<FoundField> modes_, dropped_;
  int searches_ = 0, descents_ = 0;
  FoundField best_;
};

} // namespace recoil::solvers::fracture_modes

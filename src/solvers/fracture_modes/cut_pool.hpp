#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "recoil/solvers/fracture_modes/piece_graph.hpp"

namespace recoil::solvers::fracture_modes {

/// A connected set S of pieces inside of one component of the graph, by the members of the smaller one of S
/// and the rest of the component: both have the same boundary, and an indicator less its mean in the
/// component only changes its sign.
struct Cut {
  std::vector<int> members; ///< ascending
  double weight = 0;        ///< sum of the weights of the links between S and the rest: E_D of its indicator
  std::vector<double> sums; ///< of the rows of the problem over the members
};

/// Shares of the mass of a component.
struct LeastShares {
  double side = 0; ///< that a connected part on either side of a cut has
  double part = 0; ///< that each part has into which cuts divide what earlier modes leave in one piece
};

/// Cuts, each once, with the sums of rows over them. By the coarea formula every field x on the graph is a
/// sum of alpha_S times indicators of its level sets with E_D(x) = sum of alpha_S weight_S, alpha_S >= 0: the
/// fields of least E_D under linear conditions are those of a linear program in the alpha_S.
class CutPool {
public:
  CutPool(const PieceGraph& graph, LeastShares least);

  const PieceGraph& graph() const { return *graph_; }
  /// Component of each piece, and the mass of each component.
  const std::vector<int>& component() const { return component_; }
  const std::vector<double>& component_masses() const { return component_masses_; }

  /// Tells where earlier modes jump: a flag per link.
  void set_faults(std::vector<char> faults);
  /// What faults leave in one piece, by piece of the graph, and how light a part of each may be.
  const std::vector<int>& left() const { return left_; }
  const std::vector<double>& least_masses() const { return least_masses_; }

  const std::vector<Cut>& cuts() const { return cuts_; }
  /// Whether all parts of a cut are heavy enough; with other faults they may not have been.
  bool is_usable(std::size_t cut) const { return usable_[cut] != 0; }
  /// Adds the connected parts of `set` (a flag per piece) and of the rest, those which are new; returns how
  /// many. Parts that are too small change sides before, from the smallest one on.
  int add(std::span<const char> set);
  /// Adds a cut of another pool of this graph; false if it is there already.
  bool add(Cut cut);
  /// Drops all but the first `count` cuts.
  void truncate(std::size_t count);

  int num_rows() const { return static_cast<int>(rows_.size()); }
  /// Appends a row, one number per piece with sum zero over each component.
  void add_row(std::vector<double> row);
  /// Drops all but the first `count` rows.
  void keep_rows(std::size_t count);
  /// Replaces the last row.
  void set_last_row(std::vector<double> row);
  const std::vector<std::vector<double>>& rows() const { return rows_; }

  /// Takes the mean of each component by mass away from `field`.
  void center(std::span<double> field) const;

private:
  /// A connected part of a set or of the rest.
  struct Part {
    std::vector<int> members;
    double mass;
  };
  std::vector<Part> split(std::span<const char> set, bool at_faults) const;
  bool is_small(const Part& part, bool at_faults) const;
  bool has_small_parts(const Cut& cut) const;
  bool insert(Cut cut, bool is_usable);
  bool absorb_small_parts(std::vector<char>& set, bool at_faults) const;
  bool add_part(const std::vector<int>& part);

  const PieceGraph* graph_;
  std::vector<int> component_;
  std::vector<double> component_masses_;
  std::vector<std::vector<int>> pieces_of_component_;
  std::vector<int> link_starts_, link_ids_; ///< links of each piece
  std::vector<char> faults_;                ///< of links
  std::vector<int> left_, of_left_;         ///< what faults leave, and how many pieces each consists of
  std::vector<double> least_masses_;
  std::vector<std::vector<double>> rows_;
  std::vector<Cut> cuts_;
  std::vector<char> usable_; ///< of cuts_
  struct HashOfMembers {
    std::size_t operator()(const std::vector<int>& members) const;
  };
  std::unordered_set<std::vector<int>, HashOfMembers> known_;
  std::vector<char> marks_; ///< scratch: a zero per piece between calls
  LeastShares least_;
};

} // namespace recoil::solvers::fracture_modes

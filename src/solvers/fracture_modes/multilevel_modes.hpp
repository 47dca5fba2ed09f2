#pragma once

#include <array>
#include <vector>

#include "solvers/fracture_modes/element_fields.hpp"

namespace recoil::solvers::fracture_modes {

/// Modes of a body with more elements than one rank searches. Coarse pieces lie between level sets of the
/// eigenvectors, many of each; the modes of these few pieces are found on every rank. Along the fault of a
/// new mode pieces are then divided into their elements, so that it moves to a place of less energy among
/// them, again and again until it stays where all around it is divided: no step raises the energy.
class MultilevelModes {
public:
  /// All must outlive it. Collective, as are all members.
  MultilevelModes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                  const ModeOptions& options);

  const std::vector<FractureMode>& modes() const { return modes_; }
  int searches() const { return searches_; }
  /// Finds another mode; false where there is none. As ReplicatedModes::find_next(), though modes that are
  /// dropped are no starts.
  bool find_next(const std::function<void(double)>& observe = {});

  SearchState state() const;
  /// Goes on from a state. @pre nothing was found yet.
  void resume(const SearchState& state);

private:
  double find_margin() const;
  std::vector<std::uint64_t> classes_of_starts(int classes) const;
  void choose_classes();
  GatheredPieces current_pieces() const;
  const FractureMode& newest() const;
  std::vector<FractureMode> search(const GatheredPieces& pieces);
  bool divide_along_fault();
  std::array<std::int64_t, 3> cell_of(LocalIndex element, double spacing) const;

  const ElementGraph& graph_;
  const std::vector<std::vector<double>>& starts_;
  const ModeOptions& options_;
  Eigen::Vector3d low_corner_;
  double margin_ = 0;                ///< width of what is divided on each side of a fault [m]
  std::vector<std::uint64_t> codes_; ///< of local elements; neighbours with the same one are a coarse piece
  std::vector<FractureMode> modes_;
  std::vector<FractureMode> tentative_; ///< modes_ with one more, whose fault is still divided
  linalg::Vector divided_;              ///< 1 where elements are pieces of their own
  int searches_ = 0;
};

} // namespace recoil::solvers::fracture_modes

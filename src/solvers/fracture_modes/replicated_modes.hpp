#pragma once

#include <random>
#include <vector>

#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "solvers/fracture_modes/mode_search.hpp"

namespace recoil::solvers::fracture_modes {

using Field = std::vector<double>; ///< a number per piece

/// Orthonormal modes and the search for the next one, the same on every rank.
class ReplicatedModes {
public:
  ReplicatedModes(const parallel::Communicator& comm, const PieceGraph& graph, std::vector<Field> starts,
                  const ModeOptions& options)
      : comm_(comm), graph_(graph), search_(graph), starts_(std::move(starts)), options_(options),
        random_(options.seed) {
    for (const Field& start : starts_) search_.add_level_sets(start, level_sets_of_starts);
  }

  /// Orthonormal, by ascending energy.
  const std::vector<FoundMode>& modes() const { return modes_; }
  /// Takes a mode that is known already.
  void add_mode(FoundMode mode);
  /// Finds another mode; false where there is none. A mode with less energy than earlier ones is looked for
  /// again in their place. Where that leaves them as they are the new one goes before them; else they are
  /// dropped and are starts for what follows, so that there may be fewer modes than before. Collective.
  bool find_next(const std::vector<Field>& more_starts = {});

private:
  static constexpr int level_sets_of_starts = 64;

  std::vector<Field> choose_starts(const std::vector<Field>& more_starts);
  void choose_cuts(std::vector<Field>& chosen);
  FoundMode best_descent(const std::vector<Field>& starts);
  FoundMode below_cuts(FoundMode mode);
  void insert(FoundMode mode);
  void share(FoundMode& found, std::size_t old_cuts, int root);

  const parallel::Communicator& comm_;
  const PieceGraph& graph_;
  ModeSearch search_;
  std::vector<Field> starts_, dropped_;
  std::vector<Field> fields_; ///< of modes_
  std::vector<FoundMode> modes_;
  ModeOptions options_;
  std::mt19937 random_;
};

} // namespace recoil::solvers::fracture_modes

#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "solvers/fracture_modes/mode_search.hpp"

namespace recoil::solvers::fracture_modes {

using Field = std::vector<double>; ///< a number per piece

/// Where a ReplicatedModes stands; the same on every rank.
struct PieceSearchState {
  std::vector<FoundMode> modes;
  std::vector<Field> dropped;
  int searches = 0;      ///< that have ended
  int descents = 0;      ///< done for the mode that is looked for
  FoundMode best;        ///< of these, without a field if none has led anywhere
  std::vector<Cut> cuts; ///< all but those of the starts; the last ones come from `best`
  int cuts_of_best = 0;
};

/// All modes together leave about one piece more than there are modes; none lighter than a quarter of their
/// mean.
inline LeastShares least_shares(const ModeOptions& options) {
  return {options.least_piece, std::min(options.least_piece, 0.25 / (options.count + 1))};
}

/// Orthonormal modes and the search for the next one, the same on every rank.
class ReplicatedModes {
public:
  ReplicatedModes(const parallel::Communicator& comm, const PieceGraph& graph, std::vector<Field> starts,
                  const ModeOptions& options)
      : comm_(comm), graph_(graph), search_(graph, least_shares(options)), starts_(std::move(starts)),
        options_(options) {
    for (const Field& start : starts_) search_.add_level_sets(start, level_sets_of_starts);
    cuts_of_starts_ = search_.pool().cuts().size();
  }

  /// Orthonormal, by ascending energy.
  const std::vector<FoundMode>& modes() const { return modes_; }
  /// Takes a mode that is known already.
  void add_mode(FoundMode mode);
  /// Finds another mode; false where there is none. A mode with less energy than earlier ones is looked for
  /// again in their place. Where that leaves them as they are the new one goes before them; else they are
  /// dropped and are starts for what follows, so that there may be fewer modes than before. Collective;
  /// `observe` is called on all ranks where state() may be asked for, with the part of the descents that is
  /// done.
  bool find_next(const std::vector<Field>& more_starts = {}, const std::function<void(double)>& observe = {});
  int searches() const { return searches_; }

  PieceSearchState state() const;
  /// Goes on from a state. @pre nothing was found or added yet.
  void resume(PieceSearchState state);

private:
  static constexpr int level_sets_of_starts = 64;

  std::vector<Field> choose_starts(const std::vector<Field>& more_starts);
  void choose_cuts(std::vector<Field>& chosen);
  FoundMode best_descent(const std::vector<Field>& starts, const std::function<void(double)>& observe);
  FoundMode below_cuts(FoundMode mode);
  void insert(FoundMode mode);
  void share(FoundMode& found, std::vector<Cut>& cuts, int root);

  const parallel::Communicator& comm_;
  const PieceGraph& graph_;
  ModeSearch search_;
  std::vector<Field> starts_, dropped_;
  std::size_t cuts_of_starts_ = 0;
  std::vector<FoundMode> modes_;
  ModeOptions options_;
  int searches_ = 0, descents_ = 0;
  FoundMode best_;                ///< of the descents for the mode that is looked for
  std::vector<Cut> cuts_of_best_; ///< not in the pool yet
};

} // namespace recoil::solvers::fracture_modes

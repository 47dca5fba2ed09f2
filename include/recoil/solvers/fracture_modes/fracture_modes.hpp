#pragma once

#include <cstdint>
#include <vector>

#include "recoil/solvers/fracture_modes/element_graph.hpp"

namespace recoil::solvers::fracture_modes {

struct ModeOptions {
  int count = 10; ///< of modes beyond the constants of each component
  /// Descents per mode: from as many of the cuts of least energy that are known, from the eigenvector of the
  /// mode's number and from random combinations of eigenvectors.
  int cut_starts = 3, eigenvector_starts = 1, random_starts = 1;
  std::uint32_t seed = 1; ///< of the random combinations
  /// Least share of the mass of its component that a connected part on either side of a fault of a mode has,
  /// 0 to below 1/2. In 3D the energy of a part of size r is about r^(1/2): without such a bound the modes of
  /// least energy break off single elements, whatever their size. All modes together leave no part that is
  /// lighter than this share, or than 1 / (4 (count + 1)) if that is less.
  double least_piece = 0.05;
  /// Up to so many elements every rank holds the graph of all, and descents are distributed over the ranks.
  /// Beyond, the search goes on among about `coarse_pieces` connected pieces between level sets of the
  /// eigenvectors, which are divided into elements along the faults that are found.
  GlobalIndex replicated_elements = 40000;
  GlobalIndex coarse_pieces = 16000;
};

/// A scalar fracture mode: an amplitude per element, with the mass matrix diag(m_e).
struct FractureMode {
  linalg::Vector field; ///< with current ghosts; u' M u = 1
  double energy = 0;    ///< E_D [unit of the weights, kg^-1/2]
  /// Relative gap of the convex problem around the mode: its energy is least there to that part. With a
  /// `least_piece` among the cuts that were found.
  double gap = 0;
  int iterations = 0; ///< convex problems of the descent that it comes from
  int start = 0;      ///< number of that descent among those of the mode
};

/// Zero-energy modes, then those that break the body.
struct FractureModes {
  /// Constants on each component: 1 / sqrt(its mass) there, 0 elsewhere.
  std::vector<linalg::Vector> constants;
  std::vector<FractureMode> modes;
};

/// Where a search stands, from which it goes on to the same modes on any number of ranks. Fields have one
/// number per owned element.
struct SearchState {
  struct Field {
    std::vector<double> values;
    double energy = 0, gap = 0;
    int iterations = 0, start = 0;
  };
  std::vector<Field> modes;   ///< found
  std::vector<Field> dropped; ///< starts that were modes before
  int searches = 0;           ///< of all that have ended
  /// Of the mode that is looked for: the starts that are done with and, after the first, the best of what
  /// they have led to.
  int descents = 0;
  std::vector<Field> best;
  /// Cuts, but for those of the starts: bit k % 64 of word k / 64 of an element tells whether it is inside of
  /// cut k. The last `cuts_of_best` come from the descent to `best`.
  std::vector<double> cut_weights;
  std::vector<std::int64_t> cut_bits; ///< (owned elements, words_of_cuts())
  int cuts_of_best = 0;
  /// Whether each element is a piece of its own, and the modes with the one that is looked for; of large
  /// bodies.
  std::vector<std::int32_t> divided;
  std::vector<Field> tentative;

  std::size_t words_of_cuts() const { return (cut_weights.size() + 63) / 64; }
};

/// Where a search for modes has come to, for its caller.
struct SearchProgress {
  int modes = 0;                      ///< found
  double part_of_next = 0;            ///< 0 to below 1, roughly
  std::vector<double> energies;       ///< of the modes found
  std::function<SearchState()> state; ///< collective
};
/// Called on all ranks wherever the search can be taken up again; may throw on all of them to end it.
using SearchObserver = std::function<void(const SearchProgress&)>;

/// The modes u_1, u_2, .. of a body with the discontinuity energy E_D of `graph`, one after the other, each
/// the one of the least energy that is found with pieces that are large enough, orthogonal in the mass to
/// those before and to the constants [Sellan et al. 2023, section 3.7]. Up to `replicated_elements` elements
/// no level set of the modes and of the starts, and no other cut that was met, made orthogonal, has less
/// energy than the mode that was found next, and the result is the same on any number of ranks if the starts
/// are. Modes of larger bodies are approximate, and sums over their pieces are rounded differently on other
/// numbers of ranks.
/// @param starts eigenvectors as start_fields() gives them, one number per owned element.
/// @param from where an earlier search with the same arguments stood; nullptr: from the beginning.
/// Fewer modes come out where elements and faces allow no more. Every rank holds 200 bytes per element, or
/// per piece of a large body, and 8 per element and mode. Collective.
FractureModes find_modes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                         const ModeOptions& options = {}, const SearchObserver& observe = {},
                         const SearchState* from = nullptr);

} // namespace recoil::solvers::fracture_modes

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
  /// Up to so many elements every rank holds the graph of all, and descents are distributed over the ranks.
  /// Beyond, the elements stay distributed: the method of multipliers finds candidates for faults on all
  /// ranks, and the search goes on among the pieces between these.
  GlobalIndex replicated_elements = 200000;
  double admm_tolerance = 1e-4; ///< of the relative residuals
  int admm_iterations = 300;
  int refinements = 4; ///< most rounds of candidates around the best mode so far
};

/// A scalar fracture mode: an amplitude per element, with the mass matrix diag(m_e).
struct FractureMode {
  linalg::Vector field; ///< with current ghosts; u' M u = 1
  double energy = 0;    ///< E_D [unit of the weights, kg^-1/2]
  double gap =
      0; ///< relative gap of the convex problem around the mode: its energy is least there to that part
  int iterations = 0; ///< convex problems of the descent that it comes from
  int start = 0;      ///< number of that descent among those of the mode
};

/// Zero-energy modes, then those that break the body.
struct FractureModes {
  /// Constants on each component: 1 / sqrt(its mass) there, 0 elsewhere.
  std::vector<linalg::Vector> constants;
  std::vector<FractureMode> modes;
};

/// The modes u_1, u_2, .. of a body with the discontinuity energy E_D of `graph`, one after the other, each
/// the one of the least energy that is found orthogonal in the mass to those before and to the constants
/// [Sellan et al. 2023, section 3.7]. No level set of the modes and of the starts, and no other cut that was
/// met, made orthogonal, has less energy than the mode that was found next.
/// @param starts eigenvectors as start_fields() gives them, one number per owned element.
/// Fewer modes come out where elements and faces allow no more. Collective. Up to `replicated_elements` the
/// result depends on the number of ranks only by that of the starts; every rank then holds 200 bytes per
/// element and 8 per element and mode.
FractureModes find_modes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                         const ModeOptions& options = {});

} // namespace recoil::solvers::fracture_modes

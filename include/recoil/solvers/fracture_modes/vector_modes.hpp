#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "recoil/solvers/fracture_modes/fracture_modes.hpp"

namespace recoil::solvers::fracture_modes {

struct VectorModeOptions {
  int count = 10; ///< of modes beyond the translations of each component
  /// Descents per mode: from as many of the cheapest cuts, each moved along an axis or a principal direction,
  /// from the eigenvector of the mode's number, from random combinations of eigenvectors.
  int cut_starts = 2, eigenvector_starts = 1, random_starts = 1;
  std::uint32_t seed = 1; ///< of the random combinations
  /// Least share of the mass of its component that a connected part on either side of the faults of a mode
  /// has, faults of earlier modes apart; as ModeOptions::least_piece.
  double least_piece = 0.05;
  /// Up to so many elements every rank holds all of them, and descents are distributed over the ranks;
  /// beyond, all ranks work on one descent.
  GlobalIndex replicated_elements = 40000;
  /// Iterations of the method of multipliers of a descent, and the relative gap between the energy and a
  /// lower bound of its last convex problem at which it ends: `rough` ones, of which the best goes on.
  int rough_iterations = 300, iterations = 2000;
  double rough_gap = 1e-3, gap = 1e-6;
  /// Convex problems are solved to rounding where what their solution leaves glued has no more numbers.
  int most_polished_numbers = 600;
};

/// A mode with `dim` numbers per element, in the order of the elements of the graph.
struct VectorMode {
  linalg::Vector field; ///< with current ghosts; u' M u = 1, M = diag(m_e)
  double energy = 0;    ///< E_D [unit of the weights, kg^-1/2]
  /// Relative gap between the energy and the lower bound that is known of the convex problem around the mode,
  /// among all fields. With a `least_piece` it may be the price of that.
  double gap = 0;
  int iterations = 0; ///< convex problems of the descent that it comes from
  int start = 0;      ///< number of that descent among those of the mode
};

struct VectorModes {
  /// Translations of each component by 1 / sqrt(its mass) along each axis.
  std::vector<linalg::Vector> constants;
  std::vector<VectorMode> modes;
};

/// Tensors T_e of owned elements, symmetric positive definite, without unit: how dear it is to move the sides
/// of a face apart, by direction. Empty: the identity everywhere.
template <int dim>
using JumpTensors = std::vector<Eigen::Matrix<double, dim, dim>>;

/// E_D(u) = sum_f w_f |T_f (u_a - u_b)| of a field of `dim` numbers per element whose ghosts are current, w_f
/// the weights of the graph, T_f the mean of the tensors of both elements; diag(eta) is eta of [Sellan et al.
/// 2023, eq. 26]. Collective. @throws InputError as find_vector_modes().
template <int dim>
double vector_discontinuity_energy(const ElementGraph& graph, const JumpTensors<dim>& tensors,
                                   const linalg::Vector& field);

/// The modes u_1, u_2, .. of a body as motions of its elements: fields of `dim` numbers per element that
/// minimise E_D, each with u' M u = 1 orthogonal to those before and to the translations [Sellan et al. 2023,
/// section 3.7, Appendix B]. Each is the best of several descents of iterated convexification, of which no
/// step raises the energy; none has more energy than a level set of it or of a start, moved along an axis or
/// a principal direction and made orthogonal. Where T is everywhere the same multiple of the identity, they
/// are the scalar modes along `dim` directions each, and FractureModes take a fraction of the time.
///
/// The result is the same on any number of ranks up to `replicated_elements` elements, if the starts are;
/// beyond, sums are rounded differently. Each iteration of a descent takes one linear system with a matrix
/// that never changes: by a factor where a rank works alone, by multigrid where ranks work together.
/// @param tensors by owned element, or empty.
/// @param starts eigenvectors as start_fields() gives them, one number per owned element.
/// @param scalar scalar modes, whose level sets are starts as are those of the eigenvectors; may be empty.
/// @param observe as in find_modes(); the fields of a state have `dim` numbers per owned element.
/// @param from where an earlier search with the same arguments stood; nullptr: from the beginning. The same
/// modes follow, bitwise on the same number of ranks.
/// Fewer modes come out where elements and faces allow no more. Collective.
/// @throws InputError on every rank where a tensor is not symmetric positive definite.
template <int dim>
VectorModes find_vector_modes(const ElementGraph& graph, const JumpTensors<dim>& tensors,
                              const std::vector<std::vector<double>>& starts, const FractureModes& scalar,
                              const VectorModeOptions& options = {}, const SearchObserver& observe = {},
                              const SearchState* from = nullptr);

} // namespace recoil::solvers::fracture_modes

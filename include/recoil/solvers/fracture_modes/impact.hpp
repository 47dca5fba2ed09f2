#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/base/union_find.hpp"
#include "recoil/solvers/fracture_modes/fracture_modes.hpp"
#include "recoil/solvers/fracture_modes/vertex_matrices.hpp"

namespace recoil::solvers::fracture_modes {

/// How an impact becomes a displacement of the pieces.
enum class ImpactProjection {
  pieces, ///< the least squares fit by one value per piece: parts break off where they are hit
  modes ///< the projection onto the modes [Sellan et al. 2023, eq. 20]: parts far away move along with their
        ///< mode
};

/// All that impacts need at run time: plain data, the same on every rank, without elements.
///
/// An impact at a point with weights beta_v on vertices spreads by one implicit step of diffusion, (M + l^2
/// L) g = beta with L and M of VertexMatrices (M the volumes); V g, V the volume of the body, has the mean 1.
/// A piece p feels the mean of V g by mass over it, x_p = sum_v beta_v responses_vp, a number without unit.
struct ImpactModel {
  struct Link {
    int a, b; ///< pieces that share a face, a < b
  };
  int num_pieces = 0, num_modes = 0;
  std::vector<double> volumes, masses; ///< of pieces
  std::vector<Link> links;             ///< each pair once
  std::vector<double> modes;           ///< (num_pieces, num_modes + constants), orthonormal in the masses
  std::vector<GlobalIndex> vertices;   ///< input ids of the vertices on the surface, ascending
  std::vector<double> responses;       ///< (vertices.size(), num_pieces)
};

struct ImpactOptions {
  double blur_length = 0; ///< l [m], >= 0: how far an impact reaches
  /// Elements are one piece where no mode jumps between them by more than this part of its largest jump.
  double piece_threshold = 1e-6;
  /// Pieces lighter than this share of the mass of their component are joined to the neighbour with which
  /// they have the largest weight in common, the lightest first; 0 to below 1/2. Differences of faults that
  /// run along each other cut off such slivers.
  double least_piece = 0;
};

/// The pieces of a body by its modes and the response of its surface.
struct ImpactPieces {
  ImpactModel model;
  std::vector<int> piece_of_local; ///< piece of each local element of the graph
};

/// Cuts the elements along all modes and solves for the responses, one linear system per piece with one
/// factorisation or multigrid hierarchy. Collective.
/// @throws InputError for options out of range.
template <int dim>
ImpactPieces prepare_impacts(const VertexMatrices<dim>& matrices, const ElementGraph& graph,
                             const FractureModes& modes, const ImpactOptions& options);

/// Where a body is hit: weights, with the sum 1, on up to four vertices of the surface, by their places in
/// ImpactModel::vertices.
struct ImpactPoint {
  std::array<int, 4> vertices;
  std::array<double, 4> weights;
};

/// Applies impacts to a model, which must outlive it. Not collective.
class ImpactSolver {
public:
  explicit ImpactSolver(const ImpactModel& model);

  /// The fragment of each piece after an impact of `magnitude`: pieces that share a face stay together where
  /// magnitude |x_a - x_b| < sigma. Fragments are numbered from 0 in the order of their first pieces. Both
  /// numbers are without unit: with magnitude = 1 and sigma = 1 a piece parts from its neighbour that feels
  /// nothing if it feels the mean of the body. Valid until the next call; allocates nothing and does not
  /// throw.
  std::span<const int> apply(const ImpactPoint& point, double magnitude, double sigma,
                             ImpactProjection projection = ImpactProjection::pieces) noexcept;
  /// Of the last impact.
  int num_fragments() const { return num_fragments_; }
  /// x of the last impact, for magnitude 1.
  std::span<const double> amplitudes() const { return amplitudes_; }

private:
  void project_on_modes() noexcept;

  const ImpactModel* model_;
  std::vector<double> amplitudes_, coefficients_;
  UnionFind<int> together_; ///< pieces of one fragment
  std::vector<int> fragments_;
  int num_fragments_ = 0;
};

} // namespace recoil::solvers::fracture_modes

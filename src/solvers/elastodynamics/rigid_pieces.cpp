#include "solvers/elastodynamics/rigid_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/Geometry>

#include "recoil/fem/pieces.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::solvers {

namespace {

/// Share of the trace of a Gram matrix below which an eigenvalue is zero.
constexpr double null_share = 1e-12;
/// Rotation below which the series of its exponential is cut [rad].
constexpr double small_angle = 1e-4;

/// 1 where the law is not one of linear theory.
template <int dim>
struct IsNonlinear final : potentials::PointFunction<dim> {
  double value(const potentials::PointState<dim>& point) const override { return point.small_strain ? 0 : 1; }
  typename potentials::PointFunction<dim>::Derivatives
  derivatives(const potentials::PointState<dim>&) const override {
    return {};
  }
};

/// Rotation and the factor of the translation in the exponential of a twist: exp(S) = I + sin(a)/a S +
/// (1 - cos a)/a^2 S^2 and V = I + (1 - cos a)/a^2 S + (a - sin a)/a^3 S^2, S the matrix of the rotation
/// vector with length a.
template <int dim>
struct TwistExponential {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Matrix rotation, of_translation;

  template <class Vector>
  explicit TwistExponential(const Vector& turn) {
    Matrix S;
    if constexpr (dim == 2)
      S << 0, -turn[0], turn[0], 0;
    else
      S << 0, -turn[2], turn[1], turn[2], 0, -turn[0], -turn[1], turn[0], 0;
    const double a = turn.norm(), a2 = a * a;
    const bool is_small = a < small_angle;
    const double first = is_small ? 1 - a2 / 6 : std::sin(a) / a;
    const double second = is_small ? 0.5 - a2 / 24 : (1 - std::cos(a)) / a2;
    const double third = is_small ? 1.0 / 6 - a2 / 120 : (a - std::sin(a)) / (a2 * a);
    rotation = Matrix::Identity() + first * S + second * S * S;
    of_translation = Matrix::Identity() + second * S + third * S * S;
  }
};

} // namespace

Eigen::MatrixXd null_space(const Eigen::MatrixXd& gram) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(gram);
  const double limit = null_share * gram.trace();
  Eigen::Index count = 0;
  while (count < gram.rows() && eigen.values[count] <= limit) ++count;
  return eigen.vectors.leftCols(count);
}

template <int dim>
RigidPieces<dim>::RigidPieces(const ElastodynamicsProblem<dim>& problem, Connected connected)
    : problem_(problem), connected_(connected) {
  find();
  measure();
  find_laws();
}

template <int dim>
void RigidPieces<dim>::find() {
  fem::Pieces found = fem::find_pieces(*problem_.space);
  found.of_node.resize(problem_.space->num_owned_nodes());
  std::map<int, int> pieces_of_body;
  for (const int body : found.body) {
    pieces_.emplace_back().body = body;
    ++pieces_of_body[body];
  }
  for (Piece& piece : pieces_) piece.is_whole_body = pieces_of_body[piece.body] == 1;
  piece_of_.assign(found.of_node.begin(), found.of_node.end());
  if (connected_ == Connected::by_nodes) return;
  pieces_.resize(1);
  pieces_[0].has_all_bodies = pieces_of_body.size() > 1;
  pieces_[0].is_whole_body = !pieces_[0].has_all_bodies;
  std::ranges::fill(piece_of_, std::size_t{0});
}

template <int dim>
void RigidPieces<dim>::measure() {
  std::vector<double> sums((dim + 1) * size(), 0.0), squares(size(), 0.0);
  for (std::size_t node = 0; node < num_nodes(); ++node) {
    double* const sum = &sums[(dim + 1) * piece_of_[node]];
    for (int i = 0; i < dim; ++i) sum[i] += rest(node)[i];
    sum[dim] += 1;
  }
  problem_.space->comm().sum(sums);
  for (std::size_t p = 0; p < size(); ++p)
    for (int i = 0; i < dim; ++i) pieces_[p].middle[i] = sums[(dim + 1) * p + i] / sums[(dim + 1) * p + dim];
  for (std::size_t node = 0; node < num_nodes(); ++node)
    squares[piece_of_[node]] += (rest(node) - pieces_[piece_of_[node]].middle).squaredNorm();
  problem_.space->comm().sum(squares);
  for (std::size_t p = 0; p < size(); ++p)
    pieces_[p].size = std::sqrt(squares[p] / sums[(dim + 1) * p + dim]);
}

/// What the laws and the prescribed entries of every piece are.
template <int dim>
void RigidPieces<dim>::find_laws() {
  std::vector<double> counts(2 * size(), 0.0);
  const linalg::Vector at_rest(problem_.space->layout());
  for (const potentials::ElasticPotential<dim>* elastic : problem_.elastic) {
    const double nonlinear = elastic->integrate(at_rest.local(), IsNonlinear<dim>(), {});
    if (problem_.space->comm().sum(nonlinear) == 0) continue;
    for (const LocalIndex cell : elastic->cells())
      for (const LocalIndex node : problem_.space->cell_nodes(cell))
        if (std::size_t(node) < num_nodes()) counts[2 * piece_of_[node]] += 1;
  }
  problem_.dirichlet->for_each(
      [&](LocalIndex node, int, std::int64_t) { counts[2 * piece_of_[node] + 1] += 1; });
  problem_.space->comm().sum(counts);
  for (std::size_t p = 0; p < size(); ++p) {
    pieces_[p].is_linear = counts[2 * p] == 0;
    pieces_[p].is_gripped = counts[2 * p + 1] > 0;
  }
}

template <int dim>
typename RigidPieces<dim>::Modes RigidPieces<dim>::modes(const Piece& piece, const Point& position) const {
  const Point arm = (position - piece.middle) / piece.size;
  Modes modes = Modes::Zero();
  modes.template leftCols<dim>().setIdentity();
  if constexpr (dim == 2)
    modes.col(2) << -arm[1], arm[0];
  else
    modes.template rightCols<3>() << 0, arm[2], -arm[1], -arm[2], 0, arm[0], arm[1], -arm[0], 0;
  return modes;
}

template <int dim>
typename RigidPieces<dim>::Modes RigidPieces<dim>::modes_at(std::size_t node,
                                                            std::span<const double> u) const {
  const Piece& piece = pieces_[piece_of_[node]];
  if (piece.is_linear) return modes(piece, rest(node));
  return modes(piece, rest(node) + fem::node_block<dim>(u, LocalIndex(node)));
}

template <int dim>
std::vector<Eigen::MatrixXd> RigidPieces<dim>::unheld(std::span<const double> u) const {
  constexpr std::size_t entries = num_modes * num_modes;
  std::vector<double> grams(entries * size(), 0.0);
  problem_.dirichlet->for_each([&](LocalIndex node, int component, std::int64_t) {
    const Coefficients row = modes_at(node, u).row(component).transpose();
    Eigen::Map<Eigen::Matrix<double, num_modes, num_modes>>(&grams[entries * piece_of_[node]]) +=
        row * row.transpose();
  });
  problem_.space->comm().sum(grams);
  std::vector<Eigen::MatrixXd> motions;
  for (std::size_t p = 0; p < size(); ++p)
    motions.push_back(
        null_space(Eigen::Map<const Eigen::Matrix<double, num_modes, num_modes>>(&grams[entries * p])));
  return motions;
}

template <int dim>
std::vector<typename RigidPieces<dim>::Load> RigidPieces<dim>::loads_of(std::span<const double> forces,
                                                                        std::span<const double> u) const {
  std::vector<double> sums(2 * num_modes * size(), 0.0);
  for (std::size_t node = 0; node < num_nodes(); ++node) {
    double* const sum = &sums[2 * num_modes * piece_of_[node]];
    const Modes at_node = modes_at(node, u);
    const Point force = fem::node_block<dim>(forces, LocalIndex(node));
    Eigen::Map<Coefficients>{sum} += at_node.transpose() * force;
    Eigen::Map<Coefficients>{sum + num_modes} += at_node.cwiseAbs().transpose() * force.cwiseAbs();
  }
  problem_.space->comm().sum(sums);
  std::vector<Load> loads(size());
  for (std::size_t p = 0; p < size(); ++p) {
    loads[p].force = Eigen::Map<const Coefficients>(&sums[2 * num_modes * p]);
    loads[p].magnitude = Eigen::Map<const Coefficients>(&sums[2 * num_modes * p + num_modes]);
  }
  return loads;
}

template <int dim>
void RigidPieces<dim>::move(const std::vector<Coefficients>& motions, std::span<double> u) const {
  std::vector<TwistExponential<dim>> turns;
  for (std::size_t p = 0; p < size(); ++p)
    turns.emplace_back(
        Eigen::Matrix<double, num_rotations, 1>(motions[p].template tail<num_rotations>() / pieces_[p].size));
  for (std::size_t node = 0; node < num_nodes(); ++node) {
    const std::size_t p = piece_of_[node];
    auto displacement = fem::node_block<dim>(u, LocalIndex(node));
    if (pieces_[p].is_linear) {
      displacement += modes(pieces_[p], rest(node)) * motions[p];
      continue;
    }
    const Point arm = rest(node) + displacement - pieces_[p].middle;
    displacement += (turns[p].rotation - Eigen::Matrix<double, dim, dim>::Identity()) * arm +
                    turns[p].of_translation * motions[p].template head<dim>();
  }
}

template class RigidPieces<2>;
template class RigidPieces<3>;

} // namespace recoil::solvers

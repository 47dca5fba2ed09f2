#include "solvers/elastodynamics/loose_motions.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/fem/pieces.hpp"

namespace recoil::solvers {

namespace {

/// Share of the trace of a Gram matrix below which an eigenvalue is zero.
constexpr double null_share = 1e-12;
/// Share of the sum of its absolute contributions below which a resultant is zero: loads on facets of meshes
/// with coordinates of some digits balance only so far.
constexpr double balanced_share = 1e-6;
/// Share of a resultant that it may change by along a motion that nothing resists, and the length of that
/// motion in sizes of the piece.
constexpr double constant_share = 1e-3, motion_length = 0.1;
/// An axis that lies in a space of directions but for this is named by its letter.
constexpr double axis_tolerance = 1e-6;
constexpr std::size_t most_named = 3;
constexpr const char* axis_names[] = {"x", "y", "z"};

Eigen::MatrixXd null_space(const Eigen::MatrixXd& gram) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram);
  const double limit = null_share * gram.trace();
  Eigen::Index count = 0;
  while (count < gram.rows() && solver.eigenvalues()[count] <= limit) ++count;
  return solver.eigenvectors().leftCols(count);
}

/// Vectors in text; what is round-off beside the largest entry is 0.
std::string in_text(const Eigen::VectorXd& vector) {
  std::string text = "(";
  for (Eigen::Index i = 0; i < vector.size(); ++i) {
    const bool vanishes = std::abs(vector[i]) <= axis_tolerance * vector.cwiseAbs().maxCoeff();
    text += (i > 0 ? ", " : "") + fmt::format("{:.4g}", vanishes ? 0.0 : vector[i]);
  }
  return text + ")";
}

/// "x, y and (0, 0.6, 0.8)": a basis of the space of the columns, of axes as far as they lie in it.
std::string directions_in_text(const Eigen::MatrixXd& columns, Eigen::Index rank) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(columns, Eigen::ComputeThinU);
  Eigen::MatrixXd basis = svd.matrixU().leftCols(rank);
  std::vector<std::string> names;
  for (Eigen::Index axis = 0; axis < basis.rows(); ++axis) {
    if (basis.row(axis).norm() < 1 - axis_tolerance) continue;
    names.push_back(axis_names[axis]);
    basis.row(axis).setZero();
  }
  if (std::ssize(names) < rank) {
    const Eigen::JacobiSVD<Eigen::MatrixXd> rest(basis, Eigen::ComputeThinU);
    for (Eigen::Index k = 0; std::ssize(names) < rank; ++k) names.push_back(in_text(rest.matrixU().col(k)));
  }
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += (k == 0 ? "" : k + 1 < names.size() ? ", " : " and ") + names[k];
  return text;
}

} // namespace

template <int dim>
LooseMotions<dim>::LooseMotions(const ElastodynamicsProblem<dim>& problem) : problem_(problem) {
  find_pieces();
  measure_pieces();
  find_loose();
}

template <int dim>
void LooseMotions<dim>::find_pieces() {
  fem::Pieces found = fem::find_pieces(*problem_.space);
  std::map<int, int> pieces_of_body;
  for (const int body : found.body) {
    pieces_.emplace_back().body = body;
    ++pieces_of_body[body];
  }
  for (Piece& piece : pieces_) piece.is_whole_body = pieces_of_body[piece.body] == 1;
  piece_of_ = std::move(found.of_node);
  piece_of_.resize(problem_.space->num_owned_nodes());
}

template <int dim>
void LooseMotions<dim>::measure_pieces() {
  const auto& positions = problem_.space->node_positions();
  std::vector<double> sums((dim + 1) * pieces_.size(), 0.0), squares(pieces_.size(), 0.0);
  for (std::size_t node = 0; node < piece_of_.size(); ++node) {
    double* const sum = &sums[(dim + 1) * piece_of_[node]];
    for (int i = 0; i < dim; ++i) sum[i] += positions[node][i];
    sum[dim] += 1;
  }
  problem_.space->comm().sum(sums);
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    for (int i = 0; i < dim; ++i) pieces_[p].middle[i] = sums[(dim + 1) * p + i] / sums[(dim + 1) * p + dim];
  for (std::size_t node = 0; node < piece_of_.size(); ++node)
    squares[piece_of_[node]] += (positions[node] - pieces_[piece_of_[node]].middle).squaredNorm();
  problem_.space->comm().sum(squares);
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    pieces_[p].size = std::sqrt(squares[p] / sums[(dim + 1) * p + dim]);
}

/// Displacements at a rest position: translations by a unit of length, then rotations by that over the size.
template <int dim>
typename LooseMotions<dim>::Modes LooseMotions<dim>::modes(const Piece& piece, const Point& position) const {
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
void LooseMotions<dim>::find_loose() {
  constexpr std::size_t entries = num_modes * num_modes;
  std::vector<double> grams(entries * pieces_.size(), 0.0);
  problem_.dirichlet->for_each([&](LocalIndex node, int component, std::int64_t) {
    const std::size_t p = piece_of_[node];
    const Coefficients row =
        modes(pieces_[p], problem_.space->node_positions()[node]).row(component).transpose();
    Eigen::Map<Eigen::Matrix<double, num_modes, num_modes>>(&grams[entries * p]) += row * row.transpose();
  });
  problem_.space->comm().sum(grams);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Eigen::MatrixXd gram =
        Eigen::Map<const Eigen::Matrix<double, num_modes, num_modes>>(&grams[entries * p]);
    const Eigen::MatrixXd translations = null_space(gram.topLeftCorner(dim, dim));
    pieces_[p].is_gripped = gram.trace() > 0;
    pieces_[p].motions = null_space(gram);
    pieces_[p].translations = Eigen::MatrixXd::Zero(num_modes, translations.cols());
    pieces_[p].translations.topRows(dim) = translations;
    any_loose_ = any_loose_ || pieces_[p].motions.cols() > 0;
  }
}

template <int dim>
std::vector<typename LooseMotions<dim>::Load>
LooseMotions<dim>::loads_of(std::span<const double> forces) const {
  std::vector<double> sums(2 * num_modes * pieces_.size(), 0.0);
  for (std::size_t node = 0; node < piece_of_.size(); ++node) {
    const std::size_t p = piece_of_[node];
    const Modes at_node = modes(pieces_[p], problem_.space->node_positions()[node]);
    const Point force = fem::node_block<dim>(forces, LocalIndex(node));
    Eigen::Map<Coefficients>(&sums[2 * num_modes * p]) += at_node.transpose() * force;
    Eigen::Map<Coefficients>(&sums[2 * num_modes * p + num_modes]) +=
        at_node.cwiseAbs().transpose() * force.cwiseAbs();
  }
  problem_.space->comm().sum(sums);
  std::vector<Load> loads(pieces_.size());
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    loads[p].force = Eigen::Map<const Coefficients>(&sums[2 * num_modes * p]);
    loads[p].magnitude = Eigen::Map<const Coefficients>(&sums[2 * num_modes * p + num_modes]);
  }
  return loads;
}

template <int dim>
std::vector<typename LooseMotions<dim>::Load>
LooseMotions<dim>::gradient_loads(IncrementalPotential<dim>& objective, const linalg::Vector& u) const {
  linalg::Vector g(u.shared_layout());
  objective.gradient_without_contact(u, g);
  return loads_of(g.owned());
}

/// For each piece, whether the gradient along a motion in the given direction stays as it is at u: laws of
/// linear theory resist no infinitesimal rotation however far it goes, others soon do.
template <int dim>
std::vector<char> LooseMotions<dim>::falls_along(IncrementalPotential<dim>& objective,
                                                 const linalg::Vector& u,
                                                 const std::vector<Coefficients>& directions) const {
  std::vector<char> falls(pieces_.size(), 0);
  linalg::Vector moved = u;
  auto values = moved.write_owned();
  for (std::size_t node = 0; node < piece_of_.size(); ++node) {
    const Piece& piece = pieces_[piece_of_[node]];
    const Coefficients direction = directions[piece_of_[node]].normalized() * motion_length * piece.size;
    fem::node_block<dim>(values, LocalIndex(node)) +=
        modes(piece, problem_.space->node_positions()[node]) * direction;
  }
  moved.update_ghosts();
  if (!std::isfinite(objective.value(moved))) return falls;
  const std::vector<Load> after = gradient_loads(objective, moved);
  objective.value(u);
  const std::vector<Load> before = gradient_loads(objective, u);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const double change = (after[p].force - before[p].force).dot(directions[p]);
    falls[p] = std::abs(change) <= constant_share * directions[p].squaredNorm();
  }
  return falls;
}

template <int dim>
std::string LooseMotions<dim>::check(IncrementalPotential<dim>& objective, const linalg::Vector& u) const {
  if (!any_loose_) return "";
  objective.value(u); // brings the terms to u
  linalg::Vector forces(u.shared_layout());
  for (const Term<dim>& term : problem_.terms)
    if (term.accounting == Accounting::work)
      term.potential->add_gradient(u.local(), -1, forces.write_owned());
  const std::vector<Load> loads = loads_of(forces.owned());
  // Translations apart: they are loose whatever the law.
  std::vector<Coefficients> shifts, motions;
  std::vector<char> shifting(pieces_.size(), 0), moving = shifting;
  const auto unbalanced = [](const Load& load, const Eigen::MatrixXd& loose) -> Coefficients {
    const Coefficients force = loose * (loose.transpose() * load.force);
    return force.norm() > balanced_share * load.magnitude.norm() ? force : Coefficients(Coefficients::Zero());
  };
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    shifts.push_back(unbalanced(loads[p], pieces_[p].translations));
    motions.push_back(unbalanced(loads[p], pieces_[p].motions));
  }
  if (const auto is_zero = [](const Coefficients& c) { return c.isZero(0); };
      !std::ranges::all_of(motions, is_zero) || !std::ranges::all_of(shifts, is_zero)) {
    shifting = falls_along(objective, u, shifts);
    moving = falls_along(objective, u, motions);
  }
  std::vector<std::string> loose, open;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const bool shifted = !shifts[p].isZero(0), turned = !motions[p].isZero(0);
    if (turned && moving[p])
      loose.push_back(describe(piece, piece.motions) + describe(piece, motions[p]));
    else if (shifted && shifting[p])
      loose.push_back(describe(piece, piece.translations) + describe(piece, shifts[p]));
    else if (loads[p].magnitude.isZero(0) && !piece.is_gripped)
      continue;
    else if (!turned && piece.motions.cols() > 0)
      open.push_back(describe(piece, piece.motions));
    else if (!shifted && piece.translations.cols() > 0)
      open.push_back(describe(piece, piece.translations));
  }
  const auto joined = [](const std::vector<std::string>& texts) {
    std::string all = "nothing holds ";
    for (std::size_t k = 0; k < std::min(texts.size(), most_named); ++k)
      all += (k > 0 ? "; nor " : "") + texts[k];
    return texts.size() <= most_named ? all
                                      : all + fmt::format("; {} more are loose", texts.size() - most_named);
  };
  const char* const cure = "prescribe displacements that hold it (/boundary_conditions/dirichlet_boundary)";
  if (!loose.empty())
    return fmt::format("{}: there is no equilibrium; {}, or give the scene inertia (`time` without "
                       "`quasistatic`)",
                       joined(loose), cure);
  if (!open.empty())
    log_warning_once(
        fmt::format("{}; the loads are in balance along that, but where it comes to rest is left "
                    "open and may differ between numbers of ranks: {}",
                    joined(open), cure));
  return "";
}

/// "body 'a' against translation along z and rotation about x".
template <int dim>
std::string LooseMotions<dim>::describe(const Piece& piece, const Eigen::MatrixXd& motions) const {
  std::string text = piece.is_whole_body ? "body " : "the piece of body ";
  text += "'" + problem_.space->mesh().body_names[piece.body] + "'";
  if (!piece.is_whole_body) text += " around " + in_text(piece.middle);
  text += " against ";
  const Eigen::Index shifts = piece.translations.cols(), turns = motions.cols() - shifts;
  if (shifts > 0) text += "translation along " + directions_in_text(piece.translations.topRows(dim), shifts);
  if (turns == 0) return text;
  text += shifts > 0 ? " and rotation" : "rotation";
  // Loose rotations may come with a translation, as those about a hinge do.
  if (dim == 3) text += " about " + directions_in_text(motions.bottomRows(num_rotations), turns);
  return text;
}

/// ", but its loads have the net force (0, 0, -1)".
template <int dim>
std::string LooseMotions<dim>::describe(const Piece& piece, const Coefficients& force) const {
  const Eigen::VectorXd shift = force.template head<dim>(),
                        turn = piece.size * force.template tail<num_rotations>();
  const bool shifts = shift.norm() > axis_tolerance * force.norm(),
             turns = turn.norm() > axis_tolerance * piece.size * force.norm();
  std::string text = ", but its loads have the net ";
  if (shifts) text += "force " + in_text(shift);
  if (shifts && turns) text += " and ";
  if (turns) text += "torque " + in_text(turn);
  return text + " along that";
}

template class LooseMotions<2>;
template class LooseMotions<3>;

} // namespace recoil::solvers

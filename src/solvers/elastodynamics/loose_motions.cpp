#include "solvers/elastodynamics/loose_motions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/linalg/dense.hpp"
#include "recoil/solvers/elastodynamics/loose_places.hpp"

namespace recoil::solvers {

namespace {

/// Share of the forces below which their change with a rotation is none: an equilibrium is one but for the
/// tolerance of Newton's method.
constexpr double resisting_share = 1e-3;
/// Largest turn [rad] that leads to the equilibrium nearby rather than to any other one.
constexpr double largest_turn = 0.2;
/// Share of the work of the absolute values below which an objective does not see a motion.
constexpr double seen_share = 1e-9;
/// Length of the motions that an objective is asked about, in sizes of the pieces.
constexpr double example_length = 1e-3;
/// The motion to the smallest norm ends below this share of the size.
constexpr double place_tolerance = 1e-14;
constexpr int most_moves = 20;
/// An axis that lies in a space of directions but for this is named by its letter.
constexpr double axis_tolerance = 1e-6;
constexpr std::size_t most_named = 3;
constexpr const char* axis_names[] = {"x", "y", "z"};
constexpr const char* cure = "prescribe displacements that hold it (<dirichlet_boundary>)";

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
  Eigen::MatrixXd basis = linalg::singular_values(columns).U.leftCols(rank);
  std::vector<std::string> names;
  for (Eigen::Index axis = 0; axis < basis.rows(); ++axis) {
    if (basis.row(axis).norm() < 1 - axis_tolerance) continue;
    names.push_back(axis_names[axis]);
    basis.row(axis).setZero();
  }
  if (std::ssize(names) < rank) {
    const linalg::SingularValues rest = linalg::singular_values(basis);
    for (Eigen::Index k = 0; std::ssize(names) < rank; ++k) names.push_back(in_text(rest.U.col(k)));
  }
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += (k == 0 ? "" : k + 1 < names.size() ? ", " : " and ") + names[k];
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all = "nothing holds ";
  for (std::size_t k = 0; k < std::min(texts.size(), most_named); ++k)
    all += (k > 0 ? "; nor " : "") + texts[k];
  return texts.size() <= most_named ? all
                                    : all + fmt::format("; {} more are loose", texts.size() - most_named);
}

void warn_of(const std::vector<std::string>& loose) {
  if (loose.empty()) return;
  log_warning_once(fmt::format("{}; the loads are in balance along that, and of all places the solution "
                               "takes the one with the smallest displacement (int |u|^2 dX): {}",
                               joined(loose), cure));
}

/// Coefficients of the motions without rotation.
template <int dim>
Eigen::MatrixXd translations_of(const Eigen::MatrixXd& motions) {
  if (motions.cols() == 0) return motions;
  const Eigen::MatrixXd turns = motions.bottomRows(motions.rows() - dim);
  return motions * null_space(turns.transpose() * turns);
}

} // namespace

template <int dim>
LooseMotions<dim>::LooseMotions(const ElastodynamicsProblem<dim>& problem, Connected connected)
    : problem_(problem), pieces_(problem, connected),
      volume_(
          *problem.space, *problem.geometry, [](LocalIndex, const ExpressionPoint&) { return 1.0; },
          potentials::MassLumping::consistent) {
  const linalg::Vector at_rest(problem.space->layout());
  std::vector<Eigen::MatrixXd> certain = pieces_.unheld(at_rest.owned());
  exist_ = std::ranges::any_of(certain, [](const auto& motions) { return motions.cols() > 0; });
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    if (!pieces_[p].is_linear) certain[p] = translations_of<dim>(certain[p]);
  certain_ = std::make_unique<LooseSpace<dim>>(pieces_, volume_, std::move(certain), at_rest);
}

template <int dim>
std::unique_ptr<LooseMotions<dim>> LooseMotions<dim>::find(const ElastodynamicsProblem<dim>& problem) {
  const potentials::ContactState<dim>* contact = problem.contact.get();
  if (contact != nullptr &&
      (contact->surface().num_obstacle_vertices_global() > 0 || !contact->parameters().planes.empty()))
    return nullptr;
  const Connected connected = contact != nullptr ? Connected::by_contact : Connected::by_nodes;
  std::unique_ptr<LooseMotions> found(new LooseMotions(problem, connected));
  return found->exist_ ? std::move(found) : nullptr;
}

template <int dim>
std::unique_ptr<LooseMotions<dim>>
LooseMotions<dim>::find_floating(const ElastodynamicsProblem<dim>& problem) {
  if (!problem.contact) return nullptr;
  std::unique_ptr<LooseMotions> found(new LooseMotions(problem, Connected::by_nodes));
  found->floats_ = true;
  return found->exist_ ? std::move(found) : nullptr;
}

/// Flags of the pieces that contact acts on at u, the place that the terms have been brought to.
template <int dim>
std::vector<char> LooseMotions<dim>::touching(const linalg::Vector& u) const {
  std::vector<char> flags(pieces_.size(), 0);
  if (!floats_) return flags;
  linalg::Vector forces(u.shared_layout());
  problem_.barrier->add_gradient(u.local(), 1, forces.write_owned());
  const auto loads = pieces_.loads_of(forces.owned(), u.owned());
  for (std::size_t p = 0; p < pieces_.size(); ++p) flags[p] = loads[p].magnitude.isZero(0) ? 0 : 1;
  return flags;
}

template <int dim>
std::string LooseMotions<dim>::check(IncrementalPotential<dim>& objective, const linalg::Vector& u) const {
  objective.value(u); // brings the terms to u
  linalg::Vector forces(u.shared_layout());
  for (const Term<dim>& term : problem_.terms)
    if (term.accounting == Accounting::work)
      term.potential->add_gradient(u.local(), -1, forces.write_owned());
  const std::vector<typename Pieces::Load> loads = pieces_.loads_of(forces.owned(), u.owned());
  const std::vector<char> is_touching = touching(u);
  std::vector<std::string> unbalanced, balanced;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    if (is_touching[p] != 0) continue;
    const Eigen::MatrixXd& motions = certain_->motions()[p];
    const Coefficients force = motions * (motions.transpose() * loads[p].force);
    if (motions.cols() == 0 || (loads[p].magnitude.isZero(0) && !pieces_[p].is_gripped)) continue;
    if (force.norm() > balanced_share * loads[p].magnitude.norm())
      unbalanced.push_back(describe(p, motions) + describe(p, force));
    else
      balanced.push_back(describe(p, motions));
  }
  if (!unbalanced.empty())
    return fmt::format("{}: there is no equilibrium; {}, or give the scene inertia (`time` without "
                       "`quasistatic`)",
                       joined(unbalanced), cure);
  warn_of(balanced);
  return "";
}

/// The change of the forces at u along the motions that are not held is a small symmetric matrix, near an
/// equilibrium. No two pieces act on each other: all are looked at together.
template <int dim>
std::vector<typename LooseMotions<dim>::Resistance>
LooseMotions<dim>::resistances(IncrementalPotential<dim>& objective, const linalg::Vector& u) const {
  std::vector<Eigen::MatrixXd> motions = pieces_.unheld(u.owned());
  objective.value(u); // brings the terms to u
  const std::vector<char> is_touching = touching(u);
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    if (is_touching[p] != 0) motions[p].resize(Eigen::NoChange, 0);
  std::vector<Resistance> found;
  for (const Eigen::MatrixXd& of_piece : motions)
    found.push_back({Eigen::VectorXd::Zero(of_piece.cols()), of_piece, 0, 0});
  if (!may_turn()) return found;
  linalg::Vector forces(u.shared_layout()), change(u.shared_layout());
  for (const auto* elastic : problem_.elastic) elastic->add_gradient(u.local(), 1, forces.write_owned());
  const std::vector<typename Pieces::Load> loads = pieces_.loads_of(forces.owned(), u.owned());
  const LooseSpace<dim> candidates(pieces_, volume_, motions, u);
  std::vector<std::vector<typename Pieces::Load>> changes;
  for (std::size_t k = 0; k < candidates.num_motions(); ++k) {
    objective.hessian_product(u, candidates.motion(k), change);
    changes.push_back(pieces_.loads_of(change.owned(), u.owned()));
  }
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Eigen::Index count = motions[p].cols();
    found[p].magnitude = loads[p].magnitude.norm();
    if (pieces_[p].is_linear || count == 0) continue;
    Eigen::MatrixXd matrix(count, count);
    for (Eigen::Index k = 0; k < count; ++k) matrix.col(k) = motions[p].transpose() * changes[k][p].force;
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen((matrix + matrix.transpose()) / 2);
    found[p].values = eigen.values;
    found[p].motions = motions[p] * eigen.vectors;
    found[p].limit = resisting_share * found[p].magnitude / pieces_[p].size;
  }
  return found;
}

template <int dim>
Eigen::MatrixXd LooseMotions<dim>::Resistance::select(double least, double most) const {
  Eigen::MatrixXd chosen(motions.rows(), 0);
  for (Eigen::Index k = 0; k < values.size(); ++k) {
    if (values[k] < least || values[k] > most) continue;
    chosen.conservativeResize(Eigen::NoChange, chosen.cols() + 1);
    chosen.rightCols(1) = motions.col(k);
  }
  return chosen;
}

template <int dim>
LooseSpace<dim> LooseMotions<dim>::at_equilibrium(IncrementalPotential<dim>& objective,
                                                  const linalg::Vector& u) const {
  std::vector<Eigen::MatrixXd> motions;
  for (const Resistance& of_piece : resistances(objective, u))
    motions.push_back(of_piece.select(-of_piece.limit, of_piece.limit));
  return {pieces_, volume_, std::move(motions), u};
}

template <int dim>
bool LooseMotions<dim>::may_turn() const {
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    if (!pieces_[p].is_linear) return true;
  return false;
}

template <int dim>
LooseSpace<dim> LooseMotions<dim>::not_held(const linalg::Vector& u) const {
  return {pieces_, volume_, pieces_.unheld(u.owned()), u};
}

/// Newton's step for the balance of a body that is rigid. Contact between pieces does no work on it.
template <int dim>
double LooseMotions<dim>::turn_into_balance(IncrementalPotential<dim>& objective, linalg::Vector& u) const {
  constexpr double far = std::numeric_limits<double>::infinity();
  const std::vector<Resistance> resistance = resistances(objective, u);
  linalg::Vector forces(u.shared_layout());
  objective.gradient_without_contact(u, forces);
  const std::vector<typename Pieces::Load> loads = pieces_.loads_of(forces.owned(), u.owned());
  std::vector<Coefficients> motions(pieces_.size(), Coefficients::Zero());
  double largest = 0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Resistance& of_piece = resistance[p];
    if (pieces_[p].is_linear || of_piece.magnitude == 0) continue;
    for (Eigen::Index k = 0; k < of_piece.values.size(); ++k) {
      const double work = of_piece.motions.col(k).dot(loads[p].force);
      const double share = std::abs(work) / of_piece.magnitude;
      largest = std::max(largest, share);
      if (std::abs(of_piece.values[k]) <= of_piece.limit) {
        if (share > balanced_share) return far;
        continue;
      }
      if (std::abs(work / of_piece.values[k]) > largest_turn * pieces_[p].size) return far;
      motions[p] -= work / of_piece.values[k] * of_piece.motions.col(k);
    }
  }
  pieces_.move(motions, u.write_owned());
  u.update_ghosts();
  return largest;
}

template <int dim>
void LooseMotions<dim>::minimize_norm(IncrementalPotential<dim>& objective, linalg::Vector& u) const {
  for (int move = 0; move < most_moves; ++move) {
    const LooseSpace<dim> loose = at_equilibrium(objective, u);
    if (move == 0) {
      std::vector<std::string> turning;
      for (std::size_t p = 0; p < pieces_.size(); ++p)
        if (loose.motions()[p].cols() > certain_->motions()[p].cols())
          turning.push_back(describe(p, loose.motions()[p]));
      warn_of(turning);
      warn_of_unstable(objective, u);
    }
    const std::vector<Coefficients> motions = loose.towards_smallest(u);
    pieces_.move(motions, u.write_owned());
    u.update_ghosts();
    bool is_there = true;
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      is_there = is_there && motions[p].norm() <= place_tolerance * pieces_[p].size;
    if (is_there) return;
  }
}

template <int dim>
void LooseMotions<dim>::warn_of_unstable(IncrementalPotential<dim>& objective,
                                         const linalg::Vector& u) const {
  const std::vector<Resistance> resistance = resistances(objective, u);
  std::vector<std::string> unstable;
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    if (const Eigen::MatrixXd motions =
            resistance[p].select(-std::numeric_limits<double>::infinity(), -resistance[p].limit);
        motions.cols() > 0 && resistance[p].limit > 0)
      unstable.push_back(describe(p, motions));
  if (!unstable.empty())
    log_warning_once(fmt::format("{}; the equilibrium is unstable, as the loads, which keep their direction, "
                                 "would turn that over: {}",
                                 joined(unstable), cure));
}

template <int dim>
std::optional<linalg::Vector> LooseMotions<dim>::example() const {
  if (certain_->num_motions() == 0) return {};
  linalg::Vector u(problem_.space->layout());
  for (std::size_t k = 0; k < certain_->num_motions(); ++k) u.add(1.0 / double(k + 1), certain_->motion(k));
  auto values = u.write_owned();
  for (std::size_t node = 0; node < pieces_.num_nodes(); ++node)
    fem::node_block<dim>(values, LocalIndex(node)) *= example_length * pieces_[pieces_.piece_of(node)].size;
  u.update_ghosts();
  return u;
}

template <int dim>
std::string LooseMotions<dim>::seen_by(std::span<const double> du) const {
  const linalg::Vector at_rest(problem_.space->layout());
  const std::vector<typename Pieces::Load> loads = pieces_.loads_of(du, at_rest.owned());
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Eigen::MatrixXd& motions = certain_->motions()[p];
    if ((motions.transpose() * loads[p].force).norm() > seen_share * loads[p].magnitude.norm())
      return describe(p, motions);
  }
  return "";
}

/// "body 'a' against translation along z and rotation about x".
template <int dim>
std::string LooseMotions<dim>::describe(std::size_t p, const Eigen::MatrixXd& motions) const {
  const auto& piece = pieces_[p];
  std::string text = piece.has_all_bodies ? "the bodies, which may touch one another," : "";
  if (!piece.has_all_bodies)
    text = std::string(piece.is_whole_body ? "body " : "the piece of body ") + "'" +
           problem_.space->mesh().body_names[piece.body] + "'";
  if (!piece.has_all_bodies && !piece.is_whole_body) text += " around " + in_text(piece.middle);
  text += " against ";
  const Eigen::MatrixXd translations = translations_of<dim>(motions);
  const Eigen::Index shifts = translations.cols(), turns = motions.cols() - shifts;
  if (shifts > 0) text += "translation along " + directions_in_text(translations.topRows(dim), shifts);
  if (turns == 0) return text;
  text += shifts > 0 ? " and rotation" : "rotation";
  // Loose rotations may come with a translation, as those about a hinge do.
  if (dim == 3) text += " about " + directions_in_text(motions.bottomRows(Pieces::num_rotations), turns);
  return text;
}

/// ", but its loads have the net force (0, 0, -1)".
template <int dim>
std::string LooseMotions<dim>::describe(std::size_t p, const Coefficients& force) const {
  const Eigen::VectorXd shift = force.template head<dim>(),
                        turn = pieces_[p].size * force.template tail<Pieces::num_rotations>();
  const bool shifts = shift.norm() > axis_tolerance * force.norm(),
             turns = turn.norm() > axis_tolerance * pieces_[p].size * force.norm();
  std::string text = ", but its loads have the net ";
  if (shifts) text += "force " + in_text(shift);
  if (shifts && turns) text += " and ";
  if (turns) text += "torque " + in_text(turn);
  return text + " along that";
}

template <int dim>
std::optional<linalg::Vector> loose_displacement(const ElastodynamicsProblem<dim>& problem) {
  const auto loose = LooseMotions<dim>::find(problem);
  return loose ? loose->example() : std::nullopt;
}

template <int dim>
std::string loose_motion_seen_by(const ElastodynamicsProblem<dim>& problem, std::span<const double> du) {
  const auto loose = LooseMotions<dim>::find(problem);
  return loose ? loose->seen_by(du) : "";
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class LooseMotions<dim>;                                                                          \
  template std::optional<linalg::Vector> loose_displacement(const ElastodynamicsProblem<dim>&);              \
  template std::string loose_motion_seen_by(const ElastodynamicsProblem<dim>&, std::span<const double>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers

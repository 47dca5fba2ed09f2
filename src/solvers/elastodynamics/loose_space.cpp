#include "solvers/elastodynamics/loose_space.hpp"

#include <algorithm>

#include "recoil/linalg/dense.hpp"

namespace recoil::solvers {

template <int dim>
LooseSpace<dim>::LooseSpace(const RigidPieces<dim>& pieces, const potentials::MassMatrix<dim>& mass,
                            std::vector<Eigen::MatrixXd> motions, const linalg::Vector& u)
    : pieces_(pieces), mass_(mass), motions_(std::move(motions)) {
  Eigen::Index most = 0;
  for (const Eigen::MatrixXd& of_piece : motions_) most = std::max(most, of_piece.cols());
  linalg::Vector at_rest(u.shared_layout());
  for (Eigen::Index k = 0; k < most; ++k) {
    linalg::Vector &along = along_.emplace_back(u.shared_layout()),
                   &weighted = weighted_.emplace_back(u.shared_layout());
    auto values = along.write_owned(), rest_values = at_rest.write_owned();
    for (std::size_t node = 0; node < pieces.num_nodes(); ++node) {
      const Eigen::MatrixXd& of_piece = motions_[pieces.piece_of(node)];
      auto now = fem::node_block<dim>(values, LocalIndex(node)),
           rest = fem::node_block<dim>(rest_values, LocalIndex(node));
      now.setZero();
      rest.setZero();
      if (k >= of_piece.cols()) continue;
      now = pieces.modes_at(node, u.owned()) * of_piece.col(k);
      rest = pieces.modes(pieces[pieces.piece_of(node)], pieces.rest(node)) * of_piece.col(k);
    }
    along.update_ghosts();
    at_rest.update_ghosts();
    mass.multiply(at_rest.local(), weighted.write_owned());
    weighted.update_ghosts();
  }
  std::vector<Eigen::MatrixXd> grams;
  for (const linalg::Vector& along : along_) grams.push_back(products(weighted_, along));
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Eigen::Index count = motions_[p].cols();
    Eigen::MatrixXd gram(count, count);
    for (Eigen::Index k = 0; k < count; ++k) gram.col(k) = grams[k].col(Eigen::Index(p)).head(count);
    inverses_.push_back(count > 0 ? linalg::inverse(gram) : gram);
  }
}

/// The products of x with each of `motions` (rows), by piece (columns).
template <int dim>
Eigen::MatrixXd LooseSpace<dim>::products(const std::vector<linalg::Vector>& motions,
                                          const linalg::Vector& x) const {
  const std::size_t rows = motions.size();
  std::vector<double> sums(rows * pieces_.size(), 0.0);
  for (std::size_t k = 0; k < rows; ++k)
    for (std::size_t node = 0; node < pieces_.num_nodes(); ++node)
      sums[rows * pieces_.piece_of(node) + k] += fem::node_block<dim>(motions[k].owned(), LocalIndex(node))
                                                     .dot(fem::node_block<dim>(x.owned(), LocalIndex(node)));
  x.layout().comm->sum(sums);
  return Eigen::Map<const Eigen::MatrixXd>(sums.data(), Eigen::Index(rows), Eigen::Index(pieces_.size()));
}

/// x -= the sum of factors(k, piece) * motions[k].
template <int dim>
void LooseSpace<dim>::subtract(const Eigen::MatrixXd& factors, const std::vector<linalg::Vector>& motions,
                               linalg::Vector& x) const {
  auto values = x.write_owned();
  for (std::size_t k = 0; k < motions.size(); ++k)
    for (std::size_t node = 0; node < pieces_.num_nodes(); ++node)
      fem::node_block<dim>(values, LocalIndex(node)) -=
          factors(Eigen::Index(k), Eigen::Index(pieces_.piece_of(node))) *
          fem::node_block<dim>(motions[k].owned(), LocalIndex(node));
  x.update_ghosts();
}

template <int dim>
void LooseSpace<dim>::project(linalg::Vector& x) const {
  if (along_.empty()) return;
  Eigen::MatrixXd factors = products(weighted_, x);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    auto column = factors.col(Eigen::Index(p)).head(motions_[p].cols());
    column = (inverses_[p] * column).eval();
  }
  subtract(factors, along_, x);
}

template <int dim>
void LooseSpace<dim>::balance(linalg::Vector& b) const {
  if (along_.empty()) return;
  Eigen::MatrixXd factors = products(along_, b);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    auto column = factors.col(Eigen::Index(p)).head(motions_[p].cols());
    column = (inverses_[p].transpose() * column).eval();
  }
  subtract(factors, weighted_, b);
}

template <int dim>
std::vector<typename RigidPieces<dim>::Coefficients>
LooseSpace<dim>::towards_smallest(const linalg::Vector& u) const {
  linalg::Vector weighted(u.shared_layout());
  mass_.multiply(u.local(), weighted.write_owned());
  const Eigen::MatrixXd work = products(along_, weighted);
  std::vector<typename RigidPieces<dim>::Coefficients> motions;
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    motions.push_back(-motions_[p] * (inverses_[p] * work.col(Eigen::Index(p)).head(motions_[p].cols())));
  return motions;
}

template class LooseSpace<2>;
template class LooseSpace<3>;

} // namespace recoil::solvers

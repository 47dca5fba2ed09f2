#include "solvers/fracture_modes/jump_polish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "recoil/base/union_find.hpp"
#include "recoil/linalg/components.hpp"
#include "recoil/linalg/dense.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A link between pieces; travels as bytes.
struct PieceLink {
  std::array<std::int32_t, 3> a, b;
  std::int32_t unused = 0;
  std::array<double, 81> matrix;
};

using Glued = linalg::Components; ///< nodes that are glued

Glued glue(const JumpProblem& problem, std::span<const char> closed) {
  std::vector<std::array<LocalIndex, 2>> edges;
  for (std::size_t l = 0; l < problem.links.size(); ++l)
    if (closed[l] != 0 || !problem.links[l].breakable)
      for (int k = 0; k < problem.pairs; ++k) edges.push_back({problem.links[l].a[k], problem.links[l].b[k]});
  return linalg::numbered_components(*problem.layout, problem.ids, edges);
}

/// The problem on pieces, the same on every rank, in x = M^(1/2) v.
class PieceProblem {
public:
  PieceProblem(const JumpProblem& problem, const Glued& glued, std::span<const linalg::Vector> first,
               std::span<const linalg::Vector> second, const linalg::Vector& c, const linalg::Vector& start);

  /// False where no field satisfies the conditions.
  bool make_feasible();
  /// False where links that have become zero leave no field that satisfies the conditions.
  bool minimise();
  /// Values of the pieces.
  VectorXd values() const { return from_whole_ * (x_.array() / roots_.array()).matrix(); }
  double energy() const { return energy_at(x_, VectorXd::Zero(x_.size()), 0); }
  int num_pieces() const { return static_cast<int>(x_.size()) / dim_; }

private:
  struct Link {
    std::array<int, 3> a, b;
    MatrixXd matrix;
  };
  void gather_links(const JumpProblem& problem, const Glued& glued);
  void gather_stiffness(const JumpProblem& problem, const Glued& glued);
  VectorXd sums(const JumpProblem& problem, const Glued& glued, const linalg::Vector& field) const;
  VectorXd jump(const Link& link, const VectorXd& x) const;
  void add_jump_transposed(const Link& link, const VectorXd& y, VectorXd& to) const;
  double energy_at(const VectorXd& x, const VectorXd& step, double length) const;
  double slope_at(const VectorXd& step, double length) const;
  double best_length(const VectorXd& step) const;
  bool orthonormalise_conditions();
  void derivatives(VectorXd& gradient, MatrixXd& hessian) const;
  bool close_zero_links();
  void join(const std::vector<int>& piece_of, int count);

  int dim_, pairs_;
  VectorXd roots_; ///< of the masses, per number
  MatrixXd conditions_, independent_;
  VectorXd targets_, of_independent_;
  std::vector<Link> links_;
  MatrixXd stiffness_, from_whole_;
  VectorXd x_;
};

VectorXd PieceProblem::sums(const JumpProblem& problem, const Glued& glued,
                            const linalg::Vector& field) const {
  std::vector<double> result(std::size_t(glued.count) * dim_, 0.0);
  for (LocalIndex node = 0; node < problem.layout->num_owned; ++node)
    for (int i = 0; i < dim_; ++i)
      result[glued.of_local[node] * dim_ + i] += problem.masses[node] * field.owned()[node * dim_ + i];
  problem.comm().sum(result);
  return Eigen::Map<const VectorXd>(result.data(), std::ssize(result));
}

PieceProblem::PieceProblem(const JumpProblem& problem, const Glued& glued,
                           std::span<const linalg::Vector> first, std::span<const linalg::Vector> second,
                           const linalg::Vector& c, const linalg::Vector& start)
    : dim_(problem.dim), pairs_(problem.pairs) {
  std::vector<double> masses(glued.count, 0.0);
  for (LocalIndex node = 0; node < problem.layout->num_owned; ++node)
    masses[glued.of_local[node]] += problem.masses[node];
  problem.comm().sum(masses);
  const Index n = Index{glued.count} * dim_;
  roots_.resize(n);
  for (Index k = 0; k < n; ++k) roots_[k] = std::sqrt(masses[k / dim_]);
  conditions_.resize(std::ssize(first) + std::ssize(second) + 1, n);
  targets_ = VectorXd::Zero(conditions_.rows());
  targets_[conditions_.rows() - 1] = 1;
  Index row = 0;
  const auto add = [&](const linalg::Vector& field) {
    conditions_.row(row++) = (sums(problem, glued, field).array() / roots_.array()).matrix();
  };
  for (const auto& field : first) add(field);
  for (const auto& field : second) add(field);
  add(c);
  x_ = (sums(problem, glued, start).array() / roots_.array()).matrix();
  from_whole_ = MatrixXd::Identity(n, n);
  gather_links(problem, glued);
  gather_stiffness(problem, glued);
}

void PieceProblem::gather_links(const JumpProblem& problem, const Glued& glued) {
  std::vector<PieceLink> links;
  const int size = problem.size();
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const JumpProblem::Link& link = problem.links[l];
    if (!link.counted) continue;
    PieceLink sent{};
    bool parts = false;
    for (int k = 0; k < pairs_; ++k) {
      sent.a[k] = glued.of_local[link.a[k]];
      sent.b[k] = glued.of_local[link.b[k]];
      parts = parts || sent.a[k] != sent.b[k];
    }
    if (!parts) continue;
    std::ranges::copy(problem.matrix(l), sent.matrix.begin());
    links.push_back(sent);
  }
  links = parallel::gather(problem.comm(), 0, std::move(links));
  problem.comm().broadcast(links);
  if (problem.isotropic) { // one link with the sum of the weights
    for (PieceLink& link : links)
      if (link.a[0] > link.b[0]) std::swap(link.a, link.b);
    const auto key = [](const PieceLink& link) { return std::pair(link.a[0], link.b[0]); };
    std::ranges::stable_sort(links, {}, key);
    std::size_t kept = 0;
    for (std::size_t l = 0; l < links.size(); ++l)
      if (kept > 0 && key(links[kept - 1]) == key(links[l]))
        for (int i = 0; i < size * size; ++i) links[kept - 1].matrix[i] += links[l].matrix[i];
      else
        links[kept++] = links[l];
    links.resize(kept);
  }
  for (const PieceLink& sent : links) {
    Link link{{}, {}, Eigen::Map<const MatrixXd>(sent.matrix.data(), size, size)};
    std::ranges::copy(sent.a, link.a.begin());
    std::ranges::copy(sent.b, link.b.begin());
    links_.push_back(std::move(link));
  }
}

void PieceProblem::gather_stiffness(const JumpProblem& problem, const Glued& glued) {
  if (!problem.comm().any(!problem.elements.empty())) return;
  const Index n = roots_.size();
  stiffness_ = MatrixXd::Zero(n, n);
  for (const JumpProblem::Element& element : problem.elements) {
    const Index rows = element.stiffness.rows();
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < rows; ++j)
        stiffness_(glued.of_local[element.nodes[i / dim_]] * dim_ + i % dim_,
                   glued.of_local[element.nodes[j / dim_]] * dim_ + j % dim_) += element.stiffness(i, j);
  }
  problem.comm().sum(std::span(stiffness_.data(), std::size_t(stiffness_.size())));
  stiffness_ = roots_.cwiseInverse().asDiagonal() * stiffness_ * roots_.cwiseInverse().asDiagonal();
}

/// Independent combinations of the conditions; false where they contradict each other.
bool PieceProblem::orthonormalise_conditions() {
  constexpr double dependent = 1e-9;
  independent_.resize(0, x_.size());
  of_independent_.resize(0);
  for (Index row = 0; row < conditions_.rows(); ++row) {
    VectorXd direction = conditions_.row(row).transpose();
    double target = targets_[row];
    const double before = direction.norm();
    for (int sweep = 0; sweep < 2; ++sweep)
      for (Index k = 0; k < independent_.rows(); ++k) {
        const double part = independent_.row(k).dot(direction);
        direction -= part * independent_.row(k).transpose();
        target -= part * of_independent_[k];
      }
    const double norm = direction.norm();
    if (!(norm > dependent * std::max(before, 1.0))) {
      if (std::abs(target) > dependent) return false;
      continue;
    }
    independent_.conservativeResize(independent_.rows() + 1, Eigen::NoChange);
    independent_.row(independent_.rows() - 1) = direction.transpose() / norm;
    of_independent_.conservativeResize(independent_.rows());
    of_independent_[independent_.rows() - 1] = target / norm;
  }
  return true;
}

bool PieceProblem::make_feasible() {
  if (!orthonormalise_conditions()) return false;
  for (int round = 0; round < 2; ++round)
    x_ += independent_.transpose() * (of_independent_ - independent_ * x_);
  return x_.allFinite();
}

VectorXd PieceProblem::jump(const Link& link, const VectorXd& x) const {
  VectorXd step(pairs_ * dim_);
  for (int k = 0; k < pairs_; ++k)
    for (int i = 0; i < dim_; ++i) {
      const int a = link.a[k] * dim_ + i, b = link.b[k] * dim_ + i;
      step[k * dim_ + i] = x[a] / roots_[a] - x[b] / roots_[b];
    }
  return link.matrix * step;
}

void PieceProblem::add_jump_transposed(const Link& link, const VectorXd& y, VectorXd& to) const {
  const VectorXd forces = link.matrix.transpose() * y;
  for (int k = 0; k < pairs_; ++k)
    for (int i = 0; i < dim_; ++i) {
      const int a = link.a[k] * dim_ + i, b = link.b[k] * dim_ + i;
      to[a] += forces[k * dim_ + i] / roots_[a];
      to[b] -= forces[k * dim_ + i] / roots_[b];
    }
}

double PieceProblem::energy_at(const VectorXd& x, const VectorXd& step, double length) const {
  const VectorXd at = x + length * step;
  double energy = stiffness_.size() > 0 ? at.dot(stiffness_ * at) / 2 : 0;
  for (const Link& link : links_) energy += jump(link, at).norm();
  return energy;
}

/// Slope of the energy along a step, from above.
double PieceProblem::slope_at(const VectorXd& step, double length) const {
  const VectorXd at = x_ + length * step;
  double slope = stiffness_.size() > 0 ? step.dot(stiffness_ * at) : 0;
  for (const Link& link : links_) {
    const VectorXd here = jump(link, at), change = jump(link, step);
    const double norm = here.norm();
    slope += norm > 0 ? here.dot(change) / norm : change.norm();
  }
  return slope;
}

/// The length with the least energy along a step, by bisection of the slope, which grows.
double PieceProblem::best_length(const VectorXd& step) const {
  double low = 0, high = 1;
  for (int k = 0; k < 200 && slope_at(step, high) < 0; ++k) {
    low = high;
    high *= 2;
  }
  if (low == 0 && slope_at(step, 0.999) < 0) return 1; // Newton's step
  for (int k = 0; k < 100 && high - low > 1e-16 * high; ++k) {
    const double middle = (low + high) / 2;
    (slope_at(step, middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

void PieceProblem::derivatives(VectorXd& gradient, MatrixXd& hessian) const {
  const Index n = x_.size();
  gradient = VectorXd::Zero(n);
  hessian = MatrixXd::Zero(n, n);
  if (stiffness_.size() > 0) {
    gradient = stiffness_ * x_;
    hessian = stiffness_;
  }
  for (const Link& link : links_) {
    const VectorXd y = jump(link, x_);
    const double norm = y.norm();
    if (!(norm > 0)) continue;
    const VectorXd unit = y / norm;
    add_jump_transposed(link, unit, gradient);
    const MatrixXd of_link =
        link.matrix.transpose() * (link.matrix - unit * (unit.transpose() * link.matrix)) / norm;
    const auto place = [&](int entry) { // of an entry on side a, then on side b
      const int side = entry / (pairs_ * dim_), k = entry % (pairs_ * dim_);
      return (side == 0 ? link.a : link.b)[k / dim_] * dim_ + k % dim_;
    };
    const int numbers = 2 * pairs_ * dim_;
    for (int i = 0; i < numbers; ++i)
      for (int j = 0; j < numbers; ++j) {
        const int half = pairs_ * dim_, r = place(i), s = place(j);
        const double sign = (i < half) == (j < half) ? 1 : -1;
        hessian(r, s) += sign * of_link(i % half, j % half) / (roots_[r] * roots_[s]);
      }
  }
}

/// Joins pieces numbered anew.
void PieceProblem::join(const std::vector<int>& piece_of, int count) {
  const Index n = Index{count} * dim_;
  MatrixXd to_old = MatrixXd::Zero(roots_.size(), n); // values of the old pieces
  VectorXd squares = VectorXd::Zero(n);
  for (Index k = 0; k < roots_.size(); ++k) {
    const Index to = piece_of[k / dim_] * dim_ + k % dim_;
    to_old(k, to) = 1;
    squares[to] += roots_[k] * roots_[k];
  }
  from_whole_ = from_whole_ * to_old;
  const VectorXd old_roots = roots_;
  roots_ = squares.cwiseSqrt();
  const MatrixXd map = old_roots.asDiagonal() * to_old * roots_.cwiseInverse().asDiagonal(); // x_old = map x
  x_ = map.transpose() * x_;
  conditions_ = conditions_ * map;
  if (stiffness_.size() > 0) stiffness_ = map.transpose() * stiffness_ * map;
  std::vector<Link> kept;
  for (Link& link : links_) {
    bool parts = false;
    for (int k = 0; k < pairs_; ++k) {
      link.a[k] = piece_of[link.a[k]];
      link.b[k] = piece_of[link.b[k]];
      parts = parts || link.a[k] != link.b[k];
    }
    if (parts) kept.push_back(std::move(link));
  }
  links_ = std::move(kept);
}

/// Joins what no longer jumps.
bool PieceProblem::close_zero_links() {
  constexpr double zero = 1e-9;
  double largest = 0;
  std::vector<double> sizes;
  for (const Link& link : links_) {
    // Without R_l, so that a cheap direction is no zero jump.
    double square = 0;
    for (int k = 0; k < pairs_; ++k)
      for (int i = 0; i < dim_; ++i) {
        const int a = link.a[k] * dim_ + i, b = link.b[k] * dim_ + i;
        square += std::pow(x_[a] / roots_[a] - x_[b] / roots_[b], 2);
      }
    sizes.push_back(std::sqrt(square));
    largest = std::max(largest, sizes.back());
  }
  UnionFind<int> sets(num_pieces());
  bool any = false;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    if (sizes[l] > zero * largest) continue;
    for (int k = 0; k < pairs_; ++k) {
      any = any || links_[l].a[k] != links_[l].b[k];
      sets.unite(links_[l].a[k], links_[l].b[k]);
    }
  }
  if (!any) return false;
  const std::vector<int> piece_of = sets.numbers();
  join(piece_of, *std::ranges::max_element(piece_of) + 1);
  return true;
}

bool PieceProblem::minimise() {
  constexpr int most_steps = 200;
  constexpr double relative_damping = 1e-7, enough = 1e-15;
  VectorXd gradient;
  MatrixXd hessian;
  for (int step_number = 0; step_number < most_steps; ++step_number) {
    if (close_zero_links() && !make_feasible()) return false;
    if (links_.empty() && stiffness_.size() == 0) return true;
    derivatives(gradient, hessian);
    const MatrixXd& rows = independent_;
    const auto tangential = [&](VectorXd& vector) { vector -= rows.transpose() * (rows * vector); };
    tangential(gradient);
    const MatrixXd half = rows * hessian;
    hessian -= rows.transpose() * half;
    hessian -= (hessian * rows.transpose()) * rows;
    const double damping =
        relative_damping * std::max(hessian.trace() / double(x_.size()), gradient.norm() / x_.norm());
    if (!(damping > 0)) return true;
    hessian.diagonal().array() += damping;
    VectorXd step = -linalg::solve_definite(hessian, gradient);
    tangential(step);
    if (!step.allFinite()) return true;
    const double energy = energy_at(x_, step, 0);
    if (!(-step.dot(gradient) > enough * energy)) return true;
    const double length = best_length(step);
    const double reached = energy_at(x_, step, length);
    if (!(reached < energy)) return true;
    x_ += length * step;
    if (energy - reached < enough * energy) return true;
  }
  return true;
}

} // namespace

std::optional<Polished> polish(const JumpProblem& problem, std::span<const char> closed,
                               const linalg::Vector& start, std::span<const linalg::Vector> orthogonal,
                               std::span<const linalg::Vector> more_orthogonal, const linalg::Vector& c,
                               int most_numbers) {
  const Glued glued = glue(problem, closed);
  if (glued.count * problem.dim > most_numbers) return std::nullopt;
  PieceProblem pieces(problem, glued, orthogonal, more_orthogonal, c, start);
  if (!pieces.make_feasible() || !pieces.minimise()) return std::nullopt;
  const VectorXd values = pieces.values();
  if (!values.allFinite()) return std::nullopt;
  Polished result{linalg::Vector(problem.layout), pieces.energy(), pieces.num_pieces()};
  const auto to = result.field.write_local();
  for (std::size_t k = 0; k < to.size(); ++k)
    to[k] = values[glued.of_local[k / problem.dim] * problem.dim + Index(k) % problem.dim];
  return result;
}

} // namespace recoil::solvers::fracture_modes

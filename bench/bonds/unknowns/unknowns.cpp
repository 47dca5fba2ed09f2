#include "bonds/unknowns/unknowns.hpp"

#include <array>

#include <Eigen/Eigenvalues>

#include "bonds/unknowns/block_matrix.hpp"
#include "bonds/unknowns/coordinates.hpp"

namespace recoil::bench {

namespace {

/// Nearest positive semi-definite matrix. One routine for all sizes, so that times compare.
template <int size>
void project(Eigen::Matrix<double, size, size>& A) {
  if (Eigen::LLT<Eigen::Matrix<double, size, size>>(A).info() == Eigen::Success) return;
  // Of run-time size: gcc 12 warns of Eigen's code for fixed ones.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
  A = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
      solver.eigenvectors().transpose();
}

template <class Turns>
class UnknownsIn final : public Unknowns {
  static constexpr int turns = Turns::turns, n = 3 + turns;
  using Chart = typename Turns::Chart;
  using Matrix = SymmetricBlocks<n>;

public:
  UnknownsIn(const StepEnergy& energy, Turns coordinates)
      : energy_(energy), coordinates_(std::move(coordinates)), matrix_(energy) {}

  int size() const override { return n; }
  void begin_step(const Points& from) override { coordinates_.begin_step(from); }
  const StepEnergy& energy() const override { return energy_; }

  double value(const Points& x, const LengthTerms& lengths) const override {
    double sum = energy_.value(x);
    if constexpr (turns == 4) {
      const Eigen::VectorXd c = constraints(x);
      sum += lengths.weight / 2 * c.squaredNorm();
      if (lengths.multipliers.size() > 0) sum += lengths.multipliers.dot(c);
    }
    return sum;
  }

  void gradient(const Points& x, const LengthTerms& lengths, Eigen::VectorXd& g) const override {
    g.setZero(n * energy_.num_particles());
    const std::vector<Chart> charts = charts_at(x);
    const auto add = [&](LocalIndex k, const Eigen::Vector3d& by_p, const geometry::Quaternion& by_q) {
      g.segment<3>(n * k) += by_p;
      g.segment<turns>(n * k + 3) += charts[k].by_turn.transpose() * by_q;
    };
    const auto& bonds = energy_.problem().particles->bonds;
    for (std::size_t b = 0; b < bonds.size(); ++b) {
      const potentials::BondVector by = energy_.bond_gradient(LocalIndex(b), x);
      add(bonds[b].a, by.segment<3>(0), by.segment<4>(3));
      add(bonds[b].b, by.segment<3>(7), by.segment<4>(10));
    }
    for (LocalIndex k = 0; k < energy_.num_particles(); ++k) {
      add(k, energy_.inertia_by_position(k, x), energy_.inertia_by_quaternion(k, x));
      if constexpr (turns == 4) g.segment<4>(n * k + 3) += pull(lengths, x, k) * solvers::particle_at(x, k).q;
      if (!energy_.is_free(k)) g.segment<n>(n * k).setZero();
    }
  }

  bool assemble(const Points& x, const LengthTerms& lengths, newton::Projection projection,
                const Eigen::VectorXd* normals) override {
    matrix_.set_zero();
    const std::vector<Chart> charts = charts_at(x);
    const bool projected = projection == newton::Projection::per_element;
    const auto& bonds = energy_.problem().particles->bonds;
    for (std::size_t b = 0; b < bonds.size(); ++b) {
      typename Matrix::Pair K = bond_matrix(LocalIndex(b), x, charts[bonds[b].a], charts[bonds[b].b]);
      if (projected) project<2 * n>(K);
      matrix_.add_bond(LocalIndex(b), K);
    }
    for (LocalIndex k = 0; k < energy_.num_particles(); ++k)
      matrix_.add_diagonal(k, particle_matrix(k, x, charts[k], lengths, projected));
    return matrix_.invert_diagonal(normals);
  }

  void multiply(const Eigen::VectorXd& y, Eigen::VectorXd& result) const override {
    matrix_.multiply(y, result);
  }
  void precondition(const Eigen::VectorXd& r, Eigen::VectorXd& z) const override {
    matrix_.precondition(r, z);
  }

  Points moved(const Points& x, const Eigen::VectorXd& d, double s) const override {
    Points result(x);
    for (LocalIndex k = 0; k < energy_.num_particles(); ++k) {
      if (!energy_.is_free(k)) continue;
      const potentials::Particle from = solvers::particle_at(x, k);
      solvers::set_particle(
          result, k,
          {from.p + s * d.segment<3>(n * k),
           coordinates_.moved(k, from.q, s * d.template segment<turns>(n * k + 3), radius(k))});
    }
    return result;
  }

private:
  std::vector<Chart> charts_at(const Points& x) const {
    std::vector<Chart> charts;
    charts.reserve(std::size_t(energy_.num_particles()));
    for (LocalIndex k = 0; k < energy_.num_particles(); ++k)
      charts.push_back(coordinates_.chart(k, solvers::particle_at(x, k).q, radius(k)));
    return charts;
  }

  /// lambda + weight c, by which the gradient of the constraint counts.
  double pull(const LengthTerms& lengths, const Points& x, LocalIndex k) const {
    const double c = radius(k) * (solvers::particle_at(x, k).q.squaredNorm() - 1);
    return lengths.weight * c + (lengths.multipliers.size() > 0 ? lengths.multipliers[k] : 0);
  }

  typename Matrix::Pair bond_matrix(LocalIndex bond, const Points& x, const Chart& a, const Chart& b) const {
    const potentials::BondDerivatives d = energy_.bond_derivatives(bond, x);
    const std::array<const Chart*, 2> charts{&a, &b};
    typename Matrix::Pair K;
    for (int e = 0; e < 2; ++e)
      for (int f = 0; f < 2; ++f) {
        const auto H = d.hessian.block<7, 7>(7 * e, 7 * f);
        auto to = K.template block<n, n>(n * e, n * f);
        to.template block<3, 3>(0, 0) = H.template block<3, 3>(0, 0);
        to.template block<3, turns>(0, 3).noalias() = H.template block<3, 4>(0, 3) * charts[f]->by_turn;
        to.template block<turns, 3>(3, 0).noalias() =
            charts[e]->by_turn.transpose() * H.template block<4, 3>(3, 0);
        to.template block<turns, turns>(3, 3).noalias() =
            charts[e]->by_turn.transpose() * H.template block<4, 4>(3, 3) * charts[f]->by_turn;
        if (e == f)
          to.template block<turns, turns>(3, 3) += charts[e]->curvature(d.gradient.segment<4>(7 * e + 3));
      }
    return K;
  }

  /// Of inertia and the terms of the lengths.
  typename Matrix::Block particle_matrix(LocalIndex k, const Points& x, const Chart& chart,
                                         const LengthTerms& lengths, bool projected) const {
    typename Matrix::Block result = Matrix::Block::Zero();
    result.diagonal().template head<3>().setConstant(energy_.problem().mass[k]);
    Eigen::Matrix<double, turns, turns> turning =
        4 * energy_.problem().inertia(k) * chart.by_turn.transpose() * chart.by_turn +
        chart.curvature(energy_.inertia_by_quaternion(k, x));
    if (projected) project<turns>(turning);
    if constexpr (turns == 4) {
      const geometry::Quaternion q = solvers::particle_at(x, k).q;
      const double along = pull(lengths, x, k) / (2 * radius(k));
      turning += lengths.weight * q * q.transpose();
      turning.diagonal().array() += projected ? std::max(0.0, along) : along;
    }
    result.template bottomRightCorner<turns, turns>() = turning;
    return result;
  }

  const StepEnergy& energy_;
  Turns coordinates_;
  Matrix matrix_;
};

} // namespace

std::unique_ptr<Unknowns> make_unknowns(Coordinates coordinates, const StepEnergy& energy) {
  switch (coordinates) {
  case Coordinates::sphere:
    return std::make_unique<UnknownsIn<OnSphere>>(energy, OnSphere{});
  case Coordinates::rotation_vectors:
    return std::make_unique<UnknownsIn<RotationVectors>>(energy, RotationVectors{});
  case Coordinates::rotation_vectors_of_step:
    return std::make_unique<UnknownsIn<RotationVectors>>(energy, RotationVectors{true});
  case Coordinates::quaternions:
    break;
  }
  return std::make_unique<UnknownsIn<Quaternions>>(energy, Quaternions{});
}

} // namespace recoil::bench

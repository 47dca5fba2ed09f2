#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

/// The rigid motions of the pieces of a problem that no prescribed entry resists, where neither inertia nor
/// contact holds anything. A piece is a set of cells connected by nodes; the null space of the Gram matrix of
/// its infinitesimal translations and rotations, restricted to the prescribed entries, is what is loose.
template <int dim>
class LooseMotions {
public:
  /// Finds the pieces and what holds them. Collective.
  explicit LooseMotions(const ElastodynamicsProblem<dim>& problem);

  /// Why there is no equilibrium near u: the loads of a piece work on a loose motion, along which the
  /// gradient of the objective stays what it is. Empty if there is no such piece. Warns of pieces with loads
  /// that are loose but in balance, whose place the equilibrium leaves open. @pre the objective is in the
  /// step. Collective.
  std::string check(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;

private:
  static constexpr int num_rotations = dim == 3 ? 3 : 1, num_modes = dim + num_rotations;
  using Point = Eigen::Matrix<double, dim, 1>;
  using Coefficients = Eigen::Matrix<double, num_modes, 1>;
  using Modes = Eigen::Matrix<double, dim, num_modes>;

  struct Piece {
    int body = 0;
    bool is_whole_body = true;
    bool is_gripped = false;      ///< has prescribed entries
    Point middle = Point::Zero(); ///< mean rest position of the nodes [m]
    double size = 1;              ///< root mean square distance of the nodes from it [m]
    Eigen::MatrixXd translations; ///< orthonormal columns of Coefficients: loose motions without rotation
    Eigen::MatrixXd motions;      ///< the same: all loose motions
  };
  /// What forces do on the motions of a piece.
  struct Load {
    Coefficients force = Coefficients::Zero();
    Coefficients magnitude = Coefficients::Zero(); ///< sum of the absolute values
  };

  void find_pieces();
  void measure_pieces();
  void find_loose();
  Modes modes(const Piece& piece, const Point& position) const;
  std::vector<Load> loads_of(std::span<const double> forces) const;
  std::vector<Load> gradient_loads(IncrementalPotential<dim>& objective, const linalg::Vector& u) const;
  std::vector<char> falls_along(IncrementalPotential<dim>& objective, const linalg::Vector& u,
                                const std::vector<Coefficients>& directions) const;
  std::string describe(const Piece& piece, const Eigen::MatrixXd& motions) const;
  std::string describe(const Piece& piece, const Coefficients& force) const;

  const ElastodynamicsProblem<dim>& problem_;
  std::vector<std::size_t> piece_of_; ///< of every owned node
  std::vector<Piece> pieces_;
  bool any_loose_ = false;
};

} // namespace recoil::solvers

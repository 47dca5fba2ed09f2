#pragma once

#include <vector>

#include <Eigen/Core>

#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::solvers {

/// What makes pieces.
enum class Connected {
  by_nodes,  ///< sets of cells
  by_contact ///< all cells, as any two sets may touch
};

/// What can move as one rigid body.
struct PieceInfo {
  int body = 0;                ///< of its nodes; of one of them where it has several
  bool is_whole_body = true;   ///< it is all of that body, and nothing else
  bool has_all_bodies = false; ///< of a scene with several
  bool is_linear = true; ///< all its laws are of linear theory: rotations are linearised about the rest shape
  bool is_gripped = false; ///< has prescribed entries
};

/// The pieces of a problem and their rigid motions, as coefficients of modes: translations by a unit of
/// length, then rotations by that over the size of the piece, about its middle.
template <int dim>
class RigidPieces {
public:
  static constexpr int num_rotations = dim == 3 ? 3 : 1, num_modes = dim + num_rotations;
  using Point = Eigen::Matrix<double, dim, 1>;
  using Coefficients = Eigen::Matrix<double, num_modes, 1>;
  using Modes = Eigen::Matrix<double, dim, num_modes>;
  struct Piece : PieceInfo {
    Point middle = Point::Zero(); ///< mean rest position of the nodes [m]
    double size = 1;              ///< root mean square distance of the nodes from it [m]
  };
  /// What forces do on the motions of a piece.
  struct Load {
    Coefficients force = Coefficients::Zero();
    Coefficients magnitude = Coefficients::Zero(); ///< sum of the absolute values
  };

  /// Finds the pieces. Collective.
  RigidPieces(const ElastodynamicsProblem<dim>& problem, Connected connected);

  std::size_t size() const { return pieces_.size(); }
  const Piece& operator[](std::size_t p) const { return pieces_[p]; }
  /// The piece of an owned node. Not collective.
  std::size_t piece_of(std::size_t node) const { return piece_of_[node]; }
  std::size_t num_nodes() const { return piece_of_.size(); } ///< owned
  const Point& rest(std::size_t node) const { return problem_.space->node_positions()[node]; }
  /// Displacements of a node at a position by the modes of its piece. Not collective.
  Modes modes(const Piece& piece, const Point& position) const;
  /// The modes where an owned node is at u; at rest for pieces of linear laws. Not collective.
  Modes modes_at(std::size_t node, std::span<const double> u) const;

  /// Orthonormal columns of coefficients, by piece: the motions at u that leave all prescribed entries where
  /// they are. Collective.
  std::vector<Eigen::MatrixXd> unheld(std::span<const double> u) const;
  /// The work of nodal forces on the modes at u, by piece. Collective.
  std::vector<Load> loads_of(std::span<const double> forces, std::span<const double> u) const;
  /// Moves the owned nodes of u as coefficients by piece say: by linearised motions where laws are linear,
  /// else by exponentials of twists, which keep distances. Not collective.
  void move(const std::vector<Coefficients>& motions, std::span<double> u) const;

private:
  void find();
  void measure();
  void find_laws();

  const ElastodynamicsProblem<dim>& problem_;
  Connected connected_;
  std::vector<std::size_t> piece_of_; ///< of every owned node
  std::vector<Piece> pieces_;
};

/// Orthonormal columns that span the null space of a Gram matrix.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& gram);

} // namespace recoil::solvers

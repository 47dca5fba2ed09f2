#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/multipoint_constraints.hpp"

namespace recoil::fem {

/// How a cell repeats, and what its displacement gradient is on average.
template <int dim>
struct PeriodicSpec {
  using Matrix = Eigen::Matrix<double, dim, dim>;

  /// Axes of the bounding box along which it repeats; not looked at where there are `periods`.
  std::array<bool, dim> axes;
  /// The way from a side to the one across [m], a column each, where the cell is no box.
  std::optional<Matrix> periods;
  double tolerance = 1e-5; ///< of positions, over the diagonal of the bounding box
  /// Which entries (i, j) = d u_i / d X_j of the macroscopic displacement gradient are prescribed, row by
  /// row. Of the others the mean stress vanishes; where both (i, j) and (j, i) are free they are equal.
  std::array<bool, dim * dim> prescribed;
  /// It at a time; entries that are not prescribed do not count.
  std::function<Matrix(double time)> displacement_gradient;
  bool pins_all_pieces = true; ///< false: contact decides where pieces are that nothing connects
};

/// Periodic boundary: u+ = u- + H (X+ - X-) at nodes across from each other, H the macroscopic displacement
/// gradient, so that u = H X + a periodic fluctuation [Michel, Moulinec and Suquet 1999, Comput. Methods
/// Appl. Mech. Engrg. 172:109-143]. The nodes of the sides + are eliminated (linalg::MultipointConstraints).
/// Entries of H that are free need no unknowns of their own: they are the difference of two nodes, of which
/// the one on the side + stays an unknown.
///
/// Where nothing prescribes a component of the displacement, it is zero at one node.
template <int dim>
class PeriodicBoundary {
public:
  using Point = Eigen::Matrix<double, dim, 1>;
  using Matrix = Eigen::Matrix<double, dim, dim>;

  /// Every rank keeps the nodes of all sides. @param prescribed flags of DirichletDofs. Collective.
  /// @throws InputError on every rank, naming the option, where sides do not match, and where a component is
  /// prescribed at one of two nodes across from each other alone.
  PeriodicBoundary(const FunctionSpace<dim>& space, PeriodicSpec<dim> spec, std::span<const char> prescribed);

  const linalg::MultipointConstraints& constraints() const { return *constraints_; }
  /// One flag per local entry: 1 = no unknown, as it follows others, is fixed, or is prescribed.
  std::span<const char> fixed() const { return fixed_; }
  /// One flag per owned entry: 1 = forces of the constraints act on it.
  std::span<const char> coupled() const { return coupled_; }

  /// The prescribed H at a time, zeros in free entries, times a factor.
  Matrix displacement_gradient(double time, double factor) const;
  bool is_prescribed(int i, int j) const { return spec_.prescribed[i * dim + j]; }
  /// All of H of a displacement that is consistent with the constraints. Columns along which nothing repeats
  /// are zero. Collective.
  Matrix measure(const linalg::Vector& u) const;
  /// u += H (X - X_0) on owned entries and ghosts that are not prescribed; X_0 is where u is pinned.
  void add_affine(const Matrix& H, linalg::Vector& u) const;
  /// Makes u consistent with the prescribed entries of H, but for rounding, by the nodes of sides +.
  /// Collective.
  void impose(const Matrix& H, linalg::Vector& u) const;
  /// act(node, component, way): owned entries that follow, by u_s += d H_ij way_j for the prescribed (i, j).
  template <class Act>
  void for_each_follower(Act act) const {
    for (const Follower& follower : followers_) act(follower.node, follower.component, follower.way);
  }

  /// Where a node on the sides is.
  struct OnSides {
    GlobalIndex leader;   ///< the node that it follows, itself where it follows none; canonical numbers
    unsigned minus, plus; ///< bit k: on that side of period k
  };
  /// By canonical number, for any node of the space; nullptr where it is on no side.
  const OnSides* on_sides(GlobalIndex node) const {
    const auto found = on_sides_.find(node);
    return found == on_sides_.end() ? nullptr : &found->second;
  }
  /// The node where the one with this canonical number would be if it were moved by n periods; empty if there
  /// is none.
  std::optional<GlobalIndex> moved_by(GlobalIndex node, const std::array<int, dim>& n) const;
  /// A column each [m].
  const Matrix& periods() const { return periods_; }
  bool repeats_along(int k) const { return repeats_[k]; }
  /// Global numbers of two nodes one period apart: minus, plus; -1 where nothing repeats.
  const std::array<GlobalIndex, 2>& ends(int k) const { return ends_[k]; }

  /// The volume of the cell [m^dim], holes included.
  double volume() const { return volume_; }
  /// Two vertices whose positions make the length of the cell along an axis.
  struct Span {
    GlobalIndex minus, plus; ///< canonical numbers
    int axis;
    double length;
  };
  /// One per axis of a box along which it repeats; none where the periods are given.
  const std::vector<Span>& spans() const { return spans_; }
  /// positions += y' du/dX of what a change of the vertices X changes in the constraints at constant
  /// unknowns; `y` counts at entries that follow, positions are of local vertices and shares to be summed. H:
  /// all of it.
  void add_shape_products(const Matrix& H, const linalg::Vector& y, std::vector<Point>& positions) const;
  /// y += du/dX dX on owned entries that follow. Collective.
  void add_shape_tangent(const Matrix& H, const std::vector<Point>& dX, linalg::Vector& y) const;
  /// The local vertices at the ends of a span that this rank owns, -1 for others: minus, plus.
  std::array<LocalIndex, 2> owned_ends(const Span& span) const;

  /// What follows at a node, for any node of the space: nullptr where nothing does.
  using Terms = std::vector<linalg::MultipointConstraints::Term>;
  const std::array<std::optional<Terms>, dim>* followers_at(GlobalIndex node) const {
    const auto found = terms_.find(node);
    return found == terms_.end() ? nullptr : &found->second;
  }

private:
  struct Follower {
    LocalIndex node;
    int component;
    Point way;      ///< from the node that it follows to it
    unsigned sides; ///< bit k: it is a period k away
  };
  struct SideNode;
  struct Sides;

  Sides find_sides(std::span<const char> prescribed) const;
  void pair(Sides& sides) const;
  void choose_spans(const Sides& sides);
  void pin(const Sides& sides, std::span<const char> prescribed);
  void eliminate(const Sides& sides);
  bool has_free(int i, int axis) const;
  Point by_lengths(const Matrix& H, int i, int k) const;
  std::pair<int, int> representative(int i, int j) const;
  [[noreturn]] void fail(const std::string& what) const;

  const FunctionSpace<dim>* space_;
  PeriodicSpec<dim> spec_;
  Matrix periods_;                ///< columns; unit vectors where nothing repeats
  std::array<bool, dim> repeats_; ///< along the columns
  std::map<GlobalIndex, OnSides> on_sides_;
  std::map<std::pair<GlobalIndex, unsigned>, GlobalIndex> by_leader_; ///< nodes by leader and sides +
  double volume_ = 0;
  std::vector<char> prescribed_; ///< of DirichletDofs
  std::vector<Span> spans_;
  std::array<std::array<GlobalIndex, 2>, dim> ends_; ///< global numbers of nodes a period apart, per column
  Point origin_ = Point::Zero();                     ///< where it is pinned
  std::map<GlobalIndex, std::array<std::optional<Terms>, dim>> terms_; ///< by global number
  std::vector<Follower> followers_;
  std::unique_ptr<linalg::MultipointConstraints> constraints_;
  std::vector<char> fixed_, coupled_;
};

} // namespace recoil::fem

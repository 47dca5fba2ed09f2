#include "recoil/app/solvers/elastodynamics/thin_bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/fem/pieces.hpp"

namespace recoil::app {

namespace {

constexpr double slender = 5, deep_share = 0.02;
/// Ends make 4 V / S of straight bodies less than their thickness.
constexpr double curved_share = 1.25;

/// Sums over the cells and vertices of a piece, so that those of ranks can be added.
enum Sum { volume, surface, vertices, inner, deep, movable, moments };

template <int dim>
class ThinPieces {
public:
  ThinPieces(const fem::FunctionSpace<dim>& space, const fem::DirichletDofs<dim>& dirichlet)
      : space_(space), pieces_(fem::find_pieces(space)), sums_(num_sums * pieces_.body.size(), 0.0) {
    add_cells();
    add_facets();
    add_vertices(dirichlet.flags());
    space.comm().sum(sums_);
    find_shapes();
  }

  /// A warning per number of elements across, about the most slender body with that number.
  std::vector<std::string> warnings() const {
    const std::vector<double> widths = mean_widths();
    std::map<int, std::size_t> worst;        // piece of each number
    std::map<int, std::set<int>> all_bodies; // of each number
    for (std::size_t piece = 0; piece < widths.size(); ++piece) {
      if (!is_thin(piece)) continue;
      const double across = std::clamp(std::round(shapes_[piece].thickness / widths[piece]), 2.0, 3.0);
      // Of curved pieces, for one, it is not known how thick they are in elements.
      const int number = sum(piece, inner) == 0 ? 1 : shapes_[piece].is_counted ? int(across) : 0;
      const auto [of_number, is_new] = worst.insert({number, piece});
      if (!is_new && ratio(piece) > ratio(of_number->second)) of_number->second = piece;
      all_bodies[number].insert(pieces_.body[piece]);
    }
    std::vector<std::string> texts;
    for (const auto& [number, piece] : worst)
      texts.push_back(describe(piece, number, all_bodies.at(number).size() - 1));
    return texts;
  }

private:
  using Point = Eigen::Matrix<double, dim, 1>;
  using Matrix = Eigen::Matrix<double, dim, dim>;
  static constexpr std::size_t num_sums = moments + dim + dim * dim;

  struct Shape {
    double length = 0, thickness = 0; ///< [m]
    bool is_counted = false;          ///< cells lie behind each other along a direction that is known
    Point thin = Point::Zero();       ///< this direction
  };

  double& sum(std::size_t piece, std::size_t which) { return sums_[num_sums * piece + which]; }
  double sum(std::size_t piece, std::size_t which) const { return sums_[num_sums * piece + which]; }
  std::size_t piece_of(LocalIndex cell) const { return pieces_.of_node[space_.cell_nodes(cell)[0]]; }

  /// From the corner of the scene, so that variances are no differences of large numbers.
  Eigen::Matrix<double, dim, dim + 1> corners(LocalIndex cell) const {
    Eigen::Matrix<double, dim, dim + 1> points;
    for (int i = 0; i <= dim; ++i)
      points.col(i) = space_.mesh().vertices[space_.mesh().cells[cell][i]] - space_.mesh().min_corner;
    return points;
  }
  static double volume_of(const Eigen::Matrix<double, dim, dim + 1>& points) {
    const Matrix sides = points.template rightCols<dim>().colwise() - points.col(0);
    return std::abs(sides.determinant()) / (dim == 2 ? 2 : 6);
  }
  static double width_of(const Eigen::Matrix<double, dim, dim + 1>& points, const Point& direction) {
    const Eigen::Matrix<double, 1, dim + 1> places = direction.transpose() * points;
    return places.maxCoeff() - places.minCoeff();
  }

  /// Extents of the cells along the thickness of their piece, on average over its volume.
  std::vector<double> mean_widths() const {
    std::vector<double> widths(pieces_.body.size(), 0.0);
    for (LocalIndex cell = 0; cell < space_.mesh().num_owned_cells; ++cell) {
      const std::size_t piece = piece_of(cell);
      widths[piece] += volume_of(corners(cell)) * width_of(corners(cell), shapes_[piece].thin);
    }
    space_.comm().sum(widths);
    for (std::size_t piece = 0; piece < widths.size(); ++piece) widths[piece] /= sum(piece, volume);
    return widths;
  }

  std::string describe(std::size_t piece, int number, std::size_t others) const {
    constexpr std::array elements{"two or three elements", "one element", "2 elements", "3 elements"};
    constexpr std::array shares{"half to 70 %", "a quarter", "half", "70 %"};
    return fmt::format(
        "body '{}' is {:.0f} times as long as thick and has {} of order 1 across its thickness{}: "
        "where it bends, it does so by about {} of what is right; set \"discr_order\": 2 under "
        "\"space\" (/space/discr_order)",
        space_.mesh().body_names[pieces_.body[piece]], ratio(piece), elements[number],
        others > 0 ? fmt::format(" ({} more bodies are like it)", others) : "", shares[number]);
  }

  void add_cells() {
    for (LocalIndex cell = 0; cell < space_.mesh().num_owned_cells; ++cell) {
      const auto points = corners(cell);
      const double share = volume_of(points);
      double* const sums = &sum(piece_of(cell), 0);
      const Point total = points.rowwise().sum();
      sums[volume] += share;
      Eigen::Map<Point>(sums + moments) += share / (dim + 1) * total;
      Eigen::Map<Matrix>(sums + moments + dim) +=
          share / ((dim + 1) * (dim + 2)) * (points * points.transpose() + total * total.transpose());
    }
  }

  void add_facets() {
    for (const fem::BoundaryFacet& facet : space_.boundary_facets()) {
      if (facet.cell >= space_.mesh().num_owned_cells) continue;
      const auto points = corners(facet.cell);
      std::array<Point, dim> at;
      for (int i = 0, n = 0; i <= dim; ++i)
        if (i != facet.facet) at[n++] = points.col(i);
      if constexpr (dim == 2)
        sum(piece_of(facet.cell), surface) += (at[1] - at[0]).norm();
      else
        sum(piece_of(facet.cell), surface) += 0.5 * (at[1] - at[0]).cross(at[2] - at[0]).norm();
    }
  }

  /// One at nodes of facets of the boundary, ghosts included.
  linalg::Vector boundary_nodes() const {
    linalg::Vector marks(space_.layout());
    {
      auto values = marks.write_local();
      for (const fem::BoundaryFacet& facet : space_.boundary_facets())
        for (int i = 0; i <= dim; ++i)
          if (i != facet.facet)
            values[std::size_t{dim} * space_.node_of_vertex(space_.mesh().cells[facet.cell][i])] = 1;
    }
    marks.update_ghosts();
    return marks;
  }

  void add_vertices(std::span<const char> prescribed) {
    const linalg::Vector marks = boundary_nodes();
    const auto is_outer = [&](LocalIndex node) { return marks.local()[std::size_t{dim} * node] != 0; };
    std::vector<char> is_near(space_.num_nodes(), 0), is_vertex(space_.num_nodes(), 0);
    for (LocalIndex cell = 0; cell < space_.mesh().num_cells(); ++cell) {
      const auto nodes = space_.cell_nodes(cell).first(dim + 1);
      const bool touches = std::ranges::any_of(nodes, is_outer);
      for (const LocalIndex node : nodes) {
        is_vertex[node] = 1;
        if (touches) is_near[node] = 1;
      }
    }
    for (LocalIndex node = 0; node < space_.num_owned_nodes(); ++node) {
      if (!is_vertex[node]) continue;
      double* const sums = &sum(pieces_.of_node[node], 0);
      sums[vertices] += 1;
      sums[inner] += is_outer(node) ? 0 : 1;
      sums[deep] += is_near[node] ? 0 : 1;
      for (std::size_t i = 0; i < dim; ++i) sums[movable] += prescribed[dim * std::size_t(node) + i] ? 0 : 1;
    }
  }

  /// The direction of the smallest variance; of two equal ones, in square and round sections, an axis.
  static std::optional<Point> direction_of(const Eigen::SelfAdjointEigenSolver<Matrix>& variances) {
    constexpr double equal = 0.01, aligned = 1 - 1e-6;
    const auto& values = variances.eigenvalues();
    if (values[1] - values[0] > equal * values[1]) return variances.eigenvectors().col(0);
    const auto both = variances.eigenvectors().template leftCols<2>();
    for (int axis = 0; axis < dim; ++axis)
      if (both.row(axis).norm() > aligned) return Point::Unit(axis);
    return {};
  }

  void find_shapes() {
    for (std::size_t piece = 0; piece < pieces_.body.size(); ++piece) {
      const double total = sum(piece, volume);
      const Point middle = Eigen::Map<const Point>(&sums_[num_sums * piece + moments]) / total;
      const Matrix variance = Eigen::Map<const Matrix>(&sums_[num_sums * piece + moments + dim]) / total -
                              middle * middle.transpose();
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(variance);
      const auto extent = [&](int i) { return std::sqrt(12 * std::max(solver.eigenvalues()[i], 0.0)); };
      const double curved = 4 * total / sum(piece, surface);
      const bool is_straight = extent(0) <= curved_share * curved;
      const auto thin = direction_of(solver);
      shapes_.push_back({extent(dim - 1), is_straight ? extent(0) : curved, is_straight && thin.has_value(),
                         thin.value_or(Point::Zero())});
    }
  }

  bool is_thin(std::size_t piece) const {
    return space_.body_orders()[pieces_.body[piece]] == 1 && ratio(piece) >= slender &&
           sum(piece, deep) <= deep_share * sum(piece, vertices) && sum(piece, movable) > 0;
  }
  double ratio(std::size_t piece) const { return shapes_[piece].length / shapes_[piece].thickness; }

  const fem::FunctionSpace<dim>& space_;
  fem::Pieces pieces_;
  std::vector<double> sums_;
  std::vector<Shape> shapes_;
};

} // namespace

template <int dim>
void warn_of_thin_bodies(const fem::FunctionSpace<dim>& space, const fem::DirichletDofs<dim>& dirichlet) {
  if (std::ranges::count(space.body_orders(), 1) == 0) return;
  for (const std::string& text : ThinPieces<dim>(space, dirichlet).warnings()) log_warning_once(text);
}

template void warn_of_thin_bodies(const fem::FunctionSpace<2>&, const fem::DirichletDofs<2>&);
template void warn_of_thin_bodies(const fem::FunctionSpace<3>&, const fem::DirichletDofs<3>&);

} // namespace recoil::app

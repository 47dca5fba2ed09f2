#pragma once

#include <array>
#include <cmath>

#include "recoil/geometry/stencil.hpp"

namespace recoil::test {

__extension__ using Quad = __float128;

/// Squared distance of the primitives of a stencil, by trying every pair of sub-simplices: the closest points
/// of their affine hulls count where they lie on the sub-simplices. Shares no code with the library and knows
/// no classification; `Real` is wider than double.
template <class Real, int dim>
class DistanceOracle {
public:
  using Point = std::array<Real, 3>;
  using Points = std::array<Point, 4>;

  explicit DistanceOracle(geometry::StencilKind kind)
      : num_first_(geometry::num_first_points(kind)), num_points_(geometry::num_points(kind)) {}

  static Points convert(const geometry::StencilPoints<dim>& z, int num_points) {
    Points points{};
    for (int i = 0; i < num_points; ++i)
      for (int k = 0; k < dim; ++k)
        points[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = static_cast<Real>(z(k, i));
    return points;
  }

  Real distance_squared(const Points& z) const {
    Real best = -1;
    const int first_masks = (1 << num_first_) - 1, second_masks = (1 << (num_points_ - num_first_)) - 1;
    for (int first = 1; first <= first_masks; ++first)
      for (int second = 1; second <= second_masks; ++second) {
        Real value = 0;
        if (hull_distance(z, first, second << num_first_, value) && (best < 0 || value < best)) best = value;
      }
    return best;
  }

  long double distance(const Points& z) const {
    return std::sqrt(static_cast<long double>(distance_squared(z)));
  }

private:
  static Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
  static Real dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  /// Appends the edges from the lowest vertex of the mask to its others; returns that vertex.
  int add_edges(const Points& z, int mask, Real sign, std::array<Point, 3>& edges, int& count) const {
    int origin = -1;
    for (int i = 0; i < num_points_; ++i) {
      if (!(mask & (1 << i))) continue;
      if (origin < 0) {
        origin = i;
        continue;
      }
      Point e = minus(z[static_cast<std::size_t>(i)], z[static_cast<std::size_t>(origin)]);
      for (auto& x : e) x *= sign;
      edges[static_cast<std::size_t>(count++)] = e;
    }
    return origin;
  }

  bool hull_distance(const Points& z, int first, int second, Real& value) const {
    std::array<Point, 3> e;
    int num_first_edges = 0;
    const int p = add_edges(z, first, 1, e, num_first_edges);
    int count = num_first_edges;
    const int q = add_edges(z, second, -1, e, count);
    Point c = minus(z[static_cast<std::size_t>(p)], z[static_cast<std::size_t>(q)]);
    const auto slide = [&](std::size_t k, Real by) {
      for (std::size_t axis = 0; axis < 3; ++axis) c[axis] += by * e[k][axis];
    };
    Real x = 0, y = 0;
    if (count == 1) {
      const Real a = dot(e[0], e[0]);
      if (!(a > 0)) return false;
      x = -dot(e[0], c) / a;
      slide(0, x);
    } else if (count == 2) {
      const Real a = dot(e[0], e[0]), b = dot(e[0], e[1]), d = dot(e[1], e[1]), det = a * d - b * b;
      if (!(det > Real(1e-30) * a * d)) return false;
      // Normal equations square the condition: repeated on what is left, they lose nothing.
      for (int repeat = 0; repeat < 4; ++repeat) {
        const Real f = -dot(e[0], c), g = -dot(e[1], c);
        const Real dx = (f * d - g * b) / det, dy = (a * g - b * f) / det;
        slide(0, dx);
        slide(1, dy);
        x += dx;
        y += dy;
      }
    }
    const bool one_simplex = count == 2 && num_first_edges != 1;
    if (x < 0 || y < 0 || (one_simplex ? x + y > 1 : (x > 1 || y > 1))) return false;
    value = dot(c, c);
    return true;
  }

  int num_first_, num_points_;
};

} // namespace recoil::test

// Compiled with -ffp-contract=off (CMakeLists.txt): the error bounds and error-free transformations below
// assume that every operation is rounded on its own.
#include "recoil/geometry/predicates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recoil::geometry {

namespace {

using Point2 = Eigen::Vector2d;
using Point3 = Eigen::Vector3d;

constexpr double unit = std::numeric_limits<double>::epsilon() / 2.0;

int sign(double value) { return (value > 0.0) - (value < 0.0); }

/// Unevaluated sum of doubles that do not overlap, smallest first, zeros left out [Shewchuk 1997]: an exact
/// number.
template <int capacity>
struct Expansion {
  double part[capacity];
  int size = 0;

  void append(double value) {
    if (value != 0.0) part[size++] = value;
  }
  int sign_of() const { return size == 0 ? 0 : sign(part[size - 1]); }
};

/// sum + error == a + b exactly (Knuth).
void two_sum(double a, double b, double& sum, double& error) {
  sum = a + b;
  const double b_rounded = sum - a;
  error = (a - (sum - b_rounded)) + (b - b_rounded);
}

Expansion<2> difference(double a, double b) {
  double sum, error;
  two_sum(a, -b, sum, error);
  Expansion<2> result;
  result.append(error);
  result.append(sum);
  return result;
}

/// e + b (grow-expansion).
template <int n>
Expansion<n + 1> grow(const Expansion<n>& e, double b) {
  Expansion<n + 1> result;
  double rest = b, error;
  for (int i = 0; i < e.size; ++i) {
    two_sum(rest, e.part[i], rest, error);
    result.append(error);
  }
  result.append(rest);
  return result;
}

/// e + factor * f for factor 1 or -1.
template <int n, int m>
Expansion<n + m> combine(const Expansion<n>& e, double factor, const Expansion<m>& f) {
  Expansion<n + m> result;
  std::copy(e.part, e.part + e.size, result.part);
  result.size = e.size;
  for (int j = 0; j < f.size; ++j) {
    const Expansion<n + m + 1> grown = grow(result, factor * f.part[j]);
    std::copy(grown.part, grown.part + grown.size, result.part);
    result.size = grown.size;
  }
  return result;
}

/// e * f, term by term with exact products.
template <int n, int m>
Expansion<2 * n * m> product(const Expansion<n>& e, const Expansion<m>& f) {
  Expansion<2 * n * m> result;
  for (int i = 0; i < e.size; ++i)
    for (int j = 0; j < f.size; ++j) {
      const double high = e.part[i] * f.part[j];
      Expansion<2> term;
      term.append(std::fma(e.part[i], f.part[j], -high));
      term.append(high);
      for (int k = 0; k < term.size; ++k) {
        const auto grown = grow(result, term.part[k]);
        std::copy(grown.part, grown.part + grown.size, result.part);
        result.size = grown.size;
      }
    }
  return result;
}

int exact_orientation(const Point2& a, const Point2& b, const Point2& c) {
  const auto left = product(difference(a[0], c[0]), difference(b[1], c[1]));
  const auto right = product(difference(a[1], c[1]), difference(b[0], c[0]));
  return combine(left, -1.0, right).sign_of();
}

/// x_j y_k - x_k y_j of the differences to an origin.
Expansion<16> exact_minor(const Point3& x, const Point3& y, const Point3& origin, int j, int k) {
  const auto left = product(difference(x[j], origin[j]), difference(y[k], origin[k]));
  const auto right = product(difference(x[k], origin[k]), difference(y[j], origin[j]));
  return combine(left, -1.0, right);
}

int exact_orientation(const Point3& a, const Point3& b, const Point3& c, const Point3& d) {
  const auto term = [&](int i, int j, int k) {
    return product(exact_minor(c, d, a, j, k), difference(b[i], a[i]));
  };
  return combine(combine(term(0, 1, 2), 1.0, term(1, 2, 0)), 1.0, term(2, 0, 1)).sign_of();
}

/// Drops coordinate `axis`.
Point2 project(const Point3& p, int axis) { return {p[(axis + 1) % 3], p[(axis + 2) % 3]}; }

/// For four coplanar points: an axis along which they can be projected without folding, -1 if they are
/// collinear.
int projection_axis(const Point3& a, const Point3& b, const Point3& c, const Point3& d) {
  for (int axis = 0; axis < 3; ++axis) {
    const Point2 a2 = project(a, axis), b2 = project(b, axis), c2 = project(c, axis), d2 = project(d, axis);
    if (orientation(a2, b2, c2) != 0 || orientation(a2, b2, d2) != 0 || orientation(a2, c2, d2) != 0 ||
        orientation(b2, c2, d2) != 0)
      return axis;
  }
  return -1;
}

/// Collinear segments meet where their intervals overlap in every coordinate.
template <class Point>
bool intervals_overlap(const Point& p, const Point& q, const Point& a, const Point& b) {
  for (Eigen::Index axis = 0; axis < p.size(); ++axis)
    if (std::max(p[axis], q[axis]) < std::min(a[axis], b[axis]) ||
        std::max(a[axis], b[axis]) < std::min(p[axis], q[axis]))
      return false;
  return true;
}

/// Whether none of three orientations contradicts the others.
bool agree(int ab, int bc, int ca) {
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

/// Whether p lies in the closed triangle abc of either orientation, degenerate ones included.
bool point_in_triangle(const Point2& p, const Point2& a, const Point2& b, const Point2& c) {
  if (orientation(a, b, c) == 0)
    return point_on_segment(p, a, b) || point_on_segment(p, b, c) || point_on_segment(p, c, a);
  return agree(orientation(a, b, p), orientation(b, c, p), orientation(c, a, p));
}

} // namespace

int orientation(const Point2& a, const Point2& b, const Point2& c) {
  const double left = (a[0] - c[0]) * (b[1] - c[1]), right = (a[1] - c[1]) * (b[0] - c[0]);
  const double determinant = left - right;
  const double bound = (3.0 + 16.0 * unit) * unit * (std::abs(left) + std::abs(right));
  if (std::abs(determinant) > bound) return sign(determinant);
  return exact_orientation(a, b, c);
}

int orientation(const Point3& a, const Point3& b, const Point3& c, const Point3& d) {
  const double bx = b[0] - a[0], by = b[1] - a[1], bz = b[2] - a[2];
  const double cx = c[0] - a[0], cy = c[1] - a[1], cz = c[2] - a[2];
  const double dx = d[0] - a[0], dy = d[1] - a[1], dz = d[2] - a[2];
  const double cydz = cy * dz, czdy = cz * dy, czdx = cz * dx, cxdz = cx * dz, cxdy = cx * dy, cydx = cy * dx;
  const double determinant = bx * (cydz - czdy) + by * (czdx - cxdz) + bz * (cxdy - cydx);
  const double permanent = std::abs(bx) * (std::abs(cydz) + std::abs(czdy)) +
                           std::abs(by) * (std::abs(czdx) + std::abs(cxdz)) +
                           std::abs(bz) * (std::abs(cxdy) + std::abs(cydx));
  if (std::abs(determinant) > (7.0 + 56.0 * unit) * unit * permanent) return sign(determinant);
  return exact_orientation(a, b, c, d);
}

bool point_on_segment(const Point2& p, const Point2& a, const Point2& b) {
  return orientation(a, b, p) == 0 && intervals_overlap(p, p, a, b);
}

bool segments_intersect(const Point2& p, const Point2& q, const Point2& a, const Point2& b) {
  if (!intervals_overlap(p, q, a, b)) return false;
  return orientation(a, b, p) * orientation(a, b, q) <= 0 && orientation(p, q, a) * orientation(p, q, b) <= 0;
}

bool segments_intersect(const Point3& p, const Point3& q, const Point3& a, const Point3& b) {
  if (!intervals_overlap(p, q, a, b) || orientation(p, q, a, b) != 0) return false;
  const int axis = projection_axis(p, q, a, b);
  if (axis < 0) return true;
  return segments_intersect(project(p, axis), project(q, axis), project(a, axis), project(b, axis));
}

bool segment_triangle_intersect(const Point3& p, const Point3& q, const Point3& a, const Point3& b,
                                const Point3& c) {
  const int side_p = orientation(a, b, c, p), side_q = orientation(a, b, c, q);
  if (side_p * side_q > 0) return false;
  if (side_p == 0 && side_q == 0) {
    const int axis = projection_axis(a, b, c, a);
    if (axis >= 0 &&
        point_in_triangle(project(p, axis), project(a, axis), project(b, axis), project(c, axis)))
      return true;
    return segments_intersect(p, q, a, b) || segments_intersect(p, q, b, c) || segments_intersect(p, q, c, a);
  }
  return agree(orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a));
}

} // namespace recoil::geometry

#include "geometry/ccd_oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "geometry/distance_oracle.hpp"

namespace recoil::test {

namespace {

using geometry::StencilKind;
using geometry::StencilPoints;
using Real = long double;
using Point = std::array<Real, 3>;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Real dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

template <int dim>
Point column(const StencilPoints<dim>& z, int i) {
  Point p{};
  for (int k = 0; k < dim; ++k) p[static_cast<std::size_t>(k)] = z(k, i);
  return p;
}

using Polynomial = std::array<Real, 4>; // ascending powers

Real evaluate(const Polynomial& f, Real t) { return ((f[3] * t + f[2]) * t + f[1]) * t + f[0]; }

Real bisect(const Polynomial& f, Real low, Real high) {
  const bool low_positive = evaluate(f, low) > 0;
  for (int k = 0; k < 70; ++k) {
    const Real middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    ((evaluate(f, middle) > 0) == low_positive ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Simple roots in [0, 1], ascending; returns how many.
int roots(const Polynomial& f, std::array<Real, 3>& found) {
  std::array<Real, 4> knots{0, 1, 1, 1};
  int num_knots = 1;
  const Real a = 3 * f[3], b = f[2], c = f[1], discriminant = b * b - a * c;
  if (discriminant > 0) {
    const Real s = -(b + std::copysign(std::sqrt(discriminant), b));
    Real r1 = a != 0 ? s / a : -1, r2 = s != 0 ? c / s : -1;
    if (r1 > r2) std::swap(r1, r2);
    for (const Real r : {r1, r2})
      if (r > 0 && r < 1) knots[static_cast<std::size_t>(num_knots++)] = r;
  }
  knots[static_cast<std::size_t>(num_knots)] = 1;
  int count = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(num_knots); ++k)
    if ((evaluate(f, knots[k]) > 0) != (evaluate(f, knots[k + 1]) > 0))
      found[static_cast<std::size_t>(count++)] = bisect(f, knots[k], knots[k + 1]);
  return count;
}

/// det [r1 + t v1, r2 + t v2, r3 + t v3]; in 2D of the first two.
Polynomial coplanarity(const std::array<Point, 3>& r, const std::array<Point, 3>& v, int dim) {
  if (dim == 2)
    return {cross(r[0], r[1])[2], cross(r[0], v[1])[2] + cross(v[0], r[1])[2], cross(v[0], v[1])[2], 0};
  const Point rr = cross(r[1], r[2]), vv = cross(v[1], v[2]), r1v2 = cross(r[1], v[2]),
              v1r2 = cross(v[1], r[2]);
  Point mixed;
  for (std::size_t k = 0; k < 3; ++k) mixed[k] = r1v2[k] + v1r2[k];
  return {dot(r[0], rr), dot(v[0], rr) + dot(r[0], mixed), dot(v[0], mixed) + dot(r[0], vv), dot(v[0], vv)};
}

/// Whether coplanar primitives overlap, by signs of areas relative to the common normal.
bool touch(StencilKind kind, const std::array<Point, 4>& z) {
  if (kind == StencilKind::vertex_edge) {
    const Point e = minus(z[2], z[1]);
    const Real along = dot(e, minus(z[0], z[1]));
    return along >= 0 && along <= dot(e, e);
  }
  if (kind == StencilKind::vertex_face) {
    const Point n = cross(minus(z[2], z[1]), minus(z[3], z[1]));
    for (std::size_t i = 1; i <= 3; ++i) {
      const std::size_t j = i % 3 + 1;
      if (dot(n, cross(minus(z[j], z[i]), minus(z[0], z[i]))) < 0) return false;
    }
    return true;
  }
  const Point u = minus(z[1], z[0]), v = minus(z[3], z[2]), w = minus(z[2], z[0]), n = cross(u, v);
  const Real nn = dot(n, n), a = dot(cross(w, v), n), b = dot(cross(w, u), n);
  return a >= 0 && a <= nn && b >= 0 && b <= nn;
}

} // namespace

template <int dim>
double first_impact(StencilKind kind, const StencilPoints<dim>& start,
                    const StencilPoints<dim>& displacement) {
  const int n = num_points(kind);
  std::array<Point, 3> r{}, v{};
  for (int i = 1; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i - 1);
    r[k] = minus(column<dim>(start, i), column<dim>(start, 0));
    v[k] = minus(column<dim>(displacement, i), column<dim>(displacement, 0));
  }
  std::array<Real, 3> times;
  const int count = roots(coplanarity(r, v, dim), times);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::array<Point, 4> z{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) z[i + 1][axis] = r[i][axis] + times[k] * v[i][axis];
    if (touch(kind, z)) return static_cast<double>(times[k]);
  }
  return 2.0;
}

template <int dim>
double marched_impact(StencilKind kind, const StencilPoints<dim>& start,
                      const StencilPoints<dim>& displacement, double resolution, int max_steps) {
  const DistanceOracle<Real, dim> oracle(kind);
  const int n = num_points(kind), first = geometry::num_first_points(kind);
  const auto z0 = DistanceOracle<Real, dim>::convert(start, n),
             v = DistanceOracle<Real, dim>::convert(displacement, n);
  Real speed = 0, extent = 0;
  for (int i = 0; i < first; ++i)
    for (int j = first; j < n; ++j) {
      const Point w = minus(v[static_cast<std::size_t>(i)], v[static_cast<std::size_t>(j)]);
      speed = std::max(speed, std::sqrt(dot(w, w)));
      const Point r = minus(z0[static_cast<std::size_t>(i)], z0[static_cast<std::size_t>(j)]);
      extent = std::max(extent, std::sqrt(dot(r, r)));
    }
  if (speed == 0) return 2.0;
  Real time = 0, keep = -1;
  for (int step = 0; step < max_steps; ++step) {
    auto z = z0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 3; ++k) z[i][k] += time * v[i][k];
    const Real distance = oracle.distance(z);
    if (keep < 0) {
      keep = resolution * distance;
      // Touching at the start, up to rounding of this oracle.
      if (distance <= 1e-15L * extent) return 0.0;
    }
    if (distance <= keep) return static_cast<double>(time);
    time += distance * (1 - 1e-12L) / speed;
    if (!(time <= 1)) return 2.0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <int dim>
double distance_at(StencilKind kind, const StencilPoints<dim>& start, const StencilPoints<dim>& displacement,
                   double time) {
  const DistanceOracle<Quad, dim> oracle(kind);
  const int n = num_points(kind);
  auto z = DistanceOracle<Quad, dim>::convert(start, n);
  const auto v = DistanceOracle<Quad, dim>::convert(displacement, n);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 3; ++k) z[i][k] += static_cast<Quad>(time) * v[i][k];
  return static_cast<double>(oracle.distance(z));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template double first_impact<dim>(StencilKind, const StencilPoints<dim>&, const StencilPoints<dim>&);      \
  template double marched_impact<dim>(StencilKind, const StencilPoints<dim>&, const StencilPoints<dim>&,     \
                                      double, int);                                                          \
  template double distance_at<dim>(StencilKind, const StencilPoints<dim>&, const StencilPoints<dim>&, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::test

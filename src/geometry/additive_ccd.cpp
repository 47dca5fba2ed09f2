#include "recoil/geometry/additive_ccd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "recoil/geometry/closest_points.hpp"

namespace recoil::geometry {

namespace {

template <int dim>
using Vector = Eigen::Matrix<double, dim, 1>;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double gap_fraction = 0.1;
/// The motion ends where the gap is within this factor of the one that must be kept.
constexpr double arrival = 1.2;
constexpr int max_iterations = 1000;

/// A query relative to its first point, so that coordinates far from the origin cost no accuracy.
template <int dim>
struct Motion {
  StencilKind kind;
  int num_first, num_points;
  StencilPoints<dim> start, velocity;
  double speed;          ///< no two points of the primitives approach faster
  double extent_squared; ///< of the stencil at the start
  double rounding;       ///< bound of the rounding errors of distances and heights at any time of the motion

  bool is_finite;

  Motion(StencilKind kind_, const StencilPoints<dim>& start_, const StencilPoints<dim>& displacement,
         double max_time)
      : kind(kind_), num_first(num_first_points(kind_)), num_points(geometry::num_points(kind_)) {
    start.setZero();
    velocity.setZero();
    extent_squared = 0.0;
    double travel_squared = 0.0, sum = 0.0; // of squares: NaN would get lost in a maximum
    for (int i = 1; i < num_points; ++i) {
      start.col(i) = start_.col(i) - start_.col(0);
      velocity.col(i) = displacement.col(i) - displacement.col(0);
      extent_squared = std::max(extent_squared, start.col(i).squaredNorm());
      travel_squared = std::max(travel_squared, velocity.col(i).squaredNorm());
      sum += start.col(i).squaredNorm() + velocity.col(i).squaredNorm();
    }
    // Velocities of points of the primitives are convex combinations of those of the vertices.
    double speed_squared = 0.0;
    for (int i = 0; i < num_first; ++i)
      for (int j = num_first; j < num_points; ++j)
        speed_squared = std::max(speed_squared, (displacement.col(i) - displacement.col(j)).squaredNorm());
    speed = std::sqrt(speed_squared) * (1.0 + 8.0 * epsilon);
    rounding = 32.0 * epsilon * (std::sqrt(extent_squared) + max_time * std::sqrt(travel_squared));
    is_finite = std::isfinite(sum);
  }

  StencilPoints<dim> at(double time) const { return start + time * velocity; }
};

/// Distance of the boxes around the primitives at the start: at most that of the primitives.
template <int dim>
double box_distance(const Motion<dim>& motion) {
  const auto first = motion.start.leftCols(motion.num_first);
  const auto second = motion.start.middleCols(motion.num_first, motion.num_points - motion.num_first);
  const Vector<dim> below = second.rowwise().minCoeff() - first.rowwise().maxCoeff();
  const Vector<dim> above = first.rowwise().minCoeff() - second.rowwise().maxCoeff();
  return below.cwiseMax(above).cwiseMax(0.0).norm();
}

/// What of a gap must be kept.
double kept_of(double gap, double largest_gap) { return std::min(gap_fraction * gap, largest_gap); }

/// The vector that the free parameter r moves the closest point along, unit length.
template <int dim>
Vector<dim> unit_tangent(const ClosestPoints<dim>& closest, const StencilPoints<dim>& z, int r) {
  Eigen::Index plus, minus;
  closest.tangents.col(r).maxCoeff(&plus);
  closest.tangents.col(r).minCoeff(&minus);
  return (z.col(plus) - z.col(minus)).normalized();
}

/// Unit vector of separation, orthogonal to the closest features to rounding. c itself is orthogonal only to
/// rounding times extent over distance, which would waste much of a small distance, never its safety.
template <int dim>
Vector<dim> separating_direction(const ClosestPoints<dim>& closest, const StencilPoints<dim>& z,
                                 double extent_squared) {
  Vector<dim> n = closest.separation / std::sqrt(closest.distance_squared);
  if (closest.num_free == 0 || closest.distance_squared > 1e-8 * extent_squared) return n;
  const Vector<dim> first = unit_tangent<dim>(closest, z, 0);
  Vector<dim> second = Vector<dim>::Zero();
  if (closest.num_free == 2) {
    second = unit_tangent<dim>(closest, z, 1);
    for (int repeat = 0; repeat < 2; ++repeat) second = (second - first.dot(second) * first).normalized();
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    n -= n.dot(first) * first;
    n -= n.dot(second) * second;
  }
  return n.normalized();
}

/// How long the slab between the primitives along n stays thicker than `keep`: whatever n is, the distance is
/// at least min_i n.a_i - max_j n.b_j, which is linear in time for each pair of vertices. 0 if it is thinner
/// already.
template <int dim>
double slab_time(const Motion<dim>& motion, const StencilPoints<dim>& z, const Vector<dim>& n, double keep,
                 double longest) {
  const Eigen::Vector4d height = z.transpose() * n, rise = motion.velocity.transpose() * n;
  double time = longest;
  for (int i = 0; i < motion.num_first; ++i)
    for (int j = motion.num_first; j < motion.num_points; ++j) {
      const double room = height[i] - height[j] - keep;
      if (!(room > 0.0)) return 0.0;
      const double closing = rise[j] - rise[i];
      if (closing * time > room) time = room / closing;
    }
  return time;
}

} // namespace

template <int dim>
double additive_ccd(StencilKind kind, const StencilPoints<dim>& start, const StencilPoints<dim>& displacement,
                    double min_separation, double max_time, double largest_gap) {
  const Motion<dim> motion(kind, start, displacement, max_time);
  if (!motion.is_finite) return 0.0;
  if (motion.speed == 0.0) return max_time;
  // Most pairs are so far apart that a step that is not long needs no closest points.
  const double least_gap = box_distance(motion) - motion.rounding - min_separation;
  if (least_gap - kept_of(least_gap, largest_gap) >= motion.speed * max_time && least_gap > 0.0)
    return max_time;

  double time = 0.0, keep = 0.0, arrived = 0.0;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const StencilPoints<dim> z = motion.at(time);
    const ClosestPoints<dim> closest = closest_points<dim>(kind, z);
    const double distance = std::sqrt(closest.distance_squared) - motion.rounding;
    if (iteration == 0) {
      const double gap = distance - min_separation;
      if (!(gap > 0.0)) return 0.0;
      const double kept = kept_of(gap, largest_gap);
      keep = min_separation + kept;
      arrived = min_separation + arrival * kept;
    }
    if (!(distance > arrived)) return time;
    const double left = max_time - time;
    double step = (distance - keep) / motion.speed;
    if (step < left) {
      const Vector<dim> n = separating_direction<dim>(closest, z, motion.extent_squared);
      step = std::max(step, slab_time<dim>(motion, z, n, keep + motion.rounding, left));
    }
    if (step >= left) return max_time;
    time += step * (1.0 - 4.0 * epsilon);
  }
  return time;
}

template double additive_ccd<2>(StencilKind, const StencilPoints<2>&, const StencilPoints<2>&, double, double,
                                double);
template double additive_ccd<3>(StencilKind, const StencilPoints<3>&, const StencilPoints<3>&, double, double,
                                double);

} // namespace recoil::geometry

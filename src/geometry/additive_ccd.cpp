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
constexpr double arrival = 1.05;
constexpr int max_iterations = 1000;

/// A query relative to its first point, so that coordinates far from the origin cost no accuracy.
template <int dim>
struct Motion {
  StencilKind kind;
  int num_first, num_points;
  StencilPoints<dim> start, velocity;
  double speed;    ///< no two points of the primitives approach faster
  double rounding; ///< bound of the rounding errors of distances and heights at any time of the motion

  Motion(StencilKind kind_, const StencilPoints<dim>& start_, const StencilPoints<dim>& displacement,
         double max_time)
      : kind(kind_), num_first(num_first_points(kind_)), num_points(geometry::num_points(kind_)) {
    start.setZero();
    velocity.setZero();
    double extent_squared = 0.0, travel_squared = 0.0;
    for (int i = 1; i < num_points; ++i) {
      start.col(i) = start_.col(i) - start_.col(0);
      velocity.col(i) = displacement.col(i) - displacement.col(0);
      extent_squared = std::max(extent_squared, start.col(i).squaredNorm());
      travel_squared = std::max(travel_squared, velocity.col(i).squaredNorm());
    }
    // Velocities of points of the primitives are convex combinations of those of the vertices.
    double speed_squared = 0.0;
    for (int i = 0; i < num_first; ++i)
      for (int j = num_first; j < num_points; ++j)
        speed_squared = std::max(speed_squared, (displacement.col(i) - displacement.col(j)).squaredNorm());
    speed = std::sqrt(speed_squared) * (1.0 + 8.0 * epsilon);
    rounding = 32.0 * epsilon * (std::sqrt(extent_squared) + max_time * std::sqrt(travel_squared));
  }

  StencilPoints<dim> at(double time) const { return start + time * velocity; }
};

/// Unit vector of separation, orthogonal to the closest features to rounding: c itself is so only to
/// rounding of the extent over the distance.
template <int dim>
Vector<dim> separating_direction(const ClosestPoints<dim>& closest, const StencilPoints<dim>& z) {
  Vector<dim> n = closest.separation.normalized();
  Vector<dim> tangent[2];
  for (int r = 0; r < closest.num_free; ++r) {
    Eigen::Index plus, minus;
    closest.tangents.col(r).maxCoeff(&plus);
    closest.tangents.col(r).minCoeff(&minus);
    tangent[r] = (z.col(plus) - z.col(minus)).normalized();
    if (r == 1) {
      tangent[1] -= tangent[0].dot(tangent[1]) * tangent[0];
      tangent[1].normalize();
      tangent[1] -= tangent[0].dot(tangent[1]) * tangent[0];
    }
  }
  for (int repeat = 0; repeat < 2; ++repeat)
    for (int r = 0; r < closest.num_free; ++r) n -= n.dot(tangent[r]) * tangent[r];
  return n.normalized();
}

/// How long the slab between the primitives along n stays thicker than `keep`: whatever n is, the distance is
/// at least min_i n.a_i - max_j n.b_j, which is linear in time for each pair of vertices. 0 if it is thinner
/// already.
template <int dim>
double slab_time(const Motion<dim>& motion, const StencilPoints<dim>& z, const Vector<dim>& n, double keep,
                 double longest) {
  double time = longest;
  for (int i = 0; i < motion.num_first; ++i)
    for (int j = motion.num_first; j < motion.num_points; ++j) {
      const double room = n.dot(z.col(i) - z.col(j)) - motion.rounding - keep;
      const double closing = n.dot(motion.velocity.col(j) - motion.velocity.col(i)) + epsilon * motion.speed;
      if (!(room > 0.0)) return 0.0;
      if (closing > 0.0) time = std::min(time, room / (closing * (1.0 + 8.0 * epsilon)));
    }
  return time;
}

} // namespace

template <int dim>
double additive_ccd(StencilKind kind, const StencilPoints<dim>& start, const StencilPoints<dim>& displacement,
                    double min_separation, double max_time) {
  const Motion<dim> motion(kind, start, displacement, max_time);
  if (!std::isfinite(motion.rounding) || !std::isfinite(motion.speed)) return 0.0;
  if (motion.speed == 0.0) return max_time;

  double time = 0.0, keep = 0.0, arrived = 0.0;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const StencilPoints<dim> z = motion.at(time);
    const ClosestPoints<dim> closest = closest_points<dim>(kind, z);
    const double distance = std::sqrt(closest.distance_squared) - motion.rounding;
    if (iteration == 0) {
      const double gap = distance - min_separation;
      if (!(gap > 0.0)) return 0.0;
      keep = min_separation + gap_fraction * gap;
      arrived = min_separation + arrival * gap_fraction * gap;
    }
    if (!(distance > arrived)) return time;
    const double left = max_time - time;
    double step = (distance - keep) / motion.speed;
    if (step < left) {
      const Vector<dim> n = separating_direction<dim>(closest, z);
      step = std::max(step, slab_time<dim>(motion, z, n, keep, left));
    }
    if (step >= left) return max_time;
    time += step * (1.0 - 4.0 * epsilon);
  }
  return time;
}

template double additive_ccd<2>(StencilKind, const StencilPoints<2>&, const StencilPoints<2>&, double,
                                double);
template double additive_ccd<3>(StencilKind, const StencilPoints<3>&, const StencilPoints<3>&, double,
                                double);

} // namespace recoil::geometry

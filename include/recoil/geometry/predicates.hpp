#pragma once

#include <Eigen/Core>

namespace recoil::geometry {

// Exact geometric predicates: decided by a floating-point filter, and by expansion arithmetic where the
// filter cannot decide [Shewchuk 1997]. They judge states independently of all distance computations. Exact
// for finite input unless products of coordinate differences overflow or underflow (extents between about
// 1e-90 and 1e90).

/// Sign of det [b - a, c - a]: 1 if a, b, c turn counter-clockwise, 0 if they are collinear.
int orientation(const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& c);

/// Sign of det [b - a, c - a, d - a]: 1 if d lies on the side of the plane (a, b, c) from which these turn
/// counter-clockwise, 0 if the points are coplanar.
int orientation(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c,
                const Eigen::Vector3d& d);

/// Whether p lies on the closed segment ab.
bool point_on_segment(const Eigen::Vector2d& p, const Eigen::Vector2d& a, const Eigen::Vector2d& b);

/// Whether the closed segments pq and ab have a common point; touching counts, lengths may be zero.
bool segments_intersect(const Eigen::Vector2d& p, const Eigen::Vector2d& q, const Eigen::Vector2d& a,
                        const Eigen::Vector2d& b);
bool segments_intersect(const Eigen::Vector3d& p, const Eigen::Vector3d& q, const Eigen::Vector3d& a,
                        const Eigen::Vector3d& b);

/// Whether the closed segment pq and the closed triangle abc have a common point; touching counts, coplanar
/// and degenerate ones (zero length, zero area) included.
bool segment_triangle_intersect(const Eigen::Vector3d& p, const Eigen::Vector3d& q, const Eigen::Vector3d& a,
                                const Eigen::Vector3d& b, const Eigen::Vector3d& c);

} // namespace recoil::geometry

#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace recoil::pieces {

/// A closed polygon by the numbers of its corners.
using Loop = std::vector<std::int32_t>;

/// Triangles between the corners of a polygon with holes: `loops[0]` counter-clockwise, the others clockwise
/// inside of it. Every edge of the loops is one of a triangle, in its direction, and every other edge of two:
/// so whatever rounding does to the places. Ears of the largest least angle are cut off first; flat ones
/// only where no other is left.
std::vector<std::array<std::int32_t, 3>> triangulate(std::span<const Eigen::Vector2d> places,
                                                     std::span<const Loop> loops);

/// Twice the area of a loop, positive if it runs counter-clockwise.
double doubled_area(std::span<const Eigen::Vector2d> places, const Loop& loop);

/// Whether a point lies in a loop.
bool is_inside(std::span<const Eigen::Vector2d> places, const Loop& loop, const Eigen::Vector2d& x);

} // namespace recoil::pieces

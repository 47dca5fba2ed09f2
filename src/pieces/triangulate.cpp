#include "pieces/triangulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace recoil::pieces {

namespace {

using Eigen::Vector2d;

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }
double doubled_area(const Vector2d& a, const Vector2d& b, const Vector2d& c) { return cross(b - a, c - a); }

/// Least sine of the angles of a triangle, negative if it runs clockwise.
double quality(const Vector2d& a, const Vector2d& b, const Vector2d& c) {
  double lengths[3] = {(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()};
  std::sort(lengths, lengths + 3);
  const double product =
      std::sqrt(lengths[1] * lengths[2]); // opposite to the least angle is the shortest edge
  return product > 0 ? doubled_area(a, b, c) / product : 0;
}

/// Whether pq crosses ab, ends in common aside.
bool cross_properly(const Vector2d& p, const Vector2d& q, const Vector2d& a, const Vector2d& b) {
  return doubled_area(p, q, a) * doubled_area(p, q, b) < 0 &&
         doubled_area(a, b, p) * doubled_area(a, b, q) < 0;
}

/// Joins a hole to a polygon by the shortest bridge that crosses no edge.
Loop joined(std::span<const Vector2d> places, const Loop& polygon, const Loop& hole,
            std::span<const Loop> other_holes) {
  std::size_t best_p = 0, best_h = 0;
  double shortest = 1e300;
  const auto crosses = [&](const Loop& loop, const Vector2d& p, const Vector2d& q) {
    for (std::size_t k = 0; k < loop.size(); ++k)
      if (cross_properly(p, q, places[loop[k]], places[loop[(k + 1) % loop.size()]])) return true;
    return false;
  };
  // the hole's corner to the far right sees something of the polygon or of another hole
  const auto h = static_cast<std::size_t>(
      std::max_element(hole.begin(), hole.end(),
                       [&](auto a, auto b) { return places[a].x() < places[b].x(); }) -
      hole.begin());
  best_h = h;
  for (std::size_t p = 0; p < polygon.size(); ++p) {
    const Vector2d &from = places[polygon[p]], &to = places[hole[h]];
    const double length = (from - to).squaredNorm();
    if (length >= shortest || crosses(polygon, from, to) || crosses(hole, from, to)) continue;
    if (std::any_of(other_holes.begin(), other_holes.end(),
                    [&](const Loop& other) { return crosses(other, from, to); }))
      continue;
    // the bridge has to leave the corner into the polygon
    const auto n = polygon.size();
    const Vector2d &last = places[polygon[(p + n - 1) % n]], &next = places[polygon[(p + 1) % n]];
    const bool is_convex = doubled_area(last, from, next) > 0;
    const bool after = doubled_area(from, next, to) >= 0, before = doubled_area(last, from, to) >= 0;
    if (is_convex ? !(after && before) : !(after || before)) continue;
    shortest = length;
    best_p = p;
  }
  Loop result(polygon.begin(), polygon.begin() + static_cast<std::ptrdiff_t>(best_p) + 1);
  for (std::size_t k = 0; k <= hole.size(); ++k) result.push_back(hole[(best_h + k) % hole.size()]);
  result.insert(result.end(), polygon.begin() + static_cast<std::ptrdiff_t>(best_p), polygon.end());
  return result;
}

class EarClipping {
public:
  EarClipping(std::span<const Vector2d> places, Loop polygon)
      : places_(places), polygon_(std::move(polygon)) {
    const auto n = static_cast<std::int32_t>(polygon_.size());
    for (std::int32_t k = 0; k < n; ++k) {
      next_.push_back((k + 1) % n);
      last_.push_back((k + n - 1) % n);
    }
    for (std::int32_t k = 0; k < n; ++k) qualities_.push_back(rate(k));
  }

  void clip(std::vector<std::array<std::int32_t, 3>>& triangles) {
    auto left = std::ssize(polygon_);
    std::vector<std::int32_t> alive(polygon_.size());
    for (std::size_t k = 0; k < alive.size(); ++k) alive[k] = static_cast<std::int32_t>(k);
    for (; left > 3; --left) {
      const auto best = std::max_element(alive.begin(), alive.end(),
                                         [&](auto a, auto b) { return qualities_[a] < qualities_[b]; });
      const auto k = *best;
      alive.erase(best);
      triangles.push_back(corners(k));
      next_[last_[k]] = next_[k];
      last_[next_[k]] = last_[k];
      for (const auto neighbour : {last_[k], next_[k]}) qualities_[neighbour] = rate(neighbour);
    }
    if (left == 3) triangles.push_back(corners(alive[0]));
  }

private:
  std::array<std::int32_t, 3> corners(std::int32_t k) const {
    return {polygon_[last_[k]], polygon_[k], polygon_[next_[k]]};
  }

  /// Quality of the ear at corner k: its least sine, or below zero if it is none.
  double rate(std::int32_t k) const {
    const auto [a, b, c] = corners(k);
    const Vector2d &x = places_[a], &y = places_[b], &z = places_[c];
    if (a == c || a == b || b == c) return -3;
    const double own = quality(x, y, z);
    if (own <= 1e-10) return own - 1;
    for (auto other = next_[next_[k]]; other != last_[k]; other = next_[other]) {
      const auto v = polygon_[other];
      if (v == a || v == b || v == c) continue;
      const auto& p = places_[v];
      if (doubled_area(x, y, p) >= 0 && doubled_area(y, z, p) >= 0 && doubled_area(z, x, p) >= 0) return -1;
    }
    return own;
  }

  std::span<const Vector2d> places_;
  Loop polygon_;
  std::vector<std::int32_t> next_, last_;
  std::vector<double> qualities_;
};

} // namespace

double doubled_area(std::span<const Vector2d> places, const Loop& loop) {
  double sum = 0;
  for (std::size_t k = 2; k < loop.size(); ++k)
    sum += doubled_area(places[loop[0]], places[loop[k - 1]], places[loop[k]]);
  return sum;
}

bool is_inside(std::span<const Vector2d> places, const Loop& loop, const Vector2d& x) {
  bool inside = false;
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const Vector2d &a = places[loop[k]], &b = places[loop[(k + 1) % loop.size()]];
    if ((a.y() > x.y()) != (b.y() > x.y()) &&
        x.x() < a.x() + (b.x() - a.x()) * (x.y() - a.y()) / (b.y() - a.y()))
      inside = !inside;
  }
  return inside;
}

std::vector<std::array<std::int32_t, 3>> triangulate(std::span<const Vector2d> places,
                                                     std::span<const Loop> loops) {
  std::vector<std::array<std::int32_t, 3>> triangles;
  if (loops.size() == 1 && loops[0].size() == 3) {
    triangles.push_back({loops[0][0], loops[0][1], loops[0][2]});
    return triangles;
  }
  Loop polygon = loops[0];
  std::vector<Loop> holes(loops.begin() + 1, loops.end());
  std::sort(holes.begin(), holes.end(), [&](const Loop& a, const Loop& b) { // from right to left
    const auto right = [&](const Loop& loop) {
      double x = -1e300;
      for (const auto v : loop) x = std::max(x, places[v].x());
      return x;
    };
    return right(a) > right(b);
  });
  for (std::size_t h = 0; h < holes.size(); ++h)
    polygon = joined(places, polygon, holes[h], std::span<const Loop>(holes).subspan(h + 1));
  EarClipping(places, std::move(polygon)).clip(triangles);
  return triangles;
}

} // namespace recoil::pieces

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace recoil::pieces {

/// The edges of triangles, each once, from the smaller to the larger vertex.
struct Edges {
  explicit Edges(std::span<const std::array<std::int32_t, 3>> triangles) : of_triangle(triangles.size()) {
    struct Side {
      std::int32_t low, high;
      std::size_t triangle;
      int corner;
    };
    std::vector<Side> sides;
    sides.reserve(3 * triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) {
        const auto [low, high] = std::minmax(triangles[t][k], triangles[t][(k + 1) % 3]);
        sides.push_back({low, high, t, k});
      }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
      return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
    });
    for (const auto& side : sides) {
      if (ends.empty() || ends.back() != std::array{side.low, side.high})
        ends.push_back({side.low, side.high});
      of_triangle[side.triangle][side.corner] = static_cast<std::int32_t>(ends.size()) - 1;
    }
  }

  std::vector<std::array<std::int32_t, 2>> ends;
  std::vector<std::array<std::int32_t, 3>> of_triangle; ///< edge k runs from corner k to the next one
};

} // namespace recoil::pieces

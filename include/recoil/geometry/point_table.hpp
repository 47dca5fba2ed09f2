#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace recoil::geometry {

/// Finds points by their position, up to a tolerance.
template <int dim>
class PointTable {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  explicit PointTable(double tolerance) : tolerance_(tolerance) {}
  void add(const Point& point, std::size_t index) { cells_[cell_of(point)].push_back({point, index}); }
  /// The index of the nearest point within the tolerance.
  std::optional<std::size_t> find(const Point& point) const {
    std::optional<std::size_t> found;
    double nearest = tolerance_;
    constexpr int around = dim == 2 ? 9 : 27;
    for (int k = 0; k < around; ++k) {
      Cell cell = cell_of(point);
      for (int i = 0, rest = k; i < dim; ++i, rest /= 3) cell[i] += rest % 3 - 1;
      const auto entries = cells_.find(cell);
      if (entries == cells_.end()) continue;
      for (const auto& [position, index] : entries->second)
        if (const double distance = (position - point).norm(); distance <= nearest) {
          nearest = distance;
          found = index;
        }
    }
    return found;
  }

private:
  using Cell = std::array<std::int64_t, dim>;
  Cell cell_of(const Point& point) const {
    Cell cell;
    for (int i = 0; i < dim; ++i) cell[i] = std::llround(point[i] / (2 * tolerance_));
    return cell;
  }

  double tolerance_;
  std::map<Cell, std::vector<std::pair<Point, std::size_t>>> cells_;
};

} // namespace recoil::geometry

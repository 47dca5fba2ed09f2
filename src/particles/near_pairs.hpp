#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/LU>

#include "particles/cell_list.hpp"
#include "recoil/particles/periodic_cell.hpp"

namespace recoil::particles {

/// Points in a cell, then the images of those that are near its faces.
class PlacesWithImages {
public:
  PlacesWithImages(const PeriodicCell& cell, std::span<const Eigen::Vector3d> points, double reach) {
    // With room for rounding: an image too many does no harm.
    const Eigen::Vector3d margin = (1 + 1e-9) * reach * cell.widths().cwiseInverse();
    const Eigen::Matrix3d to_shares = cell.edges.inverse();
    for (std::int64_t i = 0; i < std::ssize(points); ++i) {
      const CellShift home = opposite(cell.shift_of(points[i]));
      places_.push_back(points[i] + cell.vector(home));
      shifts_.push_back(home);
      of_.push_back(i);
    }
    for (std::int64_t i = 0; i < std::ssize(points); ++i) {
      const Eigen::Vector3d share = to_shares * (places_[i] - cell.origin);
      std::array<int, 3> low{}, high{};
      for (int k = 0; k < 3; ++k) {
        low[k] = cell.repeats[k] && share[k] >= 1 - margin[k] ? -1 : 0;
        high[k] = cell.repeats[k] && share[k] <= margin[k] ? 1 : 0;
      }
      for (CellShift way{low[0]}; way[0] <= high[0]; ++way[0])
        for (way[1] = low[1]; way[1] <= high[1]; ++way[1])
          for (way[2] = low[2]; way[2] <= high[2]; ++way[2]) {
            if (is_zero(way)) continue;
            places_.push_back(places_[i] + cell.vector(way));
            shifts_.push_back({shifts_[i][0] + way[0], shifts_[i][1] + way[1], shifts_[i][2] + way[2]});
            of_.push_back(i);
          }
    }
  }

  const std::vector<Eigen::Vector3d>& places() const { return places_; }
  std::int64_t point(std::int64_t place) const { return of_[place]; }
  /// By which `to` lies where it does from point(from), in place of point(to).
  CellShift between(std::int64_t from, std::int64_t to) const {
    CellShift shift;
    for (int k = 0; k < 3; ++k) shift[k] = shifts_[to][k] - shifts_[from][k];
    return shift;
  }

private:
  std::vector<Eigen::Vector3d> places_;
  std::vector<CellShift> shifts_;
  std::vector<std::int64_t> of_;
};

/// Calls act(i, j, shift), i < j, for each pair of points of which j, shifted, is not farther than `reach`
/// from i, and for others. Without a cell shifts are zero. @pre the cell is wide enough (require_wide()).
template <class Act>
void for_each_near_pair(const std::optional<PeriodicCell>& cell, std::span<const Eigen::Vector3d> points,
                        double reach, Act act) {
  if (!cell) {
    const CellList cells(points, reach);
    for (std::int64_t i = 0; i < std::ssize(points); ++i)
      cells.for_each_later_near(i, [&](std::int64_t j) { act(i, j, CellShift{}); });
    return;
  }
  const PlacesWithImages all(*cell, points, reach);
  const CellList cells(all.places(), reach);
  for (std::int64_t i = 0; i < std::ssize(points); ++i)
    cells.for_each_later_near(i, [&](std::int64_t place) {
      if (const std::int64_t j = all.point(place); j > i) act(i, j, all.between(i, place));
    });
}

} // namespace recoil::particles

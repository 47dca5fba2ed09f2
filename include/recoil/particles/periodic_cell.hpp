#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace recoil::particles {

/// Number of periods along each edge of a cell; 0 along those that do not repeat. Plain, so that it travels
/// as bytes.
using CellShift = std::array<std::int32_t, 3>;

inline bool is_zero(const CellShift& shift) { return shift == CellShift{}; }
inline CellShift opposite(const CellShift& shift) { return {-shift[0], -shift[1], -shift[2]}; }

/// A parallelepiped that repeats along some of its edges: a particle at x stands for those at x + F H s, H
/// the edges at rest, F the deformation of the cell and s the shift. A particle has one place, which may lie
/// outside of the cell, and one ghost on another rank, whatever its images; pairs (a, b) carry the shift s by
/// which b is nearest to a, and their line is x_b + F H s - x_a.
struct PeriodicCell {
  Eigen::Matrix3d edges = Eigen::Matrix3d::Identity(); ///< H: columns are the edges at rest [m]
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();    ///< a corner, where F leaves it [m]
  std::array<bool, 3> repeats{true, true, true};       ///< along which edges

  /// F H s [m].
  Eigen::Vector3d vector(const CellShift& shift,
                         const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const {
    return F * (edges * Eigen::Vector3d(shift[0], shift[1], shift[2]));
  }
  /// Where a point X of the cell at rest is by F alone, origin + F (X - origin) [m].
  Eigen::Vector3d affine(const Eigen::Vector3d& X, const Eigen::Matrix3d& F) const {
    return origin + F * (X - origin);
  }
  /// Shift of the image of the cell that x lies in: x - vector() of it, with the same F, lies in the cell.
  CellShift shift_of(const Eigen::Vector3d& x, const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const;
  /// x in the cell [m].
  Eigen::Vector3d wrapped(const Eigen::Vector3d& x,
                          const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const {
    return x - vector(shift_of(x, F), F);
  }
  /// The shift of the image of b that is nearest to a. @pre that one is not farther than half of the smallest
  /// of the widths along edges that repeat; of others it is any near one.
  CellShift nearest(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                    const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const;
  /// Distance of opposite faces, between which the edges of these numbers lead [m].
  Eigen::Vector3d widths(const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const;
  /// det(F H) [m^3].
  double volume(const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity()) const;
};

/// Refuses a cell that is too narrow for pairs up to `reach` [m]: a particle must not meet two images of
/// another one, nor itself, hence three search cells along each edge that repeats. @throws InputError.
void require_wide(const PeriodicCell& cell, double reach, const std::string& where,
                  const Eigen::Matrix3d& F = Eigen::Matrix3d::Identity());

/// The deformation of the cell in the step at hand. Who starts a step brings it up to date before all terms
/// of the energy, which look at it. Where contact lets particles and obstacles go only a part of their way at
/// once, so does the cell. Entries of F may be free: they stay what they are until forces are balanced.
class CellMotion {
public:
  /// @param deformation F at a time [s]. @param free entries that it does not prescribe, row by row, 0 to 8.
  CellMotion(PeriodicCell cell, std::function<Eigen::Matrix3d(double time)> deformation,
             std::vector<int> free = {})
      : cell_(std::move(cell)), deformation_(std::move(deformation)), free_(std::move(free)) {}

  const PeriodicCell& cell() const { return cell_; }
  const std::vector<int>& free_entries() const { return free_; }
  /// F at a time, with free entries as they were kept.
  Eigen::Matrix3d at(double time) const {
    Eigen::Matrix3d F = deformation_(time);
    for (const int entry : free_) F(entry / 3, entry % 3) = kept_(entry / 3, entry % 3);
    return F;
  }
  /// Changes F of the states that are looked at, where it is free.
  void balance(const Eigen::Matrix3d& change) {
    for (const int entry : free_) now_(entry / 3, entry % 3) += change(entry / 3, entry % 3);
  }
  /// Where free entries start the next steps from.
  void keep(const Eigen::Matrix3d& F) { kept_ = F; }
  /// A step of length dt to `time` [s], at the end of which the cell is; of a state alone dt is 0.
  void begin_step(double time, double dt) {
    now_ = end_ = at(time);
    start_ = dt > 0 ? at(time - dt) : end_;
  }
  /// Puts the cell after this share of its way in the step.
  void go(double share) { now_ = share == 1 ? end_ : Eigen::Matrix3d(start_ + share * (end_ - start_)); }
  const Eigen::Matrix3d& now() const { return now_; }     ///< F of the states that are looked at
  const Eigen::Matrix3d& start() const { return start_; } ///< F where the step begins
  const Eigen::Matrix3d& end() const { return end_; }     ///< F where it ends

private:
  PeriodicCell cell_;
  std::function<Eigen::Matrix3d(double time)> deformation_;
  std::vector<int> free_;
  Eigen::Matrix3d kept_ = Eigen::Matrix3d::Identity();
  Eigen::Matrix3d now_ = Eigen::Matrix3d::Identity(), start_ = now_, end_ = now_;
};

} // namespace recoil::particles

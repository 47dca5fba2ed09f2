#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "recoil/particles/closed_surface.hpp"

namespace recoil::particles {

/// Discrete elements that fall along `down` and lie on each other in a closed surface: springs of stiffness 1
/// along the normal n and of 1/2 along a contact, Coulomb's friction between spheres and none of walls, local
/// damping F - 0.7 |F| sign(v) of every component. All spheres have mass 1 and as moment of inertia that of a
/// ball, whatever they weigh, so that one time step serves all: only where they come to rest counts.
class SettlingSpheres {
public:
  SettlingSpheres(const ClosedSurface& surface, const Eigen::Vector3d& down)
      : surface_(&surface), down_(down) {}

  void add(const Eigen::Vector3d& position, double radius);
  void set_friction(double coefficient) { friction_ = coefficient; }
  /// Of a unit of volume.
  void set_weight(double weight) { weight_ = weight; }
  /// No sphere is faster.
  void set_top_speed(double speed) { top_speed_ = speed; }
  void advance(int steps);

  const std::vector<Eigen::Vector3d>& positions() const { return positions_; }
  const std::vector<double>& radii() const { return radii_; }

  /// Of the last step.
  struct State {
    double overlap = 0;         ///< the largest, of the sum of two radii or of one at a wall
    std::int64_t unsettled = 0; ///< spheres with a resultant above 1/20 of their weight
    double mean_unbalance = 0;  ///< mean resultant over the mean force of a contact
    double speed = 0;           ///< the largest
  };
  const State& state() const { return state_; }

private:
  struct Pair {
    std::int64_t i, j;
    Eigen::Vector3d spring; ///< along the contact, of j against i
  };
  struct WallTriangle {
    std::int64_t i;
    std::int32_t triangle;
  };
  void find_neighbours();
  void add_pair_forces();
  void add_wall_forces();
  void push_off_walls(std::int64_t i, std::vector<ClosedSurface::Nearest>& near);
  void move();

  const ClosedSurface* surface_;
  Eigen::Vector3d down_;
  double friction_ = 0, weight_ = 0, top_speed_ = 0, skin_ = 0;
  bool neighbours_are_known_ = false;
  std::vector<double> radii_;
  std::vector<Eigen::Vector3d> positions_, velocities_, spins_, forces_, torques_, found_at_;
  std::vector<Pair> pairs_;
  std::vector<WallTriangle> walls_; ///< by spheres
  double contact_sum_ = 0, contacts_ = 0;
  State state_;
  static constexpr double time_step = 0.3; ///< of 0.47, at which twelve neighbours would be unstable
};

} // namespace recoil::particles

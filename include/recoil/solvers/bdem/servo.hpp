#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/stepping/solver.hpp"

namespace recoil::solvers {

/// An obstacle that moves along a direction, without turning, so that it pushes particles along it with a
/// force.
struct ServoWall {
  std::int32_t body;         ///< number of the obstacle, after those of the bodies of particles
  Eigen::Vector3d direction; ///< of unit length
  std::function<double(double time)> force; ///< [N]
  double max_speed;                         ///< [m/s]
};

/// Walls that are moved by the forces on them [Cundall 1988, ITASCA's servo mechanism]: after each step with
/// the speed gain (F - F_n) / (K dt), at most max_speed, F the force wanted at the end of the next one and
/// F_n that of the step. K is the stiffness of all pairs that touch the wall; of steps without inertia the
/// secant of force over way of the last step, at most that, and gain 1 in place of 0.5.
class Servo {
public:
  Servo(std::vector<ServoWall> walls, double t0, bool with_inertia);

  const std::vector<ServoWall>& walls() const { return walls_; }
  /// Way of a wall along its direction at a time of the step to come, or at its start [m].
  double way(std::size_t wall, double time) const {
    return states_[wall].way + states_[wall].speed * (time - begin_);
  }
  /// The first step begins: walls go as fast as they may towards what they are to push.
  void start(double dt);
  /// The step to `time` is done, with a force along its direction [N] and a stiffness of contact [N/m] of
  /// each wall; the next one has the length dt.
  void follow(double time, double dt, const std::vector<double>& forces,
              const std::vector<double>& stiffness);

  void add_entries(stepping::Entries& entries) const;
  void restore(const stepping::Entries& entries);

private:
  struct State {
    double way = 0, speed = 0, last_way = 0, last_force = 0;
  };
  std::vector<ServoWall> walls_;
  std::vector<State> states_;
  double begin_; ///< time from which on `speed` counts [s]
  bool with_inertia_;
};

} // namespace recoil::solvers

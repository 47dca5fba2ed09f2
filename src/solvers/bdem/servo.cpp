#include "recoil/solvers/bdem/servo.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace recoil::solvers {

namespace {

/// Least secant stiffness over that of the contacts: softer ones are of pieces that slip away.
constexpr double softest = 1e-3;

} // namespace

Servo::Servo(std::vector<ServoWall> walls, double t0, bool with_inertia)
    : walls_(std::move(walls)), states_(walls_.size()), begin_(t0), with_inertia_(with_inertia) {}

void Servo::start(double dt) {
  for (std::size_t k = 0; k < walls_.size(); ++k)
    states_[k].speed = walls_[k].force(begin_ + dt) > 0 ? walls_[k].max_speed : 0;
}

void Servo::follow(double time, double dt, const std::vector<double>& forces,
                   const std::vector<double>& stiffness) {
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    State& state = states_[k];
    state.way = way(k, time);
    const double missing = walls_[k].force(time + dt) - forces[k], moved = state.way - state.last_way,
                 most = walls_[k].max_speed;
    double K = stiffness[k];
    if (!with_inertia_ && moved != 0 && K > 0)
      K = std::clamp((forces[k] - state.last_force) / moved, softest * K, K);
    const double gain = with_inertia_ ? 0.5 : 1;
    state.speed = K > 0 ? std::clamp(gain * missing / (K * dt), -most, most)
                        : (missing > 0   ? most
                           : missing < 0 ? -most
                                         : 0);
    state.last_way = state.way;
    state.last_force = forces[k];
  }
  begin_ = time;
}

void Servo::add_entries(stepping::Entries& entries) const {
  entries.push_back({"servo_time", begin_});
  for (std::size_t k = 0; k < states_.size(); ++k) {
    entries.push_back({fmt::format("servo_way_{}", k), states_[k].way});
    entries.push_back({fmt::format("servo_speed_{}", k), states_[k].speed});
    entries.push_back({fmt::format("servo_last_way_{}", k), states_[k].last_way});
    entries.push_back({fmt::format("servo_last_force_{}", k), states_[k].last_force});
  }
}

void Servo::restore(const stepping::Entries& entries) {
  begin_ = stepping::value_of<double>(entries, "servo_time");
  for (std::size_t k = 0; k < states_.size(); ++k) {
    states_[k].way = stepping::value_of<double>(entries, fmt::format("servo_way_{}", k));
    states_[k].speed = stepping::value_of<double>(entries, fmt::format("servo_speed_{}", k));
    states_[k].last_way = stepping::value_of<double>(entries, fmt::format("servo_last_way_{}", k));
    states_[k].last_force = stepping::value_of<double>(entries, fmt::format("servo_last_force_{}", k));
  }
}

} // namespace recoil::solvers

#include "particles/settling_spheres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "particles/cell_list.hpp"
#include "particles/draw_spheres.hpp"

namespace recoil::particles {

void SettlingSpheres::add(const Eigen::Vector3d& position, double radius) {
  positions_.push_back(position);
  radii_.push_back(radius);
  velocities_.push_back(Eigen::Vector3d::Zero());
  spins_.push_back(Eigen::Vector3d::Zero());
  neighbours_are_known_ = false;
}

void SettlingSpheres::advance(int steps) {
  if (positions_.empty()) return;
  for (int step = 0; step < steps; ++step) {
    if (!neighbours_are_known_) find_neighbours();
    state_ = {};
    contact_sum_ = contacts_ = 0;
    for (std::size_t i = 0; i < positions_.size(); ++i)
      forces_[i] = weight_ * sphere_volume(radii_[i]) * down_;
    std::fill(torques_.begin(), torques_.end(), Eigen::Vector3d::Zero());
    add_pair_forces();
    add_wall_forces();
    move();
  }
}

/// Pairs, and triangles near spheres, that can touch before one has moved by half of the skin. Contacts keep
/// their springs.
void SettlingSpheres::find_neighbours() {
  const auto [smallest, largest] = std::minmax_element(radii_.begin(), radii_.end());
  skin_ = 0.4 * *smallest;
  std::vector<Pair> before = std::move(pairs_);
  pairs_.clear();
  walls_.clear();
  auto old = before.begin();
  const auto in_order = [](const Pair& a, const Pair& b) {
    return std::pair(a.i, a.j) < std::pair(b.i, b.j);
  };
  const CellList cells(positions_, 2 * *largest + skin_);
  std::vector<std::int32_t> triangles;
  for (std::int64_t i = 0; i < std::ssize(positions_); ++i) {
    const auto first = std::ssize(pairs_);
    cells.for_each_later_near(i, [&](std::int64_t j) {
      const double reach = radii_[i] + radii_[j] + skin_;
      if ((positions_[j] - positions_[i]).squaredNorm() < reach * reach)
        pairs_.push_back({i, j, Eigen::Vector3d::Zero()});
    });
    std::sort(pairs_.begin() + first, pairs_.end(), in_order);
    for (auto pair = pairs_.begin() + first; pair != pairs_.end(); ++pair) {
      while (old != before.end() && in_order(*old, *pair)) ++old;
      if (old != before.end() && old->i == pair->i && old->j == pair->j) pair->spring = old->spring;
    }
    triangles.clear();
    surface_->find_triangles(positions_[i], radii_[i] + skin_ / 2, triangles);
    for (const std::int32_t triangle : triangles) walls_.push_back({i, triangle});
  }
  found_at_ = positions_;
  forces_.resize(positions_.size());
  torques_.resize(positions_.size());
  neighbours_are_known_ = true;
}

void SettlingSpheres::add_pair_forces() {
  constexpr double shear_stiffness = 0.5;
  for (auto& [i, j, spring] : pairs_) {
    const Eigen::Vector3d between = positions_[j] - positions_[i];
    const double reach = radii_[i] + radii_[j], squared = between.squaredNorm();
    if (squared >= reach * reach || squared == 0) {
      spring.setZero();
      continue;
    }
    const double distance = std::sqrt(squared), overlap = reach - distance;
    const Eigen::Vector3d normal = between / distance;
    state_.overlap = std::max(state_.overlap, overlap / reach);
    contact_sum_ += overlap;
    ++contacts_;
    Eigen::Vector3d force = overlap * normal; // on j
    if (friction_ > 0) {
      const Eigen::Vector3d slip =
          velocities_[j] - velocities_[i] - (radii_[i] * spins_[i] + radii_[j] * spins_[j]).cross(normal);
      spring += time_step * slip;
      spring -= spring.dot(normal) * normal;
      const double most = friction_ * overlap / shear_stiffness, length = spring.norm();
      if (length > most) spring *= most / length;
      force -= shear_stiffness * spring;
      const Eigen::Vector3d turn = shear_stiffness * normal.cross(spring);
      torques_[i] += radii_[i] * turn;
      torques_[j] += radii_[j] * turn;
    } else {
      spring.setZero();
    }
    forces_[i] -= force;
    forces_[j] += force;
  }
}

void SettlingSpheres::add_wall_forces() {
  std::vector<ClosedSurface::Nearest> near;
  for (auto wall = walls_.begin(); wall != walls_.end();) {
    const std::int64_t i = wall->i;
    near.clear();
    for (; wall != walls_.end() && wall->i == i; ++wall)
      if (const auto found = surface_->nearest_on(wall->triangle, positions_[i], radii_[i]))
        near.push_back(*found);
    push_off_walls(i, near);
  }
}

/// Triangles of one plane are one wall, and so are those that meet in an edge that juts out: a point that
/// lies in the plane of contact of a nearer one is no contact of its own.
void SettlingSpheres::push_off_walls(std::int64_t i, std::vector<ClosedSurface::Nearest>& near) {
  constexpr double rounding = 1e-6;
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  for (std::size_t k = 0; k < near.size(); ++k) {
    const Eigen::Vector3d away = positions_[i] - near[k].point;
    const bool is_known = std::any_of(near.begin(), near.begin() + std::ptrdiff_t(k), [&](const auto& other) {
      return (positions_[i] - other.point).dot(near[k].point - other.point) <=
             rounding * radii_[i] * other.distance;
    });
    if (is_known || near[k].distance == 0) continue;
    const double overlap = radii_[i] - near[k].distance;
    state_.overlap = std::max(state_.overlap, overlap / (2 * radii_[i]));
    contact_sum_ += overlap;
    ++contacts_;
    forces_[i] += overlap / near[k].distance * away;
  }
}

void SettlingSpheres::move() {
  constexpr double damping = 0.7, ball = 0.4, settled = 0.05;
  const auto advance_by = [](Eigen::Vector3d& velocity, const Eigen::Vector3d& force, double mass) {
    for (int k = 0; k < 3; ++k) {
      const double braked = force[k] * velocity[k] > 0 ? 1 - damping : 1 + damping;
      velocity[k] += time_step * braked * force[k] / mass;
    }
  };
  double sum = 0;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double resultant = forces_[i].norm();
    sum += resultant;
    if (resultant > settled * weight_ * sphere_volume(radii_[i])) ++state_.unsettled;
    advance_by(velocities_[i], forces_[i], 1);
    advance_by(spins_[i], torques_[i], ball * radii_[i] * radii_[i]);
    const double speed = velocities_[i].norm();
    state_.speed = std::max(state_.speed, speed);
    if (speed > top_speed_) velocities_[i] *= top_speed_ / speed;
    positions_[i] += time_step * velocities_[i];
    if ((positions_[i] - found_at_[i]).squaredNorm() > skin_ * skin_ / 4) neighbours_are_known_ = false;
  }
  state_.mean_unbalance = contacts_ > 0 ? sum / double(positions_.size()) / (contact_sum_ / contacts_)
                                        : std::numeric_limits<double>::infinity(); // all are falling
}

} // namespace recoil::particles

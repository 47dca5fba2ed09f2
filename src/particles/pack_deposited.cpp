#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "particles/cell_list.hpp"
#include "particles/draw_spheres.hpp"
#include "particles/packing_errors.hpp"
#include "particles/settling_spheres.hpp"
#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

constexpr double porosity_tolerance = 0.005;

/// Rain into a body, and what lies in it.
class Deposit {
public:
  Deposit(const ClosedSurface& surface, const Deposition& deposition, std::vector<double> radii,
          Uniform& uniform)
      : surface_(&surface), down_(deposition.down.normalized()), uniform_(&uniform), spheres_(surface, down_),
        waiting_(std::move(radii)) {
    axes_.row(2) = -down_;
    axes_.row(0) = down_.unitOrthogonal();
    axes_.row(1) = axes_.row(2).cross(axes_.row(0));
    for (int k = 0; k < 8; ++k)
      box_.extend(axes_ * surface.box().corner(static_cast<Eigen::AlignedBox3d::CornerType>(k)));
    diameter_ = 2 * std::cbrt(total_volume(waiting_) / double(waiting_.size()) / sphere_volume(1));
    spheres_.set_top_speed(0.01 * diameter_);
    set_friction(deposition.friction);
    press(first_overlap);
  }

  /// Lets spheres rain and settle until those that wait find no room above the others, which are at rest.
  /// Where all have to, friction falls meanwhile; some wait in the end where they jam without any.
  void fill(bool all) {
    constexpr int first_passes = 30, passes = 5, window = 100, most_windows = 50000;
    for (int pass = 0; pass < first_passes; ++pass) rain();
    for (int n = 0; n < most_windows && !spheres_.positions().empty(); ++n) {
      spheres_.advance(window);
      std::size_t added = 0;
      for (int pass = 0; pass < passes; ++pass) added += rain();
      if (added > 0) continue;
      const SettlingSpheres::State& state = spheres_.state();
      if (all && !waiting_.empty() && friction_ > 0) {
        if (state.mean_unbalance < nearly_at_rest) lower_friction();
      } else if (is_at_rest(state)) {
        if (state.overlap <= deposition_overlap) return;
        press(std::max(0.9, 0.8 * deposition_overlap / state.overlap) * pressed_);
      }
    }
    if (!spheres_.positions().empty())
      throw InputError(surface_->name(),
                       fmt::format("{} spheres that are deposited in it do not come to rest; take another "
                                   "`seed`, or more friction",
                                   spheres_.positions().size()));
  }

  /// The same with more spheres on top, filled with what is left of the room.
  Deposit topped_up(std::vector<double> radii) const {
    Deposit more = *this;
    more.waiting_ = std::move(radii);
    more.fill(false);
    return more;
  }

  bool has_waiting() const { return !waiting_.empty(); }
  bool has_lowered_friction() const { return has_lowered_friction_; }
  double porosity() const { return 1 - total_volume(spheres_.radii()) / surface_->volume(); }
  const SettlingSpheres& spheres() const { return spheres_; }

private:
  /// Weights under which spheres at the bottom overlap by about this part of their diameters.
  void press(double overlap) {
    constexpr double solid = 0.6;
    pressed_ = overlap;
    spheres_.set_weight(overlap / (solid * box_.sizes().z() * diameter_));
  }

  void set_friction(double coefficient) {
    friction_ = coefficient;
    spheres_.set_friction(coefficient);
  }

  void lower_friction() {
    constexpr double least = 0.02, factor = 0.9;
    set_friction(friction_ > least ? factor * friction_ : 0);
    has_lowered_friction_ = true;
  }

  bool is_at_rest(const SettlingSpheres::State& state) const {
    return state.mean_unbalance < at_rest && 1000 * state.unsettled <= std::ssize(spheres_.positions());
  }

  double largest_reach() const {
    double largest = *std::max_element(waiting_.begin(), waiting_.end());
    for (const double radius : spheres_.radii()) largest = std::max(largest, radius);
    return 2 * largest;
  }

  /// Where each sphere that waits would land if it fell at its place in the plan and did not roll.
  std::vector<double> landing_heights(const std::vector<Eigen::Vector3d>& plan) const {
    const std::vector<Eigen::Vector3d>& lying = spheres_.positions();
    const auto count = std::ssize(lying);
    std::vector<double> heights(plan.size(), box_.min().z());
    std::vector<Eigen::Vector3d> seen;
    for (const Eigen::Vector3d& position : lying)
      seen.emplace_back(axes_.row(0).dot(position), axes_.row(1).dot(position), 0);
    seen.insert(seen.end(), plan.begin(), plan.end());
    const CellList cells(seen, largest_reach());
    for (std::int64_t i = 0; i < count; ++i)
      cells.for_each_later_near(i, [&](std::int64_t other) {
        if (other < count) return;
        const double reach = spheres_.radii()[i] + waiting_[std::size_t(other - count) % waiting_.size()],
                     room = reach * reach - (seen[other] - seen[i]).squaredNorm();
        double& height = heights[other - count];
        if (room > 0) height = std::max(height, axes_.row(2).dot(lying[i]) + std::sqrt(room));
      });
    return heights;
  }

  /// Tries places above all that lies there, as many as are in the plan or one for each sphere that waits;
  /// returns how many found room.
  std::size_t rain() {
    if (waiting_.empty()) return 0;
    const std::size_t size = waiting_.size(), rounds = 1 + places_in_plan() / size;
    const auto between = [&](double low, double high) { return low + (*uniform_)() * (high - low); };
    std::vector<Eigen::Vector3d> plan(rounds * size), places(plan.size());
    for (Eigen::Vector3d& at : plan) {
      at.x() = between(box_.min().x(), box_.max().x());
      at.y() = between(box_.min().y(), box_.max().y());
      at.z() = 0;
    }
    const std::vector<double> heights = landing_heights(plan);
    std::vector<char> fits(plan.size(), 0), has_landed(size, 0);
    for (std::size_t j = 0; j < plan.size(); ++j) {
      const double height = between(heights[j], box_.max().z()), radius = waiting_[j % size];
      places[j] = axes_.transpose() * Eigen::Vector3d(plan[j].x(), plan[j].y(), height);
      fits[j] = heights[j] <= box_.max().z() && surface_->box().contains(places[j]) &&
                !surface_->is_closer(places[j], radius) && surface_->contains(places[j]);
    }
    const CellList cells(places, largest_reach());
    for (std::size_t j = 0; j < plan.size(); ++j) {
      if (!fits[j] || has_landed[j % size]) continue;
      has_landed[j % size] = 1;
      spheres_.add(places[j], waiting_[j % size]);
      cells.for_each_later_near(std::int64_t(j), [&](std::int64_t k) {
        const double reach = waiting_[j % size] + waiting_[std::size_t(k) % size];
        if ((places[k] - places[j]).squaredNorm() < reach * reach) fits[k] = 0;
      });
    }
    std::vector<double> left;
    for (std::size_t j = 0; j < size; ++j)
      if (!has_landed[j]) left.push_back(waiting_[j]);
    std::swap(waiting_, left);
    return left.size() - waiting_.size();
  }

  /// Spheres side by side.
  std::size_t places_in_plan() const {
    return static_cast<std::size_t>(box_.sizes().x() * box_.sizes().y() / (diameter_ * diameter_));
  }

  /// Softer spheres settle in fewer steps; a contact bears up to eight times the mean at the bottom.
  static constexpr double first_overlap = 5e-4;
  /// Mean resultant over mean force of a contact, at which friction falls and at which rain ends.
  static constexpr double nearly_at_rest = 0.02, at_rest = 1e-3;

  const ClosedSurface* surface_;
  Eigen::Vector3d down_;
  Uniform* uniform_;
  Eigen::Matrix3d axes_;    ///< rows; rain falls against the last one
  Eigen::AlignedBox3d box_; ///< of the body in these axes
  double diameter_ = 0, pressed_ = 0, friction_ = 0;
  bool has_lowered_friction_ = false;
  SettlingSpheres spheres_;
  std::vector<double> waiting_; ///< radii
};

void check_deposition(const ClosedSurface& surface, const Deposition& deposition) {
  if (!(deposition.friction >= 0) || !std::isfinite(deposition.friction))
    throw InputError(surface.name(), fmt::format("a friction of {} between spheres that are deposited; it "
                                                 "must not be negative",
                                                 deposition.friction));
  if (!deposition.down.allFinite() || deposition.down.norm() == 0)
    throw InputError(surface.name(), "gravity of a deposited packing has no direction");
}

/// Refuses a porosity that these spheres do not have.
void check_porosity(const ClosedSurface& surface, const Deposition& deposition, const Deposit& deposit,
                    const std::vector<double>& radii) {
  if (deposit.has_waiting())
    throw InputError(surface.name(),
                     fmt::format("deposited spheres jam at a porosity of {:.4g} without friction; {:g} is "
                                 "denser: take at least that, or smaller or more different radii",
                                 deposit.porosity(), *deposition.porosity));
  if (deposit.has_lowered_friction()) return;
  const double reached = deposit.topped_up(radii).porosity();
  if (*deposition.porosity - reached > porosity_tolerance)
    throw InputError(surface.name(),
                     fmt::format("with a friction of {:g} deposited spheres fill it to a porosity of {:.4g}; "
                                 "{:g} is looser: take more `friction`, at most that porosity, or packing "
                                 "\"random\"",
                                 deposition.friction, reached, *deposition.porosity));
}

} // namespace

ParticleSet pack_deposited(const ClosedSurface& surface, const Deposition& deposition) {
  check_deposition(surface, deposition);
  Uniform uniform(deposition.seed);
  const std::vector<double> radii = draw_radii(surface, deposition, uniform);
  Deposit deposit(surface, deposition, radii, uniform);
  deposit.fill(deposition.porosity.has_value());
  const SettlingSpheres& spheres = deposit.spheres();
  if (spheres.positions().empty())
    throw_nothing_fits(surface, deposition.min_radius, "take a smaller radius");
  if (deposition.porosity) check_porosity(surface, deposition, deposit, radii);
  return particles_of_spheres(surface, spheres.positions(), spheres.radii());
}

} // namespace recoil::particles

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "particles/draw_spheres.hpp"
#include "particles/near_pairs.hpp"
#include "particles/packing_errors.hpp"
#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

std::vector<Eigen::Vector3d> draw_positions(const ClosedSurface& surface, std::size_t count,
                                            Uniform& uniform) {
  // A point of the box lies inside with the probability `filled`.
  const double filled = std::min(surface.volume() / surface.box().volume(), 1.0);
  const double attempts = 1000 + 100 * static_cast<double>(count) / filled;
  std::vector<Eigen::Vector3d> positions;
  for (double attempt = 0; positions.size() < count; ++attempt) {
    if (attempt > attempts)
      throw InputError(surface.name(),
                       "random points of its bounding box hardly ever lie inside of the body; "
                       "its triangles intersect each other, or normals point inwards");
    Eigen::Vector3d fraction;
    for (double& part : fraction) part = uniform();
    const Eigen::Vector3d point = surface.box().min() + fraction.cwiseProduct(surface.box().sizes());
    if (surface.contains(point)) positions.push_back(point);
  }
  return positions;
}

/// Spheres that repel each other while they overlap, inside of a surface that they cannot leave.
class SoftSpheres {
public:
  SoftSpheres(const ClosedSurface& surface, const std::optional<PeriodicCell>& cell,
              std::vector<double> radii, std::vector<Eigen::Vector3d> positions)
      : surface_(&surface), cell_(cell), radii_(std::move(radii)), positions_(std::move(positions)) {
    const auto [least, most] = std::minmax_element(radii_.begin(), radii_.end());
    smallest_ = *least;
    largest_ = *most;
    if (cell_) require_wide(*cell_, reach(), surface.name());
  }

  /// Minimises the energy; true once no overlap is too large, false where it comes to rest before.
  bool relax() {
    // Unit masses and contact stiffness: an oscillation takes a few units of time whatever the radii are.
    constexpr double first_step = 0.1, longest_step = 0.25, grow = 1.1, shrink = 0.5, mixing = 0.1;
    constexpr int delay = 5, most_steps = 10000, window = 100;
    double step = first_step, mix = mixing, energy_before = std::numeric_limits<double>::infinity();
    int downhill = 0;
    std::vector<Eigen::Vector3d> velocities(positions_.size(), Eigen::Vector3d::Zero());
    find_pairs();
    for (int n = 0; n < most_steps; ++n) {
      const double energy = add_forces();
      if (largest_overlap_ <= random_packing_overlap) return true;
      if (n % window == 0) {
        if (energy >= at_rest * energy_before) return false;
        energy_before = energy;
      }
      double power = 0, speed = 0, force = 0;
      for (std::size_t i = 0; i < positions_.size(); ++i) {
        power += forces_[i].dot(velocities[i]);
        speed += velocities[i].squaredNorm();
        force += forces_[i].squaredNorm();
      }
      if (power < 0) {
        for (auto& velocity : velocities) velocity.setZero();
        step *= shrink;
        mix = mixing;
        downhill = 0;
      } else {
        const double ratio = force > 0 ? std::sqrt(speed / force) : 0;
        for (std::size_t i = 0; i < positions_.size(); ++i)
          velocities[i] = (1 - mix) * velocities[i] + mix * ratio * forces_[i];
        if (++downhill > delay) {
          step = std::min(step * grow, longest_step);
          mix *= 0.99;
        }
      }
      move(velocities, step);
    }
    return false;
  }

  /// Takes away the most compressed spheres, about as many as are too much, and no two that touch.
  void remove_some() {
    constexpr double most_at_once = 0.1;
    const auto size = std::ssize(positions_);
    const double excess = std::min(3 * mean_overlap_, most_at_once) * size;
    std::vector<double> compression(size, 0.0);
    std::vector<std::vector<std::int64_t>> touching(size);
    for (const auto& [i, j, image] : pairs_) {
      const double overlap = radii_[i] + radii_[j] - (positions_[j] + image - positions_[i]).norm();
      if (overlap <= 0) continue;
      compression[i] += overlap / radii_[i];
      compression[j] += overlap / radii_[j];
      touching[i].push_back(j);
      touching[j].push_back(i);
    }
    for (std::size_t w = 0; w < near_wall_.size(); ++w) compression[near_wall_[w]] += wall_overlap_[w];
    std::vector<std::int64_t> order(size);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return compression[a] > compression[b]; });
    std::vector<char> removed(size, 0), blocked(size, 0);
    double count = 0;
    for (const std::int64_t i : order) {
      if (blocked[i]) continue;
      removed[i] = 1;
      for (const std::int64_t j : touching[i]) blocked[j] = 1;
      if (++count >= excess) break;
    }
    drop(removed);
  }

  bool empty() const { return positions_.empty(); }
  const std::vector<double>& radii() const { return radii_; }
  const std::vector<Eigen::Vector3d>& positions() const { return positions_; }

private:
  struct Pair {
    std::int64_t i, j;
    Eigen::Vector3d image; ///< of j, from where it is itself
  };

  double skin() const { return 0.3 * smallest_; }
  double reach() const { return 2 * largest_ + skin(); }

  /// Pairs, and particles near the surface, that can touch before a particle has moved by half of the skin.
  void find_pairs() {
    skin_ = skin();
    pairs_.clear();
    near_wall_.clear();
    wall_overlap_.clear();
    for (std::int64_t i = 0; i < std::ssize(positions_); ++i) {
      if (!is_near_wall(i)) continue;
      near_wall_.push_back(i);
      wall_overlap_.push_back(push_inside(i));
    }
    for_each_near_pair(cell_, positions_, reach(),
                       [&](std::int64_t i, std::int64_t j, const CellShift& shift) {
                         const double reach = radii_[i] + radii_[j] + skin_;
                         const Eigen::Vector3d image = cell_ ? cell_->vector(shift) : Eigen::Vector3d::Zero();
                         if ((positions_[j] + image - positions_[i]).squaredNorm() < reach * reach)
                           pairs_.push_back({i, j, image});
                       });
    found_at_ = positions_;
  }

  /// Forces and energy of the pairs. Overlaps are noted relative to the reach of the contact.
  double add_forces() {
    forces_.assign(positions_.size(), Eigen::Vector3d::Zero());
    largest_overlap_ = 0;
    double energy = 0, sum = 0, count = 0;
    const auto note = [&](double overlap) {
      largest_overlap_ = std::max(largest_overlap_, overlap);
      sum += overlap;
      ++count;
    };
    for (const auto& [i, j, image] : pairs_) {
      const Eigen::Vector3d between = positions_[j] + image - positions_[i];
      const double reach = radii_[i] + radii_[j], squared = between.squaredNorm();
      if (squared >= reach * reach) continue;
      const double distance = std::sqrt(squared), overlap = reach - distance;
      note(overlap / reach);
      energy += overlap * overlap / 2;
      const Eigen::Vector3d force =
          distance > 0 ? Eigen::Vector3d(overlap / distance * between) : Eigen::Vector3d(overlap, 0, 0);
      forces_[i] -= force;
      forces_[j] += force;
    }
    for (const double overlap : wall_overlap_)
      if (overlap > 0) note(overlap);
    mean_overlap_ = count > 0 ? sum / count : 0;
    return energy;
  }

  bool is_near_wall(std::int64_t i) const {
    if (!cell_) return surface_->is_closer(positions_[i], radii_[i] + skin_);
    return !std::ranges::all_of(cell_->repeats, [](bool repeats) { return repeats; });
  }

  /// Keeps a sphere between the faces that do not repeat.
  double push_between_faces(std::int64_t i) {
    const Eigen::AlignedBox3d& box = surface_->box();
    for (int k = 0; k < 3; ++k)
      if (!cell_->repeats[k])
        positions_[i][k] =
            std::max(box.min()[k] + radii_[i], std::min(positions_[i][k], box.max()[k] - radii_[i]));
    return 0;
  }

  /// Moves a sphere that reaches through the surface back, once for each wall of a corner; returns how far it
  /// still reaches out, in units of its radius. A potential of the distance would have kinks in corners, on
  /// which the minimisation gets stuck.
  double push_inside(std::int64_t i) {
    if (cell_) return push_between_faces(i);
    constexpr int walls = 4;
    constexpr double rounding = 1e-9;
    Eigen::Vector3d& position = positions_[i];
    const double radius = radii_[i];
    for (int wall = 0;; ++wall) {
      const auto nearest = surface_->nearest(position, radius * (1 - rounding));
      if (!nearest) return 0;
      const double depth = surface_->contains(position) ? nearest->distance : -nearest->distance;
      if (wall == walls || depth == 0) return 1 - depth / radius;
      position = nearest->point + radius / depth * (position - nearest->point);
    }
  }

  void move(std::vector<Eigen::Vector3d>& velocities, double step) {
    // No jumps over each other or through the surface while overlaps are large.
    const double longest = 0.1 * smallest_;
    const std::vector<Eigen::Vector3d> before = positions_;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      velocities[i] += step * forces_[i];
      Eigen::Vector3d way = step * velocities[i];
      if (const double length = way.norm(); length > longest) way *= longest / length;
      positions_[i] += way;
    }
    for (std::size_t w = 0; w < near_wall_.size(); ++w) {
      const std::int64_t i = near_wall_[w];
      const Eigen::Vector3d free = positions_[i];
      wall_overlap_[w] = push_inside(i);
      if (positions_[i] != free) velocities[i] = (positions_[i] - before[i]) / step;
    }
    bool far = false;
    for (std::size_t i = 0; i < positions_.size(); ++i)
      far = far || (positions_[i] - found_at_[i]).squaredNorm() > skin_ * skin_ / 4;
    if (far) find_pairs();
  }

  void drop(const std::vector<char>& removed) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      if (removed[i]) continue;
      positions_[kept] = positions_[i];
      radii_[kept++] = radii_[i];
    }
    positions_.resize(kept);
    radii_.resize(kept);
  }

  /// The energy has come to rest when it keeps more than this part over a window of steps.
  static constexpr double at_rest = 0.99;

  const ClosedSurface* surface_;
  std::optional<PeriodicCell> cell_;
  std::vector<double> radii_;
  std::vector<Eigen::Vector3d> positions_, forces_, found_at_;
  std::vector<Pair> pairs_;
  std::vector<std::int64_t> near_wall_;
  std::vector<double> wall_overlap_; ///< of near_wall_, relative to the radius
  double smallest_ = 0, largest_ = 0, skin_ = 0;
  double largest_overlap_ = 0, mean_overlap_ = 0;
};

} // namespace

ParticleSet pack_random(const ClosedSurface& surface, const RandomPacking& packing,
                        const std::optional<PeriodicCell>& cell) {
  Uniform uniform(packing.seed);
  std::vector<double> radii = draw_radii(surface, packing, uniform);
  std::vector<Eigen::Vector3d> positions = draw_positions(surface, radii.size(), uniform);
  SoftSpheres spheres(surface, cell, std::move(radii), std::move(positions));
  if (packing.porosity && !spheres.relax())
    throw InputError(
        surface.name(),
        fmt::format("{} spheres do not find room for a porosity of {:g}: they jam; take a larger "
                    "one (0.4 and more are reached by bodies of many particles across), smaller "
                    "or more different radii",
                    spheres.radii().size(), *packing.porosity));
  while (!packing.porosity && !spheres.empty() && !spheres.relax()) spheres.remove_some();
  if (spheres.empty()) throw_nothing_fits(surface, packing.min_radius, "take a smaller radius");
  ParticleSet set = particles_of_spheres(surface, spheres.positions(), spheres.radii());
  set.cell = cell;
  for (Eigen::Vector3d& position : set.positions)
    if (cell) position = cell->wrapped(position);
  return set;
}

} // namespace recoil::particles

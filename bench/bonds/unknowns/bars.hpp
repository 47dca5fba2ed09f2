#pragma once

#include <algorithm>
#include <limits>
#include <numbers>

#include "bdem/bodies.hpp"
#include "bonds/unknowns/step_energy.hpp"
#include "solvers/bdem/particle_manifold.hpp"

/// hcp bars along x with both ends held, one of which moves.
namespace recoil::bench {

inline constexpr double bar_radius = 1e-3;

enum class Motion { stretch, twist };

class Bar {
public:
  /// nx particles along x, ny and nz across.
  Bar(const parallel::Communicator& comm, int nx, int ny, int nz, Motion motion)
      : motion_(motion),
        problem_(solvers::testing::bonded(comm, solvers::testing::block(nx, ny, nz, bar_radius), {})) {
    const auto& places = problem_.particles->positions;
    low_ = high_ = places[0];
    for (const Eigen::Vector3d& X : places) {
      low_ = low_.cwiseMin(X);
      high_ = high_.cwiseMax(X);
    }
    for (std::size_t k = 0; k < places.size(); ++k)
      if (places[k].x() < low_.x() + end_depth || is_moved(places[k]))
        std::fill_n(problem_.prescribed.begin() + std::ptrdiff_t(6 * k), 6, char(1));
  }
  const solvers::BondedParticles& problem() const { return problem_; }
  solvers::BondedParticles& problem() { return problem_; }

  Points at_rest() const {
    Points x(7 * problem_.particles->positions.size());
    for (std::size_t k = 0; k < problem_.particles->positions.size(); ++k)
      solvers::set_particle(x, LocalIndex(k),
                            {problem_.particles->positions[k], geometry::identity_quaternion()});
    return x;
  }
  /// Puts the moving end where it is at a share of its way: pulled out by a fifth of the length, or turned by
  /// a quarter about the axis of the bar.
  void move_end(double share, Points& x) const {
    const auto& places = problem_.particles->positions;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (!is_moved(places[k])) continue;
      Eigen::Vector3d p = places[k];
      geometry::Quaternion q = geometry::identity_quaternion();
      if (motion_ == Motion::stretch) {
        p.x() += share * 0.2 * (high_.x() - low_.x());
      } else {
        q = geometry::quaternion_exponential({share * std::numbers::pi / 2, 0, 0});
        const Eigen::Vector3d centre(p.x(), (low_.y() + high_.y()) / 2, (low_.z() + high_.z()) / 2);
        p = centre + geometry::rotation_matrix(q) * (p - centre);
      }
      solvers::set_particle(x, LocalIndex(k), {p, q});
    }
  }

private:
  static constexpr double end_depth = 1.5 * bar_radius; // one layer, whose rows alternate by r

  bool is_moved(const Eigen::Vector3d& X) const { return X.x() > high_.x() - end_depth; }

  Motion motion_;
  solvers::BondedParticles problem_;
  Eigen::Vector3d low_, high_;
};

} // namespace recoil::bench

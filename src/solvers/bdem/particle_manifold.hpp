#pragma once

#include <span>
#include <vector>

#include "recoil/newton/manifold.hpp"
#include "recoil/potentials/bonds/bond.hpp"

namespace recoil::solvers {

/// Position and orientation of a particle in a vector of points.
inline potentials::Particle particle_at(std::span<const double> u, LocalIndex particle) {
  const double* values = u.data() + 7 * std::size_t(particle);
  return {Eigen::Map<const Eigen::Vector3d>(values), Eigen::Map<const geometry::Quaternion>(values + 3)};
}

inline void set_particle(std::span<double> u, LocalIndex particle, const potentials::Particle& at) {
  double* values = u.data() + 7 * std::size_t(particle);
  Eigen::Map<Eigen::Vector3d>{values} = at.p;
  Eigen::Map<geometry::Quaternion>{values + 3} = at.q;
}

// The parts of a tangent vector that belong to a particle [m], or of one of its derivatives.
inline Eigen::Map<Eigen::Vector3d> shift_of(std::span<double> v, LocalIndex particle) {
  return Eigen::Map<Eigen::Vector3d>(v.data() + 6 * std::size_t(particle));
}
inline Eigen::Map<const Eigen::Vector3d> shift_of(std::span<const double> v, LocalIndex particle) {
  return Eigen::Map<const Eigen::Vector3d>(v.data() + 6 * std::size_t(particle));
}
inline Eigen::Map<Eigen::Vector3d> turn_of(std::span<double> v, LocalIndex particle) {
  return Eigen::Map<Eigen::Vector3d>(v.data() + 6 * std::size_t(particle) + 3);
}
inline Eigen::Map<const Eigen::Vector3d> turn_of(std::span<const double> v, LocalIndex particle) {
  return Eigen::Map<const Eigen::Vector3d>(v.data() + 6 * std::size_t(particle) + 3);
}

/// (R^3 x S^3)^n: 7 numbers a particle, position and unit quaternion, and 6 along the tangent, displacement
/// and r times the rotation vector in its own axes, all in metres.
class ParticleManifold final : public newton::Manifold {
public:
  /// `radii` of owned particles and ghosts [m]. @pre the layouts have the same particles.
  ParticleManifold(std::shared_ptr<const linalg::VectorLayout> tangents, std::vector<double> radii)
      : tangents_(std::move(tangents)), radii_(std::move(radii)) {}

  std::shared_ptr<const linalg::VectorLayout> tangent_layout(const linalg::Vector&) const override {
    return tangents_;
  }
  void retract(const linalg::Vector& x, const linalg::Vector& d, double s,
               linalg::Vector& result) const override;
  void difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const override;

private:
  std::shared_ptr<const linalg::VectorLayout> tangents_;
  std::vector<double> radii_;
};

} // namespace recoil::solvers

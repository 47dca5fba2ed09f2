#pragma once

#include <array>
#include <span>

#include "recoil/potentials/bonds/bond_potential.hpp"

/// Ends of bonds among the unknowns of particles.
namespace recoil::potentials {

inline Particle particle_in(std::span<const double> u, LocalIndex node) {
  const double* values = u.data() + 7 * std::size_t(node);
  return {Eigen::Map<const Eigen::Vector3d>(values), Eigen::Map<const geometry::Quaternion>(values + 3)};
}

/// Both ends of a bond where its energy is taken, and how they follow from the unknowns.
struct BondAt {
  std::array<Particle, 2> at;
  std::array<geometry::Quaternion, 2> q; ///< where the step ends
  std::array<Eigen::Matrix<double, 3, 4>, 2>
      rotation; ///< G_l / (2 r): rows of the tangent spaces of the equations
  std::array<Eigen::Matrix<double, 3, 4>, 2> by_unknown; ///< the same of the tangent spaces of the unknowns
  std::array<double, 2> radius;
  double share = 1; ///< d at / d u

  BondEnds gradient(const BondVector& g) const {
    BondEnds result;
    for (int e = 0; e < 2; ++e) {
      result.segment<3>(6 * e) = share * g.segment<3>(7 * e);
      result.segment<3>(6 * e + 3) = share * rotation[e] * g.segment<4>(7 * e + 3);
    }
    return result;
  }
  Eigen::Matrix<double, 12, 12> hessian(const BondDerivatives& d) const {
    const double square = share * share;
    Eigen::Matrix<double, 12, 12> result;
    for (int e = 0; e < 2; ++e)
      for (int f = 0; f < 2; ++f) {
        const auto H = d.hessian.block<7, 7>(7 * e, 7 * f);
        result.block<3, 3>(6 * e, 6 * f) = square * H.block<3, 3>(0, 0);
        result.block<3, 3>(6 * e, 6 * f + 3).noalias() =
            square * H.block<3, 4>(0, 3) * by_unknown[f].transpose();
        result.block<3, 3>(6 * e + 3, 6 * f).noalias() = square * rotation[e] * H.block<4, 3>(3, 0);
        result.block<3, 3>(6 * e + 3, 6 * f + 3).noalias() =
            square * rotation[e] * H.block<4, 4>(3, 3) * by_unknown[f].transpose();
      }
    return result;
  }
  /// The curvature of the unit sphere.
  void add_curvature(const BondVector& g, Eigen::Matrix<double, 12, 12>& H) const {
    for (int e = 0; e < 2; ++e) {
      const double along = share * q[e].dot(g.segment<4>(7 * e + 3)) / (4 * radius[e] * radius[e]);
      for (int i = 0; i < 3; ++i) H(6 * e + 3 + i, 6 * e + 3 + i) -= along;
    }
  }
};

/// At u, with end b shifted by `image`.
inline BondAt bond_at(const particles::DistributedParticles& particles, std::span<const double> u,
                      LocalIndex bond, const Eigen::Vector3d& image) {
  const auto& [a, b, id] = particles.bonds[bond];
  BondAt ends;
  for (int e = 0; e < 2; ++e) {
    const LocalIndex node = e == 0 ? a : b;
    ends.at[e] = particle_in(u, node);
    ends.q[e] = ends.at[e].q;
    ends.radius[e] = particles.radii[node];
    ends.by_unknown[e] = ends.rotation[e] = geometry::left_tangent(ends.q[e]) / (2 * ends.radius[e]);
  }
  ends.at[1].p += image;
  return ends;
}

} // namespace recoil::potentials

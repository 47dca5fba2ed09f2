#pragma once

#include <span>
#include <vector>

#include "recoil/potentials/spheres/sphere_contact.hpp"

/// States and tangent vectors of the spheres of a pair.
namespace recoil::potentials {

inline int num_spheres(const SpherePair& pair) { return pair.b < 0 ? 1 : 2; }

inline LocalIndex end_of(const SpherePair& pair, int end) { return end == 0 ? pair.a : pair.b; }

inline Eigen::Map<const Eigen::Vector3d> place(const std::vector<double>& states, LocalIndex sphere) {
  return Eigen::Map<const Eigen::Vector3d>(states.data() + 7 * std::size_t(sphere));
}

inline geometry::Quaternion orientation(const std::vector<double>& states, LocalIndex sphere) {
  return Eigen::Map<const geometry::Quaternion>(states.data() + 7 * std::size_t(sphere) + 3);
}

inline Eigen::Map<Eigen::Matrix<double, 6, 1>> tangent(std::vector<double>& values, LocalIndex sphere) {
  return Eigen::Map<Eigen::Matrix<double, 6, 1>>(values.data() + 6 * std::size_t(sphere));
}

inline Eigen::Map<const Eigen::Matrix<double, 6, 1>> tangent(const std::vector<double>& values,
                                                             LocalIndex sphere) {
  return Eigen::Map<const Eigen::Matrix<double, 6, 1>>(values.data() + 6 * std::size_t(sphere));
}

/// out += M in, M by the tangent vectors of both ends.
inline void add_pair_product(const SpherePair& pair, const Eigen::Matrix<double, 12, 12>& M,
                             const std::vector<double>& in, std::vector<double>& out) {
  for (int a = 0; a < num_spheres(pair); ++a)
    for (int b = 0; b < num_spheres(pair); ++b)
      tangent(out, end_of(pair, a)) += M.block<6, 6>(6 * a, 6 * b) * tangent(in, end_of(pair, b));
}

} // namespace recoil::potentials

#pragma once

#include <span>
#include <vector>

#include "recoil/linalg/block_sink.hpp"
#include "recoil/potentials/spheres/sphere_contact.hpp"

/// States and tangent vectors of the spheres of a pair.
namespace recoil::potentials {

/// By the tangent vectors of both ends of a pair.
using PairBlock = Eigen::Matrix<double, 12, 12>;

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
inline void add_pair_product(const SpherePair& pair, const PairBlock& M, const std::vector<double>& in,
                             std::vector<double>& out) {
  for (int a = 0; a < num_spheres(pair); ++a)
    for (int b = 0; b < num_spheres(pair); ++b)
      tangent(out, end_of(pair, a)) += M.block<6, 6>(6 * a, 6 * b) * tangent(in, end_of(pair, b));
}

/// Without rows and columns of prescribed components.
inline void add_block(const Spheres& spheres, const SpherePair& pair, PairBlock& block,
                      linalg::StencilSink& H) {
  std::array<GlobalIndex, 2> nodes{-1, -1};
  for (int end = 0; end < num_spheres(pair); ++end) {
    const Sphere& sphere = spheres[end_of(pair, end)];
    nodes[end] = sphere.node;
    for (int i = 0; i < 6; ++i)
      if ((sphere.prescribed >> i & 1U) != 0) {
        block.row(6 * end + i).setZero();
        block.col(6 * end + i).setZero();
      }
  }
  H.add(std::span(nodes).first(num_spheres(pair)), block.data(), 12);
}

/// A force on sphere a, opposite on the obstacle, which is taken at `point`.
inline void add_reaction(std::span<double> forces, std::int32_t body, const Eigen::Vector3d& on_sphere,
                         const Eigen::Vector3d& point) {
  const Eigen::Vector3d moment = point.cross(on_sphere);
  for (int i = 0; i < 3; ++i) {
    forces[6 * std::size_t(body) + i] -= on_sphere[i];
    forces[6 * std::size_t(body) + 3 + i] -= moment[i];
  }
}

} // namespace recoil::potentials

#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Geometry>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/particles/closed_surface.hpp"
#include "recoil/particles/particle_set.hpp"
#include "support/input_errors.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::particles {

using recoil::testing::message_of, recoil::testing::write_file;

/// `text` with `to` for the first `from`, which must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

/// Boundary of a generated body, rotated by `rotation` (degrees about x, y, z) and shifted.
inline ClosedSurface generated(const mesh::Generator& generator, std::vector<double> rotation = {},
                               const Eigen::Vector3d& shift = Eigen::Vector3d::Zero()) {
  mesh::GeometrySpec spec;
  spec.name = "body";
  spec.generator = generator;
  spec.transformation.rotation = std::move(rotation);
  spec.transformation.translation = shift;
  return boundary_of_body(mesh::assemble_geometry(std::vector{spec}, 3).deformable, 0);
}

/// Part of the points of a grid in `box` that lie in a sphere.
inline double fraction_in(const ParticleSet& set, const Eigen::AlignedBox3d& box) {
  constexpr int n = 60;
  std::vector<char> covered(n * n * n, 0);
  for (std::size_t s = 0; s < set.positions.size(); ++s) {
    const auto index = [&](double value, int k, double rounding) {
      return std::clamp(static_cast<int>((value - box.min()[k]) / box.sizes()[k] * n + rounding), 0, n);
    };
    std::array<int, 3> low, high;
    for (int k = 0; k < 3; ++k) {
      low[static_cast<std::size_t>(k)] = index(set.positions[s][k] - set.radii[s], k, 0);
      high[static_cast<std::size_t>(k)] = index(set.positions[s][k] + set.radii[s], k, 1);
    }
    for (int i = low[0]; i < high[0]; ++i)
      for (int j = low[1]; j < high[1]; ++j)
        for (int k = low[2]; k < high[2]; ++k) {
          const Eigen::Vector3d point =
              box.min() + Eigen::Vector3d(i + 0.5, j + 0.5, k + 0.5).cwiseProduct(box.sizes()) / n;
          if ((point - set.positions[s]).norm() < set.radii[s])
            covered[static_cast<std::size_t>((i * n + j) * n + k)] = 1;
        }
  }
  return std::accumulate(covered.begin(), covered.end(), 0.0) / (n * n * n);
}

inline ClosedSurface box_surface(const Eigen::Vector3d& size, int divisions = 1) {
  mesh::Generator generator;
  generator.shape = mesh::GeneratorShape::box;
  generator.size = {size.x(), size.y(), size.z()};
  generator.divisions = {divisions};
  return generated(generator);
}

inline ClosedSurface ball_surface(double radius, int divisions) {
  mesh::Generator generator;
  generator.shape = mesh::GeneratorShape::ball;
  generator.radius = radius;
  generator.divisions = {divisions};
  return generated(generator);
}

/// A prism over an L of three unit squares, height 1, in a frame of its own.
struct LShape {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d shift = Eigen::Vector3d::Zero();

  static const std::vector<Eigen::Vector2d>& outline() {
    static const std::vector<Eigen::Vector2d> corners{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    return corners;
  }

  ClosedSurface surface() const {
    std::vector<Eigen::Vector3d> vertices;
    for (const double z : {0.0, 1.0})
      for (const Eigen::Vector2d& corner : outline())
        vertices.push_back(rotation * Eigen::Vector3d(corner.x(), corner.y(), z) + shift);
    std::vector<std::array<std::int32_t, 3>> triangles;
    for (const std::array<std::int32_t, 3> t : {std::array{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {3, 4, 5}}) {
      triangles.push_back({t[0], t[2], t[1]});
      triangles.push_back({t[0] + 6, t[1] + 6, t[2] + 6});
    }
    for (std::int32_t i = 0; i < 6; ++i) {
      const std::int32_t next = (i + 1) % 6;
      triangles.push_back({i, next, next + 6});
      triangles.push_back({i, next + 6, i + 6});
    }
    return {"ell", vertices, triangles};
  }

  /// Distance to the surface, negative inside; outside only the sign counts.
  double signed_distance(const Eigen::Vector3d& point) const {
    const Eigen::Vector3d p = rotation.transpose() * (point - shift);
    const bool inside = p.x() > 0 && p.y() > 0 && p.z() > 0 && p.z() < 1 &&
                        ((p.x() < 2 && p.y() < 1) || (p.x() < 1 && p.y() < 2));
    if (!inside) return 1;
    double distance = std::min(p.z(), 1 - p.z());
    for (std::size_t i = 0; i < 6; ++i) {
      const Eigen::Vector2d a = outline()[i], along = outline()[(i + 1) % 6] - a;
      const double t = std::clamp((p.head<2>() - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
      distance = std::min(distance, (p.head<2>() - a - t * along).norm());
    }
    return -distance;
  }
};

inline Eigen::Matrix3d some_rotation() {
  return Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -0.5).normalized()).toRotationMatrix();
}

inline Eigen::Vector3d random_point(std::mt19937& generator, const Eigen::AlignedBox3d& box) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const Eigen::Vector3d fraction(uniform(generator), uniform(generator), uniform(generator));
  return box.min() + fraction.cwiseProduct(box.sizes());
}

} // namespace recoil::particles

#pragma once

#include <cstdio>
#include <string>

#include <Eigen/Geometry>

#include "recoil/mesh/geometry_spec.hpp"

/// Entries and numbers in messages.
namespace recoil::mesh {

/// "/geometry/0 (cube.msh)".
inline std::string describe(const GeometrySpec& spec) {
  const std::string source = spec.generator ? "generator" : spec.mesh.string();
  if (source.empty()) return spec.where;
  return spec.where.empty() ? source : spec.where + " (" + source + ")";
}

inline std::string describe(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// "(x, y, z)"; "(x, y)" in 2D.
inline std::string describe(const Eigen::Vector3d& point, int dim) {
  std::string text = "(";
  for (int k = 0; k < dim; ++k) text += (k ? ", " : "") + describe(point[k]);
  return text + ")";
}

inline std::string describe(const Eigen::AlignedBox3d& box, int dim) {
  return describe(box.min(), dim) + " to " + describe(box.max(), dim);
}

} // namespace recoil::mesh

#pragma once

#include "objectives/objective_checks.hpp"
#include "recoil/objectives/polygon_target.hpp"
#include "recoil/objectives/signed_distance_target.hpp"

namespace recoil::objectives {

/// A rough field on a grid that holds the first of two_boxes(), and half of the second one.
template <int dim>
std::shared_ptr<const SignedDistance<dim>> rough_distance() {
  using Point = Eigen::Matrix<double, dim, 1>;
  std::array<int, dim> size;
  std::size_t count = 1;
  for (int i = 0; i < dim; ++i) {
    size[static_cast<std::size_t>(i)] = 7 - i;
    count *= static_cast<std::size_t>(7 - i);
  }
  std::vector<double> samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = direction(static_cast<GlobalIndex>(i), 0);
  return std::make_shared<const SignedDistance<dim>>(size, Point::Constant(-0.7),
                                                     Point::LinSpaced(dim, 0.37, 0.41), std::move(samples));
}

/// Faces between corners here and there around two_boxes(); open and crossing one another.
template <int dim>
PolygonFaces<dim> rough_faces(int count) {
  using Point = Eigen::Matrix<double, dim, 1>;
  const auto corner = [](int number) {
    Point x;
    for (int i = 0; i < dim; ++i)
      x[i] = (i == 0 ? 0.75 : 0.0) + (i == 0 ? 1.5 : 0.8) * direction(number, i + 3);
    return x;
  };
  PolygonFaces<dim> faces(static_cast<std::size_t>(count));
  for (int face = 0; face < count; ++face)
    for (int i = 0; i < dim; ++i)
      faces[static_cast<std::size_t>(face)][static_cast<std::size_t>(i)] = corner(face + i);
  return faces;
}

} // namespace recoil::objectives

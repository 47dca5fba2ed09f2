#pragma once

#include "objectives/objective_checks.hpp"
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

} // namespace recoil::objectives

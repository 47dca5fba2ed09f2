#pragma once

#include <array>
#include <memory>
#include <vector>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::objectives {

/// A signed distance phi that is sampled on a regular grid, between its points the tensor product of natural
/// cubic splines through the samples, in the basis of cubic B-splines [Unser 1999, IEEE Signal Process. Mag.
/// 16(6):22-38; de Boor 1978]. Outside of the grid it goes on linearly along each axis, as these splines do:
/// phi has two continuous derivatives everywhere, and is exact where the distance is linear.
template <int dim>
class SignedDistance {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// @param size points along each axis, at least 2. @param origin the first point. @param spacing between
  /// points, positive [m]. @param samples [m], those along the last axis side by side.
  SignedDistance(const std::array<int, dim>& size, const Point& origin, const Point& spacing,
                 std::vector<double> samples);

  static constexpr int num_components = 1;
  struct Sample {
    Eigen::Matrix<double, 1, 1> value;
    Eigen::Matrix<double, 1, dim> gradient;
  };
  /// phi and its derivative.
  Sample at(const Point& x) const;

private:
  std::array<int, dim> size_; ///< of the samples
  Point origin_, spacing_;
  std::vector<double> coefficients_; ///< size + 2 along each axis: one before and one behind the grid
};

/// J = int phi(x)^2 dA over boundary facets of the rest region, x = X + u the place of their points
/// [m^(dim+1)], by the quadrature of the nodes of a facet: how far the facets lie from where phi is zero.
/// @param facets which boundary facets of the region, `all` = also those without an id. Collective.
/// @throws InputError on every rank where no facet of the region is selected.
template <int dim>
std::unique_ptr<Objective<dim>>
make_signed_distance_target(Region<dim> region, std::shared_ptr<const SignedDistance<dim>> distance,
                            potentials::FacetSelection facets);

} // namespace recoil::objectives

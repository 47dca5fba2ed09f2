#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace recoil::potentials {

/// Enclosed volume by facets, the potential of follower pressure (spec 1.3). One linear facet with corners x
/// (one per row, dim x dim, outward orientation: 2D normal (dy, -dx), 3D right-hand rule) contributes the
/// signed volume of its cone from the origin; summed over a closed surface, or up to a constant over one with
/// a fixed rim, this is the volume V. The potential of a pressure p that pulls outwards when positive is -p
/// V. Gradient and Hessian of one facet differ from the facet force p n A / dim and its derivative by terms
/// that cancel between neighbouring facets, also at every inner vertex of an open surface; what remains sits
/// on the rim.
template <int dim>
struct ConeVolume {
  using Corners = Eigen::Matrix<double, dim, dim>;
  using Hessian = Eigen::Matrix<double, dim * dim, dim * dim>;

  /// 2D: (x0 x x1)/2 [m^2]; 3D: x0 . (x1 x x2)/6 [m^3].
  static double value(const Corners& x) {
    if constexpr (dim == 2)
      return 0.5 * (x(0, 0) * x(1, 1) - x(0, 1) * x(1, 0));
    else
      return x.row(0).dot(x.row(1).cross(x.row(2))) / 6.0;
  }

  /// dV/dx, one corner per row.
  static Corners gradient(const Corners& x) {
    Corners g;
    if constexpr (dim == 2) {
      g << 0.5 * x(1, 1), -0.5 * x(1, 0), -0.5 * x(0, 1), 0.5 * x(0, 0);
    } else {
      for (int a = 0; a < 3; ++a) g.row(a) = x.row((a + 1) % 3).cross(x.row((a + 2) % 3)) / 6.0;
    }
    return g;
  }

  /// d2V/dx_a dx_b at [dim * a + i, dim * b + k]; symmetric, indefinite.
  static Hessian hessian(const Corners& x) {
    Hessian H = Hessian::Zero();
    if constexpr (dim == 2) {
      H(0, 3) = H(3, 0) = 0.5;
      H(1, 2) = H(2, 1) = -0.5;
    } else {
      for (int a = 0; a < 3; ++a) {
        // d(x_b x x_c)/dx_b = -[x_c]_x
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const Eigen::RowVector3d v = x.row(c) / 6.0;
        Eigen::Matrix3d cross;
        cross << 0.0, v[2], -v[1], -v[2], 0.0, v[0], v[1], -v[0], 0.0;
        H.template block<3, 3>(3 * a, 3 * b) = cross;
        H.template block<3, 3>(3 * b, 3 * a) = cross.transpose();
      }
    }
    return H;
  }
};

} // namespace recoil::potentials

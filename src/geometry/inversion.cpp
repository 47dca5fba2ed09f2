#include "recoil/geometry/inversion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

namespace recoil::geometry {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// Bernstein coefficients on [0, 1] of det(F + s dF) by polarisation: coefficient k is the mean of the
// determinants with k columns taken from F + dF and the others from F. Their rounding errors are bounded by
// `error`.
struct Polynomial2 {
  std::array<double, 3> c;
  double error;
};
struct Polynomial3 {
  std::array<double, 4> c;
  double error;
};

Polynomial2 determinant_polynomial(const Eigen::Matrix2d& F, const Eigen::Matrix2d& dF) {
  const Eigen::Matrix2d G = F + dF;
  const auto det = [](const auto& a, const auto& b) { return a[0] * b[1] - a[1] * b[0]; };
  const double scale =
      std::max(F.col(0).norm(), G.col(0).norm()) * std::max(F.col(1).norm(), G.col(1).norm());
  return {{det(F.col(0), F.col(1)), 0.5 * (det(G.col(0), F.col(1)) + det(F.col(0), G.col(1))),
           det(G.col(0), G.col(1))},
          8.0 * eps * scale};
}

Polynomial3 determinant_polynomial(const Eigen::Matrix3d& F, const Eigen::Matrix3d& dF) {
  const Eigen::Matrix3d G = F + dF;
  const Eigen::Vector3d ff = F.col(1).cross(F.col(2)), gg = G.col(1).cross(G.col(2));
  const Eigen::Vector3d fg = F.col(1).cross(G.col(2)) + G.col(1).cross(F.col(2));
  double scale = 1.0;
  for (int i = 0; i < 3; ++i) scale *= std::max(F.col(i).norm(), G.col(i).norm());
  return {{F.col(0).dot(ff), (G.col(0).dot(ff) + F.col(0).dot(fg)) / 3.0,
           (F.col(0).dot(gg) + G.col(0).dot(fg)) / 3.0, G.col(0).dot(gg)},
          16.0 * eps * scale};
}

template <std::size_t n>
bool above(const std::array<double, n>& c, double bound) {
  for (double value : c)
    if (!(value > bound)) return false;
  return true;
}

// De Casteljau at the middle: `c` becomes the left half, the right half is returned.
template <std::size_t n>
std::array<double, n> split(std::array<double, n>& c) {
  std::array<double, n> right;
  right[n - 1] = c[n - 1];
  for (std::size_t level = 1; level < n; ++level) {
    for (std::size_t i = n - 1; i >= level; --i) c[i] = 0.5 * (c[i] + c[i - 1]);
    right[n - 1 - level] = c[n - 1];
  }
  return right;
}

// Left end of the first interval, refined until it is short, on which the polynomial is not proven above
// `error`.
template <std::size_t n>
bool find_first(std::array<double, n> c, double low, double high, double error, double& step) {
  while (!above(c, error)) {
    const double middle = 0.5 * (low + high);
    if (!(c[0] > error) || high - low <= 1e-9 * low || middle <= low || middle >= high) {
      step = low;
      return true;
    }
    const std::array<double, n> right = split(c);
    if (find_first(c, low, middle, error, step)) return true;
    c = right;
    low = middle;
  }
  return false;
}

} // namespace

template <int dim>
double inversion_free_step(const Eigen::Matrix<double, dim, dim>& F,
                           const Eigen::Matrix<double, dim, dim>& dF) {
  // The rounding errors of a huge step would swamp det F: such a step is followed in stages that grow with F
  // + t dF.
  const double change = dF.cwiseAbs().maxCoeff();
  double done = 0.0;
  for (int stage = 0; stage < 400; ++stage) {
    const Eigen::Matrix<double, dim, dim> now = F + done * dF;
    const double reach = 16.0 * now.cwiseAbs().maxCoeff();
    const double left = 1.0 - done, length = change * left > reach ? reach / change : left;
    const auto polynomial = determinant_polynomial(now, Eigen::Matrix<double, dim, dim>(length * dF));
    double sum = polynomial.error;
    for (double value : polynomial.c) sum += std::abs(value);
    if (!std::isfinite(sum) || !(polynomial.c[0] > polynomial.error)) return done;
    double step = 1.0;
    if (find_first(polynomial.c, 0.0, 1.0, polynomial.error, step)) return done + length * step;
    if (length == left) return 1.0;
    done += length;
  }
  return done;
}

template double inversion_free_step<2>(const Eigen::Matrix2d&, const Eigen::Matrix2d&);
template double inversion_free_step<3>(const Eigen::Matrix3d&, const Eigen::Matrix3d&);

} // namespace recoil::geometry

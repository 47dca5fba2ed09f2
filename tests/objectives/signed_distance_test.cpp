#include "objectives/surfaces.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {
namespace {

/// phi sampled on `n` points along x, one more along each next axis, from -1 to 1.
template <int dim, class Phi>
SignedDistance<dim> sampled(int n, Phi phi) {
  using Point = Eigen::Matrix<double, dim, 1>;
  std::array<int, dim> size;
  Point spacing;
  std::size_t count = 1;
  for (int i = 0; i < dim; ++i) {
    size[static_cast<std::size_t>(i)] = n + i;
    spacing[i] = 2.0 / (n + i - 1);
    count *= static_cast<std::size_t>(n + i);
  }
  std::vector<double> samples;
  for (std::size_t number = 0; number < count; ++number) {
    Point x;
    std::size_t rest = number;
    for (int i = dim - 1; i >= 0; --i) {
      x[i] = -1 + spacing[i] * static_cast<double>(rest % static_cast<std::size_t>(n + i));
      rest /= static_cast<std::size_t>(n + i);
    }
    samples.push_back(phi(x));
  }
  return {size, Point::Constant(-1), spacing, std::move(samples)};
}

/// Places in and around the grid.
template <int dim>
std::vector<Eigen::Matrix<double, dim, 1>> places(double reach) {
  std::vector<Eigen::Matrix<double, dim, 1>> all;
  for (int number = 0; number < 200; ++number) {
    Eigen::Matrix<double, dim, 1> x;
    for (int i = 0; i < dim; ++i) x[i] = reach * direction(number, i);
    all.push_back(x);
  }
  return all;
}

template <int dim>
void check_linear_distance() {
  using Point = Eigen::Matrix<double, dim, 1>;
  const Point n = Point::LinSpaced(dim, 0.6, -0.3);
  for (const int points : {2, 3, 8}) {
    const auto distance = sampled<dim>(points, [&](const Point& x) { return n.dot(x) - 0.2; });
    for (const Point& x : places<dim>(3)) {
      EXPECT_NEAR(distance.at(x).value[0], n.dot(x) - 0.2, 1e-13);
      EXPECT_LT((distance.at(x).gradient.transpose() - n).norm(), 1e-12);
    }
  }
}
TEST(SignedDistance, IsExactWhereTheDistanceIsLinear2D) { check_linear_distance<2>(); }
TEST(SignedDistance, IsExactWhereTheDistanceIsLinear3D) { check_linear_distance<3>(); }

/// Through the samples, and of order 4 away from the ends of the grid.
template <int dim>
void check_order() {
  using Point = Eigen::Matrix<double, dim, 1>;
  const auto phi = [](const Point& x) { return std::sin(2 * x[0] + 0.3) * std::cos(x[1]) + x[dim - 1]; };
  const auto error = [&](int points) {
    const auto distance = sampled<dim>(points, phi);
    double largest = 0;
    for (const Point& x : places<dim>(0.5))
      largest = std::max(largest, std::abs(distance.at(x).value[0] - phi(x)));
    return largest;
  };
  EXPECT_GT(error(21) / error(41), 12);
  EXPECT_LT(error(41), 1e-6);
  const auto distance = sampled<dim>(5, phi);
  for (const double x : {-1.0, -0.5, 0.0, 1.0}) {
    Point on_grid = Point::Constant(-1);
    on_grid[0] = x;
    EXPECT_NEAR(distance.at(on_grid).value[0], phi(on_grid), 1e-14);
  }
}
TEST(SignedDistance, IsOfFourthOrder2D) { check_order<2>(); }
TEST(SignedDistance, IsOfFourthOrder3D) { check_order<3>(); }

/// Value, gradient and the slope of the gradient go on across points of the grid and its ends.
template <int dim>
void check_smoothness() {
  using Point = Eigen::Matrix<double, dim, 1>;
  const auto distance = rough_distance<dim>();
  const double h = 1e-6;
  for (int axis = 0; axis < dim; ++axis) {
    const double spacing = axis == 0 ? 0.37 : axis == dim - 1 ? 0.41 : 0.39;
    for (const double number : {0.0, 1.0, 3.0, 6.0 - axis}) {
      Point x = Point::Constant(0.11);
      x[axis] = -0.7 + number * spacing;
      const auto gradient = [&](double by) { return distance->at(x + by * h * Point::Unit(axis)).gradient; };
      const auto value = [&](double by) { return distance->at(x + by * h * Point::Unit(axis)).value[0]; };
      EXPECT_NEAR(value(1) - value(-1), 2 * h * gradient(0)[axis], 1e-9 * h + 1e-14);
      const Eigen::Matrix<double, 1, dim> left = gradient(0) - gradient(-1),
                                          right = gradient(1) - gradient(0);
      EXPECT_LT((right - left).norm() / h, 1e-3) << axis << " " << number;
    }
  }
}
TEST(SignedDistance, HasContinuousSecondDerivatives2D) { check_smoothness<2>(); }
TEST(SignedDistance, HasContinuousSecondDerivatives3D) { check_smoothness<3>(); }

/// The distance to a plane, over a side that is moved and turned.
template <int dim>
void check_value_of_distance() {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Scene<dim> scene(MPI_COMM_WORLD);
  const Matrix B = 0.3 * Matrix::Identity() + 0.1 * Matrix::Ones();
  const Point a = Point::Constant(0.2), n = Point::LinSpaced(dim, 0.8, -0.4);
  scene.u = scene.linear_field(a, B);
  const auto distance = std::make_shared<const SignedDistance<dim>>(
      sampled<dim>(3, [&](const Point& x) { return n.dot(x) - 0.3; }));
  for (const int body : {0, 1}) {
    const auto target = make_signed_distance_target<dim>(scene.region({body}), distance, {false, {3}});
    // int (n . (a + (1 + B) X) - 0.3)^2 over the side +x of a unit box.
    const Point middle = (1.5 * body + 0.5) * Point::Unit(0), slope = n + B.transpose() * n;
    const double mean = n.dot(a) + slope.dot(middle) - 0.3;
    const double expected = mean * mean + slope.template tail<dim - 1>().squaredNorm() / 12;
    EXPECT_NEAR(target->value(scene.state()), expected, 1e-12 * expected);
  }
  EXPECT_THROW(make_signed_distance_target<dim>(scene.region(), distance, {false, {99}}), InputError);
}
TEST(SignedDistance, OfAPlane2D) { check_value_of_distance<2>(); }
TEST(SignedDistance, OfAPlane3D) { check_value_of_distance<3>(); }

} // namespace
} // namespace recoil::objectives

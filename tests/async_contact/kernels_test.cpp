#include <cmath>
#include <random>
#include <set>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "recoil/solvers/async_contact/element_forces.hpp"
#include "recoil/surface/shape.hpp"
#include "solvers/async_contact/event_heap.hpp"

namespace recoil::solvers::async_contact {
namespace kernels_test {

template <int n>
Points<n> random_points(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  return Points<n>::NullaryExpr([&] { return number(generator); });
}

/// Derivative of a function of points by central differences.
template <int n, class Function>
Points<n> differences(const Function& function, const Points<n>& x) {
  Points<n> result;
  const double h = 1e-5;
  for (int i = 0; i < result.size(); ++i) {
    Points<n> more = x, less = x;
    more.data()[i] += h;
    less.data()[i] -= h;
    result.data()[i] = (function(more) - function(less)) / (2 * h);
  }
  return result;
}

template <int n>
Points<n> moved(const Points<n>& x) {
  const Eigen::Matrix3d turn =
      Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();
  return (turn * x).colwise() + Eigen::Vector3d(0.3, -1, 2);
}

/// Forces without sum and moment.
template <int n>
void expect_no_resultant(const Points<n>& x, const Points<n>& force) {
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (int i = 0; i < n; ++i) moment += x.col(i).cross(force.col(i));
  EXPECT_LT(force.rowwise().sum().norm(), 1e-12 * (1 + force.norm()));
  EXPECT_LT(moment.norm(), 1e-12 * (1 + force.norm()));
}

template <int n, class Element>
void expect_potential(const Element& element, const Points<n>& x) {
  const auto value = [&](const Points<n>& y) { return energy(element, y); };
  const Points<n> force = gradient(element, x);
  EXPECT_LT((force - differences<n>(value, x)).norm(), 1e-6 * (1 + force.norm()));
  EXPECT_NEAR(value(moved<n>(x)), value(x), 1e-11 * (1 + value(x)));
  expect_no_resultant<n>(x, force);
}

/// Greatest squared frequency of an element with unit masses at `x`, from differences of its forces.
template <int n, class Element>
double greatest_squared_frequency(const Element& element, const Points<n>& x) {
  Eigen::MatrixXd stiffness(3 * n, 3 * n);
  for (int i = 0; i < 3 * n; ++i) {
    Points<n> more = x, less = x;
    more.data()[i] += 1e-6;
    less.data()[i] -= 1e-6;
    const Points<n> column = (gradient(element, more) - gradient(element, less)) / 2e-6;
    stiffness.col(i) = column.reshaped();
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(stiffness).eigenvalues().maxCoeff();
}

TEST(AsyncKernels, MembraneIsAPotential) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Points<3> rest = random_points<3>(seed);
    const Membrane membrane = make_membrane({0, 1, 2}, rest, 3.0, 0.3);
    expect_potential<3>(membrane, rest + 0.3 * random_points<3>(seed + 100));
    EXPECT_NEAR(energy(membrane, moved<3>(rest)), 0, 1e-20 * membrane.stiffness + 1e-25);
    EXPECT_LT(gradient(membrane, moved<3>(rest)).norm(), 1e-11);
    const double exact = greatest_squared_frequency<3>(membrane, rest),
                 bound = squared_frequency(membrane, 1);
    EXPECT_GE(bound, exact * (1 - 1e-5));
    EXPECT_LE(bound, 2 * exact);
  }
}

TEST(AsyncKernels, MembraneStretchesLikeAPlate) {
  Points<3> rest;
  rest << 0, 2, 0.5, 0, 0, 1, 0, 0, 0;
  const Membrane membrane = make_membrane({0, 1, 2}, rest, 5.0, 0.25);
  Points<3> x = rest;
  x.row(0) *= 1.2; // strain (1.44 - 1) / 2 along x alone
  EXPECT_NEAR(energy(membrane, x), 1.0 * 5 / (2 * (1 - 0.0625)) * 0.22 * 0.22, 1e-14);
}

TEST(AsyncKernels, MembraneDampingOpposesStrainRatesAlone) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Points<3> rest = random_points<3>(seed), x = rest + 0.2 * random_points<3>(seed + 50);
    Membrane membrane = make_membrane({0, 1, 2}, rest, 3.0, 0.3);
    membrane.damping = 2;
    const auto drag_of = [&](const Points<3>& rates) {
      // Strains are quadratic in the positions: differences are exact.
      const Eigen::Matrix2d rate = 0.5 * (strain(membrane, x + rates) - strain(membrane, x - rates));
      const Points<3> drag = damping_gradient(membrane, x, rate);
      const double twice = membrane.area * membrane.damping / (1 - 0.09) *
                           (0.7 * rate.squaredNorm() + 0.3 * rate.trace() * rate.trace());
      EXPECT_NEAR(drag.cwiseProduct(rates).sum(), twice, 1e-11 * (1 + drag.norm()));
      return drag;
    };
    const Points<3> v = random_points<3>(seed + 70), drag = drag_of(v);
    EXPECT_GT(drag.cwiseProduct(v).sum(), 0);
    expect_no_resultant<3>(x, drag);
    Points<3> rigid;
    for (int i = 0; i < 3; ++i)
      rigid.col(i) = Eigen::Vector3d(1, 2, 3) + Eigen::Vector3d(-1, 0.5, 2).cross(x.col(i));
    EXPECT_LT(drag_of(rigid).norm(), 1e-12 * (1 + drag.norm()));
    // It is the derivative of the strain rate's energy by the velocities: linear in them and symmetric.
    const Points<3> w = random_points<3>(seed + 90), other = drag_of(w);
    EXPECT_NEAR(drag.cwiseProduct(w).sum(), other.cwiseProduct(v).sum(), 1e-12 * (1 + drag.norm()));
  }
}

TEST(AsyncKernels, HingeIsAPotential) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Points<4> rest;
    rest << 0, 1, 0.4, 0.6, 0, 0, 1, -1, 0, 0, 0, 0.3;
    rest += 0.2 * random_points<4>(seed);
    BendingHinge hinge = make_hinge({0, 1, 2, 3}, rest, 0.7);
    EXPECT_NEAR(energy(hinge, moved<4>(rest)), 0, 1e-25);
    const Points<4> x = rest + 0.2 * random_points<4>(seed + 33);
    expect_potential<4>(hinge, x);
    const auto angle = [](const Points<4>& y) { return surface::fold_angle(y); };
    EXPECT_LT((angle_gradient(x) - differences<4>(angle, x)).norm(), 1e-6 * angle_gradient(x).norm());
    const double bound = squared_frequency(hinge, rest, Eigen::Vector4d::Ones());
    EXPECT_NEAR(bound, greatest_squared_frequency<4>(hinge, rest), 1e-4 * bound);
  }
}

TEST(AsyncKernels, SpringIsAPotential) {
  const Spring spring{.vertices = {0, 1}, .length = 0.7, .stiffness = 3};
  for (unsigned seed = 0; seed < 5; ++seed) expect_potential<2>(spring, random_points<2>(seed));
}

/// A plate of rigidity 6 k rolled onto a cylinder has the energy 1/2 6 k / R^2 per area, along the grid or
/// across.
TEST(AsyncKernels, HingesBendLikeAPlate) {
  const double radius = 5, k = 2;
  for (const double turn : {0.0, 0.5, 1.2}) {
    const auto rolled = [&](double s, double t) {
      const double along = std::cos(turn) * s + std::sin(turn) * t,
                   across = -std::sin(turn) * s + std::cos(turn) * t;
      return Eigen::Vector3d(radius * std::sin(along / radius), across, radius * std::cos(along / radius));
    };
    // Equilateral triangles: of three edges per two triangles, each with a hinge.
    const double h = 0.1, height = h * std::sqrt(3.0) / 2;
    double sum = 0;
    for (const double angle : {0.0, M_PI / 3, 2 * M_PI / 3}) {
      const Eigen::Rotation2Dd rotate(angle);
      const auto at = [&](double s, double t) {
        const Eigen::Vector2d p = rotate * Eigen::Vector2d(s, t);
        return p;
      };
      Points<4> flat = Points<4>::Zero(), bent;
      const std::array<Eigen::Vector2d, 4> corners{at(-h / 2, 0), at(h / 2, 0), at(0, height),
                                                   at(0, -height)};
      for (int i = 0; i < 4; ++i) {
        flat.col(i).head<2>() = corners[i];
        bent.col(i) = rolled(corners[i].x(), corners[i].y());
      }
      sum += energy(make_hinge({0, 1, 2, 3}, flat, k), bent);
    }
    EXPECT_NEAR(sum / (h * height), 0.5 * 6 * k / (radius * radius), 0.002) << turn;
  }
}

TEST(AsyncKernels, HeapIsASortedSet) {
  EventHeap heap;
  heap.resize(100);
  std::set<std::pair<Tick, std::int32_t>> sorted;
  std::vector<Tick> at(100, never);
  std::mt19937 generator(3);
  for (int step = 0; step < 20000; ++step) {
    const std::int32_t slot = static_cast<std::int32_t>(generator() % 100);
    const Tick tick = generator() % 5 == 0 ? never : static_cast<Tick>(generator() % 50);
    if (at[slot] != never) sorted.erase({at[slot], slot});
    if (tick != never) sorted.insert({tick, slot});
    at[slot] = tick;
    heap.put(slot, {tick, static_cast<std::uint64_t>(slot)});
    ASSERT_EQ(heap.size(), sorted.size());
    if (!sorted.empty()) {
      ASSERT_EQ(heap.top().key.tick, sorted.begin()->first);
      ASSERT_EQ(heap.top().slot, sorted.begin()->second);
    }
  }
  heap.resize(50);
  while (heap.size() > 0) {
    ASSERT_LT(heap.top().slot, 50);
    heap.remove(heap.top().slot);
  }
}

TEST(AsyncKernels, ClocksKeepTheirMultiples) {
  const Clock clock{3, 10};
  EXPECT_EQ(clock.first_after(0), 3);
  EXPECT_EQ(clock.first_after(2), 3);
  EXPECT_EQ(clock.first_after(3), 13);
  EXPECT_EQ(clock.first_after(12), 13);
  EXPECT_EQ(TickLength{}.floor(1.0), Tick(1) << 40);
  EXPECT_EQ(TickLength{}.floor(1e300), never);
}

} // namespace kernels_test
} // namespace recoil::solvers::async_contact

// Bending against theory: of which plate the hinges of a pattern of triangles are, and strips that swing,
// bend, buckle and hang.
#include <cmath>
#include <functional>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "async_contact/cloths.hpp"
#include "async_contact/runs.hpp"

namespace recoil::solvers::async_contact {
namespace bending_test {

using testing::SheetText;
using testing::Shells;

enum class Pattern : std::uint8_t { equilateral, one_way, alternate };

/// Triangles of a pattern that repeats itself, with edges of unit length.
struct Lattice {
  static constexpr int cells = 7;
  double height; ///< of rows
  std::vector<Eigen::Vector3d> points;
  std::vector<double> chequer; ///< 1 or -1
  std::vector<std::array<int, 3>> triangles;

  explicit Lattice(Pattern pattern) : height(pattern == Pattern::equilateral ? std::sqrt(0.75) : 1) {
    const auto at = [&](int i, int j) { return i + j * (cells + 1); };
    for (int j = 0; j <= cells; ++j)
      for (int i = 0; i <= cells; ++i) {
        points.emplace_back(i + (pattern == Pattern::equilateral ? 0.5 * j : 0.0), height * j, 0);
        chequer.push_back((i + j) % 2 ? -1 : 1);
      }
    for (int j = 0; j < cells; ++j)
      for (int i = 0; i < cells; ++i) {
        const int a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
        if (pattern == Pattern::equilateral || (pattern == Pattern::alternate && (i + j) % 2 == 0))
          triangles.insert(triangles.end(), {{a, b, d}, {b, c, d}});
        else
          triangles.insert(triangles.end(), {{a, b, c}, {a, c, d}});
      }
  }

  /// Energy per area for hinges of unit stiffness where heights are x . H x / 2, in chequers s more and less.
  double energy_density(const Eigen::Matrix2d& H, double s) const {
    constexpr double small = 1e-4;
    double sum = 0;
    for (std::size_t a = 0; a < triangles.size(); ++a)
      for (std::size_t b = a + 1; b < triangles.size(); ++b) {
        const std::array<int, 4> of = hinge(triangles[a], triangles[b]);
        if (of[3] < 0) continue;
        Points<4> flat, bent;
        for (int i = 0; i < 4; ++i) {
          flat.col(i) = bent.col(i) = points[of[i]];
          const Eigen::Vector2d x = flat.col(i).head<2>();
          bent(2, i) = small * (0.5 * x.dot(H * x) + s * chequer[of[i]]);
        }
        // Of two by two cells around the middle.
        const Eigen::Vector3d middle = 0.5 * (flat.col(0) + flat.col(1));
        const double row = middle.y() / height, column = middle.x() - (height < 1 ? 0.5 * row : 0);
        if (std::min(row, column) < 1.99 || std::max(row, column) > 3.99) continue;
        sum += energy(make_hinge({0, 1, 2, 3}, flat, 1), bent);
      }
    return sum / (4 * height * small * small);
  }
  /// The same with the chequers that have the least energy.
  double least_energy_density(const Eigen::Matrix2d& H) const {
    const double zero = energy_density(H, 0), more = energy_density(H, 0.1), less = energy_density(H, -0.1);
    const double slope = (more - less) / 0.2, curvature = (more + less - 2 * zero) / 0.01;
    return zero - 0.5 * slope * slope / curvature;
  }

private:
  /// Vertices of the edge that two triangles share, then the other ones; -1 if there is none.
  static std::array<int, 4> hinge(const std::array<int, 3>& a, const std::array<int, 3>& b) {
    std::array<int, 4> of{-1, -1, -1, -1};
    int shared = 0;
    for (const int v : a)
      if (std::ranges::count(b, v) == 0)
        of[2] = v;
      else
        of[shared++] = v;
    if (shared != 2) return {-1, -1, -1, -1};
    for (const int v : b)
      if (std::ranges::count(a, v) == 0) of[3] = v;
    return of;
  }
};

std::vector<Eigen::Matrix2d> curvatures() {
  std::vector<Eigen::Matrix2d> result(5, Eigen::Matrix2d::Zero());
  result[0](0, 0) = 1;
  result[1](1, 1) = 1;
  result[2] << 0, 1, 1, 0;
  result[3] << 1, 0.5, 0.5, -0.3;
  result[4] << 0.7, -0.9, -0.9, 1.6;
  return result;
}

/// An isotropic plate has the energy D/2 ((tr H)^2 - 2 (1 - nu) det H) per area. Equilateral triangles are
/// one with D = 6 k and nu = -1/3.
TEST(AsyncBending, EquilateralTrianglesAreAnIsotropicPlate) {
  const Lattice lattice(Pattern::equilateral);
  for (const Eigen::Matrix2d& H : curvatures()) {
    const double plate = 3 * (std::pow(H.trace(), 2) - 2 * (1 + 1 / 3.0) * H.determinant());
    EXPECT_NEAR(lattice.energy_density(H, 0), plate, 1e-6 * plate) << H;
  }
}

/// Squares with all diagonals in one direction are stiffer against twist of one sense than of the other.
TEST(AsyncBending, SquaresCutOneWayAreAnisotropic) {
  const Lattice lattice(Pattern::one_way);
  for (const Eigen::Matrix2d& H : curvatures()) {
    const double xx = H(0, 0), yy = H(1, 1), xy = H(0, 1);
    const double plate = 3 * (xx * xx + yy * yy) + 6 * xy * (xx + yy) + 18 * xy * xy;
    EXPECT_NEAR(lattice.energy_density(H, 0), plate, 1e-6 * plate) << H;
  }
}

/// Squares cut alternately have two kinds of vertices, with eight and with four triangles, which do not lie
/// on one smooth surface where this is bent.
TEST(AsyncBending, SquaresCutAlternatelyAreOrthotropic) {
  const Lattice lattice(Pattern::alternate);
  for (const Eigen::Matrix2d& H : curvatures()) {
    const double xx = H(0, 0), yy = H(1, 1), xy = H(0, 1);
    const double smooth = 3 * (xx * xx + yy * yy) + 12 * xy * xy;
    EXPECT_NEAR(lattice.energy_density(H, 0), smooth, 1e-6 * smooth) << H;
    const double plate = 2.5 * (xx * xx + yy * yy) - xx * yy + 12 * xy * xy;
    EXPECT_NEAR(lattice.least_energy_density(H), plate, 1e-6 * plate) << H;
  }
}

/// Rigidity of a strip with free edges, of squares cut alternately along its length, per k: of D = 5 k and nu
/// = -1/5, D (1 - nu^2).
constexpr double strip_rigidity = 4.8;

/// A strip of squares, one across, clamped at x = 0, length 0.1: two rows of vertices are held; the rigidity
/// of the second one's edge is that of half a square before it, too, where the clamp is.
struct Cantilever : Shells {
  static constexpr double length = 0.1, density = 0.2, bending = 3e-5;
  static constexpr double rigidity = strip_rigidity * bending; ///< per width
  explicit Cantilever(int cells, const Eigen::Matrix3d& turn = Eigen::Matrix3d::Identity())
      : Shells(text(cells, turn), {.stretching_stiffness = 50,
                                   .poisson = 0,
                                   .bending_stiffness = bending,
                                   .area_density = density}) {
    prescribe([&](const Eigen::Vector3d& x) { return turn.col(0).dot(x) < 0.6 * length / (cells - 0.5); });
    model.contact.stiffness = 1e-6; // no contact with itself
    model.points.clear();
    model.edges.clear();
    model.triangles.clear();
  }
  /// Frequency of the first mode without load [1/s].
  static double frequency() { return std::pow(1.8751041 / length, 2) * std::sqrt(rigidity / density); }
  static double mode(double x) {
    const double b = 1.8751041 * std::max(x, 0.0) / length;
    return std::cosh(b) - std::cos(b) - 0.7340955 * (std::sinh(b) - std::sin(b));
  }

private:
  static SheetText text(int cells, const Eigen::Matrix3d& turn) {
    SheetText result;
    const double h = length / (cells - 0.5);
    result.add_grid(cells, 1, [&](double s, double t) {
      return Eigen::Vector3d(turn * Eigen::Vector3d(h * (cells * s - 0.5), h * (t - 0.5), 0));
    });
    return result;
  }
};

/// Mean displacement along `direction` of the vertices farthest along `axis`.
double tip(const Integrator& run, const Eigen::Vector3d& axis, const Eigen::Vector3d& direction) {
  double farthest = 0, sum = 0;
  int count = 0;
  for (const Eigen::Vector3d& X : run.model().positions) farthest = std::max(farthest, axis.dot(X));
  for (LocalIndex v = 0; v < run.model().num_vertices(); ++v)
    if (axis.dot(run.model().positions[v]) > farthest - 1e-5) {
      sum += direction.dot(run.position(v) - run.model().positions[v]);
      ++count;
    }
  return sum / count;
}

/// The first squared frequency of a cantilever along `axis` under its weight.
double squared_frequency(const Cantilever& strip, const Eigen::Vector3d& axis, const Eigen::Vector3d& across,
                         double expected) {
  Model model = strip.model;
  for (LocalIndex v = 0; v < model.num_vertices(); ++v)
    if (!std::isinf(model.masses[v]))
      model.velocities[v] = 1e-3 * Cantilever::mode(axis.dot(model.positions[v])) * across;
  Integrator run(model);
  const double quarter = M_PI / 2 / expected;
  const double found = testing::first_zero(run, quarter / 100, 3 * quarter, [&](const Integrator& at) {
    double sum = 0;
    for (LocalIndex v = 0; v < model.num_vertices(); ++v)
      if (!std::isinf(model.masses[v])) sum += model.masses[v] * model.velocities[v].dot(at.velocity(v));
    return sum;
  });
  return std::pow(M_PI / 2 / found, 2);
}

TEST(AsyncBending, ACantileverSwingsAsABeam) {
  double last = 1;
  for (const int cells : {6, 12, 24}) {
    const double w = Cantilever::frequency();
    const double ratio = std::sqrt(squared_frequency(Cantilever(cells), Eigen::Vector3d::UnitX(),
                                                     Eigen::Vector3d::UnitZ(), w)) /
                         w;
    printf("cantilever of %d squares: frequency %.4f of the beam's\n", cells, ratio);
    EXPECT_LT(std::abs(ratio - 1), last);
    last = std::abs(ratio - 1);
  }
  EXPECT_LT(last, 0.01);
}

/// A strip that stands on its clamped end loses its stiffness with the load: the square of its frequency is
/// nearly linear in it close to this load and zero at density g L^3 / D = 7.837 [Greenhill 1881].
TEST(AsyncBending, AStandingStripBucklesUnderItsWeight) {
  Eigen::Matrix3d turn;
  turn << 0, 0, 1, 0, 1, 0, 1, 0, 0; // x up
  const Eigen::Vector3d up = Eigen::Vector3d::UnitZ(), across = Eigen::Vector3d::UnitX();
  double last = 1;
  for (const int cells : {8, 16}) {
    Cantilever strip(cells, turn);
    const double unit = Cantilever::rigidity / (Cantilever::density * std::pow(Cantilever::length, 3));
    strip.model.gravity_step = 1e-5;
    std::array<double, 2> squared;
    constexpr std::array<double, 2> loads{6.5, 7.5};
    for (int i = 0; i < 2; ++i) {
      strip.model.gravity = {0, 0, -loads[i] * unit};
      squared[i] =
          squared_frequency(strip, up, across, Cantilever::frequency() * std::sqrt(1 - loads[i] / 8.2));
    }
    const double critical = loads[0] + (loads[1] - loads[0]) * squared[0] / (squared[0] - squared[1]);
    printf("standing strip of %d squares: critical load %.4f of Greenhill's\n", cells, critical / 7.837347);
    EXPECT_LT(std::abs(critical / 7.837347 - 1), last);
    last = std::abs(critical / 7.837347 - 1);
  }
  EXPECT_LT(last, 0.04);
}

/// A model at rest, by stopping it whenever its kinetic energy falls.
Integrator settled(const Model& model, double spacing, int stops) {
  Integrator run(model);
  for (int i = 0; i < stops; ++i) {
    double last = -1, now = 0;
    while ((now = run.totals().kinetic) > last) {
      last = now;
      EXPECT_EQ(run.advance_to(run.time() + spacing), Outcome::reached) << run.diagnosis();
    }
    IntegratorState state = run.state();
    for (LocalIndex v = 0; v < model.num_vertices(); ++v) {
      VertexState& x = state.vertices[v];
      x.q = run.position(v);
      x.v.setZero();
      x.tick = state.tick;
    }
    run = Integrator(model, state);
  }
  return run;
}

/// Tip of the heavy elastica clamped horizontally: theta'' = -load (1 - s) cos theta in lengths, theta the
/// angle below the horizontal. (x, depth) per length.
Eigen::Vector2d elastica_tip(double load) {
  const auto shoot = [&](double slope, Eigen::Vector2d& end) {
    constexpr int steps = 4000;
    const double h = 1.0 / steps;
    double theta = 0, rate = slope;
    end.setZero();
    for (int i = 0; i < steps; ++i) {
      const double middle = (i + 0.5) * h, half = theta + 0.5 * h * rate;
      end += h * Eigen::Vector2d(std::cos(half), std::sin(half));
      rate -= h * load * (1 - middle) * std::cos(half);
      theta = half + 0.5 * h * rate;
    }
    return rate; // zero at the free end
  };
  double low = 0, high = load;
  Eigen::Vector2d end;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (shoot(middle, end) < 0 ? low : high) = middle;
  }
  return end;
}

TEST(AsyncBending, AHeavyCantileverHangsAsTheElastica) {
  constexpr double load = 4, length = Cantilever::length;
  const Eigen::Vector2d exact = length * elastica_tip(load);
  double last = 1;
  for (const int cells : {8, 16}) {
    Cantilever strip(cells);
    strip.model.gravity = {0, 0, -load * Cantilever::rigidity / (Cantilever::density * std::pow(length, 3))};
    strip.model.gravity_step = 1e-4;
    const Integrator run = settled(strip.model, 0.1 / Cantilever::frequency(), 16);
    const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), z = Eigen::Vector3d::UnitZ();
    const Eigen::Vector2d found(length + tip(run, x, x), -tip(run, x, z));
    printf("elastica of %d squares: tip at (%.5f, %.5f), exact (%.5f, %.5f)\n", cells, found.x(), found.y(),
           exact.x(), exact.y());
    EXPECT_LT((found - exact).norm(), last);
    last = (found - exact).norm();
  }
  EXPECT_LT(last, 0.02 * length);
}

/// A strip without bending stiffness between two supports hangs as a catenary.
TEST(AsyncBending, AHangingStripIsACatenary) {
  constexpr double length = 0.2, distance = 0.16;
  double a = 0.05, step = 0.05;
  for (int i = 0; i < 60; ++i) {
    if (2 * a * std::sinh(distance / 2 / a) > length)
      a += step;
    else
      a -= step;
    step *= 0.6;
  }
  const double sag = a * (std::cosh(distance / 2 / a) - 1);
  SheetText text;
  constexpr int cells = 20;
  text.add_grid(cells, 1,
                [](double s, double t) { return Eigen::Vector3d(length * (s - 0.5), 0.01 * t, 0); });
  Shells shells(text,
                {.stretching_stiffness = 200, .poisson = 0, .bending_stiffness = 1e-9, .area_density = 0.2});
  shells.prescribe([](const Eigen::Vector3d& x) { return std::abs(x.x()) > length / 2 - 1e-6; });
  Model& model = shells.model;
  model.points.clear();
  model.edges.clear();
  model.triangles.clear();
  const double depth = 0.5 * std::sqrt(length * length - distance * distance);
  for (Eigen::Vector3d& x : model.positions)
    x = {x.x() * distance / length, x.y(), -depth * (1 - std::abs(x.x()) / (length / 2))};
  model.gravity = {0, 0, -9.8};
  model.gravity_step = 1e-4;
  const Integrator run = settled(model, 4e-3, 30);
  double lowest = 0;
  for (LocalIndex v = 0; v < model.num_vertices(); ++v)
    if (std::abs(model.positions[v].x()) < 1e-6) lowest -= 0.5 * run.position(v).z();
  printf("catenary: sag %.5f, exact %.5f\n", lowest, sag);
  EXPECT_NEAR(lowest, sag, 0.01 * sag);
}

/// Longitudinal waves in a wide sheet, which does not get narrower in a quarter of a period: c^2 = Y h / (rho
/// h (1 - nu^2)).
TEST(AsyncBending, WavesInAWideSheetAreThoseOfPlaneStrain) {
  constexpr double length = 0.1, width = 0.24, nu = 0.4;
  double last = 1;
  for (const int cells : {10, 20}) {
    SheetText text;
    text.add_grid(cells, 12 * cells / 5,
                  [](double s, double t) { return Eigen::Vector3d(length * s, width * t, 0); });
    Shells shells(text, {.stretching_stiffness = 50,
                         .poisson = nu,
                         .bending_stiffness = 0,
                         .area_density = 0.2,
                         .alpha = 0.02});
    Model& model = shells.model;
    const auto mode = [&](LocalIndex v) { return std::cos(M_PI * model.positions[v].x() / length); };
    for (LocalIndex v = 0; v < model.num_vertices(); ++v) model.velocities[v].x() = 1e-3 * mode(v);
    model.points.clear();
    model.edges.clear();
    model.triangles.clear();
    Integrator run(model);
    const double quarter = length / 2 / std::sqrt(50 / 0.2 / (1 - nu * nu));
    const double found = testing::first_zero(run, quarter / 50, 2 * quarter, [&](const Integrator& at) {
      double sum = 0;
      for (LocalIndex v = 0; v < model.num_vertices(); ++v)
        if (std::abs(model.positions[v].y() - 0.5 * width) < 0.02) sum += mode(v) * at.velocity(v).x();
      return sum;
    });
    printf("wave: speed %.4f of the exact one\n", quarter / found);
    EXPECT_LT(std::abs(quarter / found - 1), last);
    last = std::abs(quarter / found - 1);
  }
  EXPECT_LT(last, 0.005);
}

} // namespace bending_test
} // namespace recoil::solvers::async_contact

#include <map>
#include <set>

#include <Eigen/LU>

#include "objectives/objective_checks.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/shape.hpp"
#include "recoil/objectives/stress.hpp"

namespace recoil::objectives {
namespace {

template <int d>
struct Dimension {
  static constexpr int dim = d;
};
template <class T>
class ObjectiveValues : public ::testing::Test {};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>>;
TYPED_TEST_SUITE(ObjectiveValues, Dimensions);

/// A displacement gradient without symmetry.
template <int dim>
Eigen::Matrix<double, dim, dim> some_gradient() {
  Eigen::Matrix<double, dim, dim> B;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j) B(i, j) = 0.15 * std::sin(1.0 + 2 * i + 5 * j);
  return B;
}

/// Centre of a body of two_boxes().
template <int dim>
Eigen::Matrix<double, dim, 1> center(int body) {
  return 1.5 * body * Eigen::Matrix<double, dim, 1>::Unit(0);
}

TYPED_TEST(ObjectiveValues, StressOfUniformDeformation) {
  constexpr int dim = TypeParam::dim;
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Scene<dim> scene(MPI_COMM_WORLD, {}, 0.0);
  const Matrix F = Matrix::Identity() + some_gradient<dim>();
  scene.u = scene.linear_field(Eigen::Matrix<double, dim, 1>::Constant(0.3), some_gradient<dim>());
  const double lambda = 2, mu = 3, J = F.determinant();
  const Matrix cauchy =
      (mu * (F * F.transpose() - Matrix::Identity()) + lambda * std::log(J) * Matrix::Identity()) / J;
  const Matrix piola = J * cauchy * F.inverse().transpose();
  const double W =
      0.5 * mu * (F.squaredNorm() - dim - 2 * std::log(J)) + 0.5 * lambda * std::log(J) * std::log(J);
  for (const double p : {2.0, 7.0})
    // Body 1 has order 2.
    for (const std::vector<std::int32_t>& bodies : {std::vector<std::int32_t>{}, {0}, {1}}) {
      const double volume = bodies.empty() ? 2 : 1;
      const auto value = [&](std::unique_ptr<Objective<dim>> objective) {
        return objective->value(scene.state());
      };
      const auto region = scene.region(bodies);
      const double of_piola = std::pow(volume, 1 / p) * piola.norm();
      EXPECT_NEAR(value(make_stress_norm<dim>(region, scene.laws(), p)), of_piola, 1e-12 * of_piola);
      const double of_cauchy = std::pow(volume, 1 / p) * cauchy.norm();
      EXPECT_NEAR(value(make_stress_norm<dim>(region, scene.laws(), p, StressMeasure::cauchy)), of_cauchy,
                  1e-12 * of_cauchy);
      EXPECT_NEAR(value(make_stress_bound<dim>(region, scene.laws(), 0.5 * piola.norm())),
                  volume * 0.25 * piola.squaredNorm(), 1e-12 * piola.squaredNorm());
      EXPECT_NEAR(
          value(make_stress_bound<dim>(region, scene.laws(), 0.9 * cauchy.norm(), StressMeasure::cauchy)),
          volume * 0.01 * cauchy.squaredNorm(), 1e-12 * cauchy.squaredNorm());
      EXPECT_EQ(value(make_stress_bound<dim>(region, scene.laws(), 1.1 * piola.norm())), 0);
      EXPECT_NEAR(value(make_elastic_energy<dim>(region, scene.laws())), volume * W, 1e-12 * W);
    }
}

/// Between its bounds, of the order of p, whatever the unit of stress; where the stress is uniform it is the
/// maximum itself.
TYPED_TEST(ObjectiveValues, MaximumOfTheStress) {
  constexpr int dim = TypeParam::dim;
  Scene<dim> scene(MPI_COMM_WORLD);
  const auto region = scene.region();
  double largest = 0, weight = 0;
  for (const auto* law : scene.laws())
    for (std::size_t i = 0; i < law->cells().size(); ++i)
      for (const auto& point : law->stress(scene.u.local(), i))
        if (region.owns(law->cells()[i]) && point.cauchy.norm() > largest) {
          largest = point.cauchy.norm();
          weight = point.weight;
        }
  const double largest_here = largest;
  largest = scene.comm.max(largest);
  weight = scene.comm.max(largest_here == largest ? weight : 0.0);
  double before = 0;
  for (const double p : {1.5, 8.0, 60.0}) {
    const double J =
        make_max_stress<dim>(region, scene.laws(), p, StressMeasure::cauchy)->value(scene.state());
    EXPECT_GT(J, before);
    EXPECT_LE(J, largest);
    EXPECT_GE(J, std::pow(weight / 2, 1 / p) * largest) << p;
    const double norm =
        make_stress_norm<dim>(region, scene.laws(), p, StressMeasure::cauchy)->value(scene.state());
    EXPECT_NEAR(J, norm / std::pow(2, 1 / p), 1e-12 * J);
    before = J;
  }
  EXPECT_GT(before, 0.9 * largest);
  Scene<dim> uniform(MPI_COMM_WORLD, {}, 0.0);
  uniform.u = uniform.linear_field(Eigen::Matrix<double, dim, 1>::Zero(), some_gradient<dim>());
  const double P = make_stress_norm<dim>(uniform.region({0}), uniform.laws(), 2)->value(uniform.state());
  EXPECT_NEAR(make_max_stress<dim>(uniform.region(), uniform.laws(), 9)->value(uniform.state()), P,
              1e-12 * P);
  uniform.u.fill(0);
  EXPECT_EQ(make_max_stress<dim>(uniform.region(), uniform.laws(), 9)->value(uniform.state()), 0);
  EXPECT_THROW(make_max_stress<dim>(uniform.region(), uniform.laws(), 1), InputError);
}

/// Order 2, stretched by s and sheared by gamma = 2 a Y, which varies: x = (s (X + a Y^2), Y[, Z]).
TYPED_TEST(ObjectiveValues, CauchyStressOfQuadraticField) {
  constexpr int dim = TypeParam::dim;
  Scene<dim> scene(MPI_COMM_WORLD, {}, 0.0);
  const double lambda = 2, mu = 3, s = 1.3, a = 0.01;
  linalg::Vector u(scene.space.layout());
  auto values = u.write_local();
  for (std::size_t node = 0; node < scene.space.node_positions().size(); ++node) {
    const auto& X = scene.space.node_positions()[node];
    values[node * dim] = (s - 1) * X[0] + s * a * X[1] * X[1];
  }
  scene.u = u;
  // Means of gamma^2 and gamma^4 over Y from -1/2 to 1/2.
  const double square = 4 * a * a / 12, fourth = 16 * a * a * a * a / 80;
  const double side = lambda * std::log(s), along = mu * (s * s - 1) + side;
  const double mean = (along * along + 2 * along * mu * s * s * square + mu * mu * s * s * s * s * fourth +
                       2 * mu * mu * s * s * square + (dim - 1) * side * side) /
                      (s * s);
  const auto norm = make_stress_norm<dim>(scene.region({1}), scene.laws(), 2.0, StressMeasure::cauchy);
  // The rule of order 2 is exact for gamma^2; of gamma^4 it makes an error of 1e-8.
  EXPECT_NEAR(norm->value(scene.state()), std::sqrt(mean), 1e-7 * std::sqrt(mean));
}

TYPED_TEST(ObjectiveValues, TargetsOfLinearFields) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Scene<dim> scene(MPI_COMM_WORLD);
  const Matrix B = some_gradient<dim>(), C = 0.5 * B.transpose();
  const Point a = Point::Constant(0.2), b = Point::LinSpaced(dim, -0.4, 0.6);
  scene.u = scene.linear_field(a, B);
  scene.v = scene.linear_field(b, C);
  // int |offset + G X|^2 over the box of a body, or over its side +x.
  const auto over_box = [](const Point& offset, const Matrix& G, int body) {
    return (offset + G * center<dim>(body)).squaredNorm() + G.squaredNorm() / 12;
  };
  const auto over_side = [](const Point& offset, const Matrix& G, int body) {
    return (offset + G * (center<dim>(body) + 0.5 * Point::Unit(0))).squaredNorm() +
           G.template rightCols<dim - 1>().squaredNorm() / 12;
  };
  const potentials::FacetSelection side{false, {3}};
  const auto reference = nodal_reference<dim>(
      scene.space, [&](const Point& X, double time) { return Point(time * (b + C * X)); });
  const double time = 0.5;
  const Point r = a - time * b;
  const Matrix R = B - time * C, with_rest = R + Matrix::Identity();
  for (const int body : {0, 1}) {
    const auto region = scene.region({body});
    const auto expect = [&](std::unique_ptr<Objective<dim>> objective, double expected) {
      EXPECT_NEAR(objective->value(scene.state(time)), expected, 1e-12) << objective->name();
    };
    expect(make_target_displacement<dim>(region, reference), over_box(r, R, body));
    expect(make_target_displacement<dim>(region, reference, side), over_side(r, R, body));
    expect(make_target_position<dim>(region, reference), over_box(r, with_rest, body));
    expect(make_target_position<dim>(region, reference, side), over_side(r, with_rest, body));
    expect(make_velocity<dim>(region, a), over_box(b - a, C, body));
  }
  // Components add up.
  const auto with = [&](std::vector<int> components) {
    return make_target_position<dim>(scene.region(), reference, side, std::move(components))
        ->value(scene.state(time));
  };
  std::vector<int> others;
  for (int i = 1; i < dim; ++i) others.push_back(i);
  EXPECT_NEAR(with({0}) + with(others), with({}), 1e-12);
  EXPECT_GT(with({0}), 0.01);
  EXPECT_GT(with(others), 0.01);
  const auto one = make_target_displacement<dim>(scene.region(), reference, {}, {1}),
             all = make_target_displacement<dim>(scene.region(), reference);
  EXPECT_EQ(dim * one->num_residuals(), all->num_residuals());
  EXPECT_THROW(make_target_displacement<dim>(scene.region(), reference, {}, {dim}), InputError);
  EXPECT_THROW(make_target_position<dim>(scene.region(), reference, potentials::FacetSelection{false, {99}}),
               InputError);
}

TYPED_TEST(ObjectiveValues, CenterOfMassAndHeight) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  Scene<dim> scene(MPI_COMM_WORLD);
  const auto B = some_gradient<dim>();
  const Point a = Point::Constant(0.2);
  scene.u = scene.linear_field(a, B);
  const potentials::Density density = [&](LocalIndex cell, const ExpressionPoint&) {
    return scene.mesh.cell_body[static_cast<std::size_t>(cell)] == 0 ? 1.0 : 3.0;
  };
  const auto moved = [&](const Point& X) { return Point(X + a + B * X); };
  const Point both = moved(0.25 * center<dim>(0) + 0.75 * center<dim>(1)), second = moved(center<dim>(1));
  const Track<dim> target{
      "t", {0, 1}, {{Point::Zero(), Point::Constant(10)}, {Point::Constant(1), Point::Constant(1 / 0.3)}}};
  const Point at_quarter = Point::Constant(0.25);
  const double weight = 1 / (0.15 * 0.15);
  EXPECT_NEAR(make_center_of_mass<dim>(scene.region(), density, target)->value(scene.state(0.25)),
              weight * (both - at_quarter).squaredNorm(), 1e-11);
  EXPECT_NEAR(make_center_of_mass<dim>(scene.region({1}), density, target)->value(scene.state(0.25)),
              weight * (second - at_quarter).squaredNorm(), 1e-11);
  EXPECT_NEAR(
      make_center_of_mass<dim>(scene.region(), density, Track<dim>::constant(both))->value(scene.state()), 0,
      1e-24);
  for (int axis = 0; axis < dim; ++axis)
    EXPECT_NEAR(make_height<dim>(scene.region(), density, axis)->value(scene.state()), -both[axis], 1e-13);
  for (int axis = 0; axis < dim; ++axis) {
    // Two unit boxes.
    EXPECT_NEAR(make_position_integral<dim>(scene.region({1}), axis)->value(scene.state()), second[axis],
                1e-13);
    EXPECT_NEAR(make_position_integral<dim>(scene.region(), axis)->value(scene.state()),
                moved(center<dim>(0))[axis] + second[axis], 1e-13);
  }
  EXPECT_THROW(make_position_integral<dim>(scene.region(), dim), InputError);
  EXPECT_THROW(make_height<dim>(scene.region(), density, dim), InputError);
  const auto observed = make_center_of_mass<dim>(scene.region(), density, target);
  EXPECT_NO_THROW(observed->check_time(1 + 1e-12));
  EXPECT_THROW(observed->check_time(1.01), InputError);
  EXPECT_THROW(observed->value(scene.state(-0.01)), InputError);
  EXPECT_THROW(make_center_of_mass<dim>(
                   scene.region(), [](LocalIndex, const ExpressionPoint&) { return 0.0; }, target),
               InputError);
}

/// The rest position of a material point, on every rank.
template <int dim>
Eigen::Matrix<double, dim, 1> rest_of(const fem::FunctionSpace<dim>& space, const MaterialPoint<dim>& point) {
  const auto& mesh = space.mesh();
  Eigen::Matrix<double, dim, 1> rest = Eigen::Matrix<double, dim, 1>::Zero();
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    if (mesh.cell_ids[cell] == point.carrier)
      for (std::size_t b = 0; b <= dim; ++b)
        rest += point.coordinates[b] * mesh.vertices[mesh.cells[cell][b]];
  space.comm().sum(std::span<double>(rest.data(), dim));
  return rest;
}

TYPED_TEST(ObjectiveValues, MarkersMoveWithTheirMaterial) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  Scene<dim> scene(MPI_COMM_WORLD);
  const Scene<dim> alone(MPI_COMM_SELF);
  const auto B = some_gradient<dim>();
  const Point a = Point::Constant(0.2);
  scene.u = scene.linear_field(a, B);
  std::vector<Marker<dim>> markers;
  double expected = 0;
  // Inside, on vertices, on the boundary.
  for (const double place : {-0.5, -0.37, 0.0, 0.5, 1.0, 1.23, 2.0}) {
    const int body = place > 0.75 ? 1 : 0;
    Point rest = Point::Constant(0.5 * std::cos(place));
    rest[0] = place;
    if (place == 0.0) rest.setZero();
    const auto point = locate<dim>(scene.space.mesh(), body, rest, "m"),
               same = locate<dim>(alone.space.mesh(), body, rest, "m");
    EXPECT_EQ(point.carrier, same.carrier) << place;
    for (std::size_t i = 0; i <= dim; ++i) EXPECT_NEAR(point.coordinates[i], same.coordinates[i], 1e-14);
    const Point seen = Point::Constant(0.1 * place);
    markers.push_back({point, Track<dim>::constant(seen, 0.2 + std::abs(place))});
    expected += (rest + a + B * rest - seen).squaredNorm() / std::pow(0.2 + std::abs(place), 2);
  }
  EXPECT_NEAR(make_markers<dim>(scene.space, markers)->value(scene.state()), expected, 1e-12 * expected);
  // As displacements, of which one component was not seen.
  double field = 0;
  for (auto& [point, track, _] : markers) {
    auto& [seen, inverse_sd] = track.samples.front();
    inverse_sd[0] = 0;
    const Point rest = rest_of<dim>(scene.space, point);
    field += inverse_sd.cwiseProduct(Point(a + B * rest - seen)).squaredNorm();
  }
  EXPECT_NEAR(make_displacement_field<dim>(scene.space, markers)->value(scene.state()), field, 1e-12 * field);

  const auto message = [&](int body, const Point& rest) -> std::string {
    try {
      static_cast<void>(locate<dim>(scene.space.mesh(), body, rest, "marker 'left ear'"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(0, Point::Constant(0.51)), ::testing::HasSubstr("marker 'left ear'"));
  EXPECT_THAT(message(0, center<dim>(1)), ::testing::HasSubstr("outside of body 'body0'"));
  EXPECT_THROW(make_markers<dim>(scene.space, {}), InputError);
  markers[0].point.carrier = scene.mesh.num_cells_global;
  EXPECT_THROW(make_markers<dim>(scene.space, markers), InputError);
}

// Many at once are those found one by one; those outside are not found.
TYPED_TEST(ObjectiveValues, PointsAreLocatedTogether) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  const Scene<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  std::vector<Point> rests;
  for (int i = 0; i < 300; ++i) {
    Point rest;
    for (int k = 0; k < dim; ++k) rest[k] = 0.55 * direction(i, k);
    rests.push_back(rest);
  }
  // Where cells meet.
  rests.insert(rests.end(),
               {Point::Zero(), Point::Constant(0.5), Point::Constant(-0.5), 0.5 * Point::UnitX()});
  const auto points = locate_all<dim>(scene.space.mesh(), 0, rests);
  const auto once = locate_all<dim>(alone.space.mesh(), 0, rests);
  ASSERT_EQ(points.size(), rests.size());
  int inside = 0;
  for (std::size_t i = 0; i < rests.size(); ++i) {
    ASSERT_EQ(points[i].has_value(), rests[i].cwiseAbs().maxCoeff() <= 0.5) << rests[i].transpose();
    if (!points[i]) continue;
    ++inside;
    EXPECT_EQ(points[i]->carrier, once[i]->carrier);
    EXPECT_NEAR((rest_of<dim>(scene.space, *points[i]) - rests[i]).norm(), 0, 1e-14);
  }
  EXPECT_GT(inside, 50);
  EXPECT_LT(inside, 280);
  EXPECT_TRUE(locate_all<dim>(scene.space.mesh(), 0, std::span<const Point>()).empty());
}

/// The mesh of two_boxes() in one piece.
template <int dim>
mesh::SimplexMesh whole_mesh() {
  mesh::SimplexMesh whole = test::box_mesh(dim, 2, 2);
  test::shuffle_vertices(whole, 5);
  return whole;
}

TYPED_TEST(ObjectiveValues, VolumeBound) {
  constexpr int dim = TypeParam::dim;
  const Scene<dim> scene(MPI_COMM_WORLD);
  const auto value = [&](std::vector<std::int32_t> bodies, double limit) {
    return make_volume_bound<dim>(scene.region(std::move(bodies)), limit)->value(scene.state());
  };
  EXPECT_NEAR(value({}, 1.5), 0.25, 1e-13);
  EXPECT_NEAR(value({0}, 0.9), 0.01, 1e-13);
  EXPECT_EQ(value({0}, 1.1), 0);
  EXPECT_THROW(value({}, 0), InputError);
}

TYPED_TEST(ObjectiveValues, BoundarySmoothingByBruteForce) {
  constexpr int dim = TypeParam::dim;
  const Scene<dim> scene(MPI_COMM_WORLD);
  const mesh::SimplexMesh whole = whole_mesh<dim>();
  std::map<std::int32_t, std::set<std::int32_t>> neighbours;
  for (std::size_t cell = 0; cell < whole.cells.size(); ++cell)
    for (std::size_t facet = 0; facet <= dim; ++facet) {
      if (whole.facet_ids[cell][facet] == mesh::interior_facet) continue;
      for (std::size_t i = 0; i <= dim; ++i)
        for (std::size_t j = 0; j <= dim; ++j)
          if (i != j && i != facet && j != facet)
            neighbours[whole.cells[cell][i]].insert(whole.cells[cell][j]);
    }
  for (const double p : {2.0, 3.5}) {
    double expected = 0;
    for (const auto& [i, others] : neighbours) {
      Eigen::Vector3d D = Eigen::Vector3d::Zero();
      double L = 0;
      for (const std::int32_t j : others) {
        const Eigen::Vector3d e =
            whole.vertices[static_cast<std::size_t>(i)] - whole.vertices[static_cast<std::size_t>(j)];
        D += e;
        L += e.norm();
      }
      expected += std::pow(D.norm() / L, p);
    }
    // In 2D only the corners count, with |s| = sqrt(1/2).
    if (dim == 2) {
      EXPECT_NEAR(expected, 8 * std::pow(0.5, p / 2), 1e-12);
    }
    EXPECT_NEAR(make_boundary_smoothing<dim>(scene.region(), p)->value(scene.state()), expected,
                1e-12 * expected);
    EXPECT_NEAR(make_boundary_smoothing<dim>(scene.region({1}), p)->value(scene.state()), expected / 2,
                1e-12 * expected);
  }
  EXPECT_THROW(make_boundary_smoothing<dim>(scene.region(), 1), InputError);
}

TYPED_TEST(ObjectiveValues, MaterialSmoothingByBruteForce) {
  constexpr int dim = TypeParam::dim;
  const Scene<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const mesh::SimplexMesh whole = whole_mesh<dim>();
  const auto law_of = [](GlobalIndex id) { return id % 5 == 0 ? 1 : 0; };
  CellConstants constants = scene.cell_constants();
  for (std::size_t cell = 0; cell < scene.mesh.cells.size(); ++cell)
    constants.law[cell] = law_of(scene.mesh.cell_ids[cell]);
  std::vector<std::array<double, 2>> of_id(whole.cells.size());
  for (std::size_t cell = 0; cell < whole.cells.size(); ++cell)
    of_id[static_cast<std::size_t>(alone.mesh.cell_ids[cell])] = alone.constants[cell];
  double expected = 0;
  for (std::size_t s = 0; s < whole.cells.size(); ++s)
    for (std::size_t t = 0; t < whole.cells.size(); ++t) {
      int shared = 0;
      for (std::size_t i = 0; i <= dim; ++i)
        for (std::size_t j = 0; j <= dim; ++j) shared += whole.cells[s][i] == whole.cells[t][j] ? 1 : 0;
      if (shared != dim || law_of(static_cast<GlobalIndex>(s)) != law_of(static_cast<GlobalIndex>(t)))
        continue;
      for (std::size_t k = 0; k < 2; ++k) expected += std::pow(1 - of_id[t][k] / of_id[s][k], 2);
    }
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(make_material_smoothing<dim>(scene.region(), constants)->value(scene.state()), expected,
              1e-12 * expected);
  for (std::size_t i = 1; i < constants.values.size(); i += 2) constants.values[i] = 0;
  EXPECT_THROW(make_material_smoothing<dim>(scene.region(), constants), InputError);
}

TYPED_TEST(ObjectiveValues, RegionsNameBodiesThatExist) {
  constexpr int dim = TypeParam::dim;
  const Scene<dim> scene(MPI_COMM_WORLD);
  EXPECT_EQ(scene.region().bodies, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(scene.region({1, 1}).bodies, std::vector<std::int32_t>{1});
  EXPECT_THROW(scene.region({2}), InputError);
  EXPECT_THROW(make_stress_norm<dim>(scene.region(), scene.laws(), 1), InputError);
  EXPECT_THROW(make_stress_bound<dim>(scene.region(), scene.laws(), -1), InputError);
  // The law of body 1 is missing.
  EXPECT_THROW(make_elastic_energy<dim>(scene.region(), {scene.elastic[0].get()}), InputError);
  EXPECT_NO_THROW(make_elastic_energy<dim>(scene.region({0}), {scene.elastic[0].get()}));
}

} // namespace
} // namespace recoil::objectives

#include "objectives/touching.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "recoil/objectives/min_distance.hpp"
#include "recoil/objectives/rest_separation.hpp"
#include "support/residual_identity.hpp"

namespace recoil::objectives {
namespace {

/// Two boxes of rough shape with a narrow gap between them, above a floor and beside a plane.
template <int dim>
struct Apart {
  using Point = Eigen::Matrix<double, dim, 1>;

  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  mesh::DistributedObstacles<dim> obstacles;

  explicit Apart(MPI_Comm ranks, Shift shift = {}, double closer = 0.4)
      : comm(ranks), mesh(shifted(rough_boxes(comm, closer), shift.of(Along::vertices))), space(mesh, {1, 2}),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)),
        obstacles(Touching<dim>::floor(comm, shift.of(Along::obstacle_vertices))) {}

  static mesh::DistributedMesh<dim> rough_boxes(const parallel::Communicator& comm, double closer) {
    auto mesh = shifted(two_boxes<dim>(comm, 2), 0.02);
    for (auto& vertex : mesh.vertices)
      if (vertex[0] > 0.75) vertex[0] -= closer;
    return mesh;
  }
  std::unique_ptr<const surface::Surface<dim>> surface() const {
    return fem::collision_surface<dim>(
        space, obstacles, std::vector<char>(static_cast<std::size_t>(space.num_nodes()) * dim, 0));
  }
  static std::vector<potentials::Plane<dim>> planes() {
    return {{Point(-0.6 * Point::UnitX()), Point::UnitX(), 3}};
  }
  std::unique_ptr<Objective<dim>> separation(const std::vector<std::int32_t>& bodies, double distance) const {
    return make_rest_separation<dim>(make_region<dim>(space, geometry, bodies), surface(), planes(),
                                     distance);
  }
};

/// A state that a rest shape does not know.
template <int dim>
struct Moved {
  linalg::Vector u, v;
  explicit Moved(const Apart<dim>& scene, Shift shift = {})
      : u(test::rough_field(scene.space, 0.1, 1)), v(test::rough_field(scene.space, 1, 2)) {
    u.add(shift.of(Along::displacement), test::rough_field(scene.space, 1, 11));
    v.add(shift.of(Along::velocity), test::rough_field(scene.space, 1, 12));
  }
  ObservedState state() const { return {u.local(), v.local(), 0.4}; }
};

/// Adds up all pairs of a surface that one rank holds.
template <int dim>
double sum_over_all_pairs(const surface::Surface<dim>& surface, const auto& meet, double distance) {
  using geometry::StencilKind;
  double sum = 0;
  const auto add = [&](StencilKind kind, std::initializer_list<LocalIndex> first,
                       std::initializer_list<LocalIndex> second) {
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
    int column = 0;
    for (const auto& side : {first, second})
      for (const LocalIndex vertex : side)
        points.col(column++) = Eigen::Map<const Eigen::Matrix<double, dim, 1>>(
            surface.vertices()[static_cast<std::size_t>(vertex)].rest.data());
    for (const LocalIndex a : first)
      for (const LocalIndex b : second)
        if (a == b) return;
    const auto body = [&](LocalIndex v) { return surface.vertices()[static_cast<std::size_t>(v)].body; };
    const std::int32_t a = body(*first.begin()), b = body(*second.begin());
    if ((surface.is_obstacle(a) && surface.is_obstacle(b)) || !meet(a, b)) return;
    double term =
        geometry::log_barrier(geometry::distance_squared<dim>(kind, points), distance * distance).value;
    if constexpr (dim == 3)
      if (kind == StencilKind::edge_edge)
        term *= geometry::edge_edge_mollifier(points, geometry::edge_edge_mollifier_eps(points)).value;
    sum += term;
  };
  for (LocalIndex v = 0; v < surface.num_vertices(); ++v) {
    if constexpr (dim == 2)
      for (const auto& edge : surface.edges()) add(StencilKind::vertex_edge, {v}, {edge[0], edge[1]});
    else
      for (const auto& face : surface.faces())
        add(StencilKind::vertex_face, {v}, {face[0], face[1], face[2]});
  }
  if constexpr (dim == 3)
    for (std::size_t i = 0; i < surface.edges().size(); ++i)
      for (std::size_t j = i + 1; j < surface.edges().size(); ++j) {
        const auto &a = surface.edges()[i], &b = surface.edges()[j];
        add(StencilKind::edge_edge, {a[0], a[1]}, {b[0], b[1]});
      }
  return sum;
}

template <int dim>
void check_separation_values() {
  const Apart<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Moved<dim> moved(scene), moved_alone(alone);
  const double plane_share = [&] {
    double sum = 0;
    const auto surface = alone.surface();
    for (const auto& vertex : surface->vertices()) {
      const double gap = vertex.rest[0] + 0.6;
      if (vertex.block >= 0) sum += geometry::log_barrier(gap * gap, 0.3 * 0.3).value;
    }
    return sum;
  }();
  EXPECT_GT(plane_share, 0);
  for (const std::vector<std::int32_t>& bodies : {std::vector<std::int32_t>{}, {0}, {1}}) {
    const double value = scene.separation(bodies, 0.3)->value(moved.state());
    EXPECT_NEAR(value, alone.separation(bodies, 0.3)->value(moved_alone.state()), 1e-12 * value);
    const double of_pairs = sum_over_all_pairs<dim>(
        *alone.surface(),
        [&](std::int32_t a, std::int32_t b) {
          const auto counts = [&](std::int32_t body) {
            return bodies.empty() || body >= 2 || body == bodies.front();
          };
          return counts(a) && counts(b);
        },
        0.3);
    EXPECT_GT(of_pairs, 0);
    const bool beside_plane = bodies.empty() || bodies.front() == 0;
    EXPECT_NEAR(value, of_pairs + (beside_plane ? plane_share : 0), 1e-12 * value);
  }
  // Nothing is so near.
  EXPECT_EQ(scene.separation({}, 1e-3)->value(moved.state()), 0);
}
TEST(RestSeparation, IsTheSumOverAllPairs2D) { check_separation_values<2>(); }
TEST(RestSeparation, IsTheSumOverAllPairs3D) { check_separation_values<3>(); }

template <int dim>
void check_separation_derivatives() {
  const Apart<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Moved<dim> moved(scene), moved_alone(alone);
  for (const std::vector<std::int32_t>& bodies : {std::vector<std::int32_t>{}, {0}, {1}}) {
    const auto objective = scene.separation(bodies, 0.3), lonely = alone.separation(bodies, 0.3);
    const double value = objective->value(moved.state());
    const auto slopes =
        directional_derivatives<dim>(scene.space, scene.obstacles.vertex_ids, *objective, moved.state(), 1);
    const auto once = directional_derivatives<dim>(alone.space, alone.obstacles.vertex_ids, *lonely,
                                                   moved_alone.state(), -2);
    for (std::size_t q = 0; q < slopes.size(); ++q)
      EXPECT_NEAR(slopes[q], -0.5 * once[q], 1e-12 * std::max(std::abs(slopes[q]), std::abs(value)))
          << direction_names[q];
    compare_with_differences<dim>(
        *objective, "rest_separation" + (bodies.empty() ? " all" : " body" + std::to_string(bodies[0])),
        scene.comm.rank(), slopes, value, 1e-7, [&](Shift shift) {
          const Apart<dim> other(MPI_COMM_WORLD, shift);
          return other.separation(bodies, 0.3)->value(Moved<dim>(other, shift).state());
        });
  }
}
TEST(RestSeparation, Derivatives2D) { check_separation_derivatives<2>(); }
TEST(RestSeparation, Derivatives3D) { check_separation_derivatives<3>(); }

TEST(RestSeparation, RefusesShapesThatMeet) {
  const Apart<3> scene(MPI_COMM_WORLD), overlapping(MPI_COMM_WORLD, {}, 0.6);
  EXPECT_THROW(scene.separation({}, 0), InputError);
  EXPECT_GT(overlapping.separation({0}, 0.3)->value({}), 0);
  try {
    overlapping.separation({}, 0.3);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("'body0'"), ::testing::HasSubstr("'body1'"),
                                 ::testing::HasSubstr("start from shapes that are apart")));
  }
}

/// Obstacles that rise with time, as far as a shift of them says besides.
template <int dim>
ObstacleMotion lifted(const Apart<dim>& scene) {
  return [n = scene.obstacles.num_vertices()](double time) {
    std::vector<double> motion(static_cast<std::size_t>(n) * dim, 0.0);
    for (std::size_t i = 1; i < motion.size(); i += dim) motion[i] = 0.02 * time;
    return motion;
  };
}

/// Both bodies, the second one and the floor (number 2), the first one and the plane (number 3).
constexpr std::array<std::array<std::int32_t, 2>, 3> both{{{0, 1}, {2, 1}, {0, 3}}};

template <int dim>
struct Cleared {
  Apart<dim> scene;
  std::unique_ptr<const surface::Surface<dim>> surface;
  linalg::Vector u, v;

  explicit Cleared(MPI_Comm ranks, Shift shift = {})
      : scene(ranks, shift), surface(scene.surface()), u(test::rough_field(scene.space, 0.01, 1)),
        v(test::rough_field(scene.space, 1, 2)) {
    u.add(shift.of(Along::displacement), test::rough_field(scene.space, 1, 11));
    v.add(shift.of(Along::velocity), test::rough_field(scene.space, 1, 12));
  }
  std::unique_ptr<Objective<dim>> distance(const std::array<std::int32_t, 2>& bodies, double limit,
                                           double p) const {
    return make_min_distance<dim>(*surface, scene.planes(), {bodies, limit, p}, lifted(scene));
  }
  ObservedState state() const { return {u.local(), v.local(), 0.4}; }
};

/// The least distance of the vertices of one body from the plane of the scene, and how many are nearer than
/// `limit`.
template <int dim>
std::pair<double, int> distance_from_plane(const Cleared<dim>& at, double limit) {
  const auto positions = at.surface->positions(at.u.local(), lifted(at.scene)(0.4));
  double least = limit;
  int count = 0;
  for (LocalIndex v = 0; v < at.surface->num_owned(); ++v) {
    if (at.surface->vertices()[static_cast<std::size_t>(v)].body != 0) continue;
    const double distance = positions[static_cast<std::size_t>(v)][0] + 0.6;
    least = std::min(least, distance);
    count += distance < limit ? 1 : 0;
  }
  return {at.scene.comm.min(least), static_cast<int>(at.scene.comm.sum(static_cast<double>(count)))};
}

template <int dim>
void check_distances() {
  const Cleared<dim> at(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const double limit = 0.2;
  const auto [least, count] = distance_from_plane(at, limit);
  ASSERT_GT(count, 1);
  for (const double p : {1.5, 4.0, 400.0}) {
    const double value = at.distance({0, 3}, limit, p)->value(at.state());
    EXPECT_GE(value, std::pow(limit - least, 2));
    EXPECT_LE(value, std::pow(count, 2 / p) * std::pow(limit - least, 2) * (1 + 1e-12));
    for (const auto& bodies : both) {
      const double found = at.distance(bodies, limit, p)->value(at.state());
      EXPECT_NEAR(found, alone.distance(bodies, limit, p)->value(alone.state()), 1e-12 * found);
      EXPECT_EQ(found, at.distance({bodies[1], bodies[0]}, limit, p)->value(at.state()));
    }
  }
  // The gap of the two bodies is least where a sharp norm says so.
  const double depth = std::sqrt(at.distance({0, 1}, limit, 2000)->value(at.state()));
  EXPECT_GT(depth, 0);
  EXPECT_EQ(at.distance({0, 1}, (limit - depth) * 0.99, 4)->value(at.state()), 0);
  EXPECT_GT(at.distance({0, 1}, (limit - depth) * 1.01, 4)->value(at.state()), 0);
  const auto far = at.distance({0, 1}, 0.01, 4);
  for (const double slope :
       directional_derivatives<dim>(at.scene.space, at.scene.obstacles.vertex_ids, *far, at.state(), 1))
    EXPECT_EQ(slope, 0);
  EXPECT_THROW(at.distance({0, 1}, 0, 4), InputError);
  EXPECT_THROW(at.distance({0, 1}, limit, 1), InputError);
}
TEST(MinDistance, IsASmoothMinimum2D) { check_distances<2>(); }
TEST(MinDistance, IsASmoothMinimum3D) { check_distances<3>(); }

template <int dim>
void check_distance_derivatives() {
  const Cleared<dim> at(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const auto& bodies : both)
    for (const double p : {3.0, 8.0}) {
      const auto objective = at.distance(bodies, 0.3, p), lonely = alone.distance(bodies, 0.3, p);
      const double value = objective->value(at.state());
      EXPECT_LT(test::transposed_error<dim>(at.scene.space, *objective, at.state(), at.surface.get()), 1e-12);
      const auto slopes = directional_derivatives<dim>(at.scene.space, at.scene.obstacles.vertex_ids,
                                                       *objective, at.state(), 1);
      const auto once = directional_derivatives<dim>(alone.scene.space, alone.scene.obstacles.vertex_ids,
                                                     *lonely, alone.state(), -2);
      for (std::size_t q = 0; q < slopes.size(); ++q)
        EXPECT_NEAR(slopes[q], -0.5 * once[q], 1e-12 * std::max(std::abs(slopes[q]), std::abs(value)))
            << direction_names[q];
      for (const Along along : {Along::displacement, Along::vertices, Along::obstacle_vertices}) {
        const double slope = slopes[static_cast<std::size_t>(along)];
        EXPECT_EQ(slope != 0, along != Along::obstacle_vertices || bodies[0] == 2);
        double error = std::numeric_limits<double>::infinity();
        for (const double h : {1e-4, 1e-5, 1e-6})
          error = std::min(error, std::abs(central_difference(
                                               along, h,
                                               [&](Shift shift) {
                                                 const Cleared<dim> other(MPI_COMM_WORLD, shift);
                                                 return other.distance(bodies, 0.3, p)->value(other.state());
                                               }) -
                                           slope));
        EXPECT_LE(error, 1e-7 * std::abs(slope)) << "p = " << p << " bodies " << bodies[0] << bodies[1]
                                                 << direction_names[static_cast<std::size_t>(along)];
      }
    }
}
TEST(MinDistance, Derivatives2D) { check_distance_derivatives<2>(); }
TEST(MinDistance, Derivatives3D) { check_distance_derivatives<3>(); }

} // namespace
} // namespace recoil::objectives

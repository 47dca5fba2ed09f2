#include <algorithm>
#include <limits>
#include <set>

#include "support/contact_scene.hpp"

namespace recoil::potentials {
namespace {

/// The boxes of ContactScene over an obstacle that is much wider, of 6000 triangles (in 2D 3000 edges) that
/// move, and beside the bodies another one of which nothing is near.
template <int dim>
struct WideScene {
  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  mesh::DistributedObstacles<dim> obstacles;
  ContactState<dim> contact;
  BarrierPotential<dim> barrier{contact};
  FrictionPotential<dim> friction{contact};

  WideScene(MPI_Comm ranks, GlobalIndex sieve_from)
      : comm(ranks), mesh(ContactScene<dim>::distribute(comm)), space(mesh, {1, 1}),
        obstacles(mesh::distribute_obstacles<dim>(comm, comm.rank() == 0
                                                            ? std::vector{ground(0.1), ground(-30)}
                                                            : std::vector<mesh::SurfaceMesh>())),
        contact(surface(), parameters(sieve_from)) {}

  static mesh::SurfaceMesh ground(double place) {
    constexpr int n = dim == 2 ? 1500 : 40;
    mesh::SurfaceMesh ground;
    ground.name = "ground";
    const auto at = [&](int i) { return place + 12.0 * i / n - 6; };
    for (int i = 0; i <= n; ++i) {
      if (dim == 2) {
        ground.vertices.emplace_back(at(i), -0.545 + 0.004 * std::sin(3 * at(i)), 0);
        if (i > 0) ground.edges.push_back({i - 1, i});
      }
      for (int j = 0; j <= n && dim == 3; ++j) {
        ground.vertices.emplace_back(at(i), -0.545 + 0.004 * std::sin(3 * at(i) + 2 * at(j)), at(j));
        if (i == 0 || j == 0) continue;
        const std::int32_t d = i * (n + 1) + j, c = d - 1, b = d - n - 1, a = b - 1;
        ground.triangles.push_back({a, b, d});
        ground.triangles.push_back({a, d, c});
      }
    }
    return ground;
  }

  std::unique_ptr<const surface::Surface<dim>> surface() {
    const std::vector<char> flags(std::size_t(space.num_nodes()) * dim, 0);
    return fem::collision_surface<dim>(space, obstacles, flags);
  }
  static ContactParameters<dim> parameters(GlobalIndex sieve_from) {
    ContactParameters<dim> parameters =
        ContactScene<dim>::parameters(BarrierForm::plain, ContactScene<dim>::usual_friction());
    parameters.planes.clear();
    parameters.sieve_from = sieve_from;
    return parameters;
  }

  linalg::Vector field(double amplitude, double seed) const {
    return test::rough_field(space, amplitude, seed);
  }
  std::vector<double> obstacle_motion(double amplitude) const {
    std::vector<double> motion;
    for (const GlobalIndex id : obstacles.vertex_ids)
      for (int i = 0; i < dim; ++i) motion.push_back(amplitude * RestMotion::direction<dim>(id, 3)[i]);
    return motion;
  }

  /// What contact makes of a step in which bodies slide and the obstacle moves.
  struct Found {
    GlobalIndex num_pairs, intersections, tests;
    double energy, distance, step;
    linalg::Vector gradient, product;
    std::multiset<std::array<GlobalIndex, 2 * dim>> pairs; ///< on all ranks; ids of the vertices
  };
  Found find() {
    linalg::Vector u = field(0.002, 1);
    contact.start_step(u.local());
    contact.lag_friction(3, 1);
    u.add(1, field(0.001, 7));
    contact.set_obstacle_displacement(obstacle_motion(0.001));
    contact.update(u.local());
    Found found{contact.num_pairs(),
                contact.num_intersections(),
                comm.sum(contact.traffic().tests),
                comm.sum(5 * barrier.value(u.local()) + friction.value(u.local())),
                contact.min_distance(),
                0,
                linalg::Vector(space.layout()),
                linalg::Vector(space.layout()),
                pair_ids()};
    barrier.add_gradient(u.local(), 5, found.gradient.write_owned());
    friction.add_gradient(u.local(), 1, found.gradient.write_owned());
    linalg::Vector p = field(1, 5);
    barrier.add_hessian_product(u.local(), p.local(), 5, found.product.write_owned());
    friction.add_hessian_product(u.local(), p.local(), 1, found.product.write_owned());
    const linalg::Vector down = field(0.5, 11);
    found.step = contact.max_step(u.local(), down.local(), obstacle_motion(0.2));
    linalg::Vector through = u;
    through.add(1, down);
    contact.update(through.local());
    found.intersections += contact.num_intersections();
    return found;
  }

  std::multiset<std::array<GlobalIndex, 2 * dim>> pair_ids() const {
    std::vector<GlobalIndex> ids;
    for (const auto& pair : contact.pairs()) {
      std::array<GlobalIndex, 2 * dim> of_pair;
      of_pair.fill(-1);
      for (std::size_t i = 0; i < std::size_t(pair.num_vertices); ++i)
        of_pair[i] = (*contact.vertices())[pair.vertices[i]].id;
      std::ranges::sort(of_pair);
      ids.insert(ids.end(), of_pair.begin(), of_pair.end());
    }
    ids = comm.all_gather_parts(ids);
    std::multiset<std::array<GlobalIndex, 2 * dim>> pairs;
    for (std::size_t i = 0; i < ids.size(); i += 2 * dim) {
      std::array<GlobalIndex, 2 * dim> of_pair;
      std::copy_n(ids.begin() + std::ptrdiff_t(i), of_pair.size(), of_pair.begin());
      pairs.insert(of_pair);
    }
    return pairs;
  }
};

template <class T>
class ObstacleSieveOf : public ::testing::Test {};
TYPED_TEST_SUITE(ObstacleSieveOf, Dimensions);

TYPED_TEST(ObstacleSieveOf, LosesNoPair) {
  constexpr int dim = TypeParam::dim;
  WideScene<dim> all(MPI_COMM_WORLD, std::numeric_limits<GlobalIndex>::max()), near(MPI_COMM_WORLD, 0);
  const auto expected = all.find(), found = near.find();
  EXPECT_GT(expected.num_pairs, 10);
  EXPECT_EQ(found.num_pairs, expected.num_pairs);
  EXPECT_EQ(found.pairs, expected.pairs);
  EXPECT_EQ(found.distance, expected.distance);
  EXPECT_GT(expected.intersections, 0);
  EXPECT_EQ(found.intersections, expected.intersections);
  EXPECT_LT(expected.step, 1);
  EXPECT_NEAR(found.step, expected.step, 1e-12);
  EXPECT_NEAR(found.energy, expected.energy, 1e-13 * expected.energy);
  for (const auto member : {&WideScene<dim>::Found::gradient, &WideScene<dim>::Found::product}) {
    linalg::Vector difference = found.*member;
    difference.add(-1, expected.*member);
    EXPECT_GT((expected.*member).norm(), 0);
    EXPECT_LE(difference.norm(), (near.comm.size() == 1 ? 0 : 1e-12) * (expected.*member).norm());
  }
  EXPECT_LT(found.tests, expected.tests);
}

/// Two boxes beside each other in a cell that repeats, and their copies.
template <int dim>
struct RepeatingScene {
  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::vector<char> none;
  fem::PeriodicBoundary<dim> periodic;
  ContactState<dim> contact;
  BarrierPotential<dim> barrier{contact};

  explicit RepeatingScene(GlobalIndex sieve_from)
      : comm(MPI_COMM_WORLD), mesh(cell(comm)), space(mesh, {1, 1}),
        none(std::size_t(space.num_nodes()) * dim, 0), periodic(space, spec(), none),
        contact(fem::periodic_surface<dim>(space, periodic, none), WideScene<dim>::parameters(sieve_from)) {}

  static mesh::DistributedMesh<dim> cell(const parallel::Communicator& comm) {
    mesh::SimplexMesh whole;
    whole.dim = dim;
    if (comm.rank() == 0) whole = test::box_mesh(dim, dim == 2 ? 40 : 8, 2);
    for (Eigen::Vector3d& vertex : whole.vertices)
      if (vertex.x() > 0.75) vertex.x() -= 0.42;
    return mesh::distribute<dim>(comm, whole);
  }
  static fem::PeriodicSpec<dim> spec() {
    fem::PeriodicSpec<dim> result;
    result.axes.fill(true);
    result.prescribed.fill(true);
    result.displacement_gradient = [](double) { return Eigen::Matrix<double, dim, dim>::Zero().eval(); };
    return result;
  }
};

TYPED_TEST(ObstacleSieveOf, LosesNoPairWithCopies) {
  constexpr int dim = TypeParam::dim;
  RepeatingScene<dim> all(std::numeric_limits<GlobalIndex>::max()), near(1);
  const auto find = [](RepeatingScene<dim>& scene) {
    linalg::Vector u = test::rough_field(scene.space, 0.002, 1), g(scene.space.layout());
    scene.contact.update(u.local());
    scene.barrier.add_gradient(u.local(), 5, g.write_owned());
    return g;
  };
  const linalg::Vector expected = find(all);
  linalg::Vector found = find(near);
  EXPECT_GT(all.contact.num_pairs(), 10);
  EXPECT_EQ(near.contact.num_pairs(), all.contact.num_pairs());
  EXPECT_EQ(near.contact.min_distance(), all.contact.min_distance());
  EXPECT_EQ(near.contact.num_intersections(), all.contact.num_intersections());
  found.add(-1, expected);
  EXPECT_GT(expected.norm(), 0);
  EXPECT_LE(found.norm(), 1e-12 * expected.norm());
  EXPECT_LT(near.comm.sum(near.contact.traffic().tests), all.comm.sum(all.contact.traffic().tests));
}

} // namespace
} // namespace recoil::potentials

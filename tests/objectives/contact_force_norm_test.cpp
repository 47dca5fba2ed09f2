#include "recoil/objectives/contact_force_norm.hpp"

#include "objectives/objective_checks.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {
namespace {

constexpr double stiffness = 3;

/// Two boxes almost face to face, the second of them also over an edge (3D: two triangles).
template <int dim>
struct Touching {
  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  mesh::DistributedObstacles<dim> obstacles;
  potentials::ContactState<dim> contact;
  linalg::Vector u, v;

  explicit Touching(MPI_Comm ranks, Shift shift = {}, potentials::BarrierForm form = {})
      : comm(ranks), mesh(shifted(two_boxes<dim>(comm, 3), shift.of(Along::vertices))), space(mesh, {1, 2}),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)),
        obstacles(floor(comm, shift.of(Along::obstacle_vertices))), contact(surface(), parameters(form)),
        u(test::rough_field(space, 0.004, 1)), v(test::rough_field(space, 1, 2)) {
    auto values = u.write_local();
    for (std::size_t a = 0; a < space.node_positions().size(); ++a)
      if (space.node_positions()[a][0] > 0.75) values[a * dim] -= 0.47;
    u.add(shift.of(Along::displacement), test::rough_field(space, 1, 11));
    v.add(shift.of(Along::velocity), test::rough_field(space, 1, 12));
  }

  static mesh::DistributedObstacles<dim> floor(const parallel::Communicator& comm, double shift) {
    mesh::SurfaceMesh floor;
    floor.name = "floor";
    if (dim == 2) {
      floor.vertices = {{-2, -0.53, 0}, {3, -0.56, 0}};
      floor.edges = {{0, 1}};
    } else {
      floor.vertices = {{-2, -0.53, -2}, {3, -0.56, -2}, {3, -0.54, 2}, {-2, -0.55, 2}};
      floor.triangles = {{0, 1, 2}, {0, 2, 3}};
    }
    for (std::size_t w = 0; w < floor.vertices.size(); ++w)
      for (int i = 0; i < dim; ++i) floor.vertices[w][i] += shift * direction(static_cast<GlobalIndex>(w), i);
    return mesh::distribute_obstacles<dim>(comm, comm.rank() == 0 ? std::vector{floor}
                                                                  : std::vector<mesh::SurfaceMesh>());
  }
  std::unique_ptr<const fem::CollisionSurface<dim>> surface() const {
    return std::make_unique<const fem::CollisionSurface<dim>>(
        space, obstacles, std::vector<char>(static_cast<std::size_t>(space.num_nodes()) * dim, 0));
  }
  static potentials::ContactParameters<dim> parameters(potentials::BarrierForm form) {
    potentials::ContactParameters<dim> parameters;
    parameters.dhat = 0.1;
    parameters.form = form;
    return parameters;
  }

  std::unique_ptr<Objective<dim>> objective(std::vector<std::int32_t> bodies) {
    return make_contact_force_norm<dim>(make_region<dim>(space, geometry, std::move(bodies)), contact,
                                        stiffness, lifted());
  }
  /// Obstacles that rise with time.
  ObstacleMotion lifted() const {
    return [n = obstacles.num_vertices()](double time) {
      std::vector<double> motion(static_cast<std::size_t>(n) * dim, 0.0);
      for (std::size_t i = 1; i < motion.size(); i += dim) motion[i] = 0.01 * time;
      return motion;
    };
  }
  ObservedState state(double time = 0.4) const { return {u.local(), v.local(), time}; }
};

template <int dim>
void check_values() {
  Touching<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const std::vector<std::vector<std::int32_t>> filters{{}, {0}, {1}};
  std::array<double, 3> values{};
  for (std::size_t k = 0; k < 3; ++k) {
    values[k] = scene.objective(filters[k])->value(scene.state());
    EXPECT_GT(values[k], 0);
    EXPECT_NEAR(values[k], alone.objective(filters[k])->value(alone.state()), 1e-12 * values[k]);
  }
  EXPECT_NEAR(values[0], values[1] + values[2], 1e-12 * values[0]);
  // Against nodal forces from the contact itself, where the first body ends at x = 0.5.
  scene.contact.set_obstacle_displacement(scene.lifted()(0.4));
  scene.contact.update(scene.u.local());
  linalg::Vector force(scene.space.layout());
  potentials::BarrierPotential<dim>(scene.contact)
      .add_gradient(scene.u.local(), stiffness, force.write_owned());
  double first = 0;
  for (std::size_t i = 0; i < force.owned().size(); ++i)
    if (scene.space.node_positions()[i / dim][0] < 0.75) first += force.owned()[i] * force.owned()[i];
  EXPECT_NEAR(values[1], scene.comm.sum(first), 1e-12 * values[1]);
  // Obstacles are where they are at the time that is looked at.
  EXPECT_GT(scene.objective({})->value(scene.state(2.0)), 1.0001 * values[0]);
  EXPECT_THROW(
      make_contact_force_norm<dim>(make_region<dim>(scene.space, scene.geometry), scene.contact, 0.0),
      InputError);
}
TEST(ContactForceNorm, Values2D) { check_values<2>(); }
TEST(ContactForceNorm, Values3D) { check_values<3>(); }

template <int dim>
void check_derivatives(potentials::BarrierForm form, const std::string& what) {
  for (const std::vector<std::int32_t>& bodies : {std::vector<std::int32_t>{}, {0}, {1}}) {
    Touching<dim> scene(MPI_COMM_WORLD, {}, form), alone(MPI_COMM_SELF, {}, form);
    const auto objective = scene.objective(bodies), lonely = alone.objective(bodies);
    const double value = objective->value(scene.state());
    const auto slopes =
        directional_derivatives<dim>(scene.space, scene.obstacles.vertex_ids, *objective, scene.state(), 1);
    const auto once =
        directional_derivatives<dim>(alone.space, alone.obstacles.vertex_ids, *lonely, alone.state(), -2);
    for (std::size_t q = 0; q < slopes.size(); ++q)
      EXPECT_NEAR(slopes[q], -0.5 * once[q], 1e-10 * std::max(std::abs(slopes[q]), std::abs(value)))
          << direction_names[q];
    compare_with_differences<dim>(*objective,
                                  what + (bodies.empty() ? " all" : " body" + std::to_string(bodies[0])),
                                  scene.comm.rank(), slopes, value, 1e-7, [&](Shift shift) {
                                    Touching<dim> other(MPI_COMM_WORLD, shift, form);
                                    return other.objective(bodies)->value(other.state());
                                  });
  }
}
TEST(ContactForceNorm, Derivatives2D) {
  check_derivatives<2>(potentials::BarrierForm::plain, "contact_force_norm");
  check_derivatives<2>(potentials::BarrierForm::convergent, "contact_force_norm convergent");
}
TEST(ContactForceNorm, Derivatives3D) {
  check_derivatives<3>(potentials::BarrierForm::plain, "contact_force_norm");
  check_derivatives<3>(potentials::BarrierForm::convergent, "contact_force_norm convergent");
}

} // namespace
} // namespace recoil::objectives

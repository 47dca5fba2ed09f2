#pragma once

#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "recoil/fem/collision_surface.hpp"
#include "recoil/linalg/stencil_matrix.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"
#include "support/box_mesh.hpp"
#include "support/derivatives.hpp"

namespace recoil::potentials {

template <int d>
struct Dimension {
  static constexpr int dim = d;
};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>>;

/// How far the rest vertices of a scene have moved along a rough direction.
struct RestMotion {
  double mesh = 0, obstacles = 0; ///< [m]
  double seed = 0;

  /// Of the vertex with input number `id`.
  template <int dim>
  static Eigen::Matrix<double, dim, 1> direction(GlobalIndex id, double seed) {
    Eigen::Matrix<double, dim, 1> result;
    for (int i = 0; i < dim; ++i)
      result[i] = std::sin(37.719 * static_cast<double>(id) + 61.137 * i + 1.7 * seed + 0.3);
    return result;
  }
};

/// Two boxes almost face to face over an obstacle of four triangles (two edges in 2D), beside a plane.
template <int dim>
struct ContactScene {
  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  mesh::DistributedObstacles<dim> obstacles;
  ContactState<dim> contact;
  BarrierPotential<dim> barrier{contact};
  FrictionPotential<dim> friction{contact};

  explicit ContactScene(MPI_Comm ranks, int order = 1, BarrierForm form = BarrierForm::plain,
                        std::vector<char> prescribed = {}, const RestMotion& motion = {},
                        std::vector<double> friction = usual_friction())
      : comm(ranks), mesh(moved(distribute(comm), motion)), space(mesh, {order, order}),
        obstacles(mesh::distribute_obstacles<dim>(comm, comm.rank() == 0 ? floor(motion)
                                                                         : std::vector<mesh::SurfaceMesh>())),
        contact(surface(prescribed), parameters(form, std::move(friction))) {}

  static mesh::DistributedMesh<dim> moved(mesh::DistributedMesh<dim> mesh, const RestMotion& motion) {
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      mesh.vertices[v] += motion.mesh * RestMotion::direction<dim>(mesh.vertex_ids[v], motion.seed);
    return mesh;
  }

  static mesh::DistributedMesh<dim> distribute(const parallel::Communicator& comm) {
    mesh::SimplexMesh whole;
    whole.dim = dim;
    if (comm.rank() == 0) {
      whole = test::box_mesh(dim, 3, 2);
      test::shuffle_vertices(whole, 5);
    }
    return mesh::distribute<dim>(comm, whole);
  }

  static std::vector<mesh::SurfaceMesh> floor(const RestMotion& motion = {}) {
    mesh::SurfaceMesh floor;
    floor.name = "floor";
    if (dim == 2) {
      floor.vertices = {{-2, -0.53, 0}, {3, -0.56, 0}, {0.3, -0.545, 0}};
      floor.edges = {{0, 2}, {2, 1}};
    } else {
      floor.vertices = {{-2, -0.53, -2}, {3, -0.56, -2}, {3, -0.54, 2}, {-2, -0.55, 2}, {0.3, -0.545, 0.1}};
      floor.triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    }
    for (std::size_t v = 0; v < floor.vertices.size(); ++v)
      floor.vertices[v].head<dim>() +=
          motion.obstacles * RestMotion::direction<dim>(static_cast<GlobalIndex>(v), motion.seed);
    return {floor};
  }

  std::unique_ptr<const surface::Surface<dim>> surface(std::vector<char> prescribed) {
    prescribed.resize(static_cast<std::size_t>(space.num_nodes()) * dim, 0);
    return fem::collision_surface<dim>(space, obstacles, prescribed);
  }

  static ContactParameters<dim> parameters(BarrierForm form, std::vector<double> friction) {
    ContactParameters<dim> parameters;
    parameters.dhat = 0.1;
    parameters.form = form;
    Plane<dim> plane{Eigen::Matrix<double, dim, 1>::Zero(), Eigen::Matrix<double, dim, 1>::Zero(), 3};
    plane.point[0] = -0.56;
    plane.normal[0] = 1;
    parameters.planes = {plane};
    if (form.adhesion_peak)
      parameters.friction = {{friction[1]}, [](std::int32_t, std::int32_t) { return std::size_t{0}; }};
    else
      parameters.friction = {std::move(friction), [](std::int32_t a, std::int32_t b) {
                               return static_cast<std::size_t>(4 * std::min(a, b) + std::max(a, b));
                             }};
    return parameters;
  }

  /// Coefficients of the bodies a < b at 4 a + b; tangential adhesion has that of 0 and 1 for all.
  static std::vector<double> usual_friction() {
    std::vector<double> values(16, 0.0);
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a + 1; b < 4; ++b) values[4 * a + b] = 0.1 * static_cast<double>(1 + a + b);
    return values;
  }

  linalg::Vector field(double amplitude, double seed) const {
    return test::rough_field(space, amplitude, seed);
  }

  /// The second body moved up to the first one.
  linalg::Vector close_together() const {
    linalg::Vector u = field(0.004, 1);
    auto values = u.write_local();
    for (LocalIndex node = 0; node < space.num_nodes(); ++node)
      if (space.node_positions()[static_cast<std::size_t>(node)][0] > 0.75)
        values[static_cast<std::size_t>(node) * dim] -= 0.47;
    return u;
  }

  double energy(const linalg::Vector& u, double stiffness, double scale) {
    contact.update(u.local());
    return comm.sum(stiffness * barrier.value(u.local()) + scale * friction.value(u.local()));
  }

  linalg::Vector gradient(const linalg::Vector& u, double stiffness, double scale) {
    contact.update(u.local());
    linalg::Vector g(space.layout());
    barrier.add_gradient(u.local(), stiffness, g.write_owned());
    friction.add_gradient(u.local(), scale, g.write_owned());
    return g;
  }

  /// Of the last update.
  void assemble_hessian(double stiffness, double scale, Projection projection,
                        linalg::StencilMatrix& H) const {
    H.begin();
    barrier.add_hessian({}, stiffness, projection, {nullptr, &H});
    friction.add_hessian({}, scale, projection, {nullptr, &H});
    H.finish();
  }
};

/// Gradient and Hessian along a direction against central differences, best of several steps.
template <int dim>
void check_derivatives(ContactScene<dim>& scene, const linalg::Vector& u, double stiffness, double scale) {
  const linalg::Vector d = scene.field(1, 42);
  const double slope = scene.gradient(u, stiffness, scale).dot(d);
  linalg::StencilMatrix H(scene.space.layout());
  scene.assemble_hessian(stiffness, scale, newton::Projection::none, H);
  linalg::Vector curvature(scene.space.layout());
  H.multiply(d, curvature);
  constexpr std::array steps{1e-4, 1e-5, 1e-6, 1e-7};
  const auto errors = test::derivative_errors(
      [&](const auto& x) { return scene.energy(x, stiffness, scale); },
      [&](const auto& x) { return scene.gradient(x, stiffness, scale); }, slope, curvature, u, d, steps);
  EXPECT_GT(std::abs(slope), 0);
  EXPECT_LT(errors.slope, 1e-6 * std::abs(slope));
  EXPECT_GT(curvature.norm(), 0);
  EXPECT_LT(errors.curvature, 1e-6 * curvature.norm());
}

/// Those of a form of the barrier, where bodies are close together.
template <int dim>
void check_barrier_derivatives(const BarrierForm& form, int order) {
  ContactScene<dim> scene(MPI_COMM_WORLD, order, form);
  const linalg::Vector u = scene.close_together();
  scene.contact.update(u.local());
  EXPECT_GT(scene.contact.num_pairs(), 10);
  check_derivatives(scene, u, 7.0, 0.0);
}

/// Energies, pairs and gradients of one scene at u on many ranks and at v on one.
template <int dim>
void expect_same_contact(ContactScene<dim>& together, const linalg::Vector& u, ContactScene<dim>& alone,
                         const linalg::Vector& v) {
  EXPECT_NEAR(together.energy(u, 5, 1), alone.energy(v, 5, 1), 1e-12 * alone.energy(v, 5, 1));
  EXPECT_EQ(together.contact.num_pairs(), alone.contact.num_pairs());
  EXPECT_NEAR(together.contact.min_distance(), alone.contact.min_distance(), 1e-15);
  const linalg::Vector g = together.gradient(u, 5, 1), f = alone.gradient(v, 5, 1);
  EXPECT_NEAR(g.norm(), f.norm(), 1e-12 * f.norm());
}

} // namespace recoil::potentials

#include "recoil/objectives/forces.hpp"

#include "objectives/touching.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {
namespace {

constexpr double stiffness = 3;

template <int dim>
std::unique_ptr<Objective<dim>> norm_of(Touching<dim>& scene, std::vector<std::int32_t> bodies) {
  return make_contact_force_norm<dim>(make_region<dim>(scene.space, scene.geometry, std::move(bodies)),
                                      scene.contact, stiffness, scene.lifted());
}

template <int dim>
void check_values() {
  Touching<dim> scene(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const std::vector<std::vector<std::int32_t>> filters{{}, {0}, {1}};
  std::array<double, 3> values{};
  for (std::size_t k = 0; k < 3; ++k) {
    values[k] = norm_of(scene, filters[k])->value(scene.state());
    EXPECT_GT(values[k], 0);
    EXPECT_NEAR(values[k], norm_of(alone, filters[k])->value(alone.state()), 1e-12 * values[k]);
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
  EXPECT_GT(norm_of(scene, {})->value(scene.state(2.0)), 1.0001 * values[0]);
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
    const auto objective = norm_of(scene, bodies), lonely = norm_of(alone, bodies);
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
                                    return norm_of(other, bodies)->value(other.state());
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

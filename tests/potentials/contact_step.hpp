#pragma once

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/contact_scene.hpp"

namespace recoil::potentials {

/// One time step of boxes, obstacles and plane in contact, some of which stick and some slip.
template <int dim>
struct ContactStep {
  using Point = typename ContactState<dim>::Point;

  /// Stiffness that normal forces are lagged with; length of the step.
  static constexpr double lagged_stiffness = 3, dt = 1;

  ContactScene<dim> scene;
  linalg::Vector previous, now, p;
  std::vector<double> obstacles_previous, obstacles_now;

  explicit ContactStep(int order, BarrierForm form, const RestMotion& motion = {},
                       std::vector<double> friction = ContactScene<dim>::usual_friction())
      : scene(MPI_COMM_WORLD, order, form, {}, motion, std::move(friction)), previous(scene.close_together()),
        p(scene.field(1, 23)), obstacles_previous(obstacle_field(0.002, 3)),
        obstacles_now(obstacle_field(0.001, 5)) {
    // Features that lie exactly opposite to each other are at the border between closest features.
    auto values = previous.write_local();
    for (LocalIndex node = 0; node < scene.space.num_nodes(); ++node)
      if (scene.space.node_positions()[static_cast<std::size_t>(node)][0] > 0.75)
        for (std::size_t i = 1; i < dim; ++i)
          values[static_cast<std::size_t>(node) * dim + i] += i == 1 ? 0.031 : 0.083;
    now = previous;
    now.add(1, scene.field(0.0012, 7));
    for (std::size_t i = 0; i < obstacles_now.size(); ++i) obstacles_now[i] += obstacles_previous[i];
  }

  std::vector<double> obstacle_field(double amplitude, double seed) const {
    std::vector<double> field;
    for (const GlobalIndex id : scene.obstacles.vertex_ids)
      for (int i = 0; i < dim; ++i) field.push_back(amplitude * RestMotion::direction<dim>(id, seed)[i]);
    return field;
  }

  void take() { take(previous, obstacles_previous); }
  void take(const linalg::Vector& u_previous, const std::vector<double>& previous_obstacles,
            LaggedAt at = LaggedAt::start) {
    ContactState<dim>& contact = scene.contact;
    contact.set_obstacle_displacement(previous_obstacles);
    contact.start_step(u_previous.local());
    if (at == LaggedAt::start) contact.lag_friction(lagged_stiffness, dt);
    contact.set_obstacle_displacement(obstacles_now);
    contact.update(now.local());
    if (at == LaggedAt::end) contact.lag_friction(lagged_stiffness, dt, LaggedAt::end);
  }

  /// Sum of a field times displacements (bodies, obstacles).
  double dot(const std::vector<Point>& field, const linalg::Vector& u,
             const std::vector<double>& obstacle) const {
    const auto d = scene.contact.surface().displacements(u.local(), obstacle);
    double sum = 0;
    for (std::size_t v = 0; v < field.size(); ++v) sum += field[v].dot(d[v]);
    return scene.comm.sum(sum);
  }

  /// p . dB/dx and p . dPhi_f/dx.
  std::array<double, 2> values() const {
    const std::vector<double> still(obstacles_now.size(), 0.0);
    return {dot(scene.barrier.gradient(), p, still), dot(scene.friction.gradient(), p, still)};
  }

  /// d/dx of stiffness * barrier + scale * friction, both gradients, along p.
  std::vector<Point> end_product(double stiffness, double scale) const {
    auto result = scene.barrier.hessian_product(scene.contact.at_owned(p.local()), Projection::none);
    const auto friction = scene.friction.end_product(p.local());
    for (std::size_t v = 0; v < result.size(); ++v) result[v] = stiffness * result[v] + scale * friction[v];
    return result;
  }

  parameters::PhysicalGradient<dim> parameter_products(const std::array<double, 2>& factor,
                                                       bool wants_shape = true) const {
    auto quantities = scene.friction.quantities();
    if (!wants_shape)
      std::erase_if(quantities, [](const auto& q) {
        return q.place != parameters::Place::coefficient && q.place != parameters::Place::scene;
      });
    parameters::PhysicalGradient<dim> g(scene.space, quantities, scene.obstacles.num_vertices(),
                                        scene.contact.parameters().friction.values.size());
    scene.barrier.add_parameter_products(now.local(), p.local(), factor[0], g);
    scene.friction.add_parameter_products(now.local(), p.local(), factor[1], g);
    return g;
  }

  /// Derivative along a motion of the rest vertices by one.
  double along(const parameters::PhysicalGradient<dim>& g, const RestMotion& motion) const {
    double sum = 0;
    const auto& by_vertex = g.vectors(parameters::quantities::vertices);
    const auto& by_obstacle = g.vectors(parameters::quantities::obstacle_vertices);
    for (std::size_t v = 0; v < by_vertex.size(); ++v)
      sum +=
          motion.mesh * by_vertex[v].dot(RestMotion::direction<dim>(scene.mesh.vertex_ids[v], motion.seed));
    for (std::size_t v = 0; v < by_obstacle.size(); ++v)
      sum += motion.obstacles *
             by_obstacle[v].dot(RestMotion::direction<dim>(scene.obstacles.vertex_ids[v], motion.seed));
    return scene.comm.sum(sum);
  }

  /// The same motion as a displacement of the nodes, which are vertices.
  linalg::Vector as_displacement(const RestMotion& motion) const {
    linalg::Vector u(scene.space.layout());
    auto values = u.write_local();
    for (LocalIndex v = 0; v < scene.mesh.num_vertices(); ++v)
      for (int i = 0; i < dim; ++i)
        values[static_cast<std::size_t>(scene.space.node_of_vertex(v)) * dim + static_cast<std::size_t>(i)] =
            motion.mesh *
            RestMotion::direction<dim>(scene.mesh.vertex_ids[static_cast<std::size_t>(v)], motion.seed)[i];
    return u;
  }
};

inline const std::array forms{BarrierForm::plain, BarrierForm::convergent, BarrierForm{false, true, false},
                              BarrierForm{true, true, true},
                              BarrierForm{true, false, false, false, GeometricAngles{0.9, 0.1, 0.8, 0}},
                              // Adhesion, whose friction is tangential adhesion.
                              BarrierForm{true, false, false, true, std::nullopt, 0.043},
                              BarrierForm{false, true, true, true, std::nullopt, 0.057}};

} // namespace recoil::potentials

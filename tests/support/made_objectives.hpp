#pragma once

#include "recoil/objectives/forces.hpp"
#include "recoil/objectives/material_points.hpp"
#include "recoil/objectives/moments.hpp"
#include "recoil/objectives/stress.hpp"
#include "recoil/objectives/target.hpp"

/// Objectives of observables of finite elements.
namespace recoil::objectives {

/// A material point and where it was seen.
template <int dim>
struct Marker {
  MaterialPoint<dim> point;
  Track<dim> track;
  std::string name = {};
};

template <int dim>
std::unique_ptr<Objective<dim>> make_points(std::string_view name, PointVector vector,
                                            const fem::FunctionSpace<dim>& space,
                                            const std::vector<Marker<dim>>& markers) {
  Comparison<dim> seen{{{}, {"x", "y", "z"}}, {}};
  std::vector<MaterialPoint<dim>> points;
  for (const Marker<dim>& marker : markers) {
    points.push_back(marker.point);
    seen.tracks.push_back(marker.track);
    seen.names.points.push_back(marker.name);
  }
  return make_misfit<dim>(name, observe_points<dim>(space, vector, points), std::move(seen));
}
template <int dim>
std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>& space,
                                             const std::vector<Marker<dim>>& markers) {
  return make_points<dim>("markers", PointVector::position, space, markers);
}
template <int dim>
std::unique_ptr<Objective<dim>> make_displacement_field(const fem::FunctionSpace<dim>& space,
                                                        const std::vector<Marker<dim>>& markers) {
  return make_points<dim>("displacement_field", PointVector::displacement, space, markers);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_center_of_mass(const Region<dim>& region, potentials::Density density,
                                                    Track<dim> target) {
  return make_misfit<dim>("center_of_mass",
                          observe_center_of_mass<dim>("center_of_mass", region, std::move(density)),
                          Comparison<dim>{{{}, {"x", "y", "z"}}, {std::move(target)}});
}
template <int dim>
std::unique_ptr<Objective<dim>> make_height(const Region<dim>& region, potentials::Density density,
                                            int axis) {
  return make_component<dim>("height", observe_center_of_mass<dim>("height", region, std::move(density)),
                             axis, -1);
}
template <int dim>
std::unique_ptr<Objective<dim>> make_position_integral(const Region<dim>& region, int axis) {
  return make_component<dim>("position_integral", observe_volume_moment<dim>(region), axis);
}

template <int dim>
std::unique_ptr<Objective<dim>>
make_target_displacement(const Region<dim>& region, ReferenceField reference,
                         const std::optional<potentials::FacetSelection>& facets = {},
                         std::vector<int> components = {}) {
  return make_square<dim>("target_displacement",
                          observe_deviation<dim>("target_displacement", region, VectorField::displacement,
                                                 std::move(reference), facets, std::move(components)));
}
template <int dim>
std::unique_ptr<Objective<dim>>
make_target_position(const Region<dim>& region, ReferenceField reference,
                     const std::optional<potentials::FacetSelection>& facets = {},
                     std::vector<int> components = {}) {
  return make_square<dim>("target_position",
                          observe_deviation<dim>("target_position", region, VectorField::position,
                                                 std::move(reference), facets, std::move(components)));
}
template <int dim>
std::unique_ptr<Objective<dim>> make_velocity(const Region<dim>& region,
                                              const Eigen::Matrix<double, dim, 1>& target) {
  auto reference = nodal_reference<dim>(*region.space, [target](const auto&, double) { return target; });
  return make_square<dim>(
      "velocity", observe_deviation<dim>("velocity", region, VectorField::velocity, std::move(reference)));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic) {
  return make_component<dim>("elastic_energy",
                             observe_elastic_energy<dim>(std::move(region), std::move(elastic)), 0);
}
template <int dim>
std::unique_ptr<Objective<dim>>
make_contact_force_norm(Region<dim> region, potentials::ContactState<dim>& contact, double stiffness,
                        ObstacleMotion obstacles = nullptr, std::vector<char> nodes = {}) {
  return make_square<dim>("contact_force_norm",
                          observe_contact_forces<dim>(std::move(region), {std::shared_ptr<void>(), &contact},
                                                      stiffness, std::move(obstacles), std::move(nodes)));
}
template <int dim>
std::unique_ptr<Objective<dim>> make_reaction_force(const fem::FunctionSpace<dim>& space,
                                                    Reaction<dim> reaction, Track<1> track,
                                                    Travel travel = nullptr) {
  reaction.layout = space.layout();
  reaction.depends_on_step = reaction.enter_state != nullptr;
  return make_misfit<dim>(
      "reaction_force", observe_reaction<dim>(std::move(reaction)),
      Comparison<1>{{{}, {"force"}}, {std::move(track)}, Measured::force, std::move(travel)});
}

} // namespace recoil::objectives

#include "recoil/solvers/async_contact/shell.hpp"

#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/surface/shape.hpp"

namespace recoil::solvers::async_contact {

namespace {

template <std::size_t n>
std::array<LocalIndex, n> shifted(std::array<LocalIndex, n> of, LocalIndex by) {
  for (LocalIndex& v : of) v += by;
  return of;
}

template <std::size_t n>
Points<static_cast<int>(n)> rest_points(const Model& model, const std::array<LocalIndex, n>& of) {
  Points<static_cast<int>(n)> x;
  for (std::size_t i = 0; i < n; ++i) x.col(i) = model.positions[of[i]];
  return x;
}

template <std::size_t n>
Eigen::Matrix<double, static_cast<int>(n), 1> inverse_masses(const Model& model,
                                                             const std::array<LocalIndex, n>& of) {
  Eigen::Matrix<double, static_cast<int>(n), 1> result;
  for (std::size_t i = 0; i < n; ++i) result[i] = 1 / model.masses[of[i]];
  return result;
}

/// Step of an element of the given greatest squared frequency.
double stable_step(double alpha, double squared_frequency) {
  return alpha * 2 / std::sqrt(squared_frequency);
}

/// Damping c next to stiffness k has the rate c / k w^2, and the rate of the whole shell at a vertex is a few
/// times this of one element. It lags behind by half a step, which is stable where the step is well below its
/// time.
double damped_step(double step, double damping, double stiffness, double squared_frequency) {
  return damping > 0 ? std::min(step, 0.1 * stiffness / (damping * squared_frequency)) : step;
}

/// Inverse masses for the frequency of a hinge. At rest the angle may not depend on the free vertices beside
/// held ones, as it does later: these count as light as the lightest.
Eigen::Vector4d free_masses(const Eigen::Vector4d& inverse) {
  return inverse.minCoeff() == 0 ? Eigen::Vector4d::Constant(inverse.maxCoeff()) : inverse;
}

} // namespace

ShellMaterial solid_shell(double youngs_modulus, double poisson, double thickness, double density) {
  return {.stretching_stiffness = youngs_modulus * thickness,
          .poisson = poisson,
          .bending_stiffness = youngs_modulus * std::pow(thickness, 3) / (72 * (1 - poisson * poisson)),
          .area_density = density * thickness};
}

LocalIndex add_shell(Model& model, const surface::Surface<3>& surface, const ShellMaterial& material) {
  if (surface.comm().size() > 1)
    throw InputError("a shell of asynchronous contact is on one rank: run it on one");
  const LocalIndex first = model.num_vertices();
  for (const auto& vertex : surface.vertices()) {
    const bool prescribed = vertex.prescribed == 7;
    model.add_vertex(Eigen::Vector3d(vertex.rest.data()), Eigen::Vector3d::Zero(),
                     prescribed ? prescribed_mass : vertex.area * material.area_density);
    model.points.push_back(model.num_vertices() - 1);
  }
  for (const auto& edge : surface.edges()) model.edges.push_back(shifted(edge, first));
  for (const auto& face : surface.faces()) {
    const auto vertices = shifted(face, first);
    model.triangles.push_back(vertices);
    Membrane membrane = make_membrane(vertices, rest_points(model, vertices), material.stretching_stiffness,
                                      material.poisson);
    if (!(membrane.area > 0))
      throw InputError(fmt::format("triangle of vertices {}, {}, {} has no area: take it out of the mesh",
                                   face[0], face[1], face[2]));
    const double most = inverse_masses(model, vertices).maxCoeff();
    if (most == 0) continue;
    membrane.damping = material.stretch_damping;
    const double squared = squared_frequency(membrane, 1 / most);
    membrane.step =
        damped_step(stable_step(material.alpha, squared), membrane.damping, membrane.stiffness, squared);
    if (membrane.stiffness > 0) model.membranes.push_back(membrane);
  }
  const surface::Hinges<3> found = surface::find_hinges<3>(surface);
  for (const auto& of : found.hinges) {
    const auto vertices = shifted(of, first);
    const auto inverse = inverse_masses(model, vertices);
    if (inverse.maxCoeff() == 0 || !(material.bending_stiffness > 0)) continue;
    const Points<4> rest = rest_points(model, vertices);
    BendingHinge hinge = make_hinge(vertices, rest, material.bending_stiffness);
    hinge.yield_angle = material.yield_angle;
    hinge.damping = hinge.coefficient * material.bend_damping / material.bending_stiffness;
    const double squared = squared_frequency(hinge, rest, free_masses(inverse));
    hinge.step = damped_step(stable_step(material.alpha, squared), hinge.damping, hinge.coefficient, squared);
    model.hinges.push_back(hinge);
  }
  return first;
}

} // namespace recoil::solvers::async_contact

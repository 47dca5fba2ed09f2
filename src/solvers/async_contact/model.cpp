#include "recoil/solvers/async_contact/model.hpp"

#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "solvers/async_contact/contact_pair.hpp"

namespace recoil::solvers::async_contact {

LocalIndex Model::add_vertex(const Eigen::Vector3d& position, const Eigen::Vector3d& velocity, double mass,
                             double radius) {
  positions.push_back(position);
  velocities.push_back(velocity);
  masses.push_back(mass);
  radii.push_back(radius);
  return num_vertices() - 1;
}

LocalIndex Model::add_sphere(const Eigen::Vector3d& position, const Eigen::Vector3d& velocity, double mass,
                             double radius) {
  spheres.push_back(add_vertex(position, velocity, mass, radius));
  return spheres.back();
}

LocalIndex Model::add_plane(const Eigen::Vector3d& point, const Eigen::Vector3d& normal,
                            const Eigen::Vector3d& velocity) {
  planes.push_back({add_vertex(point, velocity, prescribed_mass), normal.normalized()});
  return planes.back().vertex;
}

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw InputError(what);
}

template <class List>
void check_vertices(const Model& model, const List& list, const char* name) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto check_one = [&](LocalIndex v) {
      require(v >= 0 && v < model.num_vertices(),
              fmt::format("{} {} names vertex {} of {}: use vertices that exist", name, i, v,
                          model.num_vertices()));
    };
    if constexpr (requires { list[i].vertices; })
      for (const LocalIndex v : list[i].vertices) check_one(v);
    else if constexpr (requires { list[i].vertex; })
      check_one(list[i].vertex);
    else if constexpr (requires { list[i].size(); })
      for (const LocalIndex v : list[i]) check_one(v);
    else
      check_one(list[i]);
  }
  if constexpr (!requires { list[0].entries; })
    require(list.size() < std::size_t(1) << primitive_bits,
            fmt::format("{} {}: at most {} can collide", list.size(), name, (1 << primitive_bits) - 1));
}

template <class List>
void check_steps(const Model& model, const List& list, const char* name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    require(list[i].step >= model.tick.seconds() && list[i].step < 1e6,
            fmt::format("{} {} has a step of {} s: give it one of at least a tick, {} s", name, i,
                        list[i].step, model.tick.seconds()));
}

} // namespace

void check(const Model& model) {
  const std::size_t n = model.positions.size();
  require(n > 0, "the model has no vertices: add some");
  require(
      model.velocities.size() == n && model.masses.size() == n && model.radii.size() == n,
      "positions, velocities, masses and radii of vertices differ in number: give one of each per vertex");
  for (std::size_t v = 0; v < n; ++v) {
    require(model.positions[v].allFinite() && model.velocities[v].allFinite(),
            fmt::format("vertex {} has a position or velocity that is not finite", v));
    require(model.masses[v] > 0,
            fmt::format("vertex {} has mass {}: give a positive one", v, model.masses[v]));
    require(model.radii[v] >= 0,
            fmt::format("vertex {} has radius {}: give one that is not negative", v, model.radii[v]));
  }
  check_vertices(model, model.springs, "spring");
  check_vertices(model, model.membranes, "membrane");
  check_vertices(model, model.hinges, "hinge");
  check_vertices(model, model.solids, "solid");
  check_vertices(model, model.loads, "load");
  check_vertices(model, model.scripts, "script");
  check_vertices(model, model.points, "point");
  check_vertices(model, model.spheres, "sphere");
  check_vertices(model, model.edges, "edge");
  check_vertices(model, model.triangles, "triangle");
  check_vertices(model, model.planes, "plane");
  check_steps(model, model.springs, "spring");
  check_steps(model, model.membranes, "membrane");
  check_steps(model, model.hinges, "hinge");
  check_steps(model, model.solids, "solid");
  check_steps(model, model.loads, "load");
  require((model.gravity.isZero(0) && !model.acceleration) || model.gravity_step >= model.tick.seconds(),
          fmt::format("gravity has a step of {} s: give it one of at least a tick", model.gravity_step));
  for (const Plane& plane : model.planes)
    require(std::isinf(model.masses[plane.vertex]),
            fmt::format("vertex {} carries a plane and has a finite mass: prescribe it", plane.vertex));
  for (std::size_t i = 0; i < model.scripts.size(); ++i) {
    double last = 0;
    for (const LocalIndex v : model.scripts[i].vertices)
      require(std::isinf(model.masses[v]),
              fmt::format("script {} moves vertex {}, which has a finite mass: prescribe it", i, v));
    for (const Script::Entry& entry : model.scripts[i].entries) {
      require(entry.time > last, fmt::format("script {}: times must ascend and be later than 0", i));
      last = entry.time;
    }
  }
  const ContactSettings& contact = model.contact;
  require(contact.eta > 0 && contact.stiffness > 0, "contact: eta and stiffness must be positive");
  require(contact.alpha > 0 && contact.alpha <= 0.5, "contact: alpha must be between 0 and 0.5");
  require(contact.restitution >= 0 && contact.restitution <= 1,
          "contact: restitution must be between 0 and 1");
  require(contact.friction >= 0 && contact.anchor_stiffness >= 0,
          "contact: friction and anchor_stiffness must not be negative");
  require(contact.max_layers >= 1 && contact.max_layers < 1 << (62 - pair_bits),
          "contact: max_layers must be between 1 and 16383");
}

} // namespace recoil::solvers::async_contact

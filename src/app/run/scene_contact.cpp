#include "recoil/app/run/scene_contact.hpp"

#include <algorithm>
#include <map>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// Numbers of bodies as contact counts them: deformable bodies, obstacles, planes.
std::map<std::string, std::int32_t> body_numbers(const Scene& scene, const std::vector<std::string>& bodies,
                                                 const std::vector<std::string>& obstacles) {
  std::map<std::string, std::int32_t> numbers;
  const auto add = [&](const std::string& name) {
    const std::int32_t number = numbers.size();
    numbers.emplace(name, number);
  };
  for (const std::string& name : bodies) add(name);
  for (const std::string& name : obstacles) add(name);
  for (const PlaneObstacle& plane : scene.planes) add(plane.name);
  return numbers;
}

} // namespace

const DirichletEntry* find_obstacle_motion(const BoundaryConditions& conditions, int id) {
  if (id < 0) return nullptr;
  for (const auto* list : {&conditions.obstacle_displacements, &conditions.dirichlet})
    for (const DirichletEntry& entry : *list)
      if (acts_on(entry, id)) return &entry;
  return nullptr;
}

template <int dim>
std::vector<potentials::Plane<dim>> build_planes(const Scene& scene, std::size_t num_before) {
  std::vector<potentials::Plane<dim>> result;
  for (const PlaneObstacle& plane : scene.planes) {
    if (dim == 2 && plane.normal.z() != 0)
      throw InputError(plane.where, "the normal of a plane must have no z component in a 2D scene");
    const auto number = static_cast<std::int32_t>(num_before + result.size());
    result.push_back(
        {plane.point.template head<dim>(), plane.normal.template head<dim>().normalized(), number});
  }
  return result;
}

potentials::FrictionCoefficients friction_coefficients(const Scene& scene,
                                                       const std::vector<std::string>& bodies,
                                                       const std::vector<std::string>& obstacles) {
  const ContactSpec& contact = scene.contact;
  if (contact.friction_coefficient == 0 && contact.friction_pairs.empty()) return {};
  const std::map<std::string, std::int32_t> numbers = body_numbers(scene, bodies, obstacles);
  // The pairs of the scene in their order, then all others.
  std::vector<double> values;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> of_pair;
  for (const FrictionPair& pair : contact.friction_pairs) {
    of_pair[std::minmax(numbers.at(pair.bodies[0]), numbers.at(pair.bodies[1]))] = values.size();
    values.push_back(pair.coefficient);
  }
  const std::size_t others = values.size();
  values.push_back(contact.friction_coefficient);
  return {values, [of_pair, others](std::int32_t a, std::int32_t b) {
            const auto found = of_pair.find(std::minmax(a, b));
            return found != of_pair.end() ? found->second : others;
          }};
}

double contact_distance(const ContactSpec& contact, double diagonal) {
  return contact.dhat_relative ? *contact.dhat_relative * diagonal : contact.dhat;
}

template std::vector<potentials::Plane<2>> build_planes(const Scene&, std::size_t);
template std::vector<potentials::Plane<3>> build_planes(const Scene&, std::size_t);

} // namespace recoil::app

#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

/// Cuts a list of components to `dim`; what is cut off must be zero.
template <class Component, class IsZero>
void cut(std::vector<Component>& components, int dim, const std::string& where, const char* what,
         IsZero is_zero) {
  if (std::ssize(components) < dim)
    throw InputError(where, std::string(what) + " needs " + std::to_string(dim) + " components in " +
                                std::to_string(dim) + "D, has " + std::to_string(components.size()));
  while (std::ssize(components) > dim) {
    if (!is_zero(components.back()))
      throw InputError(where,
                       std::string(what) + " has a third component that is not zero, but the mesh is 2D");
    components.pop_back();
  }
}

bool is_zero_value(const MaterialValue& value) { return constant_of(value) == 0; }
bool is_zero_component(const ComponentValue& component) {
  return !component.constrained ||
         (std::ranges::all_of(component.per_time, is_zero_value) && is_zero_value(component.value));
}

void cut_initial_conditions(InitialConditions& initial, int dim) {
  for (auto* fields : {&initial.velocity, &initial.solution, &initial.acceleration})
    for (auto& field : *fields)
      if (!field.nodes) cut(field.value, dim, field.region.where, "`value`", is_zero_value);
  for (const auto& spin : initial.angular_velocity) {
    const std::size_t expected = dim == 2 ? 1 : 3;
    if (spin.value.size() != expected)
      throw InputError(spin.region.where, "`value` of an angular velocity needs " +
                                              std::string(dim == 2 ? "one number" : "three numbers") +
                                              " in " + std::to_string(dim) + "D, has " +
                                              std::to_string(spin.value.size()));
  }
}

} // namespace

void set_dimension(Scene& scene, int dim) {
  auto& conditions = scene.boundary_conditions;
  const auto root = scene.file.string();
  cut(conditions.rhs, dim, root + " (/boundary_conditions/rhs)", "`rhs`", is_zero_value);
  cut(scene.gravity, dim, root + " (/gravity)", "`gravity`", is_zero_value);
  for (auto* list : {&conditions.dirichlet, &conditions.obstacle_displacements})
    for (auto& entry : *list)
      if (entry.node_file.empty()) cut(entry.value, dim, entry.where, "`value`", is_zero_component);
  for (auto& entry : conditions.neumann) cut(entry.value, dim, entry.where, "`value`", is_zero_value);
  cut_initial_conditions(scene.initial_conditions, dim);
}

} // namespace recoil::app

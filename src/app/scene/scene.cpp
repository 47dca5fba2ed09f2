#include "recoil/app/scene/scene.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

template <class Value>
bool holds(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

} // namespace

double DirichletEntry::evaluate(int c, const ExpressionPoint& point) const {
  const auto& component = value[static_cast<std::size_t>(c)];
  const double factor = time_factor(interpolation, c, point.t);
  if (component.per_time.empty()) return factor * component.value(point);
  for (std::size_t i = 0; i < time_reference.size(); ++i)
    if (std::round(time_reference[i] * 1000) == std::round(point.t * 1000))
      return factor * component.per_time[i](point);
  throw InputError(where, "`time_reference` has no entry for t = " + std::to_string(point.t) +
                              "; every time step must hit one within 1e-3");
}

int find_material_index(const Scene& scene, const std::string& body, int volume_id) {
  for (std::size_t i = scene.materials.size(); i-- > 0;) {
    const auto& material = scene.materials[i];
    if (material.everywhere || holds(material.ids, volume_id) || holds(material.bodies, body))
      return static_cast<int>(i);
  }
  return -1;
}

const MaterialEntry* find_material(const Scene& scene, const std::string& body, int volume_id) {
  const int index = find_material_index(scene, body, volume_id);
  return index < 0 ? nullptr : &scene.materials[static_cast<std::size_t>(index)];
}

int order_of_body(const Scene& scene, const std::string& body) {
  for (const auto& [name, order] : scene.space.body_orders)
    if (name == body) return order;
  return scene.space.order;
}

bool contains(const Region& region, const std::string& body, int volume_id) {
  return holds(region.ids, volume_id) || holds(region.bodies, body);
}

} // namespace recoil::app

#include "app/study/parameters/checks.hpp"

#include "app/study/scene_facts.hpp"
#include "recoil/app/scene/build.hpp"

namespace recoil::app {

bool is_static(const Scene& scene) { return scene.time.kind == TimeKind::statics; }

std::string quoted(const Varying& varying) { return "'" + varying.formula + "' at " + varying.where; }

std::vector<const mesh::GeometrySpec*> bodies_of(const ExperimentScene& at, const ParameterSpec& parameter) {
  std::vector<const mesh::GeometrySpec*> bodies;
  for (const mesh::GeometrySpec& body : at.scene.geometry)
    if (!body.is_obstacle && (parameter.bodies.empty() ||
                              std::ranges::find(parameter.bodies, body.name) != parameter.bodies.end()))
      bodies.push_back(&body);
  return bodies;
}

void require_bodies_and_regions(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_deformable(at, parameter.bodies, parameter.where.of("body"));
  const auto bodies = bodies_of(at, parameter);
  for (const int id : parameter.regions) {
    std::set<int> known;
    const bool found = std::ranges::any_of(bodies, [&](const mesh::GeometrySpec* body) {
      const KnownIds ids = volume_ids(*body);
      known.insert(ids.ids.begin(), ids.ids.end());
      return ids.may_hold(id) && find_material_index(at.scene, body->name, id) >= 0;
    });
    if (!found)
      at.fail(parameter.where, "region",
              "no element of these bodies has the volume id " + std::to_string(id) +
                  " and a material; ids there: " + list_of(known));
  }
}

void require_contact(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (!at.scene.contact.enabled)
    at.fail(parameter.where, "quantity",
            std::string(parameter.kind->name) +
                " is not used: contact is off; set contact/enabled to true in " + at.scene.file.string() +
                ", or drop the parameter");
}

bool may_turn(const ExperimentScene& at, const ParameterSpec& other, const std::string& body) {
  return other.kind->turns_bodies && at.has(other) &&
         (other.bodies.empty() || std::ranges::find(other.bodies, body) != other.bodies.end());
}

void refuse_replaced(const ExperimentScene& at, const ParameterSpec& parameter,
                     const std::vector<Varying>& varying, const char* how) {
  if (varying.empty()) return;
  at.fail(parameter.where, "quantity",
          "'" + parameter.name + "' would replace " + quoted(varying.front()) + ", which varies in " + how);
}

std::string ids_of(const std::set<int>& ids, bool all) { return all ? "\"all\"" : list_of(ids); }

} // namespace recoil::app

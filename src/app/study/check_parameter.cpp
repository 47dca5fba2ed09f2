#include <algorithm>

#include "app/study/check_against_scenes.hpp"
#include "app/study/objectives/objective_type.hpp"
#include "app/study/scene_facts.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

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

/// Volume ids that can be known not to be there.
void require_regions(const ExperimentScene& at, const ParameterSpec& parameter) {
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

void check_material(const ExperimentScene& at, const ParameterSpec& parameter) {
  for (const mesh::GeometrySpec* body : bodies_of(at, parameter)) {
    const auto materials = possible_materials(at.scene, *body, parameter.regions);
    // Which of several materials the elements have is known with the mesh only.
    std::string first;
    for (const MaterialEntry* material : materials) {
      try {
        check_replaces_material(parameter, *material, body->name);
        first.clear();
        break;
      } catch (const InputError& error) {
        if (first.empty()) first = error.what();
      }
    }
    if (!first.empty()) throw InputError(first + " (experiment '" + at.experiment.name + "')");
  }
}

/// Whether a parameter turns a body at the start.
bool may_turn(const ExperimentScene& at, const ParameterSpec& other, const std::string& body) {
  return other.quantity == Quantity::initial_angular_velocity && at.has(other) &&
         (other.bodies.empty() || std::ranges::find(other.bodies, body) != other.bodies.end());
}

/// A spin without a centre turns about the centre of mass.
void refuse_centres_of_mass(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto fail = [&](const std::string& what) {
    at.fail(parameter.where, "quantity",
            what + " turns about the centre of mass, which moves with density, and that has no derivative; "
                   "give the spin in the scene a `center`");
  };
  const auto& spins = at.scene.initial_conditions.angular_velocity;
  for (const AngularVelocity& spin : spins)
    if (!spin.center && may_overlap(spin.region, at.scene, parameter.bodies, parameter.regions))
      fail("the spin at " + spin.region.where);
  for (const mesh::GeometrySpec* body : bodies_of(at, parameter)) {
    const bool centred = std::ranges::any_of(spins, [&](const AngularVelocity& spin) {
      return spin.center && spin.region.bodies == std::vector{body->name};
    });
    for (const ParameterSpec& other : at.study.parameters)
      if (!centred && may_turn(at, other, body->name)) fail("'" + other.name + "'");
  }
}

void check_density(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (at.scene.time.kind == TimeKind::dynamic) refuse_centres_of_mass(at, parameter);
  const bool weighs = std::ranges::any_of(at.study.objectives, [&](const auto& objective) {
    return objective->experiment == at.index && objective->type->weighs;
  });
  if (at.scene.time.kind == TimeKind::dynamic || has_body_force(at.scene) ||
      at.has_parameter(Quantity::body_force) || weighs)
    return;
  at.fail(parameter.where, "quantity",
          "density is not used: the scene has no inertia (it is " +
              std::string(is_static(at.scene) ? "static" : "quasistatic") +
              ") and no body force; give it `gravity` or `time`, or drop the parameter");
}

void check_damping(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (is_static(at.scene))
    at.fail(parameter.where, "quantity",
            std::string(info(parameter.quantity).name) +
                " is not used: a static scene has no rates; give it `time`, or drop the parameter");
}

void require_contact(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (!at.scene.contact.enabled)
    at.fail(parameter.where, "quantity",
            std::string(info(parameter.quantity).name) +
                " is not used: contact is off; set contact/enabled to true in " + at.scene.file.string() +
                ", or drop the parameter");
}

void check_friction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto deformable = deformable_names(at.scene), obstacles = obstacle_names(at.scene);
  auto all = deformable;
  all.insert(all.end(), obstacles.begin(), obstacles.end());
  const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const std::string& name : parameter.bodies)
    if (!holds(all, name))
      at.fail(parameter.where, "bodies", "there is no body '" + name + "'" + did_you_mean(name, all));
  require_contact(at, parameter);
  if (holds(obstacles, parameter.bodies[0]) && holds(obstacles, parameter.bodies[1]))
    at.fail(parameter.where, "bodies",
            "'" + parameter.bodies[0] + "' and '" + parameter.bodies[1] +
                "' are obstacles, which never touch each other; name a deformable body");
  if (at.scene.contact.friction_iterations == 0)
    at.fail(parameter.where, "quantity",
            "friction is switched off by solver/contact/friction_iterations = 0 in " +
                at.scene.file.string() + "; use 1 or -1");
}

void refuse_replaced(const ExperimentScene& at, const ParameterSpec& parameter,
                     const std::vector<Varying>& varying, const char* how) {
  if (varying.empty()) return;
  at.fail(parameter.where, "quantity",
          "'" + parameter.name + "' would replace " + quoted(varying.front()) + ", which varies in " + how);
}

/// A spin of several bodies, or of volumes, turns them about one centre, which none of them would keep.
void check_replaced_spins(const ExperimentScene& at, const ParameterSpec& parameter) {
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity) {
    const bool of_one_body = spin.region.ids.empty() && spin.region.bodies.size() == 1;
    if (!of_one_body && may_overlap(spin.region, at.scene, parameter.bodies, {}))
      at.fail(parameter.where, "quantity",
              "'" + parameter.name + "' would replace part of the spin at " + spin.region.where +
                  "; write one entry with one `body` for every body there");
  }
}

void check_initial(const ExperimentScene& at, const ParameterSpec& parameter) {
  const std::string name = info(parameter.quantity).name;
  const bool displacement = parameter.quantity == Quantity::initial_displacement;
  if (is_static(at.scene))
    at.fail(parameter.where, "quantity",
            name +
                " is not used: the scene is static (it has no `time`); drop the parameter or give it time");
  if (at.scene.time.kind == TimeKind::quasistatic && !displacement)
    at.fail(parameter.where, "quantity", name + " is not used: a quasistatic scene has no inertia");
  const bool rubbed = has_friction(at.scene) || at.has_parameter(Quantity::friction);
  const bool follows = !at.scene.boundary_conditions.normal_aligned_neumann.empty();
  if (at.scene.time.kind == TimeKind::quasistatic && !rubbed && !has_damping(at.scene) && !follows)
    at.fail(parameter.where, "quantity",
            name + " is not used: a quasistatic scene without friction, damping and normal tractions does "
                   "not depend on where it starts");
  if (parameter.quantity == Quantity::initial_angular_velocity) return check_replaced_spins(at, parameter);
  const auto& initial = at.scene.initial_conditions;
  for (const InitialField& field : displacement ? initial.solution : initial.velocity)
    if (parameter.per != Per::vertex &&
        may_overlap(field.region, at.scene, parameter.bodies, parameter.regions))
      refuse_replaced(at, parameter, position_dependence(field.value, field.region.where),
                      "space; write numbers there, or give the parameter one value per vertex");
}

void refuse_replaced_motion(const ExperimentScene& at, const ParameterSpec& parameter,
                            const DirichletEntry& entry) {
  refuse_replaced(at, parameter, position_dependence(entry), "space; write numbers or formulas of t there");
  if (!parameter.per_step && !is_static(at.scene))
    refuse_replaced(at, parameter, time_dependence(entry),
                    "time; write \"per_step\": true, or a number there with an `interpolation`");
}

std::string ids_of(const std::set<int>& ids, bool all) { return all ? "\"all\"" : list_of(ids); }

/// The entry with the id of a parameter, or the only one where it gives none.
template <class Entry>
const Entry& find_entry(const ExperimentScene& at, const ParameterSpec& parameter,
                        const std::vector<Entry>& entries, const std::string& list, const std::string& hint) {
  std::set<int> ids;
  bool all = false;
  for (const Entry& entry : entries) {
    ids.insert(entry.ids.begin(), entry.ids.end());
    all = all || entry.all;
    if (parameter.boundary ? acts_on(entry, *parameter.boundary) : entries.size() == 1) return entry;
  }
  const std::string name = info(parameter.quantity).name;
  if (!parameter.boundary && entries.size() > 1)
    at.fail(parameter.where, "quantity",
            name + " needs `boundary`: " + list + " has several entries, with the ids " + list_of(ids));
  at.fail(parameter.where, "boundary",
          name + " is not used: there is no " + list +
              (parameter.boundary ? " with the id " + std::to_string(*parameter.boundary) +
                                        "; ids there: " + ids_of(ids, all)
                                  : "") +
              hint);
}

/// A parameter stands for the value of whole entries, so two must not share one.
template <class Entry>
void refuse_shared_entries(const ExperimentScene& at, const ParameterSpec& parameter,
                           const std::vector<Entry>& entries) {
  for (const ParameterSpec& other : at.study.parameters) {
    if (&other == &parameter) return;
    if (other.quantity != parameter.quantity || !at.has(other)) continue;
    for (const Entry& entry : entries)
      if ((!other.boundary || acts_on(entry, *other.boundary)) &&
          (!parameter.boundary || acts_on(entry, *parameter.boundary)))
        at.fail(parameter.where, parameter.boundary ? "boundary" : "quantity",
                "'" + parameter.name + "' and '" + other.name + "' would both set the value of " +
                    entry.where + "; split it into one entry for each");
  }
}

void check_dirichlet(const ExperimentScene& at, const ParameterSpec& parameter) {
  const int id = *parameter.boundary;
  const KnownIds surfaces = surface_ids(at.scene);
  const auto obstacle = std::ranges::find_if(at.scene.geometry, [&](const mesh::GeometrySpec& body) {
    return body.is_obstacle && body.obstacle_id == id;
  });
  if (!surfaces.may_hold(id) && obstacle != at.scene.geometry.end())
    at.fail(parameter.where, "boundary",
            "the id " + std::to_string(id) + " is that of obstacle '" + obstacle->name +
                "'; take the quantity obstacle_motion with \"body\": \"" + obstacle->name + "\"");
  if (!surfaces.may_hold(id))
    at.fail(parameter.where, "boundary",
            "no facet has the surface id " + std::to_string(id) +
                "; ids in this scene: " + list_of(surfaces.ids));
  const DirichletEntry& entry = find_entry(at, parameter, at.scene.boundary_conditions.dirichlet,
                                           "boundary_conditions/dirichlet_boundary", "");
  for (const mesh::GeometrySpec& body : at.scene.geometry)
    if (body.is_obstacle && find_motion_of(at.scene, body) == &entry)
      at.fail(parameter.where, "boundary",
              entry.where + " also moves the obstacle '" + body.name +
                  "'; give the obstacle an entry of `obstacle_displacements`");
  refuse_replaced_motion(at, parameter, entry);
  refuse_shared_entries(at, parameter, at.scene.boundary_conditions.dirichlet);
}

void check_obstacle_motion(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_contact(at, parameter);
  const auto names = mesh_obstacle_names(at.scene);
  for (const std::string& name : parameter.bodies) {
    if (std::ranges::find(names, name) != names.end()) continue;
    if (is_plane(at.scene, name))
      at.fail(parameter.where, "body", "'" + name + "' is a plane, and planes do not move; use a mesh");
    if (find_geometry(at.scene, name))
      at.fail(parameter.where, "body",
              "'" + name + "' is deformable; take the quantity dirichlet_value with its `boundary`");
    at.fail(parameter.where, "body", "there is no obstacle '" + name + "'" + did_you_mean(name, names));
  }
  if (names.empty())
    at.fail(parameter.where, "quantity",
            "obstacle_motion is not used: the scene has no obstacle with a mesh");
  for (const std::string& name : parameter.bodies.empty() ? names : parameter.bodies)
    if (const DirichletEntry* entry = find_motion_of(at.scene, *find_geometry(at.scene, name)))
      refuse_replaced_motion(at, parameter, *entry);
}

void refuse_replaced_load(const ExperimentScene& at, const ParameterSpec& parameter,
                          const std::vector<Varying>& in_space, const std::vector<Varying>& in_time) {
  refuse_replaced(at, parameter, in_space, "space; write numbers there");
  if (!is_static(at.scene))
    refuse_replaced(at, parameter, in_time,
                    parameter.quantity == Quantity::body_force
                        ? "time; write numbers there"
                        : "time; write numbers there, with an `interpolation`");
}

/// Derivatives by pressures and by normal tractions are kept together, per facet.
void refuse_normal_traction(const ExperimentScene& at, const ParameterSpec& parameter,
                            const PressureEntry& pressure) {
  for (const PressureEntry& other : at.scene.boundary_conditions.normal_aligned_neumann)
    if (pressure.all || other.all ||
        std::ranges::find_first_of(pressure.ids, other.ids) != pressure.ids.end())
      at.fail(parameter.where, "quantity",
              pressure.where + " and " + other.where +
                  " load the same facets, and their derivatives cannot be told apart; give them facets of "
                  "their own");
}

void check_load(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& conditions = at.scene.boundary_conditions;
  if (parameter.quantity == Quantity::traction) {
    const auto& entry = find_entry(at, parameter, conditions.neumann, "boundary_conditions/neumann_boundary",
                                   "; add an entry with this id, its value may be zero");
    refuse_replaced_load(at, parameter, position_dependence(entry.value, entry.where),
                         time_dependence(entry.value, entry.where));
    refuse_shared_entries(at, parameter, conditions.neumann);
  } else if (parameter.quantity == Quantity::pressure) {
    const std::string hint = conditions.normal_aligned_neumann.empty()
                                 ? "; add an entry with this id, its value may be zero"
                                 : " (normal_aligned_neumann_boundary is another load)";
    const auto& entry =
        find_entry(at, parameter, conditions.pressure, "boundary_conditions/pressure_boundary", hint);
    refuse_replaced_load(at, parameter, position_dependence(entry.formulas(), entry.where),
                         time_dependence(entry));
    refuse_normal_traction(at, parameter, entry);
    refuse_shared_entries(at, parameter, conditions.pressure);
  } else {
    const std::string where = at.scene.file.string() + " (/boundary_conditions/rhs)";
    refuse_replaced_load(at, parameter, position_dependence(conditions.rhs, where),
                         time_dependence(conditions.rhs, where));
  }
}

void refuse_spins(const ExperimentScene& at, const ParameterSpec& parameter,
                  const std::vector<std::string>& moved) {
  if (at.scene.time.kind == TimeKind::statics) return;
  const auto fail = [&](const std::string& what) {
    at.fail(parameter.where, "quantity",
            "a shape moves what " + what +
                " turns, and that has no derivative; drop one of the two, or move "
                "other bodies (`body`)");
  };
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity)
    if (may_overlap(spin.region, at.scene, moved, {})) fail("the spin at " + spin.region.where);
  for (const ParameterSpec& other : at.study.parameters)
    for (const std::string& body : moved)
      if (may_turn(at, other, body)) fail("'" + other.name + "' (initial_angular_velocity)");
}

void check_shape(const ExperimentScene& at, const ParameterSpec& parameter) {
  for (const std::string& name : parameter.bodies) {
    if (is_plane(at.scene, name))
      at.fail(parameter.where, "body", "'" + name + "' is a plane, which has no vertices; use a mesh");
    if (const auto* body = find_geometry(at.scene, name); body && body->is_obstacle)
      at.fail(parameter.where, "body",
              "'" + name +
                  "' is an obstacle, and the shape of obstacles has no derivative; obstacle_motion moves it "
                  "as a whole");
  }
  require_deformable(at, parameter.bodies, parameter.where.of("body"));
  const auto moved = parameter.bodies.empty() ? deformable_names(at.scene) : parameter.bodies;
  if (const auto varying = position_dependence(at.scene, moved); !varying.empty())
    at.fail(parameter.where, "quantity",
            "a shape moves the points where " + quoted(varying.front()) +
                " is evaluated, and that has no derivative; write numbers there");
  refuse_spins(at, parameter, moved);
  if (at.scene.contact.enabled && at.scene.contact.dhat_relative)
    at.fail(parameter.where, "quantity",
            "a shape changes the bounding box that contact/dhat_relative refers to; write contact/dhat in " +
                at.scene.file.string());
}

} // namespace

void check_parameter(const ExperimentScene& at, const ParameterSpec& parameter) {
  const QuantityInfo& quantity = info(parameter.quantity);
  const bool by_region = std::ranges::find(quantity.takes, "region") != quantity.takes.end();
  if (by_region || quantity.group == QuantityGroup::initial)
    require_deformable(at, parameter.bodies, parameter.where.of("body"));
  if (by_region) require_regions(at, parameter);
  switch (quantity.group) {
  case QuantityGroup::material:
    return check_material(at, parameter);
  case QuantityGroup::density:
    check_density(at, parameter);
    return check_material(at, parameter);
  case QuantityGroup::damping:
    check_damping(at, parameter);
    return check_material(at, parameter);
  case QuantityGroup::contact:
    return check_friction(at, parameter);
  case QuantityGroup::initial:
    return check_initial(at, parameter);
  case QuantityGroup::prescribed:
    return parameter.quantity == Quantity::dirichlet_value ? check_dirichlet(at, parameter)
                                                           : check_obstacle_motion(at, parameter);
  case QuantityGroup::load:
    return check_load(at, parameter);
  case QuantityGroup::shape:
    return check_shape(at, parameter);
  }
}

} // namespace recoil::app

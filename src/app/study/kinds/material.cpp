#include <algorithm>
#include <array>
#include <set>

#include "app/study/kinds/common_actions.hpp"
#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

bool is_damping(const ParameterKind& kind) { return kind.constant == "psi" || kind.constant == "phi"; }

/// The quantities that are constants of a material, for a message.
std::string quantities_of(const MaterialEntry& entry) {
  if (entry.law->lame) return "young_modulus, poisson_ratio, lambda or mu_lame";
  std::vector<std::string> names;
  for (const potentials::LawParameter& parameter : entry.law->parameters)
    if (!parameter.quantity.empty() && entry.find(parameter.name)) names.push_back(parameter.quantity);
  return list_names(names, "or");
}

void require_law(const ParameterSpec& parameter, const MaterialEntry& entry, const std::string& body) {
  const ParameterKind& quantity = *parameter.kind;
  const bool known =
      quantity.law ? entry.law == quantity.law && entry.find(quantity.constant) : entry.law->lame;
  if (quantity.is_elastic && !known)
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not a constant of " + entry.type +
                         ", the law of body '" + body + "' at " + entry.where + "; take " +
                         quantities_of(entry) +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
  if (is_damping(quantity) && is_zero(entry.psi) && is_zero(entry.phi))
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not used: the material of body '" + body + "' at " +
                         entry.where + " has no damping; give it a positive `psi` or `phi`" +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
}

void require_one_value(const ParameterSpec& parameter, const MaterialEntry& entry,
                       const MaterialEntry::Constant& constant, const std::string& body) {
  const std::string what = "'" + parameter.name + "' would replace `" + constant.name + "` of body '" + body +
                           "' at " + entry.where;
  if (depends_on_position(constant.value))
    throw InputError(parameter.where.of("quantity"),
                     what + ", a formula that varies in space: '" +
                         std::get<Expression>(constant.value).text() + "'; write a number there" +
                         (parameter.per == Per::element ? ", or values per element" : ""));
  if (const auto* data = std::get_if<ElementData>(&constant.value); data && parameter.per != Per::element)
    throw InputError(parameter.where.of("per"), what + ", which has one value per element (" +
                                                    data->file.string() + ", " + data->dataset +
                                                    "), by one value per " + name_of(parameter.per) +
                                                    "; write \"per\": \"element\", or a number there");
}

void check_materials_of_bodies(const ExperimentScene& at, const ParameterSpec& parameter) {
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

/// A spin without a centre turns about the centre of mass.
void refuse_centres_of_mass(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto fail = [&](const std::string& what) {
    at.fail(parameter,
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

void require_mass_used(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (at.scene.time.kind == TimeKind::dynamic) refuse_centres_of_mass(at, parameter);
  const bool weighs = std::ranges::any_of(at.study.objectives, [&](const auto& objective) {
    return objective->experiment == at.index && objective->type->weighs;
  });
  if (at.scene.time.kind == TimeKind::dynamic || has_body_force(at.scene) ||
      has_parameter(at, "body_force") || weighs)
    return;
  at.fail(parameter, "density is not used: the scene has no inertia (it is " +
                         std::string(is_static(at.scene) ? "static" : "quasistatic") +
                         ") and no body force; give it `gravity` or `time`, or drop the parameter");
}

void require_rates(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (is_static(at.scene))
    at.fail(parameter,
            std::string(parameter.kind->name) +
                " is not used: a static scene has no rates; give it `time`, or drop the parameter");
}

void check_material(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_bodies_and_regions(at, parameter);
  if (parameter.kind->constant == "rho") require_mass_used(at, parameter);
  if (is_damping(*parameter.kind)) require_rates(at, parameter);
  check_materials_of_bodies(at, parameter);
}

/// Refuses constants that the materials of the selected elements do not have, or have as formulas.
template <int dim>
void check_material_cells(const SlotBuilder<dim>& builder, const ParameterSpec& spec) {
  const auto& mesh = builder.geometry.mesh;
  std::set<std::pair<int, std::int32_t>> seen;
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    if (!builder.selects(spec, cell)) continue;
    const std::string& body = mesh.body_names[mesh.cell_body[cell]];
    const int material = find_material_index(builder.scene, body, mesh.cell_volume_id[cell]);
    if (material < 0 || !seen.emplace(material, mesh.cell_body[cell]).second) continue;
    const MaterialEntry& entry = elements_of(builder.scene).materials[material];
    check_replaces_material(spec, entry, body);
    if (spec.kind->constant == "nu" && lame_model(entry, dim) != potentials::LameModel::plane_stress)
      refuse_incompressible(spec, "the material at " + entry.where + ", which is not of plane stress,");
  }
}

template <int dim>
void make_material_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field) {
  const ParameterKind& kind = *field.spec->kind;
  if (kind.parameter != nullptr && dim < kind.parameter->constant->min_dimension)
    builder.refuse(*field.spec, "quantity",
                   "`" + kind.constant + "` of " + std::string(kind.law->name) + " has no effect in " +
                       std::to_string(dim) + "D; leave the parameter out");
  builder.spread(field);
}

/// E and nu act through lambda and mu, with those of a cell.
template <int dim>
void young_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  const DiscreteScene<dim>& discrete = of.discrete;
  const auto lame =
      cell_lame_constants(discrete.scene(), discrete.space(), discrete.materials(), discrete.overrides());
  const int row = of.quantity.name == "lambda" ? 0 : 1,
            column = of.fields.front().spec->kind->constant == "E" ? 0 : 1;
  cell_weights<dim>(of, [&](std::size_t value, std::size_t cell, double weight) {
    const potentials::LameModel model =
        lame_model(elements_of(discrete.scene()).materials[discrete.materials()[cell]], dim);
    const Eigen::Vector2d young = potentials::young_from_lame(lame[cell][0], lame[cell][1], model).values;
    const Eigen::Matrix2d jacobian = potentials::lame_from_young(young[0], young[1], model).jacobian;
    take(value, cell, weight * jacobian(row, column));
  });
}

template <int dim>
ParameterActions<dim> material_actions(bool of_young) {
  return {.make_slots = make_material_slots<dim>,
          .check_cells = check_material_cells<dim>,
          .apply = apply_to_cells<dim>,
          .write = [](const auto& field, std::span<const double>,
                      auto& to) { write_material_constant(field, to); },
          .weights = of_young ? young_weights<dim> : cell_weights<dim>};
}

ParameterKind material_constant(const char* name, const char* unit, Range range, std::string doc,
                                std::string stands_for) {
  const auto of_cells = [](std::string constant) {
    return parameters::Quantity{std::move(constant), parameters::Place::cell};
  };
  const bool of_young = stands_for == "E" || stands_for == "nu";
  std::vector<parameters::Quantity> quantities{of_cells(of_young ? "lambda" : stands_for)};
  if (of_young) quantities.push_back(of_cells("mu"));
  return {.name = name,
          .unit = unit,
          .takes = cell_keys(),
          .per = {Per::global, Per::body, Per::element, Per::vertex},
          .range = range,
          .doc = std::move(doc),
          .constant = std::move(stands_for),
          .quantities = std::move(quantities),
          .check = check_material,
          .by_dimension = {material_actions<2>(of_young), material_actions<3>(of_young)}};
}

ParameterKind elastic_constant(const char* name, const char* unit, Range range, std::string doc,
                               std::string stands_for) {
  ParameterKind kind = material_constant(name, unit, range, std::move(doc), std::move(stands_for));
  kind.is_elastic = true;
  return kind;
}

} // namespace

void check_replaces_material(const ParameterSpec& parameter, const MaterialEntry& material,
                             const std::string& body) {
  if (parameter.kind->constant.empty()) return;
  require_law(parameter, material, body);
  const std::string& name = parameter.kind->constant;
  const bool of_young = name == "E" || name == "nu";
  if (!parameter.kind->is_elastic) {
    const MaterialValue& value = name == "rho" ? material.rho : name == "psi" ? material.psi : material.phi;
    return require_one_value(parameter, material, {name, value}, body);
  }
  for (const MaterialEntry::Constant& constant : material.constants)
    if (constant.name == name || (material.law->lame && of_young != material.given_by_young()))
      require_one_value(parameter, material, constant, body);
    else if (of_young && depends_on_position(constant.value))
      throw InputError(
          parameter.where.of("quantity"),
          std::string(parameter.kind->name) + " acts together with `" + constant.name + "` of body '" + body +
              "' at " + material.where + ", a formula that varies inside elements: '" +
              std::get<Expression>(constant.value).text() + "'; write a number or values per element there");
}

std::vector<ParameterKind> material_parameters() {
  std::vector<ParameterKind> rows{
      elastic_constant(
          "young_modulus", "Pa", positive,
          "`E` of a material; where it is given by `lambda` and `mu`, these follow at fixed `nu`.", "E"),
      elastic_constant("poisson_ratio", nullptr, Range{-1, 0.5, true, false},
                       "`nu`, at fixed `E`; 0.5 itself in plane stress alone.", "nu"),
      elastic_constant("lambda", "Pa", Range{}, "First Lame constant, at fixed `mu`.", "lambda"),
      elastic_constant("mu_lame", "Pa", positive, "Shear modulus, at fixed `lambda`.", "mu"),
  };
  rows[0].on_particles = &bond_young_modulus;
  rows[1].on_particles = &bond_poisson_ratio;
  for (const potentials::LawInfo& law : potentials::laws())
    for (const potentials::LawParameter& parameter : law.parameters) {
      if (parameter.quantity.empty()) continue;
      rows.push_back(elastic_constant(parameter.quantity.c_str(), parameter.constant->unit,
                                      Range{.min = parameter.constant->min, .min_open = true},
                                      (parameter.constant->max_terms > 0 ? "A term of `" : "`") +
                                          std::string(parameter.constant->name) + "` of `" +
                                          std::string(law.name) + "`.",
                                      parameter.name));
      rows.back().law = &law;
      rows.back().parameter = &parameter;
    }
  rows.push_back(material_constant("density", "kg/m^3", positive, "`rho`.", "rho"));
  rows.back().on_particles = &particle_density;
  rows.push_back(material_constant("damping_shear", "Pa s", non_negative,
                                   "`psi`, where `phi` or `psi` is positive in the scene.", "psi"));
  rows.push_back(material_constant("damping_bulk", "Pa s", non_negative,
                                   "`phi`, where `phi` or `psi` is positive in the scene.", "phi"));
  return rows;
}

} // namespace recoil::app

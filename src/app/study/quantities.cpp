#include "recoil/app/study/quantities.hpp"

#include <algorithm>
#include <limits>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<std::string> of_cells() { return {"body", "region", "per"}; }

QuantityInfo constant(Quantity quantity, const char* name, const char* unit, QuantityGroup group, double min,
                      bool min_open, double max, std::string doc, std::string stands_for) {
  return {.quantity = quantity,
          .name = name,
          .unit = unit,
          .components = Components::one,
          .group = group,
          .takes = of_cells(),
          .needs = {},
          .per = {Per::global, Per::body, Per::element, Per::vertex},
          .min = min,
          .max = max,
          .min_open = min_open,
          .max_open = true,
          .doc = std::move(doc),
          .constant = std::move(stands_for)};
}

/// Those that laws bring along.
std::vector<QuantityInfo> law_quantities() {
  std::vector<QuantityInfo> rows;
  for (const potentials::LawInfo& law : potentials::laws())
    for (const potentials::LawParameter& parameter : law.parameters) {
      if (parameter.quantity.empty()) continue;
      const auto number = static_cast<int>(Quantity::law_constant) + static_cast<int>(rows.size());
      rows.push_back(
          constant(static_cast<Quantity>(number), parameter.quantity.c_str(), parameter.constant->unit,
                   QuantityGroup::material, parameter.constant->min, true, infinite,
                   (parameter.constant->max_terms > 0 ? "A term of `" : "`") +
                       std::string(parameter.constant->name) + "` of `" + std::string(law.name) + "`.",
                   parameter.name));
      rows.back().law = &law;
      rows.back().parameter = &parameter;
    }
  return rows;
}

QuantityInfo unbounded(Quantity quantity, const char* name, const char* unit, Components components,
                       QuantityGroup group, std::vector<std::string> takes, std::vector<std::string> needs,
                       std::vector<Per> per, const char* doc) {
  return {.quantity = quantity,
          .name = name,
          .unit = unit,
          .components = components,
          .group = group,
          .takes = std::move(takes),
          .needs = std::move(needs),
          .per = std::move(per),
          .min = -infinite,
          .max = infinite,
          .min_open = true,
          .max_open = true,
          .doc = doc};
}

std::vector<QuantityInfo> material_quantities() {
  using enum Quantity;
  constexpr auto material = QuantityGroup::material, damping = QuantityGroup::damping;
  std::vector<QuantityInfo> rows{
      constant(young_modulus, "young_modulus", "Pa", material, 0, true, infinite,
               "`E` of a material; where it is given by `lambda` and `mu`, these follow at fixed `nu`.", "E"),
      constant(poisson_ratio, "poisson_ratio", nullptr, material, -1, true, 0.5, "`nu`, at fixed `E`.", "nu"),
      constant(lambda, "lambda", "Pa", material, -infinite, true, infinite,
               "First Lame constant, at fixed `mu`.", "lambda"),
      constant(mu_lame, "mu_lame", "Pa", material, 0, true, infinite, "Shear modulus, at fixed `lambda`.",
               "mu"),
      constant(density, "density", "kg/m^3", QuantityGroup::density, 0, true, infinite, "`rho`.", "rho"),
      constant(damping_shear, "damping_shear", "Pa s", damping, 0, false, infinite,
               "`psi`, where `phi` or `psi` is positive in the scene.", "psi"),
      constant(damping_bulk, "damping_bulk", "Pa s", damping, 0, false, infinite,
               "`phi`, where `phi` or `psi` is positive in the scene.", "phi"),
  };
  const auto own = law_quantities();
  rows.insert(std::ranges::find(rows, density, &QuantityInfo::quantity), own.begin(), own.end());
  return rows;
}

std::vector<QuantityInfo> other_quantities() {
  using enum Quantity;
  using enum Per;
  using C = Components;
  using G = QuantityGroup;
  auto pair = unbounded(friction, "friction", nullptr, C::one, G::contact, {"bodies"}, {"bodies"}, {global},
                        "Coulomb coefficient of a pair of bodies.");
  pair.min = 0;
  pair.min_open = false;
  return {
      pair,
      unbounded(
          initial_velocity, "initial_velocity", "m/s", C::vector, G::initial, of_cells(), {},
          {global, Per::body, vertex},
          "`velocity` of `initial_conditions`; nodes between two regions have that of the later parameter."),
      unbounded(
          initial_angular_velocity, "initial_angular_velocity", "rad/s", C::spin, G::initial, {"body", "per"},
          {}, {global, Per::body},
          "`angular_velocity` of `initial_conditions`, about the centre given there or the centre of mass."),
      unbounded(
          initial_displacement, "initial_displacement", "m", C::vector, G::initial, of_cells(), {},
          {global, Per::body, vertex},
          "`solution` of `initial_conditions`; nodes between two regions have that of the later parameter."),
      unbounded(dirichlet_value, "dirichlet_value", "m", C::vector, G::prescribed, {"boundary", "per_step"},
                {"boundary"}, {global},
                "`value` of the `dirichlet_boundary` with this id; an `interpolation` stays a factor on it."),
      unbounded(obstacle_motion, "obstacle_motion", "m", C::vector, G::prescribed,
                {"body", "per", "per_step"}, {}, {global, Per::body},
                "Total displacement of obstacles (`body`: names of obstacles, default all that have a mesh); "
                "an `interpolation` stays a factor on it."),
      unbounded(traction, "traction", "Pa", C::vector, G::load, {"boundary"}, {}, {global},
                "`value` of the `neumann_boundary` with this id (default: the only one)."),
      unbounded(pressure, "pressure", "Pa", C::one, G::load, {"boundary"}, {}, {global},
                "`value` of the `pressure_boundary` with this id (default: the only one)."),
      unbounded(body_force, "body_force", "m/s^2", C::vector, G::load, of_cells(), {},
                {global, Per::body, element},
                "Acceleration `gravity` - `boundary_conditions/rhs`, with its natural sign."),
      unbounded(Quantity::shape, "shape", "m", C::basis, G::shape, {"body", "basis"}, {"basis"}, {global},
                "Displacement of the rest vertices of deformable bodies from the meshes of the scene."),
  };
}

} // namespace

std::span<const QuantityInfo> quantities() {
  static const std::vector<QuantityInfo> all = [] {
    auto rows = material_quantities();
    for (auto& row : other_quantities()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

const QuantityInfo& info(Quantity quantity) {
  const auto all = quantities();
  const auto found = std::ranges::find(all, quantity, &QuantityInfo::quantity);
  RECOIL_ASSERT(found != all.end());
  return *found;
}

const QuantityInfo* find_quantity(const std::string& name) {
  for (const QuantityInfo& row : quantities())
    if (name == row.name) return &row;
  return nullptr;
}

bool QuantityInfo::is_possible(double value) const {
  return (min_open ? value > min : value >= min) && (max_open ? value < max : value <= max);
}

int num_components(Components components, int dim) {
  RECOIL_ASSERT(components != Components::basis);
  if (components == Components::one) return 1;
  return components == Components::spin && dim == 2 ? 1 : dim;
}

const char* name_of(Per per) {
  switch (per) {
  case Per::global:
    return "global";
  case Per::body:
    return "body";
  case Per::element:
    return "element";
  case Per::vertex:
    break;
  }
  return "vertex";
}

} // namespace recoil::app

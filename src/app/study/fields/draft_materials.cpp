#include <algorithm>
#include <cmath>
#include <utility>

#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

using nlohmann::json;

namespace {

bool is_among(const json& one_or_list, const json& value) {
  return one_or_list.is_array() ? holds(one_or_list, value) : one_or_list == value;
}

/// The place in `materials` of the last entry that names a body or volume id.
int find_entry(const json& materials, const std::string& body, int id) {
  if (materials.is_object()) return 0;
  for (int i = std::ssize(materials); i-- > 0;) {
    const json& entry = materials[i];
    if (entry.contains("body") ? is_among(entry["body"], body) : is_among(entry.value("id", json(0)), id))
      return i;
  }
  return -1;
}

const MaterialValue* find_value(const MaterialEntry& entry, const std::string& name) {
  if (name == "rho") return &entry.rho;
  if (name == "phi") return &entry.phi;
  return name == "psi" ? &entry.psi : entry.find(name);
}

/// The place of a constant, or of a term of one, in an entry.
json& place_of(json& entry, const MaterialEntry& material, const std::string& name) {
  for (const potentials::LawParameter& parameter : material.law->parameters)
    if (parameter.name == name && parameter.constant->max_terms > 0) {
      json& list = entry[parameter.constant->name];
      return list.is_array() ? list[parameter.term] : list;
    }
  return entry[name];
}

/// Entries of `materials` and their cells.
template <int dim>
class Materials {
public:
  explicit Materials(SceneDraft<dim>& draft)
      : draft_(draft), mesh_(draft.geometry.mesh), values_(draft.geometry.mesh) {
    find_cells();
  }

  std::size_t size() const { return json_list().is_object() ? 1 : json_list().size(); }
  json& entry(std::size_t i) { return json_list().is_object() ? json_list() : json_list()[i]; }
  /// What the scene says of an entry; nullptr where it has no elements.
  const MaterialEntry* material(std::size_t i) const {
    return material_[i] < 0 ? nullptr : &elements_of(draft_.scene).materials[material_[i]];
  }
  bool is_replaced(std::size_t i, const std::string& name) const {
    bool found = false;
    for (LocalIndex cell = 0; cell < mesh_.num_owned_cells; ++cell)
      found = found || (std::cmp_equal(entry_of_cell_[cell], i) && draft_.overrides.find(name, cell));
    return mesh_.comm->any(found);
  }

  /// Gives every body an entry of its own, if each has one now.
  void split_by_bodies() {
    if (size() >= mesh_.body_names.size()) return;
    std::vector<double> used(mesh_.body_names.size() * size(), 0.0);
    for (LocalIndex cell = 0; cell < mesh_.num_owned_cells; ++cell)
      used[mesh_.cell_body[cell] * size() + entry_of_cell_[cell]] = 1;
    mesh_.comm->sum(used);
    json split = json::array();
    for (std::size_t body = 0; body < mesh_.body_names.size(); ++body) {
      const auto of_body = std::span(used).subspan(body * size(), size());
      const auto is_used = [](double count) { return count > 0; };
      if (std::ranges::count_if(of_body, is_used) != 1) return;
      split.push_back(entry(std::ranges::find_if(of_body, is_used) - of_body.begin()));
      split.back().erase("id");
      split.back()["body"] = {mesh_.body_names[body]};
    }
    json_list() = std::move(split);
    find_cells();
  }

  /// A value per local cell of an entry, NaN elsewhere: of(cell).
  template <class Of>
  std::vector<double> of_cells(std::size_t i, Of of) const {
    std::vector<double> values(mesh_.cells.size(), std::nan(""));
    parallel::collectively(*mesh_.comm, [&] {
      for (LocalIndex cell = 0; cell < mesh_.num_cells(); ++cell)
        if (std::cmp_equal(entry_of_cell_[cell], i)) values[cell] = of(cell);
    });
    return values;
  }
  double of_scene(const MaterialValue& value, LocalIndex cell) { return values_.at(value, cell, {}, ""); }

  void put(std::size_t i, const std::string& name, const std::vector<double>& values) {
    json& place = place_of(entry(i), *material(i), name);
    place = draft_.number_or_per_element("materials/" + std::to_string(i) + "/" + name, values);
  }
  /// The values of a constant that parameters replace in part, in the place where they are now.
  void put_replaced(std::size_t i, const std::string& name) {
    const MaterialValue& value = *find_value(*material(i), name);
    put(i, name, of_cells(i, [&](LocalIndex cell) {
          const auto replaced = draft_.overrides.find(name, cell);
          return replaced ? *replaced : of_scene(value, cell);
        }));
  }
  /// E and nu in the place of lambda and mu, or the other way.
  void put_converted(std::size_t i, const std::array<const char*, 2>& names, bool to_young) {
    const MaterialEntry& of = *material(i);
    const potentials::LameModel model = lame_model(of, dim);
    std::array<std::vector<double>, 2> values;
    for (int k = 0; k < 2; ++k)
      values[k] = of_cells(i, [&](LocalIndex cell) {
        if (const auto replaced = draft_.overrides.find(names[k], cell)) return *replaced;
        const double first = of_scene(of.constants[0].value, cell),
                     second = of_scene(of.constants[1].value, cell);
        return (to_young ? potentials::young_from_lame(first, second, model)
                         : potentials::lame_from_young(first, second, model))
            .values[k];
      });
    for (const char* name : {"E", "nu", "lambda", "mu"}) entry(i).erase(name);
    for (int k = 0; k < 2; ++k) put(i, names[k], values[k]);
  }

private:
  json& json_list() const { return draft_.json["materials"]; }

  void find_cells() {
    entry_of_cell_.assign(mesh_.cells.size(), -1);
    std::vector<double> materials(size(), -1.0);
    for (std::size_t cell = 0; cell < mesh_.cells.size(); ++cell) {
      const std::string& body = mesh_.body_names[mesh_.cell_body[cell]];
      const int id = mesh_.cell_volume_id[cell];
      entry_of_cell_[cell] = find_entry(json_list(), body, id);
      materials[entry_of_cell_[cell]] = find_material_index(draft_.scene, body, id);
    }
    material_.assign(size(), -1);
    const std::vector<double> all = mesh_.comm->all_gather(materials);
    for (std::size_t i = 0; i < all.size(); ++i)
      material_[i % size()] = std::max(material_[i % size()], static_cast<int>(all[i]));
  }

  SceneDraft<dim>& draft_;
  const mesh::DistributedMesh<dim>& mesh_;
  MaterialValues<dim> values_;
  std::vector<int> entry_of_cell_, material_;
};

} // namespace

template <int dim>
void write_material_constant(const ParameterField<dim>& field, SceneDraft<dim>& to) {
  const ParameterKind& kind = *field.spec->kind;
  const std::string& name = kind.constant;
  const bool of_young = name == "E" || name == "nu", is_lame = kind.is_elastic && kind.law == nullptr;
  Materials<dim> materials(to);
  if (!field.spec->bodies.empty() || field.spec->per == Per::body) materials.split_by_bodies();
  for (std::size_t i = 0; i < materials.size(); ++i) {
    if (!materials.is_replaced(i, name)) continue;
    if (is_lame && of_young != materials.material(i)->given_by_young())
      materials.put_converted(i, of_young ? std::array{"E", "nu"} : std::array{"lambda", "mu"}, of_young);
    else
      materials.put_replaced(i, name);
  }
}

template <int dim>
void write_element_data_again(SceneDraft<dim>& to) {
  Materials<dim> materials(to);
  for (std::size_t i = 0; i < materials.size(); ++i) {
    const MaterialEntry* material = materials.material(i);
    if (material == nullptr) continue;
    std::vector<std::string> names{"rho", "phi", "psi"};
    for (const MaterialEntry::Constant& constant : material->constants) names.push_back(constant.name);
    for (const std::string& name : names)
      if (std::holds_alternative<ElementData>(*find_value(*material, name)) &&
          place_of(materials.entry(i), *material, name).is_object())
        materials.put_replaced(i, name);
  }
  const auto& rhs = to.scene.boundary_conditions.rhs;
  if (std::ranges::any_of(
          rhs, [](const MaterialValue& value) { return std::holds_alternative<ElementData>(value); }))
    write_body_force(to);
}

template <int dim>
void write_body_force(SceneDraft<dim>& to) {
  const auto& mesh = to.geometry.mesh;
  const auto& rhs = to.scene.boundary_conditions.rhs;
  MaterialValues<dim> values(mesh);
  std::vector<json> gravity, minus;
  for (int i = 0; i < dim; ++i) {
    std::vector<double> reversed(mesh.cells.size(), 0.0);
    parallel::collectively(*mesh.comm, [&] {
      for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
        const auto replaced = to.overrides.find(acceleration(i), cell);
        const ExpressionPoint at{0, 0, 0, to.scene.time.time_of_step(1)};
        if (replaced)
          reversed[cell] = -*replaced;
        else
          reversed[cell] = (i < std::ssize(rhs) ? values.at(rhs[i], cell, at, "") : 0.0) -
                           (i < std::ssize(to.scene.gravity) ? to.scene.gravity[i] : 0.0);
      }
    });
    const json value = to.number_or_per_element("acceleration/" + std::to_string(i), reversed);
    gravity.emplace_back(value.is_number() ? -value.get<double>() : 0.0);
    minus.emplace_back(value.is_number() ? json(0.0) : value);
  }
  to.json["gravity"] = gravity;
  to.json["boundary_conditions"]["rhs"] = minus;
}

template void write_material_constant(const ParameterField<2>&, SceneDraft<2>&);
template void write_material_constant(const ParameterField<3>&, SceneDraft<3>&);
template void write_element_data_again(SceneDraft<2>&);
template void write_element_data_again(SceneDraft<3>&);
template void write_body_force(SceneDraft<2>&);
template void write_body_force(SceneDraft<3>&);

} // namespace recoil::app

#pragma once

#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/keys.hpp"
#include "recoil/app/study/fields/parameter_field.hpp"

/// What a form of the basis of a shape consists of. Each form is one source of this folder, named in
/// registry.cpp; reader, checks, runs, JSON Schema and docs/study.md know a form only by its row.
namespace recoil::app {

/// A row of the table of forms.
struct ShapeForm {
  const char* name;
  /// What moves, for the documentation of `basis`, in which the mere name then is such a basis; null: it
  /// needs keys.
  const char* doc = nullptr;
  /// Keys of the form, of which the first one tells that a basis is of this form and the others go with it.
  std::vector<Key> keys = {};
  const char* example = nullptr; ///< with the first key, where there is one
  /// Reads a basis that has been checked against the keys.
  std::unique_ptr<ShapeBasis> (*read)(const Item& basis);
  bool is_per_vertex = false; ///< has a value for each of many vertices
  /// Turns the JSON of a basis into that on meshes that have the shape of the start values and other
  /// vertices inside; null: the values move vertices inside.
  nlohmann::json (*on_new_meshes)(nlohmann::json basis) = nullptr;
};

std::span<const ShapeForm> shape_forms();
/// `basis` and what is below it.
std::span<const Key> basis_keys();

/// Reads `basis` of a parameter. @throws InputError where it is of no form, or of several.
std::shared_ptr<const ShapeBasis> read_basis(const Item& basis);

/// Base of a form, written once for both dimensions: `Type(const Item& basis)` reads its keys,
/// `fill(builder, field, selected)` gives a field its slots.
template <class Type>
class ShapeBasisOf : public ShapeBasis {
public:
  static std::unique_ptr<ShapeBasis> read(const Item& basis) { return std::make_unique<Type>(basis); }
  void make_slots(const SlotBuilder<2>& builder, ParameterField<2>& field,
                  const std::vector<char>& selected) const final {
    static_cast<const Type&>(*this).fill(builder, field, selected);
  }
  void make_slots(const SlotBuilder<3>& builder, ParameterField<3>& field,
                  const std::vector<char>& selected) const final {
    static_cast<const Type&>(*this).fill(builder, field, selected);
  }
};

/// A slot for each flagged local vertex, which moves it.
template <int dim>
void move_each_vertex(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                      const std::vector<char>& flags) {
  builder.add_vertex_slots(field, flags);
  for (std::size_t v = 0; v < flags.size(); ++v)
    if (flags[v] != 0) field.shape_weights[v] = {{field.slot_of_vertex[v], 1.0}};
}

/// Bounding box of the flagged vertices of all ranks at rest [m]. Collective.
template <int dim>
Eigen::AlignedBox<double, dim> box_of(const SlotBuilder<dim>& builder, const std::vector<char>& flags) {
  const auto& mesh = builder.geometry.mesh;
  Eigen::AlignedBox<double, dim> box;
  for (std::size_t vertex = 0; vertex < flags.size(); ++vertex)
    if (flags[vertex] != 0) box.extend(mesh.vertices[vertex]);
  Eigen::Matrix<double, dim, 1> low = box.min(), high = box.max();
  for (int i = 0; i < dim; ++i) {
    low[i] = mesh.comm->min(low[i]);
    high[i] = mesh.comm->max(high[i]);
  }
  return {low, high};
}

} // namespace recoil::app

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/shapes/boundary_option.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {

/// The rows of the sources of this folder.
ShapeForm shape_by_vertices();
ShapeForm shape_by_box();
ShapeForm shape_by_boundary_vertices();
ShapeForm shape_by_affine_map();
ShapeForm shape_by_modes();
BoundaryOptionRow surface_ids_option();
BoundaryOptionRow periodic_option();

/// In the order of docs/study.md.
std::span<const ShapeForm> shape_forms() {
  static const std::vector<ShapeForm> all{
      shape_by_vertices(),   shape_by_box(),   shape_by_boundary_vertices(),
      shape_by_affine_map(), shape_by_modes(),
  };
  return all;
}

const std::vector<BoundaryOptionRow>& boundary_options() {
  static const std::vector<BoundaryOptionRow> all{
      surface_ids_option(),
      periodic_option(),
  };
  return all;
}

namespace {

const char* name_in_basis(const Key& key) {
  return key.pattern + std::string_view("/parameters/*/basis/").size();
}

/// Examples of all forms with keys, those first that have no name to write in their place.
std::string examples_of_forms() {
  std::vector<std::string> examples;
  for (const bool has_name : {false, true})
    for (const ShapeForm& form : shape_forms())
      if (!form.keys.empty() && (form.doc != nullptr) == has_name) examples.emplace_back(form.example);
  return list_names(examples, "and");
}

/// The form of a basis that is an object, by the first of its keys.
const ShapeForm& form_by_key(const Item& basis) {
  std::vector<const ShapeForm*> given;
  for (const ShapeForm& form : shape_forms())
    if (!form.keys.empty() && basis.has(name_in_basis(form.keys.front()))) given.push_back(&form);
  if (given.size() != 1) basis.fail("needs one of " + examples_of_forms());
  for (const ShapeForm& other : shape_forms())
    for (std::size_t i = 1; i < other.keys.size() && &other != given.front(); ++i)
      if (const char* key = name_in_basis(other.keys[i]); basis.has(key))
        basis[key].fail("goes with `" + std::string(name_in_basis(other.keys.front())) + "`; leave it out");
  return *given.front();
}

/// The form of a basis that is a text, which the table of keys has checked.
const ShapeForm& form_by_name(const std::string& name) {
  return *std::ranges::find(shape_forms(), name, &ShapeForm::name);
}

} // namespace

std::shared_ptr<const ShapeBasis> read_basis(const Item& basis) {
  const ShapeForm& form = basis.is_text() ? form_by_name(basis.text()) : form_by_key(basis);
  std::unique_ptr<ShapeBasis> result = form.read(basis);
  result->form = &form;
  return result;
}

std::span<const Key> basis_keys() {
  static std::string names, docs;
  static const std::vector<Key> keys = [] {
    std::vector<std::string> quoted, moved;
    for (const ShapeForm& form : shape_forms()) {
      if (!form.doc) continue;
      quoted.push_back('"' + std::string(form.name) + '"');
      moved.emplace_back(form.doc);
    }
    names = fmt::format("[{}]", fmt::join(quoted, ", "));
    docs = fmt::format("`shape`: what moves the vertices. {}, or one of the forms below; see "
                       "[below](#values-of-a-shape).",
                       fmt::join(moved, ", "));
    std::vector<Key> rows{{.pattern = "/parameters/*/basis",
                           .types = text | object,
                           .choices = names.c_str(),
                           .doc = docs.c_str()}};
    for (const ShapeForm& form : shape_forms()) std::ranges::copy(form.keys, std::back_inserter(rows));
    return rows;
  }();
  return keys;
}

} // namespace recoil::app

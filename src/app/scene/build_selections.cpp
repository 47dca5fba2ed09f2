#include <algorithm>

#include "recoil/app/scene/geometry.hpp"
#include "recoil/app/scene/item.hpp"

namespace recoil::app {
namespace {

/// The keys that make up each shape, in the order in which the first present one decides.
struct Form {
  const char* name;
  std::vector<const char*> keys;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"box", {"box"}},
      {"threshold", {"threshold"}},
      {"sphere", {"center", "radius"}},
      {"cylinder", {"p1", "p2", "radius"}},
      {"axis", {"axis", "position"}},
      {"plane", {"normal", "point"}},
      {"file", {"file"}},
      {"group", {"group"}},
  };
  return all;
}

/// The shape that an entry describes, or nullptr for a plain id. A shape is recognised by its first key.
const Form* form_of(const Item& entry) {
  for (const auto& form : forms()) {
    if (!entry.has(form.keys.front())) continue;
    for (const char* key : form.keys)
      if (!entry.has(key)) entry.fail(std::string("a ") + form.name + " needs `" + key + "`");
    return &form;
  }
  return nullptr;
}

void warn_of_unused(const Item& entry, const Form* used, std::vector<std::string>& warnings) {
  for (const char* name :
       {"threshold", "center", "radius", "p1", "p2", "axis", "position", "normal", "point", "file", "group"})
    if (entry.has(name) && !(used && std::ranges::count(used->keys, std::string_view(name)) > 0)) {
      if (!used) entry.fail(std::string("`") + name + "` does not make a shape by itself");
      warnings.push_back(entry[name].where() + ": not looked at, the " + used->name +
                         " of this entry decides");
    }
}

int axis_of(const Item& item) {
  if (item.is_number()) return item.integer();
  const auto text = item.text();
  const int axis = text.back() - 'x' + 1;
  return text.front() == '-' ? -axis : axis;
}

mesh::SelectionShape shape_of(const Item& entry, const std::string& form) {
  if (form == "box") {
    const auto corners = entry["box"].items();
    return mesh::BoxSelection{corners[0].vector(), corners[1].vector()};
  }
  if (form == "threshold")
    return mesh::ThresholdSelection{entry["threshold"].number(),
                                    entry.has("id_offset") ? entry["id_offset"].integer() : 0};
  if (form == "sphere") return mesh::SphereSelection{entry["center"].vector(), entry["radius"].number()};
  if (form == "cylinder")
    return mesh::CylinderSelection{entry["p1"].vector(), entry["p2"].vector(), entry["radius"].number()};
  if (form == "axis") return mesh::AxisSelection{axis_of(entry["axis"]), entry["position"].number()};
  if (form == "plane") {
    const auto normal = entry["normal"].vector();
    if (!(normal.norm() > 0)) entry["normal"].fail("must not be zero");
    return mesh::PlaneSelection{entry["point"].vector(), normal};
  }
  if (form == "group") return mesh::GroupSelection{entry["group"].integer()};
  return mesh::FileSelection{entry["file"].text()};
}

mesh::Selection build_selection(const Item& entry, std::vector<std::string>& warnings) {
  mesh::Selection selection;
  selection.where = entry.where();
  selection.relative = entry["relative"].flag();
  selection.boundary_only = entry["boundary_only"].flag();
  const auto* form = form_of(entry);
  warn_of_unused(entry, form, warnings);
  const std::string name = form ? form->name : "";
  if (!form && entry.has("id_offset") && !entry.has("id")) {
    selection.shape = mesh::IdOffsetSelection{entry["id_offset"].integer()};
    return selection;
  }
  if (name != "threshold" && name != "file") {
    if (!entry.has("id")) entry.fail("needs an `id` to give");
    selection.id = entry["id"].integer();
  }
  if (form) selection.shape = shape_of(entry, name);
  return selection;
}

} // namespace

std::vector<mesh::Selection> build_selections(const Item& item, std::vector<std::string>& warnings) {
  std::vector<mesh::Selection> selections;
  if (item.is_number()) {
    selections.push_back({.id = item.integer(), .where = item.where()});
  } else if (item.is_text()) {
    selections.push_back({.shape = mesh::FileSelection{item.text()}, .where = item.where()});
  } else {
    for (const auto& entry : item.items()) selections.push_back(build_selection(entry, warnings));
  }
  return selections;
}

} // namespace recoil::app

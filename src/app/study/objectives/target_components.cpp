#include <algorithm>

#include "app/study/objectives/target_option.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

void read_components(const Item& entry, TargetPart& part) {
  if (!entry.has("components")) return;
  for (const Item& name : entry["components"].items()) {
    part.components.push_back(name.text().front() - 'x');
    if (std::ranges::count(part.components, part.components.back()) > 1) name.fail("stands there twice");
  }
}

void check_components(const TargetPart& part, const Places& where, int dim) {
  if (std::ranges::any_of(part.components, [&](int axis) { return axis >= dim; }))
    throw InputError(where.of("components"), "there is no z component in 2D; take \"x\", \"y\" or both");
}

} // namespace

/// By some components alone.
TargetOption target_by_components() {
  return {.keys = {{.pattern = "/objectives/*/components",
                    .types = one_or_list,
                    .items = text,
                    .length = {1, 3},
                    .implied = "all",
                    .choices = "[\"x\", \"y\", \"z\"]",
                    .doc = "Those of the vectors that are compared."}},
          .read = read_components,
          .check_dimension = check_components};
}

} // namespace recoil::app

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/shapes/boundary_option.hpp"

namespace recoil::app {
namespace {

/// The vertices of some surfaces; one that is also on another surface stays, so that this keeps its shape.
class SurfaceIds final : public BoundaryOption {
public:
  explicit SurfaceIds(const Item& list) {
    for (const Item& id : list.items()) {
      if (id.integer() < 1) id.fail("ids of surfaces start at 1, is " + id.dump());
      ids_.push_back(id.integer());
    }
  }

  void choose(const SlotBuilder<2>& builder, const ParameterSpec& spec,
              std::vector<char>& moving) const override {
    keep_surfaces(builder, spec, moving);
  }
  void choose(const SlotBuilder<3>& builder, const ParameterSpec& spec,
              std::vector<char>& moving) const override {
    keep_surfaces(builder, spec, moving);
  }

private:
  template <int dim>
  void keep_surfaces(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                     std::vector<char>& moving) const {
    for (const int id : ids_) {
      const auto found = vertices_of_facets(builder, spec, [&](int other) { return other == id; });
      if (!builder.geometry.mesh.comm->any(holds(found, 1)))
        builder.refuse(
            spec, "basis",
            fmt::format("no surface of its bodies has the id {}; give it to one by `surface_selection` in "
                        "the scene, or leave it out of `boundary`",
                        id));
    }
    const auto chosen = vertices_of_facets(builder, spec, [&](int id) { return holds(ids_, id); });
    const auto others = vertices_of_facets(builder, spec, [&](int id) { return !holds(ids_, id); });
    for (std::size_t v = 0; v < moving.size(); ++v)
      if (chosen[v] == 0 || others[v] != 0) moving[v] = 0;
    if (!builder.geometry.mesh.comm->any(holds(moving, 1)))
      builder.refuse(
          spec, "basis",
          fmt::format("all vertices of the surfaces {} are on other surfaces, too, which keep their shape",
                      fmt::join(ids_, ", ")));
  }

  std::vector<int> ids_;
};

} // namespace

BoundaryOptionRow surface_ids_option() {
  return {.keys = {{.pattern = "/parameters/*/basis/boundary",
                    .types = one_or_list,
                    .items = integer,
                    .length = {1, 1 << 30},
                    .implied = "all",
                    .doc = "Surface ids that move. Other surfaces, their edges with these included, keep "
                           "their shape."}},
          .read = [](const Item& basis) -> std::unique_ptr<BoundaryOption> {
            if (!basis.has("boundary")) return nullptr;
            return std::make_unique<SurfaceIds>(basis["boundary"]);
          }};
}

} // namespace recoil::app

#include "recoil/app/study/shapes/shape_form.hpp"

namespace recoil::app {
namespace {

struct AllVertices final : ShapeBasisOf<AllVertices> {
  explicit AllVertices(const Item&) {}

  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    move_each_vertex(builder, field, selected);
  }
};

} // namespace

ShapeForm shape_by_vertices() {
  return {.name = "vertices", .doc = "All of them", .read = AllVertices::read, .is_per_vertex = true};
}

} // namespace recoil::app

#include "recoil/app/study/shapes/shape_form.hpp"

namespace recoil::app {
namespace {

/// X' = X + sum_j q_j (X - c)_j / L_j + q_dim, about the centre c of the box of sizes L.
struct AffineMap final : ShapeBasisOf<AffineMap> {
  explicit AffineMap(const Item&) {}

  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    const auto& mesh = builder.geometry.mesh;
    const auto box = box_of(builder, selected);
    builder.replicate(field, dim + 1);
    for (std::size_t v = 0; v < selected.size(); ++v) {
      if (selected[v] == 0) continue;
      const Eigen::Matrix<double, dim, 1> offset =
          (mesh.vertices[v] - box.center()).cwiseQuotient(box.sizes());
      for (int j = 0; j < dim; ++j) field.shape_weights[v].emplace_back(j, offset[j]);
      field.shape_weights[v].emplace_back(dim, 1.0);
    }
  }
};

} // namespace

ShapeForm shape_by_affine_map() {
  return {.name = "affine", .doc = "an affine map", .read = AffineMap::read};
}

} // namespace recoil::app

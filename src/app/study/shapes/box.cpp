#include "recoil/app/study/base/experiment_scene.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"

namespace recoil::app {
namespace {

/// Products of linear hat functions of a grid of control points over the box around the selected vertices.
class BoxOfPoints final : public ShapeBasisOf<BoxOfPoints> {
public:
  explicit BoxOfPoints(const Item& basis) : count_(basis["box"].integers()) {}

  void check_dimension(int dim, const std::string& where) const override {
    require_count(count_.size(), dim, dim, where, "a box");
  }
  bool is_as_large_as(const ShapeBasis& other) const override {
    return form == other.form && count_ == static_cast<const BoxOfPoints&>(other).count_;
  }

  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    const auto& mesh = builder.geometry.mesh;
    const auto box = box_of(builder, selected);
    std::size_t num_slots = 1;
    for (const int n : count_) num_slots *= n;
    builder.replicate(field, num_slots);
    for (std::size_t v = 0; v < selected.size(); ++v) {
      if (selected[v] == 0) continue;
      for (int corner = 0; corner < 1 << dim; ++corner) {
        double weight = 1;
        LocalIndex slot = 0;
        for (int i = dim; i-- > 0;) {
          const double s = (mesh.vertices[v][i] - box.min()[i]) / box.sizes()[i] * (count_[i] - 1);
          const int cell = std::clamp(static_cast<int>(s), 0, count_[i] - 2);
          const bool upper = (corner >> i & 1) != 0;
          weight *= upper ? s - cell : 1 - (s - cell);
          slot = slot * count_[i] + cell + (upper ? 1 : 0);
        }
        if (weight != 0) field.shape_weights[v].emplace_back(slot, weight);
      }
    }
  }

private:
  std::vector<int> count_; ///< of control points, per axis
};

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

ShapeForm shape_by_box() {
  return {.name = "box",
          .keys = {{.pattern = "/parameters/*/basis/box",
                    .types = list,
                    .items = integer,
                    .length = {2, 3},
                    .range = from_to(2, 10000),
                    .doc = "Control points per axis of a lattice over the bounding box."}},
          .example = "{\"box\": [nx, ny(, nz)]}",
          .read = BoxOfPoints::read};
}

ShapeForm shape_by_affine_map() {
  return {.name = "affine", .doc = "an affine map", .read = AffineMap::read};
}

} // namespace recoil::app

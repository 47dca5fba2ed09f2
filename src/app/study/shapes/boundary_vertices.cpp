#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "app/study/shapes/boundary_option.hpp"
#include "recoil/mesh_motion/boundary_extension.hpp"

namespace recoil::app {
namespace {

/// The flagged vertices over all ranks.
template <int dim>
MovingVertices<dim> gather(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                           const std::vector<char>& flags, const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  std::vector<GlobalIndex> owned;
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v)
    if (flags[v] != 0) owned.push_back(mesh.vertex_ids[v]);
  MovingVertices<dim> result{
      builder, spec, box_of(builder, selected), mesh.comm->all_gather_parts(owned), {}};
  std::ranges::sort(result.ids);
  std::vector<double> coordinates(result.ids.size() * dim, 0.0);
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v) {
    if (flags[v] == 0) continue;
    const auto at = std::ranges::lower_bound(result.ids, mesh.vertex_ids[v]) - result.ids.begin();
    std::copy_n(mesh.vertices[v].data(), dim, coordinates.begin() + at * dim);
  }
  mesh.comm->sum(coordinates);
  for (std::size_t i = 0; i < result.ids.size(); ++i)
    result.positions.emplace_back(
        Eigen::Map<const Eigen::Matrix<double, dim, 1>>(coordinates.data() + i * dim));
  return result;
}

/// Vertices of the boundary, and what those inside do.
class BoundaryVertices final : public ShapeBasisOf<BoundaryVertices> {
public:
  explicit BoundaryVertices(const Item& basis) {
    using mesh_motion::Extension;
    if (basis.is_text()) return;
    const std::string extension = basis["extension"].text();
    if (extension != "none") extension_ = extension == "harmonic" ? Extension::harmonic : Extension::elastic;
    for (const BoundaryOptionRow& row : boundary_options())
      if (auto option = row.read(basis)) options_.push_back(std::move(option));
    starts_at_meshes = basis.has("starts_at_meshes") && basis["starts_at_meshes"].flag();
  }

  void check_dimension(int dim, const std::string& where) const override {
    for (const auto& option : options_) option->check_dimension(dim, where);
  }
  bool extends() const override { return extension_.has_value(); }

  /// A slot for each vertex that moves, or for each group of them that moves as one.
  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    const ParameterSpec& spec = *field.spec;
    const std::vector<char> boundary = vertices_of_facets(builder, spec, [](int) { return true; });
    std::vector<char> moving = boundary;
    for (const auto& option : options_) option->choose(builder, spec, moving);
    if (std::ranges::none_of(options_, [](const auto& option) { return option->joins(); }))
      move_each_vertex(builder, field, moving);
    else
      move_groups(gather(builder, spec, moving, selected), moving, field);
    if (!extension_) return;
    std::vector<char> leads = boundary;
    for (std::size_t v = 0; v < leads.size(); ++v)
      if (selected[v] == 0) leads[v] = 1;
    field.extension =
        std::make_shared<mesh_motion::BoundaryExtension<dim>>(builder.geometry.mesh, leads, *extension_);
  }

private:
  /// For each vertex the first one of its group.
  template <int dim>
  std::vector<std::size_t> first_of_groups(const MovingVertices<dim>& vertices) const {
    std::vector<std::size_t> first(vertices.ids.size());
    std::iota(first.begin(), first.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (first[i] != i) i = first[i];
      return i;
    };
    for (const auto& option : options_)
      option->join(vertices, [&](std::size_t i, std::size_t j) {
        const std::size_t a = root(i), b = root(j);
        first[std::max(a, b)] = std::min(a, b);
      });
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = root(i);
    return first;
  }

  /// A slot per group, by the first vertex of each, which every rank holds.
  template <int dim>
  void move_groups(const MovingVertices<dim>& vertices, const std::vector<char>& moving,
                   ParameterField<dim>& field) const {
    const auto first = first_of_groups(vertices);
    std::vector<LocalIndex> slots(first.size());
    LocalIndex count = 0;
    for (std::size_t i = 0; i < first.size(); ++i) slots[i] = first[i] == i ? count++ : slots[first[i]];
    vertices.builder.replicate(field, count);
    const auto& ids = vertices.builder.geometry.mesh.vertex_ids;
    for (std::size_t v = 0; v < moving.size(); ++v) {
      if (moving[v] == 0) continue;
      const auto at = std::ranges::lower_bound(vertices.ids, ids[v]) - vertices.ids.begin();
      field.shape_weights[v] = {{slots[at], 1.0}};
    }
  }

  std::optional<mesh_motion::Extension> extension_; ///< none: those inside stay
  std::vector<std::unique_ptr<const BoundaryOption>> options_;
};

nlohmann::json boundary_on_new_meshes(nlohmann::json basis) {
  if (basis.is_string()) basis = {{"extension", "none"}};
  basis["starts_at_meshes"] = true;
  return basis;
}

struct AllVertices final : ShapeBasisOf<AllVertices> {
  explicit AllVertices(const Item&) {}

  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    move_each_vertex(builder, field, selected);
  }
};

} // namespace

ShapeForm shape_by_boundary_vertices() {
  std::vector<Key> keys{
      {.pattern = "/parameters/*/basis/extension",
       .types = text,
       .choices = "[\"harmonic\", \"elastic\", \"none\"]",
       .doc = "Vertices of the boundary are moved, and those inside follow as the solution of Laplace's "
              "equation or as an elastic solid, or stay."}};
  for (const BoundaryOptionRow& row : boundary_options())
    std::ranges::copy(row.keys, std::back_inserter(keys));
  keys.push_back({.pattern = "/parameters/*/basis/starts_at_meshes",
                  .types = boolean,
                  .implied = "false",
                  .doc = "The meshes of the scene have the shape of the start values, not that of zero."});
  return {.name = "boundary_vertices",
          .doc = "those of the boundary (the others stay)",
          .keys = std::move(keys),
          .example = "{\"extension\": \"harmonic\"}",
          .read = BoundaryVertices::read,
          .is_per_vertex = true,
          .on_new_meshes = boundary_on_new_meshes};
}

ShapeForm shape_by_vertices() {
  return {.name = "vertices", .doc = "All of them", .read = AllVertices::read, .is_per_vertex = true};
}

} // namespace recoil::app

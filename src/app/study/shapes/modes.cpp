#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {
namespace {

/// Modes of a file: the datasets of its root in alphabetical order, a row of dim numbers per vertex of all
/// bodies in the order of the mesh files. Bodies that are not selected stay where they are.
class FileOfModes final : public ShapeBasisOf<FileOfModes> {
public:
  explicit FileOfModes(const Item& basis) : path_(basis["modes"].text()) {}

  std::vector<std::filesystem::path> files() const override { return {path_}; }

  template <int dim>
  void fill(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
            const std::vector<char>& selected) const {
    field.components = 1;
    field.shape_modes = read_modes(builder, *field.spec, selected);
    builder.replicate(field, field.shape_modes.size() / (builder.geometry.mesh.vertices.size() * dim));
  }

private:
  template <int dim>
  std::vector<double> read_modes(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                 const std::vector<char>& selected) const {
    const auto& mesh = builder.geometry.mesh;
    const fem::FunctionSpace<dim> linear(mesh, std::vector<int>(mesh.body_names.size(), 1));
    const io::BlockLayout rows = node_layout(linear);
    const auto blocks = parallel::collectively(*mesh.comm, [&] { return read_blocks(builder, spec, rows); });
    const std::size_t count = blocks.size();
    std::vector<double> modes(mesh.vertices.size() * count * dim, 0.0);
    for (std::size_t mode = 0; mode < count; ++mode) {
      const linalg::Vector field(linear.layout(), rows.from_blocks<double>(blocks[mode], dim));
      for (LocalIndex v = 0; v < std::ssize(selected); ++v) {
        const std::size_t node = linear.node_of_vertex(v);
        if (selected[v] != 0)
          std::copy_n(field.local().begin() + node * dim, dim, modes.begin() + (v * count + mode) * dim);
      }
    }
    return modes;
  }

  /// The block of each mode that this rank reads.
  template <int dim>
  std::vector<std::vector<double>> read_blocks(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                               const io::BlockLayout& rows) const {
    const auto& mesh = builder.geometry.mesh;
    const io::Hdf5Reader file(path_);
    const std::vector<std::string> names = file.children("/");
    if (names.empty()) builder.refuse(spec, "basis", path_.string() + " holds no mode");
    std::vector<std::vector<double>> blocks;
    for (const std::string& name : names) {
      const io::ArrayShape shape = file.shape(name);
      if (shape.rows != mesh.num_vertices_global || shape.columns != dim ||
          shape.type != io::ElementType::float64)
        builder.refuse(spec, "basis",
                       "mode '" + name + "' of " + path_.string() + " is " + std::to_string(shape.rows) +
                           " x " + std::to_string(shape.columns) +
                           (shape.type == io::ElementType::float64 ? "" : " integers") + ", the mesh has " +
                           std::to_string(mesh.num_vertices_global) + " vertices in " + std::to_string(dim) +
                           "D; write one row of doubles per vertex of all bodies");
      blocks.push_back(file.read_rows<double>(name, rows.block_begin(), rows.block_end()));
      require_finite_rows(blocks.back(), dim, rows.block_begin(), spec.where.of("basis"), path_, name);
    }
    return blocks;
  }

  std::filesystem::path path_;
};

} // namespace

ShapeForm shape_by_modes() {
  return {
      .name = "modes",
      .keys = {{.pattern = "/parameters/*/basis/modes",
                .types = path,
                .doc = "HDF5 file with an array per mode in its root, taken in the order of their names: a "
                       "row of d numbers [m] per vertex of all bodies in [file order](#file-order)."}},
      .example = "{\"modes\": \"file.h5\"}",
      .read = FileOfModes::read};
}

} // namespace recoil::app

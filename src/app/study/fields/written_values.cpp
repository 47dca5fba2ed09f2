#include "recoil/app/study/fields/written_values.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/parameters/variable_map.hpp"

namespace recoil::app {

namespace {

/// The owned cells, vertices or nodes that a field is spread over.
template <int dim>
struct OwnedRows {
  OwnedRows(const ParameterField<dim>& field, const mesh::DistributedMesh<dim>& mesh)
      : OwnedRows(mesh, ids_of(field, mesh), slots_of(field)) {}

  std::size_t count;
  std::span<const LocalIndex> slots;
  io::BlockLayout layout;

private:
  using Extent = typename ParameterField<dim>::Extent;

  OwnedRows(const mesh::DistributedMesh<dim>& mesh, std::span<const GlobalIndex> ids,
            const std::vector<LocalIndex>& slot_of_row)
      : count(ids.size()), slots(std::span(slot_of_row).first(count)), layout(*mesh.comm, ids) {}

  static std::span<const GlobalIndex> ids_of(const ParameterField<dim>& field,
                                             const mesh::DistributedMesh<dim>& mesh) {
    if (field.extent == Extent::nodes) return field.node_ids;
    if (field.extent == Extent::cells) return std::span(mesh.cell_ids).first(mesh.num_owned_cells);
    return std::span(mesh.vertex_ids).first(mesh.num_owned_vertices);
  }
  static const std::vector<LocalIndex>& slots_of(const ParameterField<dim>& field) {
    if (field.extent == Extent::nodes) return field.slot_of_node;
    return field.extent == Extent::cells ? field.slot_of_cell : field.slot_of_vertex;
  }
};

} // namespace

const char* unit_of(const ParameterSpec& spec) { return spec.unit.c_str(); }

double scaled_derivative(const ParameterSpec& spec, double value, double derivative) {
  return spec.scale.slope(spec.scale.variable(value)) * derivative;
}

void write_arrays_aside(const parallel::Communicator& comm, const std::filesystem::path& path,
                        const std::function<void(io::Hdf5Writer&)>& write, io::Durability durability) {
  const std::filesystem::path aside = path.string() + ".part";
  io::Hdf5Writer file(comm, aside);
  write(file);
  file.close(durability);
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    if (durability == io::Durability::machine) return rename_durably(aside, path);
    std::error_code error;
    std::filesystem::rename(aside, path, error);
    if (error) throw FileError(path.string() + ": cannot be put in place: " + error.message());
  });
}

template <int dim>
void write_in_file_order(io::Hdf5Writer& file, const std::string& name, const ParameterField<dim>& field,
                         const mesh::DistributedMesh<dim>& mesh, std::span<const double> values) {
  const std::size_t width = field.components;
  if (field.extent == ParameterField<dim>::Extent::replicated) {
    file.write_rows<double>(name, mesh.comm->rank() == 0 ? values : std::span<const double>(),
                            field.components);
    return;
  }
  const OwnedRows<dim> rows(field, mesh);
  std::vector<double> owned(rows.count * width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < rows.count; ++row)
    if (rows.slots[row] >= 0)
      std::copy_n(values.begin() + rows.slots[row] * width, width, owned.begin() + row * width);
  file.write_rows<double>(name, rows.layout.template to_blocks<double>(owned, field.components),
                          field.components);
}

template <int dim>
std::vector<double> read_in_file_order(const io::Hdf5Reader& file, const std::string& name,
                                       const ParameterField<dim>& field,
                                       const mesh::DistributedMesh<dim>& mesh) {
  const std::size_t width = field.components;
  const bool replicated = field.extent == ParameterField<dim>::Extent::replicated;
  std::optional<OwnedRows<dim>> rows;
  if (!replicated) rows.emplace(field, mesh);
  const GlobalIndex expected = replicated ? std::ssize(field.slot_ids) : rows->layout.global_size();
  const std::vector<double> block = parallel::collectively(*mesh.comm, [&] {
    const io::ArrayShape shape = file.shape(name);
    if (shape.rows != expected || shape.columns != field.components)
      throw FileError("the array '" + name + "' belongs to another mesh or parameter");
    return file.template read_rows<double>(name, replicated ? 0 : rows->layout.block_begin(),
                                           replicated ? expected : rows->layout.block_end());
  });
  if (replicated) return block;
  const std::vector<double> owned = rows->layout.template from_blocks<double>(block, field.components);
  std::vector<double> values(field.size(), 0.0);
  for (std::size_t row = 0; row < rows->count; ++row)
    if (rows->slots[row] >= 0)
      std::copy_n(owned.begin() + row * width, width, values.begin() + rows->slots[row] * width);
  return values;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template void write_in_file_order(io::Hdf5Writer&, const std::string&, const ParameterField<dim>&,         \
                                    const mesh::DistributedMesh<dim>&, std::span<const double>);             \
  template std::vector<double> read_in_file_order(const io::Hdf5Reader&, const std::string&,                 \
                                                  const ParameterField<dim>&,                                \
                                                  const mesh::DistributedMesh<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app

#include "recoil/app/solvers/elastodynamics/scene_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

namespace {

void require_shape(const io::ArrayShape& shape, GlobalIndex rows, int columns, const NodalData& data,
                   const std::string& where) {
  if (shape.rows == rows && shape.columns == columns && shape.type == io::ElementType::float64) return;
  throw InputError(where, fmt::format("dataset '{}' of {} has {} x {} {}; it needs {} x {} doubles, a row "
                                      "per node of all deformable bodies",
                                      data.dataset, data.file.string(), shape.rows, shape.columns,
                                      shape.type == io::ElementType::float64 ? "values" : "integers", rows,
                                      columns));
}

} // namespace

template <int dim>
MaterialValues<dim>::MaterialValues(const mesh::DistributedMesh<dim>& mesh) : mesh_(&mesh) {
  const std::size_t num_bodies = mesh.body_names.size();
  std::vector<double> counts(num_bodies, 0.0);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell) {
    double& count = counts[mesh.cell_body[cell]];
    count = std::max<double>(count, mesh.cell_source[cell] + 1);
  }
  const std::vector<double> of_ranks = mesh.comm->all_gather(counts);
  first_in_files_.assign(num_bodies + 1, 0);
  for (std::size_t body = 0; body < num_bodies; ++body) {
    for (std::size_t i = body; i < of_ranks.size(); i += num_bodies)
      counts[body] = std::max(counts[body], of_ranks[i]);
    first_in_files_[body + 1] = first_in_files_[body] + counts[body];
  }
}

template <int dim>
std::string MaterialValues<dim>::describe_rows() const {
  constexpr std::size_t most = 10;
  std::string bodies;
  for (std::size_t i = 0; i < std::min(most, mesh_->body_names.size()); ++i)
    bodies += fmt::format("{}{} of '{}'", i == 0 ? "" : ", ", first_in_files_[i + 1] - first_in_files_[i],
                          mesh_->body_names[i]);
  if (mesh_->body_names.size() > most) bodies += ", ..";
  std::string text =
      fmt::format("one double per element of all deformable bodies, one body after the other: {} ({})",
                  first_in_files_.back(), bodies);
  if (mesh_->num_cells_global != first_in_files_.back())
    text += fmt::format(", or {} with the elements that refinement and arrays make of them",
                        mesh_->num_cells_global);
  return text;
}

template <int dim>
double MaterialValues<dim>::at(const MaterialValue& value, LocalIndex cell, const ExpressionPoint& point,
                               const std::string& where) {
  if (const auto* formula = std::get_if<Expression>(&value)) return (*formula)(point);
  const auto& data = std::get<ElementData>(value);
  const std::size_t index = cell;
  const std::int32_t body = mesh_->cell_body[index];
  const std::string key = data.file.string() + "#" + data.dataset;
  auto found = rows_.find({key, body});
  if (found == rows_.end()) found = rows_.emplace(std::pair(key, body), read(data, body, where)).first;
  const Rows& rows = found->second;
  const GlobalIndex row = rows.of_files ? row_in_files(index) : mesh_->cell_ids[index];
  const double number = rows.values[row - rows.begin];
  require_finite_rows(std::span(&number, 1), 1, row, where, data.file, data.dataset);
  return number;
}

template <int dim>
typename MaterialValues<dim>::Rows MaterialValues<dim>::read(const ElementData& data, std::int32_t body,
                                                             const std::string& where) const {
  try {
    const io::Hdf5Reader file(data.file);
    const io::ArrayShape shape = file.shape(data.dataset);
    const GlobalIndex in_files = first_in_files_.back();
    if ((shape.rows != in_files && shape.rows != mesh_->num_cells_global) || shape.columns != 1 ||
        shape.type != io::ElementType::float64)
      throw InputError(where, fmt::format("dataset '{}' of {} has {} rows of {} {}; it needs {}",
                                          data.dataset, data.file.string(), shape.rows, shape.columns,
                                          shape.type == io::ElementType::float64 ? "values" : "integers",
                                          describe_rows()));
    Rows rows{shape.rows == in_files, std::numeric_limits<GlobalIndex>::max(), {}};
    GlobalIndex last = -1;
    for (std::size_t cell = 0; cell < mesh_->cells.size(); ++cell)
      if (mesh_->cell_body[cell] == body) {
        const GlobalIndex row = rows.of_files ? row_in_files(cell) : mesh_->cell_ids[cell];
        rows.begin = std::min(rows.begin, row);
        last = std::max(last, row);
      }
    rows.values = file.template read_rows<double>(data.dataset, rows.begin, last + 1);
    return rows;
  } catch (const FileError& error) {
    throw InputError(where, error.what());
  }
}

bool varies_in_cells(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula != nullptr && formula->depends_on_position();
}

template <int dim>
std::vector<double> read_nodal_values(const NodalData& data, const std::string& where,
                                      const fem::FunctionSpace<dim>& space) {
  const io::BlockLayout layout = node_layout(space);
  const std::vector<double> block = parallel::collectively(space.comm(), [&] {
    try {
      const io::Hdf5Reader file(data.file);
      require_shape(file.shape(data.dataset), layout.global_size(), dim, data, where);
      auto rows = file.template read_rows<double>(data.dataset, layout.block_begin(), layout.block_end());
      for (std::size_t i = 0; i < rows.size(); i += dim) {
        const auto row = std::span<const double>(rows).subspan(i, dim);
        if (std::ranges::all_of(row, [](double value) { return std::isnan(value); })) continue;
        require_finite_rows(row, dim, layout.block_begin() + i / dim, where, data.file, data.dataset);
      }
      return rows;
    } catch (const FileError& error) {
      throw InputError(where, error.what());
    }
  });
  return layout.template from_blocks<double>(block, dim);
}

template class MaterialValues<2>;
template class MaterialValues<3>;
template std::vector<double> read_nodal_values(const NodalData&, const std::string&,
                                               const fem::FunctionSpace<2>&);
template std::vector<double> read_nodal_values(const NodalData&, const std::string&,
                                               const fem::FunctionSpace<3>&);

} // namespace recoil::app

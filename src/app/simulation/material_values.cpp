#include "app/simulation/material_values.hpp"

#include <algorithm>
#include <limits>

#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

template <int dim>
double MaterialValues<dim>::at(const MaterialValue& value, LocalIndex cell, const ExpressionPoint& point,
                               const std::string& where) {
  if (const auto* formula = std::get_if<Expression>(&value)) return (*formula)(point);
  const auto& data = std::get<ElementData>(value);
  const auto index = static_cast<std::size_t>(cell);
  const Rows& found = rows(data, mesh_->cell_body[index], where);
  return found.values[static_cast<std::size_t>(mesh_->cell_source[index] - found.begin)];
}

template <int dim>
const typename MaterialValues<dim>::Rows&
MaterialValues<dim>::rows(const ElementData& data, std::int32_t body, const std::string& where) {
  const std::string key = data.file.string() + "#" + data.dataset;
  const auto [place, is_new] = rows_.try_emplace({key, body});
  if (!is_new) return place->second;
  GlobalIndex first = std::numeric_limits<GlobalIndex>::max(), last = -1;
  for (std::size_t cell = 0; cell < mesh_->cells.size(); ++cell)
    if (mesh_->cell_body[cell] == body) {
      first = std::min(first, mesh_->cell_source[cell]);
      last = std::max(last, mesh_->cell_source[cell]);
    }
  try {
    const io::Hdf5Reader file(data.file);
    const io::ArrayShape shape = file.shape(data.dataset);
    if (shape.rows <= last || shape.columns != 1 || shape.type != io::ElementType::float64)
      throw InputError(where, "dataset '" + data.dataset + "' of " + data.file.string() + " has " +
                                  std::to_string(shape.rows) + " rows of " + std::to_string(shape.columns) +
                                  " values; one double per element of body '" +
                                  mesh_->body_names[static_cast<std::size_t>(body)] +
                                  "' is needed, at least " + std::to_string(last + 1));
    place->second = {first, file.template read_rows<double>(data.dataset, first, last + 1)};
  } catch (const FileError& error) {
    throw InputError(where, error.what());
  }
  return place->second;
}

bool varies_in_cells(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula != nullptr && formula->depends_on_position();
}

template class MaterialValues<2>;
template class MaterialValues<3>;

} // namespace recoil::app

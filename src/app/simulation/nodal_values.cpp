#include "app/simulation/nodal_values.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/simulation/node_layout.hpp"
#include "recoil/app/simulation/require_finite.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

namespace {

void require_shape(const io::ArrayShape& shape, GlobalIndex rows, int columns, const NodalData& data,
                   const std::string& where) {
  if (shape.rows == rows && shape.columns == columns && shape.type == io::ElementType::float64) return;
  throw InputError(
      where, fmt::format("dataset '{}' of {} has {} x {} {}; it needs {} x {} doubles, a row per "
                         "node of all deformable bodies",
                         data.dataset, data.file.string(), shape.rows, shape.columns,
                         shape.type == io::ElementType::float64 ? "values" : "integers", rows, columns));
}

} // namespace

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

template std::vector<double> read_nodal_values(const NodalData&, const std::string&,
                                               const fem::FunctionSpace<2>&);
template std::vector<double> read_nodal_values(const NodalData&, const std::string&,
                                               const fem::FunctionSpace<3>&);

} // namespace recoil::app

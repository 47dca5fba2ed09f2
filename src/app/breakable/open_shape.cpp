#include "recoil/app/breakable/open_shape.hpp"

#include <algorithm>

namespace recoil::app {

template <int dim>
BreakableShape<dim> open_shape(ModesFile file, const std::string& where) {
  BreakableShape<dim> shape;
  for (const auto& x : file.vertices) shape.mesh.vertices.push_back(x.template head<dim>());
  for (const auto& cell : file.cells)
    std::copy_n(cell.begin(), dim + 1, shape.mesh.cells.emplace_back().begin());
  shape.piece_of_cell = std::move(file.piece_of_cell);
  shape.model = std::move(file.model);
  shape.energies = std::move(file.energies);
  shape.smoothing_length = file.smoothing_length;
  shape.where = where;
  if (!file.has_surface()) return shape;
  shape.solid_options.repair_cells = file.repair_cells;
  shape.outline = std::move(file.outline);
  shape.surface = std::move(file.surface);
  if constexpr (dim == 2)
    shape.solid = cage::make_solid<2>(shape.outline, shape.solid_options, where);
  else
    shape.solid = cage::make_solid<3>(shape.surface.mesh, shape.solid_options, where);
  return shape;
}

template BreakableShape<2> open_shape(ModesFile, const std::string&);
template BreakableShape<3> open_shape(ModesFile, const std::string&);

} // namespace recoil::app

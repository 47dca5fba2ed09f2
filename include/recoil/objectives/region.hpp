#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::objectives {

/// The bodies that an objective is evaluated on. `space` must outlive it.
template <int dim>
struct Region {
  const fem::FunctionSpace<dim>* space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  std::vector<std::int32_t> bodies; ///< numbers in mesh().body_names, ascending, never empty
  std::vector<char> cells;          ///< one flag per local cell

  const mesh::DistributedMesh<dim>& mesh() const { return space->mesh(); }
  const parallel::Communicator& comm() const { return space->comm(); }
  bool selects(LocalIndex cell) const { return cells[cell] != 0; }
  bool owns(LocalIndex cell) const { return cell < mesh().num_owned_cells; }
};

/// The region of some bodies, by their numbers in mesh().body_names; none = all. Collective.
/// @throws InputError on every rank for a number without a body and for a body without cells.
template <int dim>
Region<dim> make_region(const fem::FunctionSpace<dim>& space,
                        std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                        std::vector<std::int32_t> bodies = {});

} // namespace recoil::objectives

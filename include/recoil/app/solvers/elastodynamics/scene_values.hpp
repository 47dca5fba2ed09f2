#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "recoil/app/run/finite_values.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

/// Material constants of local cells: formulas are evaluated, element data are read from their HDF5 files,
/// each rank the rows that it needs. Element data have a row per element of all deformable bodies, one body
/// after the other as in the scene: either the elements of the mesh files, whose values hold for all that
/// refinement and arrays make of them, or those of the mesh that is solved on, as in gradient.h5.
template <int dim>
class MaterialValues {
public:
  /// `mesh` must outlive it. Collective.
  explicit MaterialValues(const mesh::DistributedMesh<dim>& mesh);

  /// @param cell local cell.
  /// @throws InputError at `where` for a file or dataset that cannot be read or has another number of rows,
  /// and for a value that is not finite. Not collective.
  double at(const MaterialValue& value, LocalIndex cell, const ExpressionPoint& point,
            const std::string& where);

private:
  /// The values from the first to the last that the local cells of a body need.
  struct Rows {
    bool of_files = true; ///< else of the mesh that is solved on
    GlobalIndex begin = 0;
    std::vector<double> values;
  };
  Rows read(const ElementData& data, std::int32_t body, const std::string& where) const;
  /// The rows that element data must have, for messages.
  std::string describe_rows() const;
  GlobalIndex row_in_files(std::size_t cell) const {
    return first_in_files_[mesh_->cell_body[cell]] + mesh_->cell_source[cell];
  }

  const mesh::DistributedMesh<dim>* mesh_;
  std::vector<GlobalIndex> first_in_files_; ///< row of the first element of each body, then their number
  std::map<std::pair<std::string, std::int32_t>, Rows> rows_;
};

/// Values of the owned nodes of `space` from a file, dim numbers each; all or none of a node are NaN.
/// Collective.
/// @throws InputError at `where`, on every rank, for a file or dataset that cannot be read or has another
/// number of rows or columns, and for other values that are not finite.
template <int dim>
std::vector<double> read_nodal_values(const NodalData& data, const std::string& where,
                                      const fem::FunctionSpace<dim>& space);

/// Whether a constant may differ from point to point of a cell.
bool varies_in_cells(const MaterialValue& value);

} // namespace recoil::app

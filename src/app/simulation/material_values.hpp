#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::app {

/// Material constants of local cells: formulas are evaluated, element data are read from their HDF5 files,
/// each rank the rows that it needs. Not collective.
template <int dim>
class MaterialValues {
public:
  explicit MaterialValues(const mesh::DistributedMesh<dim>& mesh) : mesh_(&mesh) {}

  /// @param cell local cell; its row in element data is that of its parent in the mesh file.
  /// @throws InputError for a file or dataset that cannot be read or is too short, with `where`.
  double at(const MaterialValue& value, LocalIndex cell, const ExpressionPoint& point,
            const std::string& where);

private:
  struct Rows {
    GlobalIndex begin = 0;
    std::vector<double> values;
  };
  const Rows& rows(const ElementData& data, std::int32_t body, const std::string& where);

  const mesh::DistributedMesh<dim>* mesh_;
  std::map<std::pair<std::string, std::int32_t>, Rows> rows_;
};

/// Whether a constant may differ from point to point of a cell.
bool varies_in_cells(const MaterialValue& value);

} // namespace recoil::app

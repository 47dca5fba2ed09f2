#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/run/run_output.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// The output of finite elements: the nodes in canonical order, the cells as ParaView draws them (orders 1
/// and 2 as such, higher ones cut into linear cells), and the fields asked for.
template <int dim>
class TrajectoryOutput final : public RunOutput {
public:
  /// `space` and `geometry` must outlive the output. Collective.
  TrajectoryOutput(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry);
  /// The output of a run of `solver`, which must outlive it, with these fields. Collective.
  TrajectoryOutput(const solvers::ElastodynamicsSolver<dim>& solver, std::vector<OutputField> fields);

  const io::BlockLayout& nodes() const override { return nodes_; }
  /// The drawn cells as they lie in the trajectory, and their nodes by canonical id, `width` for each of the
  /// owned ones, padded with -1.
  const io::BlockLayout& cells() const { return *cells_; }
  std::span<const GlobalIndex> connectivity() const { return connectivity_; }
  int width() const { return width_; }

  /// Writes the rest mesh with body and volume ids.
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override;
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override;
  std::vector<checkpoint::Field> fields(const linalg::Vector& u) override;

private:
  void build_cells();
  std::vector<double> cell_values(std::span<const double> u, OutputField field) const;

  const fem::FunctionSpace<dim>* space_;
  const fem::CellGeometry<dim>* geometry_;
  const solvers::ElastodynamicsSolver<dim>* solver_ = nullptr;
  std::vector<OutputField> fields_;
  std::vector<std::vector<double>> values_; ///< of fields()
  io::BlockLayout nodes_;
  std::vector<LocalIndex> drawn_cell_; ///< cell of each drawn cell
  std::vector<io::CellShape> shapes_;
  std::vector<GlobalIndex> connectivity_;
  int width_ = dim + 1;
  std::unique_ptr<io::BlockLayout> cells_;
};

} // namespace recoil::app

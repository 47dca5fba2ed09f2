#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/checkpoint/trajectory_writer.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// Turns states into what the trajectory stores: u and v on the nodes in canonical order, the cells as
/// ParaView draws them (orders 1 and 2 as such, higher ones cut into linear cells), and the fields asked for.
template <int dim>
class TrajectoryOutput {
public:
  /// `space` and `geometry` must outlive the output. Collective.
  TrajectoryOutput(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                   std::vector<OutputField> fields);

  const io::BlockLayout& nodes() const { return nodes_; }
  /// The drawn cells as they lie in the trajectory, and their nodes by canonical id, `width` for each of the
  /// owned ones, padded with -1.
  const io::BlockLayout& cells() const { return *cells_; }
  std::span<const GlobalIndex> connectivity() const { return connectivity_; }
  int width() const { return width_; }

  /// Writes the rest mesh with body and volume ids. Collective.
  void write_mesh(checkpoint::TrajectoryWriter& writer) const;
  /// @throws InputError at `where` on every rank if a trajectory, of which state `id` can be read, has
  /// another number of nodes, or its rest mesh has them elsewhere. Collective.
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id, const std::string& where) const;

  /// Appends one state; the extra fields only if `stored`. Collective.
  void append(checkpoint::TrajectoryWriter& writer, const solvers::ElastodynamicsProblem<dim>& problem,
              const solvers::AcceptedState& state, const std::string& extra, bool stored) const;

private:
  void build_cells();
  std::vector<double> cell_values(const solvers::ElastodynamicsProblem<dim>& problem,
                                  std::span<const double> u, OutputField field) const;

  const fem::FunctionSpace<dim>* space_;
  const fem::CellGeometry<dim>* geometry_;
  std::vector<OutputField> fields_;
  io::BlockLayout nodes_;
  std::vector<LocalIndex> drawn_cell_; ///< cell of each drawn cell
  std::vector<io::CellShape> shapes_;
  std::vector<GlobalIndex> connectivity_;
  int width_ = dim + 1;
  std::unique_ptr<io::BlockLayout> cells_;
};

} // namespace recoil::app

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/checkpoint/trajectory_writer.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// A field of the state to be continued from, by name, as a layout has it. Collective.
using FieldReader = std::function<std::vector<double>(const std::string& name, const io::BlockLayout&)>;

/// What a trajectory stores of the states of a solver beside u and v: where their nodes lie in files, what
/// they are drawn on, and further fields.
class RunOutput {
public:
  virtual ~RunOutput() = default;
  /// The nodes as they lie in the trajectory.
  virtual const io::BlockLayout& nodes() const = 0;
  /// Writes what does not change in time. Collective.
  virtual void write_mesh(checkpoint::TrajectoryWriter& writer) const = 0;
  /// @throws InputError at `where` on every rank if a trajectory, of which state `id` can be read, has
  /// another number of nodes, or has them elsewhere at rest. Collective.
  virtual void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                               const std::string& where) const = 0;
  /// Fields of the state `u` that the solver is just showing, or has started from, beside u and v; valid
  /// until the next call. Collective.
  virtual std::vector<checkpoint::Field> fields(const linalg::Vector& /*u*/) { return {}; }
  /// Fields of the same state that a run cannot be continued without, beside u and v. Collective.
  virtual std::vector<checkpoint::Field> restart_fields() { return {}; }
  /// Gives them back to the solver, before it continues. Collective.
  virtual void restore(const FieldReader& /*read*/) {}
  /// What else is to be known of the run when it is continued, beside the solver's own entries.
  virtual stepping::Entries restart_entries() const { return {}; }
  /// The internal variables of the state, as stepping::State has them. Collective. @throws FileError on every
  /// rank.
  virtual std::vector<double> internal(const FieldReader& /*read*/) const { return {}; }
  /// What summary.json says beside the solver's own entries. Collective.
  virtual stepping::Entries summary() const { return {}; }
};

/// The output of finite elements: the nodes in canonical order, the cells as ParaView draws them (orders 1
/// and 2 as such, higher ones cut into linear cells), and the fields asked for.
template <int dim>
class TrajectoryOutput final : public RunOutput {
public:
  /// `space` and `geometry` must outlive the output. Collective.
  TrajectoryOutput(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry);
  /// Of a run of `solver`, which must outlive the output, with these fields. Collective.
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

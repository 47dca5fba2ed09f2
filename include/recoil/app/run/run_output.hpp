#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/checkpoint/trajectory_writer.hpp"
#include "recoil/stepping/solver.hpp"

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

} // namespace recoil::app

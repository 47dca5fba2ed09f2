#pragma once

#include <memory>
#include <vector>

#include "app/solvers/async_contact/async_solver.hpp"
#include "recoil/app/run/run_output.hpp"

namespace recoil::app {

/// The output of asynchronous contact: vertices of shells and centres of spheres with the triangles, springs
/// and spheres between them; of every stored state the displacement `u` and the velocity `v`. Restart points
/// hold each vertex where it was last integrated, rest angles of hinges and contacts that stick.
class AsyncOutput final : public RunOutput {
public:
  /// The solver must outlive the output. Collective.
  explicit AsyncOutput(AsyncSolver& solver);

  const io::BlockLayout& nodes() const override { return nodes_; }
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override;
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override;
  std::vector<checkpoint::Field> restart_fields() override;
  stepping::Entries restart_entries() const override;
  /// Says how many contacts stick in the state to be restored; before restore().
  void expect_anchors(GlobalIndex count) { num_anchors_ = count; }
  void restore(const FieldReader& read) override;

private:
  AsyncSolver& solver_;
  io::BlockLayout nodes_, vertices_, hinges_;
  std::unique_ptr<io::BlockLayout> anchors_; ///< of the state just shown
  GlobalIndex num_anchors_ = 0;
  std::vector<double> vertex_states_, rest_angles_, anchor_states_;
};

} // namespace recoil::app

#pragma once

#include <memory>
#include <vector>

#include "app/solvers/async_contact/async_solver.hpp"
#include "recoil/app/run/run_output.hpp"

namespace recoil::app {

/// The output of asynchronous contact: vertices of shells and solids and centres of spheres with the
/// triangles, tetrahedra, springs and spheres between them; of every stored state the displacement `u` and
/// the velocity `v`. Restart points hold each vertex where it was last integrated, rest angles of hinges and
/// contacts that stick.
class AsyncOutput final : public RunOutput {
public:
  /// The solver must outlive the output. Collective.
  explicit AsyncOutput(AsyncSolver& solver);

  const io::BlockLayout& nodes() const override { return nodes_; }
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override;
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override;
  std::vector<checkpoint::Field> restart_fields() override;
  /// Says how many numbers the state to be restored has; before restore().
  void expect(GlobalIndex numbers) { num_numbers_ = numbers; }
  void restore(const FieldReader& read) override;

  /// The name of the integrator's numbers in restart points.
  static constexpr const char* integrator_field = "integrator";

private:
  AsyncSolver& solver_;
  io::BlockLayout nodes_;
  std::unique_ptr<io::BlockLayout> rows_; ///< of the state just shown
  GlobalIndex num_numbers_ = 0;
  std::vector<double> numbers_;
};

} // namespace recoil::app

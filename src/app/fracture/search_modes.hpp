#pragma once

#include <vector>

#include "app/fracture/search_files.hpp"
#include "app/fracture/shape_body.hpp"
#include "recoil/app/run/interrupts.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/solvers/fracture_modes/vertex_matrices.hpp"

namespace recoil::app {

/// What a job works with.
struct FractureJob {
  const parallel::Communicator& comm;
  const Shape& shape;
  const ShapeBody& body;
  const FracturePaths& paths;
  const Interrupts& interrupts;
  Stopwatch watch; ///< since the job began
};

/// Wall times of this job [s].
struct FractureTimes {
  double starts = 0, search = 0, impacts = 0;
};

/// The modes of a shape.
struct SearchedModes {
  /// Scalar modes; of each vector mode its energy and what single_amplitudes() gives.
  solvers::fracture_modes::FractureModes amplitudes;
  std::vector<linalg::Vector> motions; ///< of vector modes, `dim` numbers per element
};

/// Searches, from the state in the folder if there is one, whose files it keeps up to date. Collective.
/// @throws Error of ExitCode::interrupted on every rank when a signal has come and the state is saved.
template <int dim>
SearchedModes search_modes(const FractureJob& job, const mesh::DistributedMesh<dim>& mesh,
                           const solvers::fracture_modes::ElementGraph& graph,
                           const solvers::fracture_modes::VertexMatrices<dim>& matrices, SearchFiles& files,
                           FractureTimes& times);

/// One number per element for each vector mode, by which impacts know it: the component along its principal
/// direction (that of the largest second moment by mass), tilted by a hundredth so that no jump is lost, less
/// its parts along the fields before it, of mass norm 1; zero where nothing is left, as for a fault that an
/// earlier mode opens in another direction. Collective.
template <int dim>
solvers::fracture_modes::FractureModes single_amplitudes(const solvers::fracture_modes::ElementGraph& graph,
                                                         const solvers::fracture_modes::VectorModes& modes,
                                                         std::vector<linalg::Vector> constants);

} // namespace recoil::app

#pragma once

#include <vector>

#include "app/fracture/search_files.hpp"
#include "app/fracture/shape_body.hpp"
#include "recoil/app/run/interrupts.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/solvers/fracture_modes/full_modes.hpp"
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
  std::vector<linalg::Vector> motions; ///< of vector modes, `dim` numbers per element; means of full ones
  /// Of full modes: (dim + 1) dim numbers per element, in the order of DistributedMesh::cells.
  std::vector<linalg::Vector> corners;
  std::vector<double> strain_energies; ///< of full modes
  double omega = 0,
         omega_star = 0; ///< of full modes; at omega* the first strain mode and fault cost the same
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

/// Motions that are constant on pieces: the means by mass of full modes over what no jump of more than a
/// thousandth of their largest motion parts, dim numbers per element. Collective.
template <int dim>
solvers::fracture_modes::VectorModes motions_of_pieces(const mesh::DistributedMesh<dim>& mesh,
                                                       const solvers::fracture_modes::ElementGraph& graph,
                                                       const solvers::fracture_modes::FullModes& modes);

/// Means of the corners of full modes, dim numbers per element. Collective.
template <int dim>
std::vector<linalg::Vector> mean_motions(const solvers::fracture_modes::ElementGraph& graph,
                                         const solvers::fracture_modes::FullModes& modes);

} // namespace recoil::app

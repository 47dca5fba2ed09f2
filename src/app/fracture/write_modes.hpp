#pragma once

#include "app/fracture/fracture_folder.hpp"
#include "app/fracture/search_modes.hpp"
#include "app/fracture/shape_body.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

namespace recoil::app {

/// What becomes modes.h5. All references must outlive it.
template <int dim>
struct FoundModes {
  const mesh::DistributedMesh<dim>& mesh;
  const solvers::fracture_modes::ElementGraph& graph;
  const SearchedModes& modes;
  const solvers::fracture_modes::ImpactPieces& pieces;
  const ShapeBody& body;
  std::int64_t repair_elements;
  double blur_length, smoothing_length; ///< [m]
};

/// Writes modes.h5 and modes.xdmf. Collective. @returns size and checksum of modes.h5.
/// @throws FileError on every rank.
template <int dim>
io::FileDigest write_modes(const FracturePaths& paths, const FoundModes<dim>& found);

/// The mean length of the edges of all cells [m], each edge as often as cells have it. Collective.
template <int dim>
double mean_edge_length(const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app

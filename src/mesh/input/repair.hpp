#pragma once

#include <string>

#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// What repair_surface() has done, and what is left.
struct Repair {
  std::size_t merged = 0;     ///< vertices that are one with another now
  std::size_t flat = 0;       ///< triangles that lost a corner by that, removed
  std::size_t repeated = 0;   ///< triangles that were there twice, removed
  std::size_t turned = 0;     ///< triangles that face the other way now
  std::size_t open_edges = 0; ///< of one triangle only
  std::size_t branches = 0;   ///< edges of more than two triangles
  std::size_t one_sided = 0;  ///< edges whose triangles cannot be turned alike, as of a Moebius strip
};

/// Mends the triangles of a surface: makes vertices one that are nearer to each other than `share` of the
/// diagonal of all (chains of such as well), removes triangles that have no area then, or are there twice,
/// and turns triangles so that neighbours face the same way. Each connected part faces as most of it did,
/// unless it is closed and inside of no other closed part: then outwards.
/// Vertices keep their numbers; those that are used no more stay. Cost O(n log n).
Repair repair_surface(RawMesh& raw, double share);

/// "2 vertices merged, .."; the first clause says what was done.
std::string describe(const Repair& repair);

} // namespace recoil::mesh

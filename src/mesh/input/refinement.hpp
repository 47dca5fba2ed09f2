#pragma once

#include <array>
#include <string>
#include <vector>

#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

/// Of one level of refinement.
inline std::size_t children_of_a_cell(int dim) { return dim == 2 ? 4 : 8; }

/// Before anything is refined. @param ranks that hold equal parts of the result.
/// @throws InputError as refine() does.
void check_refinement(const BodyMesh& mesh, int levels, const std::string& where, int ranks);

/// One level of refine(); of a slice all but its PlaceInBody. Returns the edges that are split, in the order
/// of the new vertices.
std::vector<std::array<std::int32_t, 2>> refine_once(BodyMesh& mesh, const std::string& where);

} // namespace recoil::mesh

#pragma once

#include <string>

namespace recoil::mesh {

/// Refuses a mesh that 32-bit indices cannot number or that the memory of this rank cannot hold, before it is
/// made.
/// @param cells,vertices counted in floating point, so that the count cannot overflow; of obstacles, their
/// edges and triangles
/// @param where the entry, @param what the key and its value ("n_refs 12"), @param remedy ("take fewer
/// levels")
/// @throws InputError
void require_mesh_memory(double cells, double vertices, const std::string& where, const std::string& what,
                         const std::string& remedy);

} // namespace recoil::mesh

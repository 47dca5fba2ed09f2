#pragma once

#include <span>

#include "checkpoint/manifest.hpp"

namespace recoil::checkpoint {

/// Writes coordinates, cells and further arrays in the order of their ids; the entry still lacks name and
/// digest. Collective.
MeshFile write_mesh_arrays(io::Hdf5Writer& file, const DrawnMesh& mesh, std::span<const StaticArray> arrays);

} // namespace recoil::checkpoint

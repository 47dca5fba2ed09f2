#pragma once

#include "recoil/base/file_cursor.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/surface_attributes.hpp"

namespace recoil::mesh {

// One reader per format, behind read_mesh(). Each gets a cursor at the begin of the file.
FileMesh read_gmsh(FileCursor& cursor);
RawMesh read_obj(FileCursor& cursor);
RawMesh read_obj(FileCursor& cursor, SurfaceAttributes& attributes);
RawMesh read_stl(FileCursor& cursor);
RawMesh read_medit_ascii(FileCursor& cursor);
RawMesh read_medit_binary(FileCursor& cursor);

/// Lower dimensions than the highest present are boundary groups of the same mesh: dropped.
void keep_highest_dimension(RawMesh& mesh);

} // namespace recoil::mesh

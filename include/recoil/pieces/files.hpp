#pragma once

#include <filesystem>

#include "recoil/mesh/input/surface_attributes.hpp"
#include "recoil/pieces/pieces.hpp"

namespace recoil::pieces {

/// The surface of a body with its attributes.
struct InputSurface {
  FacetMesh<3> mesh;
  mesh::SurfaceAttributes attributes;
};

/// A surface of triangles from an OBJ or STL file (or any that read_mesh() knows). Not collective.
/// @throws InputError for files without triangles, and as read_mesh().
InputSurface read_surface(const std::filesystem::path& path);
/// Outlines of a body in 2D, from the polylines of an OBJ file; the body lies to their left. Not collective.
/// @throws InputError for files without polylines or with a z other than 0, and as read_mesh().
FacetMesh<2> read_outline(const std::filesystem::path& path);

/// Attributes of a piece, interpolated in the triangles of the input that its own are parts of.
struct PieceAttributes {
  std::vector<std::array<Eigen::Vector2d, 3>> texture; ///< of the corners of facets, 0 at faults
  std::vector<Eigen::Vector3d> colors;                 ///< of vertices, middle grey inside of the body
};
PieceAttributes attributes_of(const Piece<3>& piece, const InputSurface& input);

/// The text of an OBJ file: a piece in the groups `surface` and `fault_<k>`, k the number of the piece
/// beyond.
/// @param numbers of pieces by their labels.
std::string obj_text(const Piece<3>& piece, const PieceAttributes& attributes,
                     std::span<const std::int32_t> numbers);
/// A PLY file (binary, little endian) of a piece: faces with `neighbour`, the number of the piece beyond or
/// -1, and `parent`, the triangle of the input or -1.
std::string ply_bytes(const Piece<3>& piece, const PieceAttributes& attributes,
                      std::span<const std::int32_t> numbers);
/// The text of an OBJ file of polylines, in the same groups.
std::string obj_text(const Piece<2>& piece, std::span<const std::int32_t> numbers);

/// Number of the piece of each label, in the order of the pieces; -1 for labels without one.
template <int dim>
std::vector<std::int32_t> numbers_by_label(const std::vector<Piece<dim>>& pieces);

enum class PieceFormat { obj, ply };

/// Writes the pieces of one fracture as those of Breaking Bad [Sellan et al. 2022] are after unpacking:
/// `folder`/piece_0.obj, piece_1.obj, .. Makes the folder; each file is complete or absent. Not collective.
/// @throws FileError
void write_pieces(const std::filesystem::path& folder, const std::vector<Piece<3>>& pieces,
                  const InputSurface& input, PieceFormat format);
void write_pieces(const std::filesystem::path& folder, const std::vector<Piece<2>>& pieces);

} // namespace recoil::pieces

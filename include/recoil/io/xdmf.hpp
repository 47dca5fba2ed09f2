#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/io/hdf5_file.hpp"

/// XDMF: the light-weight description by which ParaView and others open arrays in HDF5 files. Nothing here is
/// collective.
namespace recoil::io {

/// Where the rows of an array sit; `none` is not drawn.
enum class Centre { node, cell, none };

/// Shapes of cells by their XDMF codes. Quadratic cells list their corners, then the nodes of the edges in
/// VTK's order (01, 12, 20, 03, 13, 23).
enum class CellShape : std::int32_t {
  vertex = 1,
  segment = 2,
  triangle = 4,
  tetrahedron = 6,
  segment_3 = 34,
  triangle_6 = 36,
  tetrahedron_10 = 38
};
/// Nodes of one cell.
int node_count(CellShape shape);

/// An array in an HDF5 file; `file` is relative to the XDMF file.
struct XdmfArray {
  std::string file, dataset;
  ArrayShape shape;
};

/// A field on the nodes or cells: 1 column is drawn as a scalar, 3 as a vector, 6 as a symmetric tensor, 9 as
/// a tensor.
struct XdmfAttribute {
  std::string name;
  Centre centre = Centre::node;
  XdmfArray array;
};

/// The mesh that all states share. With `shape` the topology has one row of nodes per cell; without it the
/// cells differ and the topology is one stream of shape code and nodes (one column; vertices and segments
/// carry their number of nodes after the code).
struct XdmfMesh {
  XdmfArray geometry;
  XdmfArray topology;
  GlobalIndex cells = 0;
  std::optional<CellShape> shape;
  std::vector<XdmfAttribute> attributes;
};

/// One state in time.
struct XdmfState {
  std::string name;
  double time = 0;
  std::vector<XdmfAttribute> attributes;
};

/// A temporal collection that grows: each state is put before the closing tags in one write, so the file can
/// be opened while the run continues. Used by one rank. @throws FileError.
class XdmfWriter {
public:
  /// Creates or replaces `path` with a collection of `states`.
  XdmfWriter(std::filesystem::path path, XdmfMesh mesh, const std::vector<XdmfState>& states = {});
  void append(const std::vector<XdmfState>& states);

private:
  std::filesystem::path path_;
  XdmfMesh mesh_;
  std::uint64_t end_ = 0; // where the closing tags begin
};

} // namespace recoil::io

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/io/xdmf.hpp"

/// Named arrays per state of any solver, stored so that the run can be continued, inspected and swept
/// backward. Knows no mesh and no physics.
namespace recoil::checkpoint {

/// A field of one state, as owned by the ranks; views only.
struct Field {
  std::string name;
  int components = 1;
  const io::BlockLayout* layout = nullptr;
  /// Shape (layout->owned_size(), components).
  std::span<const double> owned;
  io::Centre centre = io::Centre::node;
  /// Whether the run cannot be continued without it. u and v are; stresses are not.
  bool restart = true;
};

/// An array that does not change in time; views only.
struct StaticArray {
  std::string name;
  int components = 1;
  const io::BlockLayout* layout = nullptr;
  std::variant<std::span<const double>, std::span<const std::int32_t>, std::span<const std::int64_t>> owned;
  io::Centre centre = io::Centre::none;
};

/// The mesh as it is drawn: node coordinates at rest and cells over them; views only. Node and cell ids, not
/// their order on the ranks, decide the order in the file.
struct DrawnMesh {
  const io::BlockLayout* nodes = nullptr;
  int dim = 3;
  /// Shape (owned nodes, dim).
  std::span<const double> coordinates;
  const io::BlockLayout* cells = nullptr;
  /// One per owned cell.
  std::span<const io::CellShape> shapes;
  /// Global node ids, shape (owned cells, width), short cells padded with -1.
  std::span<const GlobalIndex> connectivity;
  int width = 4;
};

} // namespace recoil::checkpoint

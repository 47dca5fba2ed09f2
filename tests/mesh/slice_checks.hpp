#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/mesh/input/assemble_slices.hpp"

namespace recoil::mesh {

/// What a slice has of the whole, on every rank for itself.
inline void expect_share(const SlicedMesh& slices, const SimplexMesh& whole) {
  const SimplexMesh& share = slices.share;
  EXPECT_EQ(slices.num_cells, std::ssize(whole.cells));
  EXPECT_EQ(slices.num_vertices, std::ssize(whole.vertices));
  EXPECT_EQ(share.body_names, whole.body_names);
  EXPECT_EQ(share.dim, whole.dim);
  ASSERT_EQ(slices.vertex_ids.size(), share.vertices.size());
  ASSERT_EQ(slices.cell_ids.size(), share.cells.size());
  EXPECT_TRUE(std::ranges::is_sorted(slices.vertex_ids, std::less_equal<>())) << "ascending, each once";
  for (std::size_t v = 0; v < share.vertices.size(); ++v) {
    const auto id = static_cast<std::size_t>(slices.vertex_ids[v]);
    ASSERT_EQ(share.vertices[v], whole.vertices[id]);
    ASSERT_EQ(share.vertex_point_id[v], whole.vertex_point_id[id]);
  }
  for (std::size_t c = 0; c < share.cells.size(); ++c) {
    const auto id = static_cast<std::size_t>(slices.cell_ids[c]);
    auto cell = share.cells[c];
    for (std::size_t i = 0; i <= static_cast<std::size_t>(share.dim); ++i)
      cell[i] = slices.vertex_ids[static_cast<std::size_t>(cell[i])];
    ASSERT_EQ(cell, whole.cells[id]);
    ASSERT_EQ(share.facet_ids[c], whole.facet_ids[id]);
    ASSERT_EQ(share.cell_body[c], whole.cell_body[id]);
    ASSERT_EQ(share.cell_volume_id[c], whole.cell_volume_id[id]);
    ASSERT_EQ(share.cell_source[c], whole.cell_source[id]);
  }
}

/// Slices hold what the whole mesh holds, every cell once, and find the same selections empty.
inline void expect_same(const std::vector<GeometrySpec>& specs, int dim, MeshFiles files = MeshFiles()) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const AssembledGeometry whole = assemble_geometry(specs, dim);
  std::vector<EmptySelection> empty;
  const SlicedMesh slices = assemble_slices(comm, specs, dim, files, empty);
  expect_share(slices, whole.deformable);
  const std::vector<GlobalIndex> ids(slices.cell_ids.begin(), slices.cell_ids.end());
  const auto all = comm.all_gather_parts(ids);
  EXPECT_EQ(std::ssize(all), slices.num_cells);
  EXPECT_EQ(std::ssize(std::set(all.begin(), all.end())), slices.num_cells);
  ASSERT_EQ(empty.size(), comm.rank() == 0 ? whole.empty_selections.size() : 0u);
  for (std::size_t k = 0; k < empty.size(); ++k) {
    EXPECT_EQ(empty[k].message, whole.empty_selections[k].message);
    EXPECT_EQ(empty[k].ids, whole.empty_selections[k].ids);
  }
}

} // namespace recoil::mesh

#include "mesh/input/body_slices.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mesh/facet_entries.hpp"
#include "mesh/input/refinement.hpp"
#include "mesh/meet_keys.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// The numbers of the vertices of cells, ascending.
std::vector<std::int32_t> vertices_of_cells(const std::vector<std::array<std::int32_t, 4>>& cells, int dim) {
  std::vector<std::int32_t> ids;
  ids.reserve(cells.size() * std::size_t(dim + 1));
  for (const auto& cell : cells) ids.insert(ids.end(), cell.begin(), cell.begin() + dim + 1);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

} // namespace

std::vector<std::int32_t> number_locally(std::vector<std::array<std::int32_t, 4>>& cells, int dim) {
  if (cells.empty()) return {};
  std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = 0;
  for (const auto& cell : cells)
    for (int i = 0; i <= dim; ++i) {
      low = std::min(low, cell[i]);
      high = std::max(high, cell[i]);
    }
  // Files may number vertices by the surface or the volume that they are on, so that a slice has some of all
  // parts of the numbers: a table of these would not get smaller with more ranks.
  if (std::size_t(high - low) > cells.size() * std::size_t(dim + 1)) {
    std::vector<std::int32_t> ids = vertices_of_cells(cells, dim);
    for (auto& cell : cells)
      for (int i = 0; i <= dim; ++i)
        cell[i] = std::int32_t(std::ranges::lower_bound(ids, cell[i]) - ids.begin());
    return ids;
  }
  std::vector<std::int32_t> place(std::size_t(high - low) + 1, -1), ids;
  for (const auto& cell : cells)
    for (int i = 0; i <= dim; ++i) place[cell[i] - low] = 0;
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (place[k] < 0) continue;
    place[k] = std::int32_t(ids.size());
    ids.push_back(low + std::int32_t(k));
  }
  for (auto& cell : cells)
    for (int i = 0; i <= dim; ++i) cell[i] = place[cell[i] - low];
  return ids;
}

void keep_facets(const std::vector<std::array<std::int32_t, 3>>& facets,
                 const std::vector<std::int32_t>& tags, BodyMesh& mesh) {
  const auto& ids = mesh.place->vertex_ids;
  for (std::size_t f = 0; f < facets.size(); ++f) {
    std::array<std::int32_t, 3> local{-1, -1, -1};
    bool here = true;
    for (int i = 0; i < mesh.dim && here; ++i) {
      const auto found = std::lower_bound(ids.begin(), ids.end(), facets[f][i]);
      here = found != ids.end() && *found == facets[f][i];
      local[i] = std::int32_t(found - ids.begin());
    }
    if (!here) continue;
    mesh.facets.push_back(local);
    mesh.facet_tags.push_back(tags[f]);
  }
}

namespace {

struct ScatteredCell {
  std::array<std::int32_t, 4> vertices;
  std::int32_t tag;
  std::int64_t source;
};

struct ScatteredVertex {
  std::array<double, 3> position;
  std::int32_t id;
};

/// Of the slice [begin, end) of `whole`.
void pack_slice(const BodyMesh& whole, std::int64_t begin, std::int64_t end,
                std::vector<ScatteredCell>& cells, std::vector<ScatteredVertex>& vertices) {
  std::vector<std::array<std::int32_t, 4>> corners(whole.cells.begin() + begin, whole.cells.begin() + end);
  for (const std::int32_t id : number_locally(corners, whole.dim)) {
    const Eigen::Vector3d& p = whole.vertices[id];
    vertices.push_back({{p.x(), p.y(), p.z()}, id});
  }
  for (std::int64_t c = begin; c < end; ++c)
    cells.push_back({corners[c - begin], whole.tags[c], whole.cell_source[c]});
}

/// Ascending vertices of a facet, in numbers of the body.
std::array<std::int32_t, 3> facet_key(const BodyMesh& mesh, const BoundaryFacet& facet) {
  auto key = sorted_vertices(mesh.cells[facet.cell], facet.local, mesh.dim);
  for (int i = 0; i < mesh.dim; ++i) key[i] = mesh.place->vertex_ids[key[i]];
  return key;
}

/// Facets are numbered within a slice in the order of their keys: those of the body follow.
void number_facets(const parallel::Communicator& comm, const BodyMesh& mesh, const Blocks& blocks,
                   Boundary& boundary) {
  std::vector<std::array<std::int32_t, 3>> keys;
  for_each_facet(mesh.cells, mesh.vertices.size(), mesh.dim, [&](std::span<const FacetEntry> cells) {
    keys.push_back(facet_key(mesh, {cells[0].reference / 4, cells[0].reference % 4, 0}));
  });
  const MetKeys met = meet_keys(comm, blocks, keys);
  for (BoundaryFacet& facet : boundary.facets) facet.number = met.keys[facet.number].number;
  boundary.num_all_facets = met.total;
}

/// Removes the facets that other slices share and returns them.
std::vector<BoundaryFacet> take_shared_facets(const parallel::Communicator& comm, const BodyMesh& mesh,
                                              const Blocks& blocks, Boundary& boundary) {
  // Within a slice, numbers are in the order of keys.
  std::vector<std::int32_t> order(boundary.facets.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int32_t f) { return boundary.facets[f].number; });
  std::vector<std::array<std::int32_t, 3>> keys;
  for (const std::int32_t f : order) keys.push_back(facet_key(mesh, boundary.facets[f]));
  const MetKeys met = meet_keys(comm, blocks, keys);
  std::vector<char> is_shared(order.size(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) is_shared[order[k]] = met.keys[k].ranks > 1;
  std::vector<BoundaryFacet> shared, own;
  for (std::size_t f = 0; f < order.size(); ++f) (is_shared[f] ? shared : own).push_back(boundary.facets[f]);
  boundary.facets = std::move(own);
  return shared;
}

/// Vertices of `facets`, ascending, each once.
std::vector<std::int32_t> vertices_of(const BodyMesh& mesh, const std::vector<BoundaryFacet>& facets) {
  std::vector<std::int32_t> vertices;
  for (const BoundaryFacet& facet : facets) {
    const auto corners = facet_vertices(mesh, facet);
    vertices.insert(vertices.end(), corners.begin(), corners.begin() + mesh.dim);
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

/// Those of `asked` that some slice has among its `marked`.
std::vector<std::int32_t> marked_anywhere(const parallel::Communicator& comm, const BodyMesh& mesh,
                                          const Blocks& blocks, const std::vector<std::int32_t>& marked,
                                          const std::vector<std::int32_t>& asked) {
  const auto block_of = [&](std::int32_t id) { return blocks.of(id); };
  const auto ids_of = [&](const std::vector<std::int32_t>& vertices) {
    std::vector<std::int32_t> ids;
    for (const std::int32_t v : vertices) ids.push_back(mesh.place->vertex_ids[v]);
    return ids;
  };
  std::vector<std::int32_t> known;
  for (const auto& ids : give_owners(comm, ids_of(marked), block_of))
    known.insert(known.end(), ids.begin(), ids.end());
  std::sort(known.begin(), known.end());
  const auto answers = ask_owners(comm, ids_of(asked), block_of, [&](std::int32_t id, int) {
    return char(std::ranges::binary_search(known, id));
  });
  std::vector<std::int32_t> result;
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (answers[k]) result.push_back(asked[k]);
  return result;
}

} // namespace

BodyMesh slice_of_shape(const parallel::Communicator& comm, const ShapeByNumbers& shape) {
  const Blocks blocks{shape.num_cells, comm.size()};
  const std::int64_t begin = blocks.begin(comm.rank()), end = blocks.begin(comm.rank() + 1);
  BodyMesh mesh;
  mesh.dim = shape.dim;
  mesh.cells.reserve(end - begin);
  for (std::int64_t c = begin; c < end; ++c) mesh.cells.push_back(shape.cell(c));
  mesh.place = PlaceInBody{number_locally(mesh.cells, mesh.dim), begin, shape.num_vertices, shape.num_cells};
  mesh.vertices.reserve(mesh.place->vertex_ids.size());
  for (const std::int32_t id : mesh.place->vertex_ids) mesh.vertices.push_back(shape.vertex(id));
  mesh.tags.assign(mesh.cells.size(), 0);
  mesh.cell_source.resize(mesh.cells.size());
  std::iota(mesh.cell_source.begin(), mesh.cell_source.end(), begin);
  return mesh;
}

BodyMesh scatter_body(const parallel::Communicator& comm, int dim, BodyMesh&& whole) {
  std::vector<std::int64_t> counts{std::ssize(whole.vertices), std::ssize(whole.cells)};
  comm.broadcast(counts);
  const Blocks blocks{counts[1], comm.size()};
  std::vector<std::vector<ScatteredCell>> cells(comm.size());
  std::vector<std::vector<ScatteredVertex>> vertices(comm.size());
  if (comm.rank() == 0)
    for (int rank = 0; rank < comm.size(); ++rank)
      pack_slice(whole, blocks.begin(rank), blocks.begin(rank + 1), cells[rank], vertices[rank]);
  BodyMesh mesh;
  mesh.dim = dim;
  mesh.place = PlaceInBody{{}, blocks.begin(comm.rank()), counts[0], counts[1]};
  cells = parallel::exchange(comm, cells);
  vertices = parallel::exchange(comm, vertices);
  for (const ScatteredCell& cell : cells[0]) {
    mesh.cells.push_back(cell.vertices);
    mesh.tags.push_back(cell.tag);
    mesh.cell_source.push_back(cell.source);
  }
  for (const ScatteredVertex& vertex : vertices[0]) {
    mesh.vertices.emplace_back(vertex.position[0], vertex.position[1], vertex.position[2]);
    mesh.place->vertex_ids.push_back(vertex.id);
  }
  comm.broadcast(whole.facets);
  comm.broadcast(whole.facet_tags);
  keep_facets(whole.facets, whole.facet_tags, mesh);
  return mesh;
}

void refine_slices(const parallel::Communicator& comm, BodyMesh& mesh, int levels, const std::string& where) {
  parallel::collectively(comm, [&] { check_refinement(mesh, levels, where, comm.size()); });
  const auto children = std::int64_t(children_of_a_cell(mesh.dim));
  PlaceInBody& place = *mesh.place;
  for (int level = 0; level < levels; ++level) {
    auto edges = parallel::collectively(comm, [&] { return refine_once(mesh, where); });
    for (auto& edge : edges)
      for (std::int32_t& end : edge) end = place.vertex_ids[end];
    const MetKeys met = meet_keys(comm, {place.num_vertices, comm.size()}, edges);
    if (place.num_vertices + met.total > std::numeric_limits<std::int32_t>::max())
      throw InputError(where, "n_refs makes more vertices than 32-bit indices can number; take fewer levels");
    for (const MetKeys::Key& edge : met.keys)
      place.vertex_ids.push_back(std::int32_t(place.num_vertices + edge.number));
    place.num_vertices += met.total;
    place.num_cells *= children;
    place.first_cell *= children;
  }
}

Boundary find_boundary_of_slices(const parallel::Communicator& comm, const BodyMesh& mesh, bool numbered,
                                 const std::string& where) {
  Boundary boundary = parallel::collectively(comm, [&] { return find_boundary(mesh, where); });
  const Blocks blocks{mesh.place->num_vertices, comm.size()};
  const std::vector<BoundaryFacet> shared = take_shared_facets(comm, mesh, blocks, boundary);
  if (numbered) number_facets(comm, mesh, blocks, boundary);
  const std::vector<std::int32_t> marked = vertices_of(mesh, boundary.facets);
  std::vector<std::int32_t> asked;
  std::ranges::set_difference(vertices_of(mesh, shared), marked, std::back_inserter(asked));
  boundary.vertices_of_others = marked_anywhere(comm, mesh, blocks, marked, asked);
  return boundary;
}

} // namespace recoil::mesh

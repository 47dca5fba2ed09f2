#include "mesh/input/file_bodies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mesh/facet_entries.hpp"
#include "mesh/input/body_slices.hpp"
#include "mesh/input/describe.hpp"
#include "mesh/input/entry_checks.hpp"
#include "mesh/input/refinement.hpp"
#include "mesh/meet_keys.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/transform.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

Eigen::AlignedBox3d box_of_all(const parallel::Communicator& comm,
                               const std::vector<Eigen::Vector3d>& vertices) {
  const Eigen::AlignedBox3d own = bounding_box(vertices);
  Eigen::Vector3d low, high;
  for (int k = 0; k < 3; ++k) {
    low[k] = comm.min(own.min()[k]);
    high[k] = comm.max(own.max()[k]);
  }
  return {low, high};
}

/// What the owner of a vertex of a file knows of it.
struct FileVertex {
  std::array<double, 3> position;
  std::int32_t slices, lone_before; ///< how many slices have it; vertices of no cell before it
};

/// Slices meet at vertices; the owners of these, by blocks of their numbers, know which ones have them.
class VertexOwners {
public:
  /// @param ids vertices of this slice. Collective.
  VertexOwners(const parallel::Communicator& comm, std::int64_t num_vertices,
               const std::vector<std::int32_t>& ids)
      : comm_(comm), blocks_{num_vertices, comm.size()} {
    const auto had = give_owners(comm_, ids, [&](std::int32_t id) { return blocks_.of(id); });
    for (int rank = 0; rank < comm_.size(); ++rank)
      for (const std::int32_t id : had[rank]) slices_.emplace_back(id, rank);
    std::sort(slices_.begin(), slices_.end());
  }

  /// What the owners know of `ids`. @param positions of the block of this rank. Collective.
  std::vector<FileVertex> ask(const std::vector<std::int32_t>& ids,
                              const std::vector<Eigen::Vector3d>& positions, std::int64_t& num_lone) const {
    const std::int64_t begin = blocks_.begin(comm_.rank());
    std::vector<FileVertex> vertices;
    std::int64_t lone = 0;
    auto slice = slices_.begin();
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const Eigen::Vector3d& p = positions[k];
      FileVertex vertex{{p.x(), p.y(), p.z()}, 0, std::int32_t(lone)};
      for (; slice != slices_.end() && slice->first == begin + std::int64_t(k); ++slice) ++vertex.slices;
      if (vertex.slices == 0) ++lone;
      vertices.push_back(vertex);
    }
    const GlobalIndex before = comm_.exclusive_scan(GlobalIndex(lone));
    for (FileVertex& vertex : vertices) vertex.lone_before += std::int32_t(before);
    num_lone = comm_.sum(GlobalIndex(lone));
    const auto block_of = [&](std::int32_t id) { return blocks_.of(id); };
    return ask_owners(comm_, ids, block_of, [&](std::int32_t id, int) { return vertices[id - begin]; });
  }

  /// Those of the facets of all ranks of which this slice has the first vertex, in the order of their groups,
  /// then of the file. Collective.
  std::vector<FileSlices::Facet> facets_of_slice(const std::vector<FileSlices::Facet>& facets) const {
    const auto first = [](const FileSlices::Facet& facet) { return facet.vertices[0]; };
    std::vector<std::vector<FileSlices::Facet>> outgoing(comm_.size());
    for (const auto& facet : facets) outgoing[blocks_.of(first(facet))].push_back(facet);
    const auto at_owners = parallel::exchange(comm_, outgoing);
    outgoing.assign(comm_.size(), {});
    for (const auto& part : at_owners)
      for (const auto& facet : part) {
        const auto having = std::ranges::equal_range(slices_, first(facet), {}, &Having::first);
        for (const auto& [id, rank] : having) outgoing[rank].push_back(facet);
      }
    std::vector<FileSlices::Facet> own;
    for (const auto& part : parallel::exchange(comm_, outgoing))
      own.insert(own.end(), part.begin(), part.end());
    std::ranges::sort(own, {}, [](const FileSlices::Facet& f) { return std::pair(f.tag, f.number); });
    return own;
  }

  const Blocks& blocks() const { return blocks_; }

private:
  using Having = std::pair<std::int32_t, std::int32_t>; ///< a vertex and a rank whose slice has it
  const parallel::Communicator& comm_;
  Blocks blocks_;
  std::vector<Having> slices_; ///< ascending
};

/// A facet of a cell at the border of a slice.
struct BorderFacet {
  std::array<std::int32_t, 3> key; ///< ascending vertices
  std::int32_t opposite;           ///< the other vertex of the cell
  std::int32_t side;               ///< on which it lies; 0 if that is nearly none
};

/// The side of `facet` on which the other corner of a cell lies, 0 if it is nearly in the plane.
std::int32_t side_of(const BodyMesh& mesh, const std::array<std::int32_t, 3>& facet, std::int32_t opposite) {
  // A tenth of what find_boundary() takes for rounding.
  constexpr double rounding = 1e-11;
  const auto at = [&](int i) { return mesh.vertices[facet[i]]; };
  const Eigen::Vector3d a = at(1) - at(0), b = mesh.vertices[opposite] - at(0);
  double determinant = a.x() * b.y() - a.y() * b.x(), scale = a.norm() * b.norm();
  if (mesh.dim == 3) {
    const Eigen::Vector3d c = at(2) - at(0);
    determinant = a.cross(c).dot(b);
    scale *= c.norm();
  }
  return std::abs(determinant) <= rounding * scale ? 0 : determinant > 0 ? 1 : -1;
}

/// Whether facets between slices are sound, by what find_boundary() looks for within one.
bool borders_are_sound(const parallel::Communicator& comm, const BodyMesh& mesh, const Blocks& blocks,
                       const std::vector<FileVertex>& vertices) {
  const auto& ids = mesh.place->vertex_ids;
  std::vector<std::vector<BorderFacet>> outgoing(comm.size());
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) {
      auto key = sorted_vertices(cell, i, mesh.dim);
      const bool is_border = std::all_of(key.begin(), key.begin() + mesh.dim,
                                         [&](std::int32_t v) { return vertices[v].slices > 1; });
      if (!is_border) continue;
      const std::int32_t side = side_of(mesh, key, cell[i]);
      for (int k = 0; k < mesh.dim; ++k) key[k] = ids[key[k]];
      outgoing[blocks.of(key[0])].push_back({key, ids[cell[i]], side});
    }
  std::vector<BorderFacet> all;
  for (const auto& part : parallel::exchange(comm, outgoing)) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all, {}, &BorderFacet::key);
  bool fine = true;
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (all[k - 1].key != all[k].key) continue;
    fine = fine && all[k - 1].opposite != all[k].opposite && all[k - 1].side * all[k].side <= 0 &&
           (k < 2 || all[k - 2].key != all[k].key);
  }
  return comm.all(fine);
}

/// A facet of the boundary by its corners.
struct PlacedFacet {
  std::array<std::array<double, 3>, 3> corners;
  std::int64_t number, cell;
  double low, high; ///< along the axis of slabs
};

/// Slabs across the longest side of a box, of about as many facets each.
struct Slabs {
  Eigen::Index axis = 0;
  double low = 0, bins_per_length = 0;
  std::vector<int> rank_of_bin;

  int of(double place) const {
    const double bin = (place - low) * bins_per_length;
    return rank_of_bin[std::size_t(std::clamp(bin, 0.0, double(rank_of_bin.size() - 1)))];
  }
};

Slabs make_slabs(const parallel::Communicator& comm, const Eigen::AlignedBox3d& box,
                 const std::vector<PlacedFacet>& facets, Eigen::Index axis) {
  Slabs slabs{axis, box.min()[axis], 0, {}};
  std::vector<double> count(std::size_t(64) * comm.size(), 0);
  const double length = box.sizes()[axis];
  slabs.bins_per_length = length > 0 ? double(count.size()) / length : 0;
  for (const PlacedFacet& facet : facets) {
    const double bin = (facet.low - slabs.low) * slabs.bins_per_length;
    ++count[std::size_t(std::clamp(bin, 0.0, double(count.size() - 1)))];
  }
  comm.sum(std::span(count));
  const double total = std::accumulate(count.begin(), count.end(), 0.0);
  double before = 0;
  for (const double own : count) {
    const double middle = before + 0.5 * own;
    slabs.rank_of_bin.push_back(total > 0 ? std::min(comm.size() - 1, int(comm.size() * middle / total)) : 0);
    before += own;
  }
  return slabs;
}

/// The boundary of a slice, its facets numbered in the order of all cells.
std::vector<PlacedFacet> place_facets(const parallel::Communicator& comm, const BodyMesh& mesh,
                                      const Boundary& boundary, Eigen::Index axis) {
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(boundary.facets.size()));
  std::vector<PlacedFacet> placed;
  for (const BoundaryFacet& facet : boundary.facets) {
    const auto v = facet_vertices(mesh, facet);
    PlacedFacet own{{}, first + std::ssize(placed), mesh.cell_source[facet.cell], 0, 0};
    Eigen::AlignedBox3d box;
    for (int i = 0; i < mesh.dim; ++i) {
      const Eigen::Vector3d& p = mesh.vertices[v[i]];
      own.corners[i] = {p.x(), p.y(), p.z()};
      box.extend(p);
    }
    own.low = box.min()[axis];
    own.high = box.max()[axis];
    placed.push_back(own);
  }
  return placed;
}

/// Facets that lie on each other, in the slab of this rank.
std::vector<Overlap> overlaps_in_slab(const std::vector<PlacedFacet>& facets, const Eigen::AlignedBox3d& box,
                                      int dim) {
  // The corners of the box are there for the tolerance, which goes by the whole mesh.
  std::vector<Eigen::Vector3d> vertices{box.min(), box.max()};
  std::vector<std::array<std::int32_t, 3>> corners;
  for (const PlacedFacet& facet : facets) {
    const auto first = std::int32_t(vertices.size());
    for (int i = 0; i < dim; ++i) vertices.emplace_back(facet.corners[i].data());
    corners.push_back({first, first + 1, dim == 3 ? first + 2 : -1});
  }
  return overlapping_facets(vertices, corners, dim);
}

/// check_connections() for slices; false on every rank where it throws.
bool connections_are_sound(const parallel::Communicator& comm, const BodyMesh& mesh, const Boundary& boundary,
                           const Eigen::AlignedBox3d& box, const std::string& where) {
  Eigen::Index axis = 0;
  box.sizes().maxCoeff(&axis);
  const std::vector<PlacedFacet> placed = place_facets(comm, mesh, boundary, axis);
  const Slabs slabs = make_slabs(comm, box, placed, axis);
  // Above the tolerance within which facets are taken to touch.
  const double margin = 1e-6 * box.diagonal().norm();
  std::vector<std::vector<PlacedFacet>> outgoing(comm.size());
  for (const PlacedFacet& facet : placed)
    for (int rank = slabs.of(facet.low - margin); rank <= slabs.of(facet.high + margin); ++rank)
      outgoing[rank].push_back(facet);
  std::vector<PlacedFacet> facets;
  for (const auto& part : parallel::exchange(comm, outgoing))
    facets.insert(facets.end(), part.begin(), part.end());
  std::ranges::sort(facets, {}, &PlacedFacet::number);
  GlobalIndex count = 0;
  bool fine = true;
  using Shown = std::array<GlobalIndex, 4>; // numbers of the facets, then their cells
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  Shown shown{none, none, none, none};
  Eigen::Vector3d place = Eigen::Vector3d::Zero();
  for (const Overlap& overlap : overlaps_in_slab(facets, box, mesh.dim)) {
    const PlacedFacet &a = facets[overlap.first], &b = facets[overlap.second];
    // Both are wherever the one that begins later begins: this rank counts only what begins here.
    if (slabs.of(std::max(a.low, b.low)) != comm.rank()) continue;
    ++count;
    fine = fine && !overlap.same_side;
    const Shown own{a.number, b.number, a.cell, b.cell};
    if (own < shown) {
      shown = own;
      place = overlap.place;
    }
  }
  if (!comm.all(fine)) return false;
  count = comm.sum(count);
  if (count == 0) return true;
  const auto all = comm.all_gather_parts(shown);
  const std::vector<double> places = comm.all_gather(std::span<const double>(place.data(), 3));
  std::size_t best = 0;
  for (std::size_t rank = 1; rank < std::size_t(comm.size()); ++rank)
    if (std::ranges::lexicographical_compare(std::span(all).subspan(4 * rank, 4),
                                             std::span(all).subspan(4 * best, 4)))
      best = rank;
  if (comm.rank() == 0)
    log_warning_once(unconnected_warning(where, mesh.dim, count, {all[4 * best + 2], all[4 * best + 3]},
                                         Eigen::Vector3d(places.data() + 3 * best)));
  return true;
}

/// Whether triangles lie in a plane of constant z, which becomes z = 0.
bool flatten(const parallel::Communicator& comm, std::vector<Eigen::Vector3d>& vertices) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Eigen::Vector3d& p : vertices) {
    low = std::min(low, p.z());
    high = std::max(high, p.z());
  }
  if (comm.max(high) > comm.min(low)) return false;
  for (Eigen::Vector3d& p : vertices) p.z() = 0;
  return true;
}

bool have_one_tag(const parallel::Communicator& comm, const std::vector<std::int32_t>& tags) {
  GlobalIndex low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
  for (const std::int32_t tag : tags) {
    low = std::min<GlobalIndex>(low, tag);
    high = std::max<GlobalIndex>(high, tag);
  }
  return comm.max(high) <= comm.min(low);
}

/// What find_boundary() and check_connections() look for; false on every rank where they throw.
bool is_sound(const parallel::Communicator& comm, const SlicedBody& body, const Blocks& blocks,
              const std::vector<FileVertex>& vertices, const std::string& where) {
  if (!borders_are_sound(comm, body.mesh, blocks, vertices)) return false;
  Boundary boundary;
  try {
    boundary = find_boundary_of_slices(comm, body.mesh, false, where);
  } catch (const InputError&) { // of all ranks
    return false;
  }
  return connections_are_sound(comm, body.mesh, boundary, body.box, where);
}

} // namespace

Eigen::AlignedBox3d place_vertices(const parallel::Communicator& comm, const GeometrySpec& spec, int dim,
                                   std::vector<Eigen::Vector3d>& vertices) {
  const std::string where = describe(spec);
  if (spec.normalize_mesh) {
    const Eigen::AlignedBox3d box = box_of_all(comm, vertices);
    parallel::collectively(comm, [&] { normalize(vertices, box, where); });
  }
  const Eigen::AlignedBox3d box = box_of_all(comm, vertices);
  parallel::collectively(
      comm, [&] { transform_vertices(affine_map(spec.transformation, box, dim, where), vertices); });
  return box_of_all(comm, vertices);
}

std::optional<SlicedBody> body_of_file(const parallel::Communicator& comm, const GeometrySpec& spec,
                                       const FileSlices& file, int dim) {
  const std::string where = describe(spec);
  std::vector<Eigen::Vector3d> vertices = file.vertices;
  for (Eigen::Vector3d& p : vertices) p *= spec.file_scale;
  if (file.dim == 2 && !flatten(comm, vertices)) return {};
  SlicedBody body;
  BodyMesh& mesh = body.mesh;
  mesh.dim = file.dim;
  parallel::collectively(comm, [&] { check_dimension(mesh, dim, where); });
  body.box = place_vertices(comm, spec, dim, vertices);

  const Blocks cells{file.num_cells, comm.size()};
  mesh.cells = file.cells;
  mesh.tags = file.tags;
  mesh.cell_source.resize(mesh.cells.size());
  std::iota(mesh.cell_source.begin(), mesh.cell_source.end(), cells.begin(comm.rank()));
  mesh.place = PlaceInBody{number_locally(mesh.cells, dim), cells.begin(comm.rank()), file.num_vertices,
                           file.num_cells};
  const std::vector<std::int32_t>& ids = mesh.place->vertex_ids;
  const VertexOwners owners(comm, file.num_vertices, ids);
  const std::vector<FileVertex> known = owners.ask(ids, vertices, body.num_lone);
  vertices = {};
  for (const FileVertex& vertex : known) {
    mesh.vertices.emplace_back(vertex.position.data());
    body.lone_before.push_back(vertex.lone_before);
  }
  parallel::collectively(comm, [&] { orient(mesh, where); });
  if (spec.n_refs > 0 && !have_one_tag(comm, mesh.tags)) return {};
  parallel::collectively(comm, [&] { check_refinement(mesh, spec.n_refs, where, comm.size()); });
  if (!is_sound(comm, body, owners.blocks(), known, where)) return {};
  std::vector<std::array<std::int32_t, 3>> facets;
  std::vector<std::int32_t> tags;
  for (const FileSlices::Facet& facet : owners.facets_of_slice(file.facets)) {
    facets.push_back(facet.vertices);
    tags.push_back(facet.tag);
  }
  keep_facets(facets, tags, mesh);
  return body;
}

} // namespace recoil::mesh

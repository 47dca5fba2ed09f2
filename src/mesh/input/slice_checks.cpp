#include "mesh/input/slice_checks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mesh/facet_entries.hpp"
#include "mesh/input/body_slices.hpp"
#include "mesh/input/entry_checks.hpp"
#include "recoil/base/log.hpp"

namespace recoil::mesh {

namespace {

/// A tenth of what find_boundary() takes for rounding.
constexpr double border_rounding = 0.1 * facet_rounding;

/// A facet of a cell at the border of a slice.
struct BorderFacet {
  std::array<std::int32_t, 3> key; ///< ascending vertices
  std::int32_t opposite;           ///< the other vertex of the cell
  std::int32_t side;               ///< on which it lies; 0 if that is nearly none
};

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
      const std::int32_t side = side_of(mesh, key, cell[i], border_rounding);
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

} // namespace

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

} // namespace recoil::mesh

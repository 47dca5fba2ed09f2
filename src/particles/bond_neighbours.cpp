#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <Eigen/Geometry>

#include "particles/near_pairs.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/particles/particle_slices.hpp"

namespace recoil::particles {

namespace {

void check_tolerance(double tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw InputError("bonds",
                     "a tolerance of " + std::to_string(tolerance) +
                         "; give the gap that bonds bridge in units of the sum of the radii, 0 or more");
}

/// Bonds of the first `count` particles of the set with later ones, ascending.
std::vector<std::array<std::int64_t, 2>> bonds_of_first(const ParticleSet& set, std::int64_t count,
                                                        double tolerance) {
  std::vector<std::array<std::int64_t, 2>> bonds;
  if (count == 0) return bonds;
  // With room for the rounding of places in units of cells, so that bonds do not depend on where these begin.
  constexpr double room = 1 + 1e-9;
  const double largest = *std::max_element(set.radii.begin(), set.radii.end());
  const CellList cells(set.positions, 2 * largest * (1 + tolerance) * room);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto first = std::ssize(bonds);
    cells.for_each_later_near(i, [&](std::int64_t j) {
      const double reach = (set.radii[i] + set.radii[j]) * (1 + tolerance);
      if (set.body[i] == set.body[j] && (set.positions[j] - set.positions[i]).squaredNorm() <= reach * reach)
        bonds.push_back({i, j});
    });
    std::sort(bonds.begin() + first, bonds.end());
  }
  return bonds;
}

/// Consecutive particles of a rank in one layer of a lattice, and the box around them along its axes.
struct LayerPart {
  std::int64_t begin, end;
  std::array<double, 6> box; ///< low and high corner
  int rank;

  Eigen::AlignedBox3d grown(double by) const {
    return {Eigen::Vector3d(box[0], box[1], box[2]).array() - by,
            Eigen::Vector3d(box[3], box[4], box[5]).array() + by};
  }
};

std::vector<LayerPart> layer_parts(int rank, const std::vector<Eigen::Vector3d>& along_axes, double radius) {
  std::vector<LayerPart> parts;
  Eigen::AlignedBox3d box;
  for (std::int64_t i = 0; i < std::ssize(along_axes); ++i) {
    const Eigen::Vector3d& place = along_axes[i];
    if (i == 0 || std::abs(place.z() - along_axes[i - 1].z()) > radius / 2) {
      parts.push_back({i, i, {}, rank});
      box.setEmpty();
    }
    box.extend(place);
    LayerPart& part = parts.back();
    part.end = i + 1;
    for (int k = 0; k < 3; ++k) {
      part.box[k] = box.min()[k];
      part.box[3 + k] = box.max()[k];
    }
  }
  return parts;
}

struct HaloParticle {
  GlobalIndex id;
  std::array<double, 3> position;
};

/// The particles of higher ranks that may be within `reach` of those here, by rank. Collective.
std::vector<std::vector<HaloParticle>> find_halo(const parallel::Communicator& comm,
                                                 const ParticleSlices& body, const Eigen::Matrix3d& axes,
                                                 double reach) {
  const std::vector<Eigen::Vector3d>& positions = body.share.positions;
  std::vector<Eigen::Vector3d> along_axes;
  along_axes.reserve(positions.size());
  for (const Eigen::Vector3d& position : positions) along_axes.emplace_back(axes.transpose() * position);
  const std::vector<LayerPart> own = layer_parts(comm.rank(), along_axes, reach / 2);
  std::vector<LayerPart> all = parallel::gather(comm, 0, own);
  comm.broadcast(all);

  std::vector<std::vector<HaloParticle>> outgoing(comm.size());
  std::vector<int> last_rank(positions.size(), -1);
  for (const LayerPart& below : all) {
    if (below.rank >= comm.rank()) break;
    const Eigen::AlignedBox3d near = below.grown(reach);
    for (const LayerPart& part : own) {
      if (!near.intersects(part.grown(0))) continue;
      for (std::int64_t i = part.begin; i < part.end; ++i)
        if (near.contains(along_axes[i]) && std::exchange(last_rank[i], below.rank) != below.rank)
          outgoing[below.rank].push_back(
              {body.ids[i], {positions[i].x(), positions[i].y(), positions[i].z()}});
    }
  }
  for (auto& particles : outgoing) std::ranges::sort(particles, {}, &HaloParticle::id);
  return parallel::exchange(comm, outgoing);
}

} // namespace

std::vector<std::array<std::int64_t, 2>> bond_neighbours(const ParticleSet& set, double tolerance) {
  check_tolerance(tolerance);
  return bonds_of_first(set, std::ssize(set.positions), tolerance);
}

void bond(ParticleSet& set, double tolerance) {
  set.bond_constants.clear();
  if (!set.cell) {
    set.bonds = bond_neighbours(set, tolerance);
    return;
  }
  check_tolerance(tolerance);
  if (set.radii.empty()) return;
  // With room for the rounding of places in units of cells.
  const double reach = 2 * *std::ranges::max_element(set.radii) * (1 + tolerance) * (1 + 1e-9);
  require_wide(*set.cell, reach, set.body_names.front());
  struct Bond {
    std::array<std::int64_t, 2> ends;
    CellShift shift;
  };
  std::vector<Bond> bonds;
  for_each_near_pair(
      set.cell, set.positions, reach, [&](std::int64_t i, std::int64_t j, const CellShift& shift) {
        const double longest = (set.radii[i] + set.radii[j]) * (1 + tolerance);
        const Eigen::Vector3d line = set.positions[j] + set.cell->vector(shift) - set.positions[i];
        if (set.body[i] == set.body[j] && line.squaredNorm() <= longest * longest)
          bonds.push_back({{i, j}, shift});
      });
  std::ranges::sort(bonds, {}, &Bond::ends);
  set.bonds.clear();
  set.bond_shifts.clear();
  for (const Bond& bond : bonds) {
    set.bonds.push_back(bond.ends);
    set.bond_shifts.push_back(bond.shift);
  }
}

void bond_lattice_slices(const parallel::Communicator& comm, ParticleSlices& body, const Lattice& lattice,
                         double tolerance) {
  check_tolerance(tolerance);
  ParticleSet& share = body.share;
  const auto count = std::ssize(share.positions);
  // With room for the rounding of places along the axes.
  const double reach = 2 * lattice.radius * (1 + tolerance) * (1 + 1e-6);
  const auto halo = find_halo(comm, body, lattice.rotation, reach);

  // Numbers ascend with the ranks: those of the halo follow those here.
  std::vector<ParticleSlices::OtherEnd> others;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (const auto& [id, place] : halo[rank]) {
      others.push_back({id, rank});
      share.positions.emplace_back(place[0], place[1], place[2]);
    }
  share.radii.resize(share.positions.size(), lattice.radius);
  share.body.resize(share.positions.size(), 0);
  share.bonds = bonds_of_first(share, count, tolerance);
  share.positions.resize(count);
  share.radii.resize(count);
  share.body.resize(count);

  std::vector<char> is_end(others.size(), 0);
  for (auto& bond : share.bonds)
    for (std::int64_t& end : bond) {
      if (end >= count) is_end[end - count] = 1;
      end = end < count ? body.ids[end] : others[end - count].id;
    }
  for (std::size_t k = 0; k < others.size(); ++k)
    if (is_end[k]) body.other_ends.push_back(others[k]);
  const auto num_bonds = GlobalIndex(std::ssize(share.bonds));
  body.bond_ids.resize(num_bonds);
  std::iota(body.bond_ids.begin(), body.bond_ids.end(), comm.exclusive_scan(num_bonds));
  body.num_bonds = comm.sum(num_bonds);
}

} // namespace recoil::particles

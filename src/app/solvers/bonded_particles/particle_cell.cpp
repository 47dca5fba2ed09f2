#include "recoil/app/solvers/bonded_particles/particle_cell.hpp"

#include <algorithm>

#include <Eigen/LU>
#include <fmt/format.h>

#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

using particles::PeriodicCell;

Eigen::Matrix3d deformation_at(const PeriodicEntry& entry, double time) {
  const Eigen::Matrix3d F = Eigen::Matrix3d::Identity() + entry.gradient_at(time, 3);
  if (!(F.determinant() > 0))
    throw InputError(entry.where, fmt::format("`linear_displacement_offset` leaves the cell no volume at t = "
                                              "{:g}: the determinant of I + H is {:g}; deform it less",
                                              time, F.determinant()));
  return F;
}

std::vector<int> free_entries(const PeriodicEntry& entry) {
  std::vector<int> free;
  for (int number = 0; number < 9 && entry.prescribed; ++number)
    if (entry.repeats_along(number % 3) && std::ranges::count(*entry.prescribed, number) == 0)
      free.push_back(number);
  return free;
}

std::optional<PeriodicCell> cell_of(const Scene& scene, const mesh::AssembledGeometry& geometry) {
  const std::optional<PeriodicEntry>& entry = particles_of(scene).periodic;
  if (!entry) return {};
  PeriodicCell cell;
  for (int k = 0; k < 3; ++k) cell.repeats[std::size_t(k)] = entry->repeats_along(k);
  if (const auto edges = entry->edges(3)) {
    cell.edges = *edges;
    return cell;
  }
  Eigen::AlignedBox3d box;
  for (const ParticleBody& body : particles_of(scene).bodies)
    if (const auto of_body = box_of_body(body, geometry)) box.extend(*of_body);
  for (const ParticleBody& body : particles_of(scene).bodies) {
    const auto own = box_of_body(body, geometry);
    for (int k = 0; own && k < 3; ++k)
      if (cell.repeats[std::size_t(k)] && (own->min()[k] != box.min()[k] || own->max()[k] != box.max()[k]))
        throw InputError(body.where,
                         fmt::format("body '{}' does not lead from face to face of the cell along "
                                     "{}, where it repeats; leave {} out of `axes` of {}",
                                     body.body, "xyz"[k], "xyz"[k], entry -> where));
  }
  cell.edges = box.sizes().asDiagonal();
  cell.origin = box.min();
  return cell;
}

void find_shifts(particles::ParticleSet& set, const std::string& where) {
  set.bond_shifts.clear();
  const Eigen::Vector3d widths = set.cell->widths();
  double longest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k)
    if (set.cell->repeats[std::size_t(k)]) longest = std::min(longest, widths[k] / 2);
  for (const auto& [i, j] : set.bonds) {
    set.bond_shifts.push_back(set.cell->nearest(set.positions[i], set.positions[j]));
    const double length =
        (set.positions[j] + set.cell->vector(set.bond_shifts.back()) - set.positions[i]).norm();
    if (length >= longest)
      throw InputError(where,
                       fmt::format("the bond of particles {} and {} is {:.6g} m long, half of the width "
                                   "of the cell or more, so that its image is not known; take a larger "
                                   "cell",
                                   i, j, length));
  }
}

void pin_particle(const PeriodicEntry& entry, solvers::BondedParticles& problem) {
  const auto& ids = problem.particles->ids;
  const auto pinned = std::ranges::find(ids, GlobalIndex{0}) - ids.begin();
  if (pinned == std::ssize(ids)) return;
  std::array<bool, 3> held{};
  for (int i = 0; i < 3; ++i) held[std::size_t(i)] = entry.repeats_along(i);
  for (std::size_t i = 0; i < 3; ++i) problem.prescribed[6 * std::size_t(pinned) + i] = held[i] ? 1 : 0;
  const Eigen::Vector3d X = problem.particles->positions[std::size_t(pinned)];
  const particles::CellMotion* motion = problem.cell_motion.get();
  problem.move_prescribed = [=](double time, std::span<double> u) {
    const Eigen::Vector3d place = motion->cell().affine(X, motion->at(time));
    for (int i = 0; i < 3; ++i)
      if (held[std::size_t(i)]) u[7 * std::size_t(pinned) + std::size_t(i)] = place[i];
  };
}

} // namespace recoil::app

#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <utility>

#include "particles/packing_errors.hpp"
#include "recoil/base/error.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::particles {

namespace {

/// Distances of layers, rows, and of the places in a row, in units of the radius.
struct Spacing {
  double layer, row, place;
};

Spacing spacing(LatticeKind kind) {
  if (kind == LatticeKind::fcc) return {std::numbers::sqrt2, std::numbers::sqrt2, 2 * std::numbers::sqrt2};
  return {2 * std::sqrt(6.0) / 3, std::numbers::sqrt3, 2};
}

bool is_odd(std::int64_t number) { return (number & 1) != 0; }

/// Place i of row j of layer k along lattice axes, in units of the radius. Every second layer of hcp lies in
/// the hollows of the others.
Eigen::Vector3d lattice_point(LatticeKind kind, std::int64_t i, std::int64_t j, std::int64_t k) {
  const Spacing step = spacing(kind);
  const double row = kind == LatticeKind::hcp && is_odd(k) ? j + 1.0 / 3 : j;
  return {step.place * (i + (is_odd(j + k) ? 0.5 : 0.0)), step.row * row, step.layer * k};
}

void check_lattice(const ClosedSurface& surface, const Lattice& lattice) {
  check_radius(surface, lattice.radius);
  const Eigen::Matrix3d product = lattice.rotation.transpose() * lattice.rotation;
  if (!product.isIdentity(1e-9) || !(lattice.rotation.determinant() > 0))
    throw InputError(surface.name(), "the orientation of the lattice is no rotation; its columns must be "
                                     "orthonormal and right-handed");
  if (!lattice.origin.allFinite())
    throw InputError(surface.name(), "the origin of the lattice is not finite");
}

/// The box of the surface seen along lattice axes from the lattice's origin, in units of the radius.
Eigen::AlignedBox3d box_in_lattice(const ClosedSurface& surface, const Lattice& lattice) {
  Eigen::AlignedBox3d box;
  for (int k = 0; k < 8; ++k) {
    const Eigen::Vector3d corner = surface.box().corner(static_cast<Eigen::AlignedBox3d::CornerType>(k));
    box.extend(lattice.rotation.transpose() * (corner - lattice.origin) / lattice.radius);
  }
  return box;
}

/// The particles of the lattice inside of the surface, if any.
ParticleSet fill(const ClosedSurface& surface, const Lattice& lattice, Inside inside) {
  check_lattice(surface, lattice);
  const Eigen::AlignedBox3d box = box_in_lattice(surface, lattice);
  const Spacing step = spacing(lattice.kind);
  const auto [layer, row, place] = step;
  if (const double candidates = box.volume() / (layer * row * place);
      !(candidates < std::numeric_limits<std::int32_t>::max()))
    throw_too_many(surface, lattice.radius, candidates);
  constexpr double rounding = 1e-9;
  const double margin = lattice.radius * (inside == Inside::whole_sphere ? 1 - rounding : rounding);

  ParticleSet set;
  set.body_names = {surface.name()};
  const auto below = [](double value) { return static_cast<std::int64_t>(std::floor(value)) - 1; };
  const auto above = [](double value) { return static_cast<std::int64_t>(std::ceil(value)) + 1; };
  for (auto k = below(box.min().z() / layer); k <= above(box.max().z() / layer); ++k)
    for (auto j = below(box.min().y() / row); j <= above(box.max().y() / row); ++j)
      for (auto i = below(box.min().x() / place); i <= above(box.max().x() / place); ++i) {
        const Eigen::Vector3d point =
            lattice.origin + lattice.rotation * (lattice.radius * lattice_point(lattice.kind, i, j, k));
        if (!surface.box().contains(point) || surface.is_closer(point, margin) || !surface.contains(point))
          continue;
        set.positions.push_back(point);
      }
  return set;
}

/// Gives the particles of a filled body what they have in common.
ParticleSet completed(ParticleSet set, const ClosedSurface& surface, const Lattice& lattice, Inside inside) {
  if (set.positions.empty())
    throw_nothing_fits(
        surface, lattice.radius,
        "take a smaller radius, or another origin of the lattice" +
            std::string(inside == Inside::whole_sphere ? ", or let centres lie inside only" : ""));
  set.radii.assign(set.positions.size(), lattice.radius);
  set.volumes.assign(set.positions.size(), lattice_cell_volume(lattice.radius));
  set.body.assign(set.positions.size(), 0);
  return set;
}

/// From the middle of the particles to that of the box around the surface.
Eigen::Vector3d way_to_middle(const ParticleSet& set, const ClosedSurface& surface) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& place : set.positions) box.extend(place);
  return surface.box().center() - box.center();
}

} // namespace

double lattice_cell_volume(double radius) { return 4 * std::numbers::sqrt2 * radius * radius * radius; }

ParticleSet pack_lattice(const ClosedSurface& surface, const Lattice& lattice, Inside inside) {
  return completed(fill(surface, lattice, inside), surface, lattice, inside);
}

ParticleSet pack_centred_lattice(const ClosedSurface& surface, Lattice lattice, Inside inside) {
  constexpr int most_moves = 3;
  constexpr double rounding = 1e-9;
  ParticleSet best = fill(surface, lattice, inside), next = best;
  for (int move = 0; move < most_moves && !next.positions.empty(); ++move) {
    const Eigen::Vector3d way = way_to_middle(next, surface);
    if (way.norm() <= rounding * lattice.radius) break;
    lattice.origin += way;
    next = fill(surface, lattice, inside);
    if (!next.positions.empty() && way_to_middle(next, surface).norm() < way_to_middle(best, surface).norm())
      best = next;
  }
  return completed(std::move(best), surface, lattice, inside);
}

} // namespace recoil::particles

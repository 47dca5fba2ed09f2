#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "particles/packing_errors.hpp"
#include "recoil/base/error.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/particles/particle_slices.hpp"

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

/// The points of a lattice in a box, with some to spare, in the order of layers, rows and places in the row.
struct Candidates {
  std::array<std::int64_t, 3> first, count; ///< of places, rows and layers

  std::int64_t total() const { return count[0] * count[1] * count[2]; }
};

Candidates candidates_in(const Eigen::AlignedBox3d& box, const Spacing& step) {
  const double steps[] = {step.place, step.row, step.layer};
  Candidates candidates;
  for (int axis = 0; axis < 3; ++axis) {
    candidates.first[axis] = static_cast<std::int64_t>(std::floor(box.min()[axis] / steps[axis])) - 1;
    candidates.count[axis] =
        static_cast<std::int64_t>(std::ceil(box.max()[axis] / steps[axis])) + 2 - candidates.first[axis];
  }
  return candidates;
}

/// The places of the lattice inside of the surface, if any; those among the candidates of one of so many
/// parts, which follow each other.
std::vector<Eigen::Vector3d> fill(const ClosedSurface& surface, const Lattice& lattice, Inside inside,
                                  int part, int parts) {
  check_lattice(surface, lattice);
  const Eigen::AlignedBox3d box = box_in_lattice(surface, lattice);
  const Spacing step = spacing(lattice.kind);
  if (const double many = box.volume() / (step.layer * step.row * step.place);
      !(many < std::numeric_limits<std::int32_t>::max()))
    throw_too_many(surface, lattice.radius, many);
  constexpr double rounding = 1e-9;
  const double margin = lattice.radius * (inside == Inside::whole_sphere ? 1 - rounding : rounding);

  const Candidates candidates = candidates_in(box, step);
  const auto& [first, count] = candidates;
  const std::int64_t begin = candidates.total() * part / parts, end = candidates.total() * (part + 1) / parts;
  std::vector<Eigen::Vector3d> places;
  for (std::int64_t row = begin / count[0]; row * count[0] < end; ++row) {
    const std::int64_t j = first[1] + row % count[1], k = first[2] + row / count[1];
    const std::int64_t from = std::max<std::int64_t>(begin - row * count[0], 0),
                       to = std::min(end - row * count[0], count[0]);
    for (std::int64_t i = first[0] + from; i < first[0] + to; ++i) {
      const Eigen::Vector3d point =
          lattice.origin + lattice.rotation * (lattice.radius * lattice_point(lattice.kind, i, j, k));
      if (!surface.box().contains(point) || surface.is_closer(point, margin) || !surface.contains(point))
        continue;
      places.push_back(point);
    }
  }
  return places;
}

/// The particles at the places of a filled body.
ParticleSet set_at(std::vector<Eigen::Vector3d> places, const ClosedSurface& surface, double radius) {
  ParticleSet set;
  set.body_names = {surface.name()};
  set.radii.assign(places.size(), radius);
  set.volumes.assign(places.size(), lattice_cell_volume(radius));
  set.body.assign(places.size(), 0);
  set.positions = std::move(places);
  return set;
}

[[noreturn]] void throw_nothing_in_lattice(const ClosedSurface& surface, double radius, Inside inside) {
  throw_nothing_fits(
      surface, radius,
      "take a smaller radius, or another origin of the lattice" +
          std::string(inside == Inside::whole_sphere ? ", or let centres lie inside only" : ""));
}

/// The box around the places of all ranks; without ranks, of those here.
Eigen::AlignedBox3d box_of_places(const parallel::Communicator* comm,
                                  const std::vector<Eigen::Vector3d>& places) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& place : places) box.extend(place);
  if (!comm) return box;
  for (int i = 0; i < 3; ++i) {
    box.min()[i] = comm->min(box.min()[i]);
    box.max()[i] = comm->max(box.max()[i]);
  }
  return box;
}

/// The part of this rank of the places of a lattice in the middle of the surface; without ranks, all of them.
/// Collective if there are ranks. @throws InputError on all of them
std::vector<Eigen::Vector3d> fill_centred(const parallel::Communicator* comm, const ClosedSurface& surface,
                                          Lattice lattice, Inside inside) {
  constexpr int most_moves = 3;
  constexpr double rounding = 1e-9;
  const auto fill_part = [&] {
    if (!comm) return fill(surface, lattice, inside, 0, 1);
    return parallel::collectively(*comm,
                                  [&] { return fill(surface, lattice, inside, comm->rank(), comm->size()); });
  };
  const auto way_to_middle = [&](const Eigen::AlignedBox3d& box) -> Eigen::Vector3d {
    return surface.box().center() - box.center();
  };
  std::vector<Eigen::Vector3d> best = fill_part();
  Eigen::AlignedBox3d best_box = box_of_places(comm, best), next_box = best_box;
  if (best_box.isEmpty()) throw_nothing_in_lattice(surface, lattice.radius, inside);
  for (int move = 0; move < most_moves && !next_box.isEmpty(); ++move) {
    const Eigen::Vector3d way = way_to_middle(next_box);
    if (way.norm() <= rounding * lattice.radius) break;
    lattice.origin += way;
    std::vector<Eigen::Vector3d> next = fill_part();
    next_box = box_of_places(comm, next);
    if (next_box.isEmpty() || way_to_middle(next_box).norm() >= way_to_middle(best_box).norm()) continue;
    best = std::move(next);
    best_box = next_box;
  }
  return best;
}

} // namespace

double lattice_cell_volume(double radius) { return 4 * std::numbers::sqrt2 * radius * radius * radius; }

ParticleSet pack_lattice(const ClosedSurface& surface, const Lattice& lattice, Inside inside) {
  std::vector<Eigen::Vector3d> places = fill(surface, lattice, inside, 0, 1);
  if (places.empty()) throw_nothing_in_lattice(surface, lattice.radius, inside);
  return set_at(std::move(places), surface, lattice.radius);
}

ParticleSet pack_centred_lattice(const ClosedSurface& surface, const Lattice& lattice, Inside inside) {
  return set_at(fill_centred(nullptr, surface, lattice, inside), surface, lattice.radius);
}

namespace {

/// Numbers of the lattice's points along an axis, and where the first one lies, in units of the radius.
struct Fill {
  std::int64_t count;
  double first;
};

/// Whole periods, half a step away from the faces.
Fill fill_period(const Lattice& lattice, const std::string& name, int axis, double edge, double step) {
  const bool is_place = axis == 0;
  const double period = (is_place ? 1 : 2) * step, number = edge / period, whole = std::round(number);
  if (!(whole >= 1) || std::abs(number - whole) > 1e-6 * number)
    throw InputError(name, fmt::format("the lattice repeats every {:.9g} m along {}, and the cell, of {:.9g} "
                                       "m, holds no whole number of these; make it {:.9g} m or {:.9g} m long",
                                       period * lattice.radius, "xyz"[axis], edge * lattice.radius,
                                       std::max(1.0, std::floor(number)) * period * lattice.radius,
                                       (std::floor(number) + 1) * period * lattice.radius));
  return {std::int64_t(whole) * (is_place ? 1 : 2), step / 4};
}

} // namespace

ParticleSet pack_periodic_lattice(const PeriodicCell& cell, const Lattice& lattice, const std::string& name,
                                  Inside inside) {
  const Eigen::Vector3d box = cell.edges.diagonal() / lattice.radius;
  if (!lattice.rotation.isIdentity(1e-12) || !cell.edges.isDiagonal(1e-12))
    throw InputError(name,
                     "a lattice repeats with a cell whose edges, and those of the lattice, lie along x, "
                     "y and z; leave out `rotation` and `correspondence`, or take packing \"random\"");
  const Spacing step = spacing(lattice.kind);
  const std::array<double, 3> steps{step.place, step.row, step.layer};
  const double margin = inside == Inside::whole_sphere ? 1 - 1e-9 : 1e-9;
  std::array<Fill, 3> fill;
  double number = 1;
  for (int k = 0; k < 3; ++k) {
    fill[k] = cell.repeats[k] ? fill_period(lattice, name, k, box[k], steps[k])
                              : Fill{std::int64_t(box[k] / steps[k]) + 2, margin};
    number *= double(fill[k].count);
  }
  if (!(number < std::numeric_limits<std::int32_t>::max()))
    throw InputError(name, fmt::format("about {:g} particles, more than 2^31; take a larger radius", number));
  ParticleSet set;
  Eigen::AlignedBox3d around;
  for (std::int64_t k = 0; k < fill[2].count; ++k)
    for (std::int64_t j = 0; j < fill[1].count; ++j)
      for (std::int64_t i = 0; i < fill[0].count; ++i) {
        const Eigen::Vector3d place = Eigen::Vector3d(fill[0].first, fill[1].first, fill[2].first) +
                                      lattice_point(lattice.kind, i, j, k);
        bool fits = true;
        for (int axis = 0; axis < 3; ++axis)
          fits = fits && (cell.repeats[axis] || place[axis] <= box[axis] - margin);
        if (!fits) continue;
        around.extend(place);
        set.positions.push_back(place);
      }
  if (set.positions.empty())
    throw InputError(name, fmt::format("no particle of radius {:g} m fits into the cell; take a smaller one",
                                       lattice.radius));
  for (Eigen::Vector3d& place : set.positions) {
    for (int axis = 0; axis < 3; ++axis)
      if (!cell.repeats[axis]) place[axis] += box[axis] / 2 - around.center()[axis];
    place = cell.origin + lattice.radius * place;
  }
  set.body_names = {name};
  set.radii.assign(set.positions.size(), lattice.radius);
  set.volumes.assign(set.positions.size(), lattice_cell_volume(lattice.radius));
  set.body.assign(set.positions.size(), 0);
  set.cell = cell;
  return set;
}

ParticleSlices pack_lattice_slices(const parallel::Communicator& comm, const ClosedSurface& surface,
                                   const Lattice& lattice, Inside inside) {
  ParticleSlices slices;
  slices.share = set_at(fill_centred(&comm, surface, lattice, inside), surface, lattice.radius);
  const auto count = std::ssize(slices.share.positions);
  slices.ids.resize(count);
  std::iota(slices.ids.begin(), slices.ids.end(), comm.exclusive_scan(GlobalIndex(count)));
  slices.num_particles = comm.sum(GlobalIndex(count));
  return slices;
}

} // namespace recoil::particles

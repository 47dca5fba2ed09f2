#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "recoil/app/solvers/bonded_particles/particle_cell.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/transform.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::app {

namespace {

using particles::ClosedSurface;
using particles::DistributedParticles;
using particles::ParticleSet;
using particles::ParticleSlices;
using particles::PeriodicCell;

/// Bodies above this are told to be made by one rank.
constexpr std::int64_t many_particles_of_one_rank = 1'000'000;

constexpr double default_tolerance = 1e-6;

particles::Lattice asked_lattice(const ParticleBody& body, const ClosedSurface& surface) {
  particles::Lattice lattice;
  lattice.kind = body.packing == Packing::fcc ? particles::LatticeKind::fcc : particles::LatticeKind::hcp;
  lattice.radius = body.min_radius;
  constexpr double degree = std::numbers::pi / 180;
  const double angle = body.rotation.norm() * degree;
  if (angle > 0) lattice.rotation = Eigen::AngleAxisd(angle, body.rotation.normalized()).toRotationMatrix();
  // Surfaces at round numbers should not cut through layers.
  lattice.origin = surface.box().min() + Eigen::Vector3d::Constant(body.min_radius);
  return lattice;
}

particles::Inside asked_inside(const ParticleBody& body) {
  return body.whole_spheres ? particles::Inside::whole_sphere : particles::Inside::centre;
}

ClosedSurface surface_of(const ParticleBody& body, const mesh::AssembledGeometry& geometry) {
  const auto& meshes = geometry.deformable.body_names;
  if (const auto mesh = std::ranges::find(meshes, body.body); mesh != meshes.end())
    return particles::boundary_of_body(geometry.deformable, std::int32_t(mesh - meshes.begin()));
  return ClosedSurface(*std::ranges::find(geometry.body_surfaces, body.body, &mesh::SurfaceMesh::name));
}

/// The cell with the box of one body along edges that do not repeat.
std::optional<PeriodicCell> cell_of_body(const std::optional<PeriodicCell>& cell,
                                         const ClosedSurface& surface) {
  if (!cell) return {};
  if (const double box = surface.box().volume(); std::abs(surface.volume() - box) > 1e-9 * box)
    throw InputError(surface.name(), "fills a cell that repeats, which is a box; give it the shape of one");
  PeriodicCell own = *cell;
  own.edges = surface.box().sizes().asDiagonal();
  own.origin = surface.box().min();
  return own;
}

/// Spheres at random, or as they settle along the gravity of the scene.
ParticleSet pack_spheres(const Scene& scene, const ParticleBody& body, const ClosedSurface& surface,
                         const std::optional<PeriodicCell>& cell) {
  const particles::RandomPacking spheres{body.min_radius, body.max_radius, std::uint64_t(body.seed),
                                         body.porosity, body.radii};
  if (body.packing != Packing::deposited) return pack_random(surface, spheres, cell_of_body(cell, surface));
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < scene.gravity.size(); ++i) gravity[Eigen::Index(i)] = scene.gravity[i];
  const Eigen::Vector3d usual = gravity.isZero(0) ? Eigen::Vector3d(0, 0, -1) : gravity;
  return pack_deposited(surface, {spheres, body.friction, body.down.value_or(usual)});
}

/// Bodies in the file are bonded apart by distance, and become one then.
ParticleSet read_body(const ParticleBody& body, const mesh::GeometrySpec& entry,
                      const std::optional<PeriodicCell>& cell) {
  particles::ParticleFileOptions options;
  options.radius = body.radius_in_file;
  if (!body.bonds.empty()) options.bonds = body.bonds;
  ParticleSet set = particles::read_particles(body.file, options);
  mesh::transform_vertices(mesh::affine_map(entry.transformation, {}, 3, entry.where), set.positions);
  const double scale = entry.transformation.scale[0];
  for (double& radius : set.radii) radius *= scale;
  for (double& volume : set.volumes) volume *= scale * scale * scale;
  set.cell = cell;
  if (!body.bonded) {
    set.bonds.clear();
    set.bond_constants.clear();
  } else if (set.bonds.empty() && body.bonds.empty()) {
    particles::bond(set, body.bond_tolerance.value_or(default_tolerance));
  } else if (body.bond_tolerance) {
    throw InputError(body.file.string(), "brings bonds, `bond_tolerance` has no effect; leave it out");
  } else if (cell) {
    find_shifts(set, body.file.string());
  }
  set.body_names = {body.body};
  set.body.assign(set.positions.size(), 0);
  return set;
}

/// Runs `work`, whose wrong input is then said to be of this body.
template <class Work>
auto naming_body(const Scene& scene, const ParticleBody& body, Work work) {
  try {
    return work();
  } catch (const InputError& error) {
    const std::string file = entry_of_body(scene, body.body).mesh.string();
    throw InputError(file.empty() ? body.where : body.where + " (" + file + ")", error.what());
  }
}

/// A body as the first rank begins with it.
struct FirstBody {
  std::optional<ClosedSurface> surface; ///< of a lattice
  ParticleSet set;                      ///< of any other body
  double count = 0;                     ///< of particles, of a lattice by its volume
};

/// The lattice of a body in a cell.
ParticleSet pack_cell(const ParticleBody& body, const ClosedSurface& surface,
                      const std::optional<PeriodicCell>& cell) {
  return pack_periodic_lattice(*cell_of_body(cell, surface), asked_lattice(body, surface), surface.name(),
                               asked_inside(body));
}

FirstBody begin_body(const Scene& scene, const ParticleBody& body, const mesh::AssembledGeometry& geometry,
                     const std::optional<PeriodicCell>& cell) {
  return naming_body(scene, body, [&] {
    FirstBody first;
    if (body.is_lattice() && !cell) {
      first.surface = surface_of(body, geometry);
      first.count = first.surface->volume() / particles::lattice_cell_volume(body.min_radius);
      return first;
    }
    if (body.file.empty()) {
      const ClosedSurface surface = surface_of(body, geometry);
      first.set =
          body.is_lattice() ? pack_cell(body, surface, cell) : pack_spheres(scene, body, surface, cell);
      first.set.cell = cell;
      if (body.bonded) bond(first.set, body.bond_tolerance.value_or(default_tolerance));
    } else {
      first.set = read_body(body, entry_of_body(scene, body.body), cell);
    }
    particles::check(first.set, "particles");
    first.count = double(first.set.positions.size());
    return first;
  });
}

std::vector<FirstBody> begin_bodies(const Scene& scene, const mesh::AssembledGeometry& geometry) {
  std::vector<FirstBody> bodies;
  const std::optional<PeriodicCell> cell = cell_of(scene, geometry);
  for (const ParticleBody& body : particles_of(scene).bodies)
    bodies.push_back(begin_body(scene, body, geometry, cell));
  return bodies;
}

/// All bodies by one rank.
ParticleSet finish_bodies(const Scene& scene, std::vector<FirstBody>&& bodies) {
  ParticleSet all;
  auto body = particles_of(scene).bodies.begin();
  for (FirstBody& first : bodies) {
    if (first.surface)
      naming_body(scene, *body, [&] {
        first.set =
            pack_centred_lattice(*first.surface, asked_lattice(*body, *first.surface), asked_inside(*body));
        if (body->bonded)
          first.set.bonds = bond_neighbours(first.set, body->bond_tolerance.value_or(default_tolerance));
      });
    append(all, first.set);
    first = {};
    ++body;
  }
  return all;
}

void warn_of_one_rank(const ParticleBody& body, std::int64_t count) {
  if (count <= many_particles_of_one_rank) return;
  log_warning_once(fmt::format("{}: the first rank alone {} the {} particles of this {} and needs the memory "
                               "for it; all ranks make a lattice (\"packing\": \"hcp\" or \"fcc\")",
                               body.where, body.file.empty() ? "makes" : "reads", count,
                               body.file.empty() ? "packing" : "file"));
}

/// A body of which every rank has a share. Collective. @param first on the first rank
ParticleSlices finish_slices(const parallel::Communicator& comm, const Scene& scene, const ParticleBody& body,
                             FirstBody&& first) {
  if (!body.is_lattice()) {
    warn_of_one_rank(body, std::ssize(first.set.positions));
    return slices_of(comm, std::move(first.set));
  }
  return naming_body(scene, body, [&] {
    const ClosedSurface surface = on_every_rank(comm, first.surface ? &*first.surface : nullptr);
    const particles::Lattice lattice = asked_lattice(body, surface);
    ParticleSlices slices = pack_lattice_slices(comm, surface, lattice, asked_inside(body));
    if (body.bonded)
      bond_lattice_slices(comm, slices, lattice, body.bond_tolerance.value_or(default_tolerance));
    return slices;
  });
}

DistributedParticles distribute_slices(const parallel::Communicator& comm, ParticleSlices&& slices,
                                       const OwnersOf& owners_of) {
  std::vector<int> owners;
  if (owners_of) owners = owners_of(slices.num_particles, slices.ids);
  if (!comm.any(!owners.empty())) owners = partition(comm, slices);
  return distribute(comm, std::move(slices), owners);
}

} // namespace

std::optional<Eigen::AlignedBox3d> box_of_body(const ParticleBody& body,
                                               const mesh::AssembledGeometry& geometry) {
  if (!body.file.empty()) return std::nullopt;
  return surface_of(body, geometry).box();
}

const mesh::GeometrySpec& entry_of_body(const Scene& scene, const std::string& body) {
  return *std::ranges::find(scene.geometry, body, &mesh::GeometrySpec::name);
}

ParticleSet pack_bodies(const Scene& scene, const mesh::AssembledGeometry& geometry) {
  return finish_bodies(scene, begin_bodies(scene, geometry));
}

DistributedParticles distribute_bodies(const parallel::Communicator& comm, const Scene& scene,
                                       const mesh::AssembledGeometry& geometry, const OwnersOf& owners_of,
                                       double in_slices_from) {
  std::vector<FirstBody> first = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? begin_bodies(scene, geometry) : std::vector<FirstBody>(); });
  const double count = comm.max(std::accumulate(
      first.begin(), first.end(), 0.0, [](double sum, const FirstBody& body) { return sum + body.count; }));
  if (comm.size() == 1 || count < in_slices_from || particles_of(scene).periodic) {
    ParticleSet set = parallel::collectively(
        comm, [&] { return comm.rank() == 0 ? finish_bodies(scene, std::move(first)) : ParticleSet(); });
    std::vector<GlobalIndex> ids(set.positions.size());
    std::iota(ids.begin(), ids.end(), GlobalIndex{0});
    const GlobalIndex num_particles = comm.sum(GlobalIndex(std::ssize(ids)));
    return distribute(comm, std::move(set), owners_of ? owners_of(num_particles, ids) : std::vector<int>());
  }
  ParticleSlices all;
  first.resize(particles_of(scene).bodies.size());
  for (std::size_t k = 0; k < first.size(); ++k)
    append(all, finish_slices(comm, scene, particles_of(scene).bodies[k], std::exchange(first[k], {})));
  return distribute_slices(comm, std::move(all), owners_of);
}

} // namespace recoil::app

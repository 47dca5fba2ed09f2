#include "recoil/app/solvers/bonded_particles/particle_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"

namespace recoil::app {

namespace {

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// "0.3", or "0.2 to 0.4".
std::string describe(const Range& range) {
  const std::string least = fmt::format("{:.6g}", range.least), most = fmt::format("{:.6g}", range.most);
  return least == most ? least : least + " to " + most;
}

struct BodyFigures {
  double particles = 0, bonds = 0, mass = 0, volume = 0, sphere_volume = 0;
  Range radius, young_modulus, poisson_ratio;
  std::array<Range, 3> extent; ///< of the spheres
  double time_step = std::numeric_limits<double>::infinity();
};

/// This rank's share.
std::vector<BodyFigures> own_figures(const solvers::BondedParticles& problem) {
  const particles::DistributedParticles& particles = *problem.particles;
  std::vector<BodyFigures> figures(particles.body_names.size());
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    BodyFigures& body = figures[particles.body[k]];
    body.particles += 1;
    body.mass += problem.mass[k];
    body.volume += particles.volumes[k];
    body.sphere_volume += 4 * std::numbers::pi / 3 * std::pow(particles.radii[k], 3);
    body.radius.add(particles.radii[k]);
    for (int i = 0; i < 3; ++i)
      for (const double side : {-1, 1})
        body.extent[i].add(particles.positions[k][i] + side * particles.radii[k]);
  }
  const potentials::BondMaterial& material = problem.bonds->material();
  for (LocalIndex bond = 0; bond < std::ssize(particles.bonds); ++bond) {
    if (!particles.owns(particles.bonds[bond])) continue;
    BodyFigures& body = figures[particles.body[particles.bonds[bond].a]];
    body.bonds += 1;
    body.young_modulus.add(material.young_modulus[bond]);
    body.poisson_ratio.add(material.poisson_ratio[bond]);
    body.time_step = std::min(body.time_step, critical_time_step(problem, bond));
  }
  return figures;
}

/// Adds up the figures of all ranks. Collective.
void reduce(const parallel::Communicator& comm, BodyFigures& body) {
  std::array sums{body.particles, body.bonds, body.mass, body.volume, body.sphere_volume};
  comm.sum(sums);
  std::tie(body.particles, body.bonds, body.mass, body.volume, body.sphere_volume) = std::tuple_cat(sums);
  for (Range* range : {&body.radius, &body.young_modulus, &body.poisson_ratio})
    *range = {comm.min(range->least), comm.max(range->most)};
  for (Range& range : body.extent) range = {comm.min(range.least), comm.max(range.most)};
  body.time_step = comm.min(body.time_step);
}

std::string describe_bonds(const Scene& scene, const BodyFigures& body) {
  if (body.bonds == 0) return "no bonds: free spheres";
  const std::string step = scene.time.kind == TimeKind::quasistatic
                               ? ""
                               : fmt::format(", dt {:.4g} T", scene.time.dt / body.time_step);
  return fmt::format("bonds: E {} Pa, nu {}; critical time step T {:.4g} s{}", describe(body.young_modulus),
                     describe(body.poisson_ratio), body.time_step, step);
}

std::string describe_size(const Eigen::Vector3d& size) {
  return fmt::format("{:.6g} x {:.6g} x {:.6g} m", size[0], size[1], size[2]);
}

/// `geometry` on the first rank, whose text counts.
std::string describe_extents(const Scene& scene, const mesh::AssembledGeometry& geometry,
                             const std::string& name, const BodyFigures& body) {
  Eigen::AlignedBox3d spheres;
  for (int i = 0; i < 3; ++i) {
    spheres.min()[i] = body.extent[i].least;
    spheres.max()[i] = body.extent[i].most;
  }
  const Eigen::Vector3d& from = spheres.min();
  std::string text = fmt::format("spheres {} from ({:.6g}, {:.6g}, {:.6g}) m", describe_size(spheres.sizes()),
                                 from[0], from[1], from[2]);
  const auto given = std::ranges::find(particles_of(scene).bodies, name, &ParticleBody::body);
  const auto asked = given == particles_of(scene).bodies.end() ? std::nullopt : box_of_body(*given, geometry);
  if (!asked) return text;
  const Eigen::Vector3d& corner = asked->min();
  return text + fmt::format(", in a geometry of {} from ({:.6g}, {:.6g}, {:.6g}) m",
                            describe_size(asked->sizes()), corner[0], corner[1], corner[2]);
}

/// Collective.
std::string describe_sub_steps(const Scene& scene, const solvers::BondedParticles& problem) {
  const double by_bonds = bond_time_step(problem), by_contact = contact_time_step(problem),
               T = std::min(by_bonds, by_contact), share = particles_of(scene).solver.explicit_share;
  if (std::isinf(T)) return "leapfrog: neither bonds nor contact, one sub-step in a step";
  return fmt::format(
      "leapfrog: critical time step {:.4g} s of {}; {:.0f} sub-steps of at most {:g} of it in a step", T,
      by_contact < by_bonds ? "contact" : "bonds", std::ceil(scene.time.dt / (share * T)), share);
}

} // namespace

std::vector<std::string> describe_bodies(const LoadedScene& loaded, const solvers::BondedParticles& problem) {
  const Scene& scene = loaded.file.scene;
  const parallel::Communicator& comm = *problem.particles->points->comm;
  std::vector<BodyFigures> figures = own_figures(problem);
  const std::vector<LatticeModuli> lattices = lattice_moduli(scene);
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < figures.size(); ++k) {
    BodyFigures& body = figures[k];
    reduce(comm, body);
    const std::string& name = problem.particles->body_names[k];
    lines.push_back(fmt::format("{}: {} particles, {} bonds, coordination number {:.3g}, radius {} m", name,
                                body.particles, body.bonds, 2 * body.bonds / body.particles,
                                describe(body.radius)));
    lines.push_back(
        fmt::format("  mass {:.6g} kg, density {:.6g} kg/m^3 of the bulk, {:.6g} kg/m^3 of the spheres",
                    body.mass, body.mass / body.volume, body.mass / body.sphere_volume));
    lines.push_back("  " + parallel::collectively(comm, [&] {
                      return comm.rank() == 0 ? describe_extents(scene, loaded.geometry, name, body)
                                              : std::string();
                    }));
    lines.push_back("  " + describe_bonds(scene, body));
    if (const auto lattice = std::ranges::find(lattices, name, &LatticeModuli::body);
        lattice != lattices.end())
      for (const std::string& line : describe(*lattice)) lines.push_back("  " + line);
  }
  if (scene.time.kind == TimeKind::dynamic &&
      particles_of(scene).solver.integrator == solvers::ParticleIntegrator::leapfrog)
    lines.push_back(describe_sub_steps(scene, problem));
  return lines;
}

} // namespace recoil::app

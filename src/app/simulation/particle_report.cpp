#include "recoil/app/simulation/particle_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "recoil/app/simulation/particle_moduli.hpp"
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

/// Of all ranks. Collective.
void reduce(const parallel::Communicator& comm, BodyFigures& body) {
  std::array sums{body.particles, body.bonds, body.mass, body.volume, body.sphere_volume};
  comm.sum(sums);
  std::tie(body.particles, body.bonds, body.mass, body.volume, body.sphere_volume) = std::tuple_cat(sums);
  for (Range* range : {&body.radius, &body.young_modulus, &body.poisson_ratio})
    *range = {comm.min(range->least), comm.max(range->most)};
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

} // namespace

std::vector<std::string> describe_bodies(const Scene& scene, const solvers::BondedParticles& problem) {
  std::vector<BodyFigures> figures = own_figures(problem);
  const std::vector<LatticeModuli> lattices = lattice_moduli(scene);
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < figures.size(); ++k) {
    BodyFigures& body = figures[k];
    reduce(*problem.particles->points->comm, body);
    const std::string& name = problem.particles->body_names[k];
    lines.push_back(fmt::format("{}: {} particles, {} bonds, coordination number {:.3g}, radius {} m", name,
                                body.particles, body.bonds, 2 * body.bonds / body.particles,
                                describe(body.radius)));
    lines.push_back(
        fmt::format("  mass {:.6g} kg, density {:.6g} kg/m^3 of the bulk, {:.6g} kg/m^3 of the spheres",
                    body.mass, body.mass / body.volume, body.mass / body.sphere_volume));
    lines.push_back("  " + describe_bonds(scene, body));
    if (const auto lattice = std::ranges::find(lattices, name, &LatticeModuli::body);
        lattice != lattices.end())
      for (const std::string& line : describe(*lattice)) lines.push_back("  " + line);
  }
  return lines;
}

} // namespace recoil::app

#pragma once

#include <numbers>

#include "recoil/particles/distributed_particles.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/bdem/solver.hpp"

/// Small bodies of bonded particles for tests and benchmarks.
namespace recoil::solvers::testing {

using Eigen::Vector3d;
using linalg::Vector;

inline constexpr double pi = std::numbers::pi;

/// Young's modulus [Pa], Poisson's ratio, density of the particles [kg/m^3].
struct Stuff {
  double E = 1e7, nu = 0.3, rho = 1000;
  potentials::BondForm form = {};
};

/// num_bonds + 1 particles of radius r, l apart, along x.
inline particles::ParticleSet chain(int num_bonds, double l, double r) {
  particles::ParticleSet set;
  set.body_names = {"chain"};
  for (int i = 0; i <= num_bonds; ++i) {
    set.positions.emplace_back(i * l, 0, 0);
    set.radii.push_back(r);
    set.volumes.push_back(4 * std::numbers::pi / 3 * r * r * r);
    set.body.push_back(0);
    if (i > 0) set.bonds.push_back({i - 1, i});
  }
  return set;
}

/// A block of an hcp lattice: layers along z, rows along x.
inline particles::ParticleSet block(int nx, int ny, int nz, double r) {
  particles::ParticleSet set;
  set.body_names = {"block"};
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        set.positions.emplace_back(2 * i + (j + k) % 2, std::sqrt(3.0) * (j + (k % 2) / 3.0),
                                   2 * std::sqrt(6.0) / 3 * k);
        set.positions.back() *= r;
        set.radii.push_back(r);
        set.volumes.push_back(4 * std::numbers::sqrt2 * r * r * r);
        set.body.push_back(0);
      }
  set.bonds = particles::bond_neighbours(set);
  return set;
}

inline Eigen::Matrix3d undeformed(double) { return Eigen::Matrix3d::Identity(); }

/// The particles of rank 0, distributed, to `owners` if they are given, with bonds of one material, in a cell
/// that deforms, but for entries that are free, if they have one.
inline BondedParticles bonded(const parallel::Communicator& comm, const particles::ParticleSet& whole,
                              const Stuff& stuff, const std::vector<int>& owners = {},
                              const std::function<Eigen::Matrix3d(double)>& deformation = undeformed,
                              const std::vector<int>& free = {}) {
  BondedParticles problem;
  problem.particles = std::make_shared<const particles::DistributedParticles>(
      distribute(comm, comm.rank() == 0 ? whole : particles::ParticleSet{}, owners));
  const auto& particles = *problem.particles;
  if (particles.cell)
    problem.cell_motion = std::make_unique<recoil::particles::CellMotion>(*particles.cell, deformation, free);
  const std::size_t num_bonds = particles.bonds.size();
  potentials::BondMaterial material{std::vector(num_bonds, stuff.E),
                                    std::vector(num_bonds, stuff.nu),
                                    {},
                                    std::vector(num_bonds, stuff.form)};
  for (const auto& [a, b, id] : particles.bonds)
    material.section_radius.push_back((particles.radii[a] + particles.radii[b]) / 2);
  problem.set_bonds(std::make_unique<potentials::BondPotential>(particles, std::move(material)));
  for (const double volume : particles.volumes) problem.mass.push_back(stuff.rho * volume);
  problem.prescribed.assign(6 * particles.ids.size(), 0);
  return problem;
}

inline const potentials::BondForm other_form{0.8, potentials::ShearEnergy::angle, true};

/// Gives every second bond another form.
inline void mix_forms(BondedParticles& problem) {
  potentials::BondMaterial material = problem.bonds->material();
  for (std::size_t k = 0; k < material.form.size(); ++k)
    if (problem.particles->bonds[k].id % 2 == 0) material.form[k] = other_form;
  problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, std::move(material)));
}

/// Gives all bonds a damping time [s].
inline void damp(BondedParticles& problem, double time) {
  potentials::BondMaterial material = problem.bonds->material();
  material.damping_time.emplace(material.young_modulus.size(), time);
  problem.set_bonds(std::make_unique<potentials::BondPotential>(*problem.particles, std::move(material)));
}

/// Holds a particle in place and orientation.
inline void clamp(BondedParticles& problem, GlobalIndex id) {
  for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
    if (problem.particles->ids[k] == id) std::fill_n(problem.prescribed.begin() + 6 * k, 6, 1);
}

/// The particle with the smallest id moves as the cell does.
inline void pin(BondedParticles& problem) {
  const auto* particles = problem.particles.get();
  const auto* motion = problem.cell_motion.get();
  const auto at = std::size_t(std::ranges::find(particles->ids, 0) - particles->ids.begin());
  if (at == particles->ids.size()) return;
  std::fill_n(problem.prescribed.begin() + std::ptrdiff_t(6 * at), 3, 1);
  problem.move_prescribed = [=](double time, std::span<double> u) {
    Eigen::Map<Vector3d>{&u[7 * at]} = motion->cell().affine(particles->positions[at], motion->at(time));
  };
}

/// A force and a moment in space on a particle, each times t / s.
inline void load(BondedParticles& problem, GlobalIndex id, const Vector3d& force, const Vector3d& moment) {
  const particles::DistributedParticles* particles = problem.particles.get();
  problem.add_loads = [=](double time, std::span<double> loads) {
    for (LocalIndex k = 0; k < particles->num_owned(); ++k)
      if (particles->ids[k] == id)
        for (int i = 0; i < 3; ++i) {
          loads[6 * std::size_t(k) + i] += time * force[i];
          loads[6 * std::size_t(k) + 3 + i] += time * moment[i];
        }
  };
}

/// Position and orientation of a particle by its id, on all ranks. Collective.
inline potentials::Particle find(const BondedParticles& problem, const Vector& u, GlobalIndex id) {
  std::array<double, 7> values{};
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k)
    if (problem.particles->ids[k] == id) std::copy_n(u.owned().begin() + 7 * k, 7, values.begin());
  u.layout().comm->sum(values);
  return {Vector3d(values[0], values[1], values[2]),
          geometry::Quaternion(values[3], values[4], values[5], values[6])};
}

/// Where the particle at X is when its body is twisted by `twist` [rad/m] about z.
inline potentials::Particle twisted_place(const Vector3d& X, double twist) {
  const geometry::Quaternion q = geometry::quaternion_exponential(Vector3d(0, 0, twist * X.z()));
  return {geometry::rotation_matrix(q) * X, q};
}

/// The place of a particle at rest, for start().
inline potentials::Particle unmoved(GlobalIndex, const Vector3d& X) {
  return {X, geometry::identity_quaternion()};
}

/// Sets positions, orientations and velocities of the start from functions of the particle at rest.
/// `velocity` gives (v, w), both in space.
template <class Place, class Velocity>
void start(BondedParticlesSolver& solver, Place place, Velocity velocity) {
  const auto& particles = *solver.problem().particles;
  Vector u(particles.points), v(particles.tangents);
  const auto points = u.write_local(), tangents = v.write_local();
  for (std::size_t k = 0; k < particles.ids.size(); ++k) {
    const potentials::Particle at = place(particles.ids[k], particles.positions[k]);
    const auto [speed, spin] = velocity(particles.ids[k], at.p);
    const Vector3d own = particles.radii[k] * (geometry::rotation_matrix(at.q).transpose() * spin);
    for (int i = 0; i < 3; ++i) {
      points[7 * k + i] = at.p[i];
      tangents[6 * k + i] = speed[i];
      tangents[6 * k + 3 + i] = own[i];
    }
    for (int i = 0; i < 4; ++i) points[7 * k + 3 + i] = at.q[i];
  }
  solver.start(u, v);
}

} // namespace recoil::solvers::testing

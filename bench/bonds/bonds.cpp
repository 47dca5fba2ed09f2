// Explicit bonded discrete elements: processor time per particle of a leapfrog sub-step on an hcp block of
// n^3 spheres, beside the plain loop over bond_gradient().
//
//   bench_bonds [-n 27] [-steps 50] [-repeat 7]
//
// and, with -stability, how the energy of a free block of 4 x 4 x 6 spheres that has been twisted changes
// over 10^4 sub-steps of several shares of the critical time step. Smallest of the repeats of the slowest
// rank.
#include <cmath>
#include <cstdio>

#include "bdem/bodies.hpp"
#include "solvers/bdem/bond_loop.hpp"
#include "solvers/bdem/explicit_steps.hpp"
#include "solvers/bdem/particle_manifold.hpp"
#include "support/processor_time.hpp"

namespace {

using namespace recoil;
using namespace recoil::solvers;

constexpr double radius = 0.01;

PetscInt option(const char* name, PetscInt fallback) {
  RECOIL_PETSC(PetscOptionsGetInt(nullptr, nullptr, name, &fallback, nullptr));
  return fallback;
}

BondedParticles block(const parallel::Communicator& comm, int nx, int ny, int nz) {
  return testing::bonded(
      comm, comm.rank() == 0 ? testing::block(nx, ny, nz, radius) : particles::ParticleSet{}, {});
}

/// Twisted by `twist` [rad/m] about z.
linalg::Vector twisted(const particles::DistributedParticles& particles, double twist) {
  linalg::Vector u(particles.points);
  for (LocalIndex k = 0; k < particles.points->num_local(); ++k)
    set_particle(u.write_local(), k, testing::twisted_place(particles.positions[k], twist));
  return u;
}

void measure_speed(const parallel::Communicator& comm) {
  const int n = int(option("-n", 27)), steps = int(option("-steps", 50)), repeats = int(option("-repeat", 7));
  BondedParticles problem = block(comm, n, n, n);
  const particles::DistributedParticles& particles = *problem.particles;
  const double count = double(comm.max(GlobalIndex(particles.num_owned())));
  linalg::Vector u = twisted(particles, 1), v(particles.tangents), g(particles.tangents);
  std::vector<double> force(6 * particles.ids.size());
  const auto report = [&](const char* what, auto&& work) {
    const double seconds =
        bench::smallest(repeats, [&] { return bench::slowest_processor_seconds(comm, [&] { work(); }); });
    if (comm.rank() == 0) std::printf("%-44s %.3f us\n", what, 1e6 * seconds / (steps * count));
    return seconds;
  };
  if (comm.rank() == 0)
    std::printf("%lld particles, %lld bonds; per particle of a rank and sub-step:\n",
                static_cast<long long>(particles.points->num_global),
                static_cast<long long>(particles.num_bonds_global));
  const double plain = report("bond_gradient() of every bond", [&] {
    for (int s = 0; s < steps; ++s) problem.bonds->add_gradient(u.local(), 1, g.write_owned());
  });
  BondLoop loop(problem);
  const double fast = report("BondLoop", [&] {
    for (int s = 0; s < steps; ++s) loop.forces(u.local(), force);
  });
  const auto step = [&] {
    ExplicitSteps steps_of(problem, 0.2);
    const double dt = 0.2 * steps * critical_time_step(problem);
    return [&, steps_of = std::move(steps_of), dt]() mutable { steps_of.advance(u, v, dt, dt, 1, {}); };
  };
  report("sub-step of leapfrog", step());
  const std::size_t bonds = particles.bonds.size();
  problem.strength = BondStrength{std::vector(bonds, 1e12), std::vector(bonds, 1e12), std::vector(bonds, 0.0),
                                  std::vector<char>(bonds, 0)};
  report("sub-step of leapfrog with bonds that may break", step());
  if (comm.rank() == 0) std::printf("bond_gradient() / BondLoop = %.1f\n", plain / fast);
}

void measure_stability(const parallel::Communicator& comm) {
  const int n = int(option("-n", 6));
  PetscReal strain = 0.05; // of shear, at the faces
  RECOIL_PETSC(PetscOptionsGetReal(nullptr, nullptr, "-strain", &strain, nullptr));
  for (const double share : {0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05}) {
    BondedParticles problem = block(comm, n, n, n);
    BondedParticlesOptions options;
    options.integrator = ParticleIntegrator::leapfrog;
    options.explicit_share = share;
    options.dt = 100 * share * critical_time_step(problem);
    const linalg::Vector u = twisted(*problem.particles, strain / (2 * n * radius)),
                         v(problem.particles->tangents);
    BondedParticlesSolver solver(std::move(problem), options);
    solver.start(u, v);
    const double before = solver.ledger().elastic;
    double least = 1e300, most = -1e300;
    bool accepted = true;
    for (int i = 0; i < 100 && accepted; ++i) {
      accepted = solver.advance([](const auto&...) {}).accepted;
      const double total = (solver.ledger().kinetic + solver.ledger().elastic) / before - 1;
      least = std::min(least, total);
      most = std::max(most, total);
    }
    if (comm.rank() == 0)
      std::printf("%.2f T: energy off by %+.2e .. %+.2e%s\n", share, least, most,
                  accepted ? "" : ", then not finite");
  }
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  PetscBool stability = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsHasName(nullptr, nullptr, "-stability", &stability));
  if (stability) {
    measure_stability(comm);
  } else {
    measure_speed(comm);
  }
}

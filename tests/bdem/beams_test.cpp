#include <gtest/gtest.h>

#include "bdem/runs.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

/// A chain that is clamped at one end and loaded at the other, in so many equal parts, at rest.
potentials::Particle tip(int num_bonds, double length, double r, const Stuff& stuff, const Vector3d& force,
                         const Vector3d& moment, int parts = 1) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(num_bonds, length / num_bonds, r), stuff);
  clamp(problem, 0);
  load(problem, num_bonds, force / parts, moment / parts);
  BondedParticlesOptions options;
  options.integrator = ParticleIntegrator::quasistatic;
  options.dt = 1;
  options.tolerance = 1e-10;
  options.max_iterations = 500;
  BondedParticlesSolver solver(std::move(problem), options);
  run(solver, parts);
  return find(solver.problem(), solver.history().newest().u, num_bonds);
}

/// Potyondy's bonds in a row are the elements of a Timoshenko beam with one integration point.
TEST(Chain, IsATimoshenkoBeam) {
  const Stuff stuff{2e6, 0.25, 1};
  const double L = 1.5, r = 0.02, S = pi * r * r, I = S * r * r / 4, G = stuff.E / (2 * (1 + stuff.nu));
  for (const int n : {5, 10, 50}) {
    const double P = 1e-6;
    const Vector3d zero = Vector3d::Zero();
    const double bent = P * L * L * L / (3 * stuff.E * I) * (1 - 1.0 / (4 * n * n)) + P * L / (G * S);
    EXPECT_NEAR(tip(n, L, r, stuff, {0, P, 0}, zero).p.y() / bent, 1, 1e-6) << n;
    EXPECT_NEAR(tip(n, L, r, stuff, {0, 0, -P}, zero).p.z() / -bent, 1, 1e-6) << n;
    const double stretched = P * L / (stuff.E * S);
    EXPECT_NEAR((tip(n, L, r, stuff, {P, 0, 0}, zero).p.x() - L) / stretched, 1, 1e-6) << n;
    const double twisted = P * L / (G * 2 * I);
    const auto turned = tip(n, L, r, stuff, zero, {P, 0, 0});
    EXPECT_NEAR(geometry::quaternion_logarithm(turned.q).x() / twisted, 1, 1e-6) << n;
  }
}

/// The shear correction divides the deflection in shear, and with half turns beams bend and twist four times
/// as easily.
TEST(Chain, HasTheFormOfItsBonds) {
  const double L = 1.5, r = 0.02, S = pi * r * r, I = S * r * r / 4, P = 1e-6;
  const Vector3d zero = Vector3d::Zero();
  for (const auto& form : {potentials::BondForm{0.3},
                           {6.0 / 7, potentials::ShearEnergy::angle},
                           {0.05, potentials::ShearEnergy::angle, true}}) {
    const Stuff stuff{2e6, 0.25, 1, form};
    const double G = stuff.E / (2 * (1 + stuff.nu)), softer = form.half_turns ? 4 : 1;
    for (const int n : {2, 5, 10}) {
      const double bent = softer * P * L * L * L / (3 * stuff.E * I) * (1 - 1.0 / (4 * n * n)) +
                          P * L / (form.shear_correction * G * S);
      EXPECT_NEAR(tip(n, L, r, stuff, {0, P, 0}, zero).p.y() / bent, 1, 1e-6) << n;
      const auto turned = tip(n, L, r, stuff, zero, {P, 0, 0});
      EXPECT_NEAR(geometry::quaternion_logarithm(turned.q).x() / (softer * P * L / (G * 2 * I)), 1, 1e-6)
          << n;
    }
  }
}

/// P L^2 / E I = 2 under a dead load: tip of the elastica by [Mattiasson 1981, table 1].
TEST(Chain, BendsAsAnElastica) {
  const Stuff stuff{2e9, 0.3, 1};
  const double L = 1, r = 0.002, I = pi * std::pow(r, 4) / 4, P = 2 * stuff.E * I / (L * L);
  const Vector3d end = tip(50, L, r, stuff, {0, P, 0}, Vector3d::Zero(), 10).p;
  EXPECT_NEAR(end.y(), 0.49346, 0.001);
  EXPECT_NEAR(L - end.x(), 0.16064, 0.001);
}

} // namespace
} // namespace recoil::solvers

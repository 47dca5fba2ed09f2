#include <Eigen/LU>
#include <gtest/gtest.h>

#include "bdem/bodies.hpp"
#include "bdem/runs.hpp"
#include "recoil/particles/effective_moduli.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/solvers/bdem/cell_stress.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers::periodic_cell_test {

using namespace testing;
using Eigen::Matrix3d;
using particles::LatticeKind;
using potentials::BondPotential;

constexpr double r = 0.01;

particles::ParticleSet lattice(LatticeKind kind) {
  particles::PeriodicCell cell;
  cell.origin = {0.1, 0.2, -0.3};
  cell.edges =
      kind == LatticeKind::fcc
          ? Matrix3d(3 * 2 * std::numbers::sqrt2 * r * Matrix3d::Identity())
          : Matrix3d(Vector3d(8 * r, 6 * std::sqrt(3.0) * r, 12 * std::sqrt(6.0) / 3 * r).asDiagonal());
  particles::ParticleSet set = particles::pack_periodic_lattice(cell, {kind, r}, "cell");
  particles::bond(set);
  return set;
}

/// Rough places in an oblique cell, bonded to what is near.
particles::ParticleSet rough_cell(const Vector3d& shift = Vector3d::Zero()) {
  particles::ParticleSet set = lattice(LatticeKind::hcp);
  for (std::size_t k = 0; k < set.positions.size(); ++k) {
    const double a = double(k);
    set.positions[k] += 0.2 * r * Vector3d(std::sin(7 * a), std::sin(11 * a + 1), std::sin(13 * a + 2));
    set.radii[k] = r * (1 + 0.1 * std::sin(5 * a));
  }
  Matrix3d shear = Matrix3d::Identity();
  shear(0, 1) = 0.15;
  shear(1, 2) = -0.1;
  set.cell->edges = shear * set.cell->edges;
  for (Vector3d& place : set.positions)
    place = set.cell->wrapped(set.cell->origin + shear * (place - set.cell->origin) + shift);
  particles::bond(set, 0.15);
  return set;
}

Matrix3d gradient_at(double time) {
  Matrix3d H;
  H << 0.02, 0.03, 0, -0.01, -0.015, 0.02, 0.01, 0, 0.01;
  return Matrix3d::Identity() + time * H;
}

/// Stress at rest after one step to a deformation.
Matrix3d stress_at(const parallel::Communicator& comm, const particles::ParticleSet& set, const Matrix3d& F,
                   const Stuff& stuff = {}, int steps = 1, bool damped = false) {
  BondedParticles problem = bonded(comm, set, stuff, {}, [F, steps](double time) -> Matrix3d {
    return Matrix3d::Identity() + time / steps * (F - Matrix3d::Identity());
  });
  pin(problem);
  if (damped) damp(problem, 0.1);
  BondedParticlesOptions options = at_rest();
  options.tolerance = 1e-12;
  BondedParticlesSolver solver(std::move(problem), options);
  run(solver, steps);
  return cell_stress(solver.problem(), solver.history().newest().u.local());
}

TEST(PeriodicCell, BondsAcrossFacesHaveTheirDerivatives) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, rough_cell(), {2.0, 0.3, 1}, {}, gradient_at);
  mix_forms(problem);
  damp(problem, 0.3);
  const auto& particles = *problem.particles;
  const ParticleManifold manifold(particles.tangents, particles.radii);
  const auto rough = [&](double size, double seed) {
    Vector result(particles.tangents);
    const auto values = result.write_local();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = size * std::sin(12.9898 * double(particles.ids[i / 6]) + 78.233 * double(i % 6) + seed);
    return result;
  };
  problem.begin_cell(2, 1);
  Vector before(particles.points), u(particles.points);
  const auto values = before.write_local();
  for (std::size_t k = 0; k < particles.ids.size(); ++k)
    set_particle(values, LocalIndex(k),
                 {problem.cell_motion->cell().affine(particles.positions[k], gradient_at(1)),
                  geometry::identity_quaternion()});
  manifold.move(before, 1, rough(0.0005, 4));
  u.copy_from(before);
  problem.carry(u.write_local());
  manifold.move(u, 1, rough(0.0005, 1));
  EXPECT_GT(comm.sum(std::ranges::count_if(particles.bond_shifts,
                                           [](const auto& s) { return !recoil::particles::is_zero(s); })),
            20);
  for (const auto at : {BondPotential::At::end, BondPotential::At::middle})
    for (const auto& term : problem.terms) {
      problem.bonds->take_at(at);
      term->begin_step({2, 1, 1, before.local()});
      const auto value = [&](const Vector& x) { return comm.sum(term->value(x.local())); };
      const auto gradient = [&](const Vector& x) {
        Vector g(particles.tangents);
        term->add_gradient(x.local(), 1, g.write_owned());
        return g;
      };
      const Vector d = rough(1, 9), p = rough(1, 17);
      constexpr double h = 1e-6;
      Vector ahead(u), behind(u);
      manifold.move(ahead, h, d);
      manifold.move(behind, -h, d);
      const double slope = gradient(u).dot(d);
      EXPECT_NEAR((value(ahead) - value(behind)) / (2 * h), slope, 1e-6 * std::abs(slope));
      // At u the curvature of the manifold is in the product, and differences of gradients along one way are
      // symmetric up to turns of the frame: only shifts of the other factor see none.
      Vector shifts(p);
      const auto entries = shifts.write_local();
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (i % 6 >= 3) entries[i] = 0;
      Vector y(particles.tangents);
      term->add_hessian_product(u.local(), d.local(), 1, y.write_owned());
      const double curvature = y.dot(shifts);
      EXPECT_NEAR((gradient(ahead).dot(shifts) - gradient(behind).dot(shifts)) / (2 * h), curvature,
                  1e-6 * std::abs(curvature));
    }
}

/// The cell's work is the derivative of the energy by F times its way.
TEST(PeriodicCell, ImagesWorkAgainstTheEnergy) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double h = 1e-6;
  const auto energy = [&](double time) {
    BondedParticles problem = bonded(comm, rough_cell(), {2.0, 0.3, 1}, {}, gradient_at);
    problem.begin_cell(time, h);
    Vector u(problem.particles->points);
    const auto values = u.write_local();
    for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
      set_particle(values, LocalIndex(k),
                   {problem.cell_motion->cell().affine(problem.particles->positions[k], gradient_at(1)),
                    geometry::identity_quaternion()});
    return std::array{comm.sum(problem.bonds->stored_energy(u.local())),
                      comm.sum(problem.bonds->image_work(u.local()))};
  };
  const double slope = (energy(1 + h)[0] - energy(1 - h)[0]) / 2;
  EXPECT_NEAR(energy(1)[1], slope, 1e-6 * std::abs(slope));
  EXPECT_GT(std::abs(slope), 0);
}

TEST(PeriodicCell, LatticesHaveTheStiffnessOfTheInfiniteOnes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Stuff stuff;
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc}) {
    const particles::Stiffness C = particles::effective_stiffness(kind, stuff.E, stuff.nu);
    const particles::ParticleSet set = lattice(kind);
    double largest = 0;
    for (int column = 0; column < 6; ++column) {
      Matrix3d strain = Matrix3d::Zero();
      const int i = column < 3 ? column : (column - 2) % 3, j = column < 3 ? column : (column - 1) % 3;
      strain(i, j) += 0.5;
      strain(j, i) += 0.5;
      constexpr double h = 2e-5;
      const Matrix3d ahead = stress_at(comm, set, Matrix3d::Identity() + h * strain),
                     behind = stress_at(comm, set, Matrix3d::Identity() - h * strain),
                     slope = (ahead - behind) / (2 * h);
      Eigen::Vector<double, 6> found;
      found << slope(0, 0), slope(1, 1), slope(2, 2), slope(1, 2), slope(0, 2), slope(0, 1);
      largest = std::max(largest, (found - C.col(column)).cwiseAbs().maxCoeff() / C(0, 0));
      EXPECT_NEAR(slope(0, 1), slope(1, 0), 1e-8 * C(0, 0));
    }
    RecordProperty(kind == LatticeKind::hcp ? "hcp" : "fcc", std::to_string(largest * 1e10) + "e-10");
    EXPECT_LT(largest, 1e-9);
  }
}

/// Pulls along x, or shears, where all other entries of F are free.
BondedParticlesSolver pulled(const parallel::Communicator& comm, const particles::ParticleSet& set, int entry,
                             double strain) {
  std::vector<int> free;
  for (int k = 0; k < 9; ++k)
    if (k != entry && 3 * (k % 3) + k / 3 != entry) free.push_back(k);
  BondedParticles problem = bonded(
      comm, set, {}, {},
      [=](double time) -> Matrix3d {
        Matrix3d F = Matrix3d::Identity();
        F(entry / 3, entry % 3) += time / 2 * strain;
        return F;
      },
      free);
  pin(problem);
  BondedParticlesOptions options = at_rest();
  options.tolerance = 1e-12;
  BondedParticlesSolver solver(std::move(problem), options);
  run(solver, 2);
  return solver;
}

TEST(PeriodicCell, FreeEntriesLeaveNoStress) {
  const parallel::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const auto stress_of = [](const BondedParticlesSolver& solver) {
    return cell_stress(solver.problem(), solver.history().newest().u.local());
  };
  const Stuff stuff;
  const particles::Stiffness C = particles::effective_stiffness(LatticeKind::hcp, stuff.E, stuff.nu);
  constexpr double h = 2e-5;
  const double slope = (stress_of(pulled(comm, lattice(LatticeKind::hcp), 0, h))(0, 0) -
                        stress_of(pulled(comm, lattice(LatticeKind::hcp), 0, -h))(0, 0)) /
                       (2 * h);
  EXPECT_NEAR(slope / particles::young_modulus(C, Vector3d::UnitX()), 1, 1e-8);
  for (const int entry : {0, 1}) {
    const BondedParticlesSolver one = pulled(comm, rough_cell(), entry, 0.02),
                                other = pulled(self, rough_cell({0.013, 0.02, -0.007}), entry, 0.02);
    const Matrix3d sigma = stress_of(one), F = one.problem().cell_motion->now();
    const double scale = std::abs(sigma(entry / 3, entry % 3));
    EXPECT_GT(scale, 1e3);
    EXPECT_LT((sigma - stress_of(other)).norm(), 1e-8 * scale);
    EXPECT_LT((F - other.problem().cell_motion->now()).norm(), 1e-9);
    const Matrix3d P = F.determinant() * sigma * F.inverse().transpose();
    for (int k = 0; k < 9; ++k)
      if (k != entry && 3 * (k % 3) + k / 3 != entry) {
        EXPECT_LT(std::abs(P(k / 3, k % 3) + P(k % 3, k / 3)), 1e-7 * scale) << entry << " " << k;
        EXPECT_EQ(F(k / 3, k % 3), F(k % 3, k / 3));
      }
  }
}

TEST(PeriodicCell, StressIsTheSameOnAllRanksAndWhereverTheCellIsCut) {
  const parallel::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const Matrix3d F = gradient_at(1);
  const Matrix3d expected = stress_at(self, rough_cell(), F, {}, 2);
  EXPECT_LT((stress_at(comm, rough_cell(), F, {}, 2) - expected).norm(), 1e-9 * expected.norm());
  for (const Vector3d& shift : {Vector3d(0.013, 0.02, -0.007), Vector3d(-0.3, 0.005, 0.41)})
    EXPECT_LT((stress_at(comm, rough_cell(shift), F, {}, 2) - expected).norm(), 1e-9 * expected.norm());
  EXPECT_GT(expected.norm(), 1e4);
  // Damping without a motion that goes on leaves nothing of an elastic state.
  EXPECT_LT((expected - expected.transpose()).norm(), 1e-9 * expected.norm());
}

/// Momentum, energy and images in a cell that shears at a constant rate.
class MovingCell : public ::testing::TestWithParam<ParticleIntegrator> {};

BondedParticlesSolver sheared(const parallel::Communicator& comm, ParticleIntegrator integrator,
                              const Vector3d& shift, bool damped) {
  BondedParticles problem = bonded(comm, rough_cell(shift), {1e6, 0.3, 1000}, {},
                                   [](double time) { return gradient_at(200 * time * time); });
  if (damped) damp(problem, 2e-4);
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = 2e-5;
  options.tolerance = 1e-10;
  return BondedParticlesSolver(std::move(problem), options);
}

TEST_P(MovingCell, KeepsEnergyAndDoesNotDependOnWhereItIsCut) {
  const parallel::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const bool damped = GetParam() != ParticleIntegrator::del_exact;
  BondedParticlesSolver one = sheared(comm, GetParam(), Vector3d::Zero(), damped),
                        other = sheared(self, GetParam(), {0.013, 0.02, -0.007}, damped);
  run(one, 12);
  run(other, 12);
  const auto stress_of = [](const BondedParticlesSolver& solver) {
    return cell_stress(solver.problem(), solver.history().newest().u.local());
  };
  const Matrix3d expected = stress_of(other);
  EXPECT_LT((stress_of(one) - expected).norm(), 1e-7 * expected.norm());
  const ParticleLedger& ledger = one.ledger();
  EXPECT_NEAR(ledger.kinetic, other.ledger().kinetic, 1e-7 * ledger.kinetic);
  EXPECT_GT(ledger.kinetic, 1e-3 * ledger.elastic);
  const double missing = ledger.kinetic + ledger.elastic + ledger.dissipated_bonds +
                         ledger.dissipated_integrator - ledger.external_work;
  EXPECT_LT(std::abs(missing), 1e-7 * ledger.external_work);
  if (GetParam() == ParticleIntegrator::leapfrog || GetParam() == ParticleIntegrator::del_exact) {
    EXPECT_LT(std::abs(ledger.dissipated_integrator), 2e-3 * ledger.external_work);
  }
  double mass = 0;
  for (LocalIndex k = 0; k < one.problem().particles->num_owned(); ++k)
    mass += one.problem().mass[std::size_t(k)];
  mass = comm.sum(mass);
  for (const double p : ledger.linear_momentum)
    EXPECT_NEAR(p, 0, 1e-7 * std::sqrt(2 * mass * ledger.kinetic));
}

std::string name_of(const ::testing::TestParamInfo<ParticleIntegrator>& info) {
  static constexpr std::array<const char*, 6> names{"quasistatic", "be_reflect",    "mid_reflectT",
                                                    "del_exact",   "paper_literal", "leapfrog"};
  return names[std::size_t(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, MovingCell,
                         ::testing::Values(ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT,
                                           ParticleIntegrator::del_exact, ParticleIntegrator::leapfrog),
                         name_of);

/// The integrators take the same motion, of second order or nearly.
TEST(PeriodicCell, IntegratorsAgree) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto stress_of = [&](ParticleIntegrator integrator) {
    BondedParticlesSolver solver = sheared(comm, integrator, Vector3d::Zero(), true);
    run(solver, 30);
    return cell_stress(solver.problem(), solver.history().newest().u.local());
  };
  const Matrix3d middle = stress_of(ParticleIntegrator::mid_reflectT),
                 leapfrog = stress_of(ParticleIntegrator::leapfrog),
                 euler = stress_of(ParticleIntegrator::be_reflect);
  EXPECT_LT((middle - leapfrog).norm(), 0.01 * leapfrog.norm());
  EXPECT_LT((euler - leapfrog).norm(), 0.1 * leapfrog.norm());
}

} // namespace recoil::solvers::periodic_cell_test

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bdem/runs.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/particles/packing.hpp"
#include "solvers/bdem/loose_pieces.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers::testing {
namespace loose_pieces {

std::string loose(const BondedParticles& problem) {
  const auto& particles = *problem.particles;
  Vector u(particles.points);
  for (std::size_t k = 0; k < particles.ids.size(); ++k)
    set_particle(u.write_local(), LocalIndex(k), {particles.positions[k], geometry::identity_quaternion()});
  return describe_loose_piece(problem, u.local());
}

/// Holds a particle in place.
void pin(BondedParticles& problem, GlobalIndex id) {
  for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
    if (problem.particles->ids[k] == id) std::fill_n(problem.prescribed.begin() + 6 * k, 3, 1);
}

void break_bond(BondedParticles& problem, GlobalIndex id) {
  for (std::size_t k = 0; k < problem.particles->bonds.size(); ++k)
    if (problem.particles->bonds[k].id == id) problem.bonds->break_bond(LocalIndex(k));
}

TEST(LoosePieces, AreNamedByTheirFirstParticle) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(7, 0.1, 0.04), {});
  EXPECT_EQ(loose(problem), "nothing holds particle 0 of 'chain' at (0, 0, 0) and the 7 bonded to it");
  clamp(problem, 0);
  EXPECT_EQ(loose(problem), "");
  break_bond(problem, 2);
  EXPECT_EQ(loose(problem), "nothing holds particle 3 of 'chain' at (0.3, 0, 0) and the 4 bonded to it");
  break_bond(problem, 5);
  EXPECT_EQ(loose(problem),
            "nothing holds particle 3 of 'chain' at (0.3, 0, 0) and the 2 bonded to it; 1 more "
            "piece is loose");
  clamp(problem, 4);
  break_bond(problem, 6);
  EXPECT_EQ(loose(problem), "nothing holds particle 6 of 'chain' at (0.6, 0, 0); 1 more piece is loose");
}

/// Ends that may turn let a chain spin about itself; a point lets it turn about three axes.
TEST(LoosePieces, MayBeHeldInPart) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(3, 0.1, 0.04), {});
  pin(problem, 0);
  EXPECT_NE(loose(problem).find("leaves 3 of six rigid motions free"), std::string::npos) << loose(problem);
  pin(problem, 3);
  EXPECT_NE(loose(problem).find("leaves 1 of six rigid motions free"), std::string::npos) << loose(problem);
}

/// A chain along x whose ends are bonded through a face of the cell. One of its particles lies in another
/// cell, which does not count.
BondedParticles chain_through_cell(const parallel::Communicator& comm) {
  particles::ParticleSet set = chain(3, 0.1, 0.05);
  set.positions[1][1] += 1;
  set.cell = particles::PeriodicCell{Vector3d(0.4, 1, 1).asDiagonal().toDenseMatrix(), Vector3d::Zero()};
  particles::bond(set);
  return bonded(comm, set, {});
}

/// Images keep a piece from turning across the way to them alone, and not where the way is broken.
TEST(LoosePieces, AreHeldByTheirImages) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto leaves = [](const BondedParticles& problem, int count) {
    const std::string text = fmt::format("leaves {} of six rigid motions free", count);
    return loose(problem).find(text) != std::string::npos;
  };
  BondedParticles through = chain_through_cell(comm), open = chain_through_cell(comm);
  EXPECT_EQ(through.particles->num_bonds_global, 4);
  EXPECT_EQ(loose(through), "nothing holds particle 0 of 'chain' at (0, 0, 0) and the 3 bonded to it");
  pin(through, 0);
  EXPECT_TRUE(leaves(through, 1)) << loose(through);
  pin(through, 1);
  pin(through, 2);
  EXPECT_TRUE(leaves(through, 1)) << loose(through);
  clamp(through, 2);
  EXPECT_EQ(loose(through), "");

  break_bond(open, 2);
  pin(open, 0);
  EXPECT_TRUE(leaves(open, 3)) << loose(open);
  pin(open, 1);
  EXPECT_TRUE(leaves(open, 1)) << loose(open);
  for (std::size_t k = 0; k < open.particles->ids.size(); ++k)
    if (open.particles->ids[k] == 3) open.prescribed[6 * k + 3] = 1;
  EXPECT_EQ(loose(open), "");
}

/// A lattice leads through all faces: where one particle is held, all is.
TEST(LoosePieces, ThatFillACellAreHeldInOnePlace) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double r = 0.01;
  particles::ParticleSet set = particles::pack_periodic_lattice(
      {6 * std::numbers::sqrt2 * r * Eigen::Matrix3d::Identity(), Vector3d(0.1, 0.2, -0.3)},
      {particles::LatticeKind::fcc, r}, "cell");
  particles::bond(set);
  BondedParticles problem = bonded(comm, set, {});
  EXPECT_NE(loose(problem), "");
  pin(problem, 5);
  EXPECT_EQ(loose(problem), "");
}

/// A chain that is pulled until its bonds break, under its weight.
TEST(LoosePieces, AreWhyAStepAtRestFails) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = gripped_chain(comm, 5, [](double time) { return 0.01 * time; });
  problem.strength = strength(problem, 1e4, 1e4);
  problem.gravity = {0, 0, -1e-3};
  BondedParticlesSolver solver(std::move(problem), at_rest());
  stepping::StepOutcome outcome;
  while ((outcome = solver.advance([](const auto&...) {})).accepted) ASSERT_LT(solver.step(), 20);
  for (const char* part :
       {"nothing holds particle ", " of 'chain' at (", "damage_width", "dirichlet_boundary"})
    EXPECT_NE(outcome.failure.find(part), std::string::npos) << outcome.failure;
}

} // namespace loose_pieces
} // namespace recoil::solvers::testing

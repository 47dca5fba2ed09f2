#include <gtest/gtest.h>

#include "async_contact/cloths.hpp"
#include "async_contact/runs.hpp"
#include "recoil/base/error.hpp"

/// Runs on several ranks beside the reference, which every rank runs for itself.
namespace recoil::solvers::async_contact {
namespace ranks_test {

using testing::ClothsAboveSpikes;
using testing::expect_balance;
using testing::random_discs;

/// What moves, bit for bit; sums of the ledger are in another order.
void expect_same_motion(const Integrator& a, const Integrator& b) {
  IntegratorState first = a.state(), second = b.state();
  first.ledger = second.ledger = {};
  EXPECT_EQ(to_numbers(first), to_numbers(second));
  EXPECT_NEAR(a.ledger().dissipation(), b.ledger().dissipation(), 1e-11 * (1 + a.ledger().dissipation()));
  EXPECT_LT((a.ledger().wall_impulse - b.ledger().wall_impulse).norm(),
            1e-11 * (1 + a.ledger().wall_impulse.norm()));
  EXPECT_NEAR(a.totals().energy(), b.totals().energy(), 1e-11 * (1 + std::abs(a.totals().energy())));
}

struct AsyncRanks : ::testing::Test {
  parallel::Communicator comm{MPI_COMM_WORLD};
};

TEST_F(AsyncRanks, DiscsMoveAsOnOneRank) {
  for (const double anchor : {0.0, 1e5}) {
    Model model = random_discs(49, 0.5, anchor > 0 ? 0.7 : 1);
    model.gravity = {0, -9.8, 0};
    model.contact.friction = 0.4;
    model.contact.anchor_stiffness = anchor;
    Integrator reference(model), run(comm, model);
    for (int i = 1; i <= 3; ++i) {
      ASSERT_EQ(reference.advance_to(0.03 * i), Outcome::reached);
      ASSERT_EQ(run.advance_to(0.03 * i), Outcome::reached) << run.diagnosis();
      expect_same_motion(reference, run);
      EXPECT_GT(run.smallest_gap(), 0);
    }
    if (comm.size() > 1) {
      EXPECT_GT(comm.sum(GlobalIndex{run.counts().meetings}), 0);
    }
    // From any number of ranks to any other.
    Integrator half(comm, model);
    half.advance_to(0.0437);
    Integrator on_ranks(comm, model, half.state()), alone(model, half.state());
    on_ranks.advance_to(0.09);
    alone.advance_to(0.09);
    expect_same_motion(reference, on_ranks);
    expect_same_motion(reference, alone);
  }
}

TEST_F(AsyncRanks, ClothsMoveAsOnOneRank) {
  ClothsAboveSpikes shells(5);
  for (BendingHinge& hinge : shells.model.hinges) hinge.yield_angle = 0.02;
  shells.model.contact.friction = 0.3;
  for (Eigen::Vector3d& v : shells.model.velocities) v.z() -= 0.6;
  for (LocalIndex v = 0; v < shells.model.num_vertices(); ++v)
    if (std::isinf(shells.model.masses[v])) shells.model.velocities[v].setZero();
  Integrator reference(shells.model, Certificates::windows), run(comm, shells.model);
  const double energy = run.totals().energy();
  for (int i = 1; i <= 2; ++i) {
    ASSERT_EQ(reference.advance_to(0.01 * i), Outcome::reached);
    ASSERT_EQ(run.advance_to(0.01 * i), Outcome::reached) << run.diagnosis();
    expect_same_motion(reference, run);
    EXPECT_EQ(shells.intersections(run), 0);
    expect_balance(run, energy, 0.05 * energy);
  }
  EXPECT_GT(run.ledger().plasticity, 0);
  EXPECT_GT(reference.counts().layers, 100);
  const auto most = [&](std::int64_t count) { return comm.max(GlobalIndex{count}); };
  const auto all = [&](std::int64_t count) { return comm.sum(GlobalIndex{count}); };
  const Counts& counts = run.counts();
  const GlobalIndex events = all(counts.events()), largest = most(counts.events()),
                    meetings = all(counts.meetings);
  if (comm.rank() == 0)
    printf("cloths on %d ranks: events %ld (most %ld), meetings %ld, windows %ld, repeated %ld\n",
           comm.size(), events, largest, meetings, counts.searches, counts.repeated);
}

TEST_F(AsyncRanks, ScriptsMoveWallsOnAllRanks) {
  Model model = random_discs(25, 0.4, 0.9);
  const LocalIndex wall = model.planes[0].vertex;
  model.scripts.push_back({{wall}, {{0.01, {0.5, 0, 0}}, {0.03, {-0.2, 0, 0}}, {0.0301, {0, 0, 0}}}});
  Integrator reference(model), run(comm, model);
  const double energy = run.totals().energy();
  ASSERT_EQ(reference.advance_to(0.06), Outcome::reached);
  ASSERT_EQ(run.advance_to(0.06), Outcome::reached) << run.diagnosis();
  expect_same_motion(reference, run);
  expect_balance(run, energy, 0.01 * energy);
}

TEST_F(AsyncRanks, AllStopWhereOneMust) {
  // Planes that close: on one sphere before all others.
  Model model;
  for (int i = 0; i < 8; ++i) model.add_sphere({0.1 * i, 0, 0}, {0, 0, 0}, 1, i == 5 ? 0.01 : 0.005);
  model.add_plane({0, 0, -0.02}, {0, 0, 1});
  model.add_plane({0, 0, 0.02}, {0, 0, -1}, {0, 0, -1});
  model.contact = {.eta = 1e-3, .stiffness = 1e5};
  model.contact.max_layers = 20;
  Integrator run(comm, model);
  EXPECT_EQ(run.advance_to(0.1), Outcome::too_deep);
  EXPECT_NE(run.diagnosis().find("vertex 5 and"), std::string::npos) << run.diagnosis();
  EXPECT_LT(run.time(), 0.03);
  // Primitives that touch are refused on all ranks.
  model.positions[5].z() = -0.011;
  EXPECT_THROW(Integrator(comm, model), InputError);
}

} // namespace ranks_test
} // namespace recoil::solvers::async_contact

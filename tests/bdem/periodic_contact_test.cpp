#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "bdem/cells.hpp"
#include "bdem/contact_checks.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

/// Contact of particles across the faces of a cell that repeats.
namespace recoil::solvers::testing {
namespace periodic_contact {

/// 64 grains that touch their neighbours, those across the faces, too.
struct Packed {
  static constexpr int per_edge = 4;
  static constexpr double side = per_edge * (2 * r + 0.4 * dhat);

  Packed(const parallel::Communicator& comm, const Deformation& F, const Laws& laws, bool drifts) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Vector3d> places;
    std::vector<double> radii;
    const PeriodicCell cell = cube(side);
    for (int i = 0; i < per_edge; ++i)
      for (int j = 0; j < per_edge; ++j)
        for (int k = 0; k < per_edge; ++k) {
          Vector3d X = side / per_edge * Vector3d(i, j, k);
          for (int c = 0; c < 3; ++c) X[c] += 0.1 * dhat * uniform(random);
          const GlobalIndex id = std::ssize(places);
          places.push_back(F(0) * X + (drifts ? cell.vector(drift(id), F(0)) : Vector3d::Zero()));
          radii.push_back(r * (1 - 0.002 * (i + j)));
        }
    problem = in_cell(comm, grains(places, radii), cell, F, laws);
    u = turned(problem);
  }

  BondedParticles problem;
  Vector u;
};

struct Pair {
  GlobalIndex a, b;
  CellShift shift;
  auto operator<=>(const Pair&) const = default;
};

Pair in_order(Pair pair) {
  return pair.a <= pair.b ? pair : Pair{pair.b, pair.a, particles::opposite(pair.shift)};
}

/// The touching pairs of all ranks, by their ids.
std::vector<Pair> touching_pairs(const BondedParticles& problem) {
  const potentials::Spheres& spheres = *problem.contact->spheres();
  const std::vector<double> own(problem.particles->ids.begin(), problem.particles->ids.end()),
      ids = spheres.gather(own, 1);
  std::vector<GlobalIndex> rows;
  for (const potentials::SphereTouch& touch : problem.contact->touching()) {
    EXPECT_LT(touch.pair.a, spheres.num_owned());
    const Pair pair =
        in_order({GlobalIndex(ids[touch.pair.a]), GlobalIndex(ids[touch.pair.b]), touch.pair.shift});
    rows.insert(rows.end(), {pair.a, pair.b});
    rows.insert(rows.end(), pair.shift.begin(), pair.shift.end());
  }
  rows = problem.particles->points->comm->all_gather_parts(rows);
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < rows.size(); k += 5)
    pairs.push_back({rows[k],
                     rows[k + 1],
                     {std::int32_t(rows[k + 2]), std::int32_t(rows[k + 3]), std::int32_t(rows[k + 4])}});
  std::ranges::sort(pairs);
  return pairs;
}

/// All pairs of a cell closer than dhat, by comparing all.
std::vector<Pair> compared(const std::vector<Vector3d>& places, const PeriodicCell& cell, const Matrix3d& F) {
  std::array<int, 3> most{};
  for (int i = 0; i < 3; ++i) most[i] = cell.repeats[i] ? 6 : 0;
  std::vector<Pair> pairs;
  for (GlobalIndex a = 0; a < std::ssize(places); ++a)
    for (GlobalIndex b = a + 1; b < std::ssize(places); ++b)
      for (int i = -most[0]; i <= most[0]; ++i)
        for (int j = -most[1]; j <= most[1]; ++j)
          for (int k = -most[2]; k <= most[2]; ++k) {
            const CellShift shift{i, j, k};
            if ((places[b] + cell.vector(shift, F) - places[a]).norm() < 2 * r + dhat)
              pairs.push_back({a, b, shift});
          }
  std::ranges::sort(pairs);
  return pairs;
}

std::vector<Vector3d> scattered(int count, double side, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 2);
  std::vector<Vector3d> places;
  for (int k = 0; k < count; ++k)
    places.push_back(side * Vector3d(uniform(random), uniform(random), uniform(random)));
  return places;
}

TEST(PeriodicContact, SearchFindsWhatComparisonOfAllFinds) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 8 * r;
  const std::vector<Vector3d> places = scattered(60, side, 3);
  const std::vector<double> radii(places.size(), r);
  Matrix3d shear = Matrix3d::Zero();
  shear << 0.1, 0.5, 0.2, -0.1, 0.05, 0.3, 0, 0.1, -0.02;
  for (const std::array<bool, 3>& repeats :
       {std::array{true, true, true}, std::array{true, false, true}, std::array{false, false, true}})
    for (const Matrix3d& rate : {Matrix3d(Matrix3d::Zero()), shear}) {
      const PeriodicCell cell = cube(side, repeats);
      const BondedParticles problem = in_cell(comm, grains(places, radii), cell, steady(rate));
      const Vector u = turned(problem);
      // The cell goes on in a step for which there is one search.
      problem.begin_contact(1, 0.2, u.local());
      std::size_t across = 0;
      for (const double share : {0.0, 0.4, 1.0}) {
        problem.contact->move_obstacles(share);
        problem.contact->update(u.local());
        const auto found = touching_pairs(problem);
        EXPECT_EQ(found, compared(places, cell, steady(rate)(0.8 + 0.2 * share))) << share;
        across += std::size_t(
            std::ranges::count_if(found, [](const Pair& pair) { return !particles::is_zero(pair.shift); }));
      }
      EXPECT_GT(across, 10);
    }
}

/// A sphere that another rank sees through two faces comes to it once.
TEST(PeriodicContact, SpheresThatAreSeenTwiceComeOnce) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 4 * (2 * r + 0.4 * dhat);
  // A row through the cell: its ends are neighbours of its second sphere's neighbours, too.
  std::vector<Vector3d> places;
  for (int k = 0; k < 4; ++k) places.push_back(side / 4 * Vector3d(k, 0, 0));
  std::vector<int> owners;
  for (int k = 0; k < 4; ++k) owners.push_back(k == 0 ? 0 : comm.size() - 1);
  const BondedParticles problem = in_cell(comm, grains(places, std::vector(4, r)), cube(side), undeformed, {},
                                          {}, comm.rank() == 0 ? owners : std::vector<int>());
  const Vector u = turned(problem);
  problem.begin_contact(0, 0, u.local());
  EXPECT_EQ(touching_pairs(problem).size(), 4);
  const potentials::Spheres& spheres = *problem.contact->spheres();
  std::vector<GlobalIndex> nodes;
  for (LocalIndex k = 0; k < spheres.size(); ++k) nodes.push_back(spheres[k].node);
  std::ranges::sort(nodes);
  EXPECT_EQ(std::ranges::adjacent_find(nodes), nodes.end());
}

TEST(PeriodicContact, DerivativesAcrossFacesAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Packed packed(comm, steady(0.02 * sheared()), {0.4, 0.2 * dhat, 0.3, 0.5}, true);
  packed.problem.begin_contact(0.1, 0.1, packed.u.local());
  const auto pairs = touching_pairs(packed.problem);
  EXPECT_EQ(pairs.size(), 3 * 64);
  EXPECT_GT(std::ranges::count_if(pairs, [](const Pair& pair) { return !particles::is_zero(pair.shift); }),
            100);
  check_derivatives(packed, *packed.problem.barrier, 1e-6);
  const ParticleManifold manifold(packed.problem.particles->tangents, packed.problem.particles->radii);
  for (const double share : {0.5, 1.0}) {
    const Vector way = direction(packed.problem, 11, 0.01 * dhat);
    ASSERT_EQ(packed.problem.contact->max_step(packed.u.local(), way.owned(), share), 1);
    manifold.move(packed.u, 1, way);
    packed.problem.contact->move_obstacles(share);
    check_derivatives(packed, *packed.problem.friction, 2e-6);
    check_derivatives(packed, *packed.problem.damping, 1e-6);
  }
}

/// Friction and damping see where pairs, and the cell, were at the start of the step.
TEST(PeriodicContact, DerivativesByTheStartAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Packed packed(comm, steady(0.02 * sheared()), {0.4, 0.2 * dhat, 0.3, 0.5}, true);
  const BondedParticles& problem = packed.problem;
  const ParticleManifold manifold(problem.particles->tangents, problem.particles->radii);
  Vector now(packed.u);
  manifold.move(now, 1, direction(problem, 11, 0.1 * dhat));
  for (const potentials::Potential<3>* term : {static_cast<const potentials::Potential<3>*>(problem.friction),
                                               static_cast<const potentials::Potential<3>*>(problem.damping)})
    for (int seed = 0; seed < 3; ++seed) {
      const Vector d = direction(problem, seed, 1), p = direction(problem, seed + 5, 1);
      const auto along = [&](double share) {
        Vector start(packed.u);
        manifold.move(start, share, d);
        restore(problem, start.local(), now.local());
        std::vector<double> g(p.owned().size(), 0.0);
        term->add_gradient(now.local(), 1, g);
        return dot(p, g);
      };
      const double h = 2e-6 * dhat, difference = (along(h) - along(-h)) / (2 * h);
      restore(problem, packed.u.local(), now.local());
      std::vector<double> tangent(d.owned().size(), 0.0), product(tangent);
      term->add_previous_tangent(now.local(), d.local(), 1, tangent);
      term->add_previous_product(now.local(), p.local(), 1, product);
      EXPECT_NEAR(dot(p, tangent), difference, 1e-6 * std::abs(difference)) << term->name();
      EXPECT_NEAR(dot(d, product), dot(p, tangent), 1e-12 * std::abs(difference));
    }
}

/// With particles that move as the cell does, dW/dF . L F = sum of -f l' . L.
TEST(PeriodicContact, ForceMomentsAreDerivativesByTheCell) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Matrix3d L = sheared();
  const auto packed_at = [&](double share) {
    return Packed(
        comm, [&, share](double) { return Matrix3d(Matrix3d::Identity() + share * L); }, {}, true);
  };
  const auto energy = [&](double share) {
    const Packed packed = packed_at(share);
    packed.problem.begin_contact(0, 0, packed.u.local());
    return comm.sum(packed.problem.barrier->value(packed.u.local()));
  };
  const Packed packed = packed_at(0);
  packed.problem.begin_contact(0, 0, packed.u.local());
  const Matrix3d moments = packed.problem.barrier->force_moments();
  const double h = 1e-5, difference = (energy(h) - energy(-h)) / (2 * h);
  EXPECT_NEAR(comm.sum(moments.cwiseProduct(L).sum()), difference, 1e-6 * std::abs(difference));
  EXPECT_LT(comm.sum(moments.trace()), 0);
}

/// A way of the particles and the cell ends where the first pair has come to a tenth of its gap.
TEST(PeriodicContact, WaysEndBeforeImagesMeet) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 8 * r;
  const auto shorter = steady(Vector3d(-0.1, 0, 0).asDiagonal().toDenseMatrix());
  const std::vector<Vector3d> places{{r, 0, 0}, {side - 2 * r, 0, 0}};
  const BondedParticles problem = in_cell(comm, grains(places, {r, r}), cube(side), shorter);
  const Vector u = turned(problem);
  problem.begin_contact(1, 1, u.local());
  // From a gap of r to 0.1 r by 0.8 r of the cell, then by that and 3 r of one of the spheres.
  std::vector<double> way(6 * std::size_t(u.layout().num_owned), 0.0);
  EXPECT_EQ(problem.contact->max_step(u.local(), way, 1), 1);
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k)
    if (problem.particles->ids[k] == 0) way[6 * std::size_t(k)] = -3 * r;
  EXPECT_NEAR(problem.contact->max_step(u.local(), way, 1), 0.9 / 3.8, 1e-12);
  EXPECT_NEAR(problem.contact->max_step(u.local(), way, 0), 0.9 / 3, 1e-12);
}

/// Every law and integrator: where the cell ends does not count.
TEST(PeriodicContact, PairsCollideThroughAFaceAsInside) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 10 * r;
  for (const auto integrator :
       {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect, ParticleIntegrator::mid_reflectT})
    for (const auto& [law, has_springs] :
         {std::pair(potentials::ContactLaw::barrier, false),
          std::pair(potentials::ContactLaw::penalty, false), std::pair(potentials::ContactLaw::hertz, false),
          std::pair(potentials::ContactLaw::hertz, true)}) {
      const Laws laws{0.3, 1e-3, 0.05, 0.8, has_springs};
      auto chosen = options(2e-4, integrator, law);
      // That implicit steps have springs of their own is seen in their steps.
      if (has_springs) chosen.sudden_breaking = SuddenBreaking::shorter_steps;
      const std::vector<Motion> inside{{{4 * r, 5 * r, 5 * r}, {1, 0.1, 0}, {0, 20, 30}},
                                       {{6.5 * r, 5.3 * r, 4.9 * r}, {-1, 0, 0.2}, {5, 0, -10}}};
      BondedParticlesSolver here = thrown(comm, inside, cube(side), undeformed, laws, chosen);
      const std::vector<Vector3d> moved{{5 * r, -5.1 * r, 0}, {5 * r - side, -5.1 * r + side, 3 * side}};
      auto motions = inside;
      for (std::size_t k = 0; k < 2; ++k) motions[k].place += moved[k];
      BondedParticlesSolver there = thrown(comm, motions, cube(side), undeformed, laws, chosen);
      const double before = here.ledger().kinetic;
      run(here, 40);
      run(there, 40);
      EXPECT_LT(here.ledger().kinetic, 0.95 * before);
      EXPECT_EQ(here.ledger().barrier, 0);
      // Newton's method and halved bounds end at rounding times what the barrier amplifies.
      EXPECT_LT(difference(here, there, moved), integrator == ParticleIntegrator::leapfrog ? 1e-11 : 1e-9)
          << int(integrator) << " " << int(law) << " " << has_springs;
    }
}

/// Newton's law does not know of a cell that deforms steadily, in which velocities are those against it.
TEST(PeriodicContact, PairsCollideInADeformingCellAsWithoutOne) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 10 * r, dt = 2e-4;
  constexpr int steps = 40;
  const PeriodicCell cell = cube(side);
  const Matrix3d L = 100 * sheared();
  const std::array<CellShift, 2> shifts{CellShift{0, 1, 0}, CellShift{1, -1, 2}};
  for (const auto integrator : {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect})
    for (const Laws& laws :
         {Laws{0.3, 1e-3, 0.05, 1}, Laws{0, 1e-3, 0, 0.6}, Laws{0.3, 1e-3, 0, 0.9, true}}) {
      auto chosen = options(
          dt, integrator, laws.has_springs ? potentials::ContactLaw::hertz : potentials::ContactLaw::penalty);
      chosen.sudden_breaking = SuddenBreaking::shorter_steps;
      const std::vector<Motion> motions{{{4 * r, 5 * r, 5 * r}, {1, 0.1, 0}, {0, 20, 30}},
                                        {{6.5 * r, 5.3 * r, 4.9 * r}, {-1, 0, 0.2}, {5, 0, -10}}};
      auto in_space = motions, in_cell = motions;
      for (std::size_t k = 0; k < 2; ++k) {
        in_space[k].velocity += L * motions[k].place;
        in_cell[k].place -= cell.vector(shifts[k]);
      }
      BondedParticlesSolver here = thrown(comm, in_space, {}, undeformed, laws, chosen),
                            there = thrown(comm, in_cell, cell, steady(L), laws, chosen);
      run(here, steps);
      run(there, steps);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto p = find(here.problem(), here.history().newest().u, GlobalIndex(k)),
                   q = find(there.problem(), there.history().newest().u, GlobalIndex(k));
        EXPECT_LT((q.p + cell.vector(shifts[k], steady(L)(steps * dt)) - p.p).norm(), 1e-9 * r);
        EXPECT_LT((q.q - p.q).norm(), 1e-9);
      }
      const double scale = here.ledger().kinetic;
      EXPECT_NEAR(there.ledger().dissipated_friction, here.ledger().dissipated_friction, 1e-9 * scale);
      EXPECT_NEAR(there.ledger().dissipated_damping, here.ledger().dissipated_damping, 1e-9 * scale);
      EXPECT_NEAR(there.ledger().dissipated_integrator, here.ledger().dissipated_integrator, 1e-9 * scale);
      EXPECT_GT(here.ledger().dissipated_friction + here.ledger().dissipated_damping, 0.01 * scale);
    }
}

TEST(PeriodicContact, AGasKeepsItsMomentumAndItsLedger) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 10 * r, speed = 1;
  const auto motions = gas(4, side, speed);
  Matrix3d rate = -2 * Matrix3d::Identity();
  rate(0, 1) = 3;
  for (const auto integrator : {ParticleIntegrator::leapfrog, ParticleIntegrator::be_reflect})
    for (const auto& [moves, law] :
         {std::pair(false, potentials::ContactLaw::penalty), std::pair(true, potentials::ContactLaw::penalty),
          std::pair(true, potentials::ContactLaw::hertz)}) {
      const Laws laws{0.3, 1e-2, 0.05, 0.7, law == potentials::ContactLaw::hertz};
      BondedParticlesSolver solver =
          thrown(comm, motions, cube(side), moves ? steady(rate) : Deformation(undeformed), laws,
                 options(5e-4, integrator, law));
      const ParticleLedger before = solver.ledger();
      run(solver, 60);
      const ParticleLedger now = solver.ledger();
      const double mass = 64 * mass_of(r);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(now.linear_momentum[i], before.linear_momentum[i], 1e-13 * mass * speed);
      EXPECT_GT(now.dissipated_friction, 0.01 * before.kinetic);
      EXPECT_GT(now.dissipated_damping, 0.1 * before.kinetic);
      if (moves)
        EXPECT_GT(std::abs(now.external_work), 0.01 * before.kinetic);
      else
        EXPECT_EQ(now.external_work, 0);
      // What leapfrog does not account for is an entry of its own, and small.
      EXPECT_NEAR(left_over(before, now), 0, 1e-12 * before.kinetic) << int(integrator) << moves;
      if (integrator == ParticleIntegrator::leapfrog) {
        EXPECT_NEAR(now.dissipated_integrator, 0, 3e-3 * before.kinetic) << moves;
      }
    }
}

/// A gas that is moved by any vector, and each particle by whole periods.
TEST(PeriodicContact, PlacesOfTheCellDoNotCount) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 10 * r;
  const auto motions = gas(4, side, 1);
  const auto chosen = options(5e-4, ParticleIntegrator::leapfrog, potentials::ContactLaw::penalty);
  BondedParticlesSolver here = thrown(comm, motions, cube(side), undeformed, {0.3}, chosen);
  std::vector<Vector3d> moved;
  auto others = motions;
  for (std::size_t k = 0; k < motions.size(); ++k) {
    moved.push_back(Vector3d(3.3, -1.7, 0.4) * r + cube(side).vector(drift(GlobalIndex(k))));
    others[k].place += moved.back();
  }
  BondedParticlesSolver there = thrown(comm, others, cube(side), undeformed, {0.3}, chosen);
  run(here, 25);
  run(there, 25);
  EXPECT_GT(here.ledger().dissipated_friction, 0);
  // Ten collisions each amplify rounding.
  EXPECT_LT(difference(here, there, moved), 1e-8);
}

TEST(PeriodicContact, RanksAgree) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  constexpr double side = 10 * r;
  const auto motions = gas(4, side, 1);
  Matrix3d rate = -2 * Matrix3d::Identity();
  rate(0, 1) = 3;
  const auto chosen = options(5e-4, ParticleIntegrator::be_reflect, potentials::ContactLaw::barrier);
  BondedParticlesSolver together = thrown(comm, motions, cube(side), steady(rate), {0.3}, chosen),
                        single = thrown(alone, motions, cube(side), steady(rate), {0.3}, chosen);
  run(together, 10);
  run(single, 10);
  const std::vector<Vector3d> moved(motions.size(), Vector3d::Zero());
  EXPECT_LT(difference(together, single, moved), 1e-8);
  EXPECT_NEAR(together.ledger().external_work, single.ledger().external_work, 1e-8 * single.ledger().kinetic);
}

/// Places one after the other, wherever a sphere is at least `distance` from all before it.
std::vector<Motion> loose(std::size_t count, double side, double distance) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, side);
  const PeriodicCell cell = cube(side);
  std::vector<Motion> motions;
  while (motions.size() < count) {
    const Vector3d X(uniform(random), uniform(random), uniform(random));
    const auto is_near = [&](const Motion& other) {
      const Vector3d line = other.place + cell.vector(cell.nearest(X, other.place)) - X;
      return line.norm() < distance;
    };
    if (std::ranges::none_of(motions, is_near)) motions.push_back({X});
  }
  return motions;
}

/// Contacts per sphere, of those alone that are held by at least four others. On one rank.
double coordination(const BondedParticles& problem) {
  std::vector<std::pair<LocalIndex, LocalIndex>> pairs;
  for (const potentials::SphereTouch& touch : problem.contact->touching())
    if (problem.barrier->force(touch) > 0) pairs.emplace_back(touch.pair.a, touch.pair.b);
  std::vector<int> count;
  std::size_t held = 0;
  for (std::size_t before = pairs.size() + 1; pairs.size() < before;) {
    before = pairs.size();
    count.assign(problem.particles->num_owned(), 0);
    for (const auto& [a, b] : pairs) {
      ++count[a];
      ++count[b];
    }
    held = std::size_t(std::ranges::count_if(count, [](int contacts) { return contacts >= 4; }));
    std::erase_if(pairs, [&](const auto& pair) { return count[pair.first] < 4 || count[pair.second] < 4; });
  }
  return held > 0 ? 2.0 * double(pairs.size()) / double(held) : 0;
}

/// Spheres without friction that are pressed together from all sides press back from random close packing on:
/// from 0.639 of the volume on in large systems, in proportion to what is above it by harmonic repulsion, and
/// by 6 contacts each, to which the root of that adds 7.7 times itself [O'Hern, Silbert, Liu, Nagel, Physical
/// Review E 68 (2003) 011306, figures 4, 6 and 7].
TEST(PeriodicContact, LooseSpheresJam) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 1) return;
  constexpr std::size_t count = 64;
  const double volume = count * 4 * pi / 3 * std::pow(r + dhat / 2, 3), side = std::cbrt(volume / 0.3);
  // Shares of 0.3, 0.6, 0.65 and 0.655 after 0, 20, 40 and 50 steps, between which the edges shrink linearly.
  const auto press = [](double step) {
    const auto edge = [](double share) { return std::cbrt(0.3 / share); };
    const auto between = [&](double less, double more, double way) {
      return edge(less) + std::clamp(way, 0.0, 1.0) * (edge(more) - edge(less));
    };
    const double least = step < 20   ? between(0.3, 0.6, step / 20)
                         : step < 45 ? between(0.6, 0.65, (step - 20) / 20)
                                     : between(0.65, 0.655, (step - 45) / 5);
    return Matrix3d(least * Matrix3d::Identity());
  };
  constexpr double dt = 0.02;
  auto chosen = options(dt, ParticleIntegrator::be_reflect, potentials::ContactLaw::penalty);
  chosen.tolerance = 1e-6;
  BondedParticlesSolver solver = thrown(
      comm, loose(count, side, 2 * r + dhat), cube(side), [&](double time) { return press(time / dt); }, {},
      chosen);
  const auto pressure = [&] {
    return -solver.contact_force_moments().trace() /
           (3 * cube(side).volume(solver.problem().cell_motion->now()));
  };
  std::array<double, 3> at{}; // after 15, 45 and 55 steps
  double contacts = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    run(solver, std::array{15, 45, 55}[k]);
    at[k] = pressure();
    if (k == 1) contacts = coordination(solver.problem());
  }
  EXPECT_LT(at[0], 1e-3 * at[2]);
  const double above = 0.005 * at[1] / (at[2] - at[1]);
  EXPECT_NEAR(0.65 - above, 0.63, 0.015);
  EXPECT_NEAR(contacts, 6 + 7.7 * std::sqrt(above), 0.3);
}

/// Planes that run along the edges that repeat, and meshes, which repeat with the cell.
TEST(PeriodicContact, ObstaclesGoOnWhereParticlesDrift) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr double side = 10 * r;
  const Motion over_the_face{{side - 0.5 * r, 0.4 * side, 1.5 * r}, {2, 0.5, -1}, {0, 0, 0}};
  const auto chosen = options(1e-4, ParticleIntegrator::leapfrog, potentials::ContactLaw::penalty);
  SphereObstacles floor = floor_plane(), mesh = plate(side / 2, [](double) { return 0.0; });
  for (Vector3d& vertex : mesh.vertices) vertex += Vector3d(side / 2, side / 2, 0);
  mesh.place = {};
  const PeriodicCell cell = cube(side, {true, true, false});
  const Vector3d away(2 * side, -3 * side, 0);
  for (const SphereObstacles& obstacles : {floor, mesh}) {
    BondedParticlesSolver near = thrown(comm, {over_the_face}, cell, undeformed, {0.2}, chosen, obstacles);
    Motion moved = over_the_face;
    moved.place += away;
    BondedParticlesSolver far = thrown(comm, {moved}, cell, undeformed, {0.2}, chosen, obstacles);
    run(near, 150);
    run(far, 150);
    EXPECT_GT(find(near.problem(), near.history().newest().u, 0).p.x(), side + 2 * r);
    EXPECT_GT(near.ledger().linear_momentum[2], 0);
    EXPECT_GT(near.ledger().dissipated_friction, 0);
    EXPECT_LT(difference(near, far, {away}), 1e-10);
    const std::vector<double> forces = near.obstacle_forces(), others = far.obstacle_forces();
    for (std::size_t i = 0; i < forces.size(); ++i) EXPECT_NEAR(forces[i], others[i], 1e-9);
  }
}

TEST(PeriodicContact, RefusesCellsThatAreTooNarrowAndPlanesAcrossThem) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto refusal = [&](double side, const Deformation& F, double time, SphereObstacles obstacles) {
    const BondedParticles problem =
        in_cell(comm, grains({{r, r, 1.5 * r}}, {r}), cube(side, {true, true, false}), F, {}, obstacles);
    const Vector u = turned(problem);
    try {
      problem.begin_contact(time, 0.1, u.local());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Matrix3d narrowing = Vector3d(-0.5, 0, 0).asDiagonal().toDenseMatrix();
  EXPECT_EQ(refusal(7 * r, undeformed, 0, floor_plane()), "");
  EXPECT_NE(
      refusal(6.5 * r, undeformed, 0, {}).find("0.065 m wide along edge x, where particles reach 0.022 m"),
      std::string::npos);
  EXPECT_NE(refusal(8 * r, steady(narrowing), 0.5, {}).find("at t = 0.5 s"), std::string::npos);
  EXPECT_NE(refusal(8 * r, undeformed, 0, floor_plane(Vector3d::UnitY())).find("lies across edge y"),
            std::string::npos);
}

} // namespace periodic_contact
} // namespace recoil::solvers::testing

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "bdem/contact_checks.hpp"
#include "recoil/geometry/quaternion.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/particles/bond_values.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers::testing {
namespace {

/// Grains in a pile that touch each other, a plane, and the faces, edges and vertices of a plate.
struct Pile {
  static constexpr int num_grains = 24;
  /// The plate turns in a step where `turns`.
  explicit Pile(const parallel::Communicator& comm, bool turns = false) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Vector3d> places;
    std::vector<double> radii;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k) {
          places.push_back((2 * r + 0.4 * dhat) * Vector3d(i, j, k) + Vector3d(0, 0, r + 0.4 * dhat));
          for (int c = 0; c < 3; ++c) places.back()[c] += 0.15 * dhat * uniform(random);
          radii.push_back(r * (1 - 0.002 * (i + j)));
        }
    problem = bonded(comm, grains(places, radii), {});
    SphereObstacles obstacles = plate(1.9 * r, [](double) { return 0.0; });
    // The plate stands on edge between the first rows, its upper edge below the centres of the second layer.
    for (Vector3d& vertex : obstacles.vertices)
      vertex = Vector3d(-(r + 0.5 * dhat), 2 * vertex[0], vertex[1] + 1.9 * r);
    obstacles.place = {};
    if (turns)
      obstacles.place = [rest = obstacles.vertices](double time) {
        std::vector<Vector3d> places = rest;
        for (Vector3d& place : places)
          place += time * (0.03 * dhat * Vector3d(1, 2, -1) + Vector3d(2e-3, 3e-3, 0).cross(place));
        return places;
      };
    obstacles.bodies = {num_grains, num_grains};
    obstacles.planes.push_back({Vector3d::Zero(), Vector3d::UnitZ(), num_grains + 1});
    add_contact(problem, std::move(obstacles), 0.4, 0.2 * dhat, 0.3);
    u = turned(problem);
  }

  Vector direction(int seed, double size) const { return testing::direction(problem, seed, size); }

  BondedParticles problem;
  Vector u;
};

/// The gradient of friction at `now` in a step from `start`.
std::vector<double> friction_gradient(Pile& pile, const Vector& start, const Vector& now) {
  restore(pile.problem, start.local(), now.local());
  std::vector<double> g(pile.problem.particles->tangents->num_owned * std::size_t{6}, 0.0);
  pile.problem.friction->add_gradient(now.local(), 1, g);
  return g;
}

TEST(SphereContact, FrictionByTheStartAgreesWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Pile pile(comm, true);
  const ParticleManifold manifold(pile.problem.particles->tangents, pile.problem.particles->radii);
  Vector now(pile.u);
  manifold.move(now, 1, pile.direction(11, 0.1 * dhat));
  for (int seed = 0; seed < 4; ++seed) {
    const Vector d = pile.direction(seed, 1), p = pile.direction(seed + 5, 1);
    const auto along = [&](double share) {
      Vector start(pile.u);
      manifold.move(start, share, d);
      return dot(p, friction_gradient(pile, start, now));
    };
    const double h = 2e-6 * dhat, difference = (along(h) - along(-h)) / (2 * h);
    friction_gradient(pile, pile.u, now);
    std::vector<double> tangent(d.owned().size(), 0.0), product(tangent);
    pile.problem.friction->add_previous_tangent(now.local(), d.local(), 1, tangent);
    pile.problem.friction->add_previous_product(now.local(), p.local(), 1, product);
    EXPECT_NEAR(dot(p, tangent), difference, 1e-7 * std::abs(difference));
    EXPECT_NEAR(dot(d, product), dot(p, tangent), 1e-12 * std::abs(difference));
  }
}

/// A block whose bonds have all broken, at various distances, and whose particles press on each other and
/// slide.
TEST(SphereContact, DerivativesByLeastDistancesAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, block(3, 3, 2, r), {});
  add_contact(problem, {}, 0.4, 0.2 * dhat, 0.3);
  const auto& particles = *problem.particles;
  const auto of_bonds = [&](int seed) {
    std::vector<double> values;
    for (const auto& bond : particles.bonds) values.push_back(std::sin(1.7 * double(bond.id) + seed));
    return values;
  };
  const Vector start = turned(problem);
  Vector now(start);
  ParticleManifold(particles.tangents, particles.radii).move(now, 1, direction(problem, 11, 0.1 * dhat));
  const auto gradient = [&](const std::vector<double>& changes, double share) {
    const std::vector<double> at = of_bonds(0);
    for (std::size_t k = 0; k < at.size(); ++k) {
      problem.bonds->break_bond(LocalIndex(k));
      problem.contact->bond_distances()[k] = 2 * r - (0.5 + 0.1 * at[k]) * dhat + share * changes[k];
    }
    restore(problem, start.local(), now.local());
    std::vector<double> g(particles.tangents->num_owned * std::size_t{6}, 0.0);
    add_gradient(problem, now.local(), g);
    return g;
  };
  for (int seed = 1; seed < 4; ++seed) {
    const Vector p = direction(problem, seed + 5, 1);
    const std::vector<double> ds = of_bonds(seed);
    const auto along = [&](double share) { return dot(p, gradient(ds, share)); };
    const double h = 2e-6 * dhat, difference = (along(h) - along(-h)) / (2 * h);
    std::vector<double> tangent(p.owned().size(), 0.0), friction_tangent(tangent);
    gradient(ds, 0);
    EXPECT_EQ(comm.sum(GlobalIndex(problem.contact->touching().size())), particles.num_bonds_global);
    parameters::PhysicalDirection<3> change(sizes_of(problem), std::array{potentials::bond_distance});
    change.numbers(potentials::bond_distance) = ds;
    parameters::PhysicalGradient<3> by(sizes_of(problem), std::array{potentials::bond_distance});
    for (const auto& term : problem.terms) {
      term->add_parameter_tangent(now.local(), change, 1, tangent);
      term->add_parameter_products(now.local(), p.local(), 1, by);
    }
    std::vector<double>& product = by.numbers(potentials::bond_distance);
    problem.friction->add_parameter_tangent(now.local(), change, 1, friction_tangent);
    EXPECT_NEAR(dot(p, tangent), difference, 1e-7 * std::abs(difference));
    EXPECT_GT(std::abs(dot(p, friction_tangent)), 1e-3 * std::abs(difference));
    particles::sum_bond_values(particles, product);
    double transposed = 0;
    for (std::size_t k = 0; k < ds.size(); ++k)
      if (particles.owns(particles.bonds[k])) transposed += ds[k] * product[k];
    EXPECT_NEAR(comm.sum(transposed), dot(p, tangent), 1e-12 * std::abs(difference));
  }
}

TEST(SphereContact, FrictionByCoefficientsIsLinear) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Pile pile(comm, true);
  *pile.problem.friction = {*pile.problem.contact, *pile.problem.barrier, coefficient(0.4), 0, 0.2 * dhat};
  const ParticleManifold manifold(pile.problem.particles->tangents, pile.problem.particles->radii);
  Vector now(pile.u);
  manifold.move(now, 1, pile.direction(11, 0.1 * dhat));
  const Vector p = pile.direction(3, 1);
  const double whole = dot(p, friction_gradient(pile, pile.u, now));
  const potentials::SphereFrictionPotential& friction = *pile.problem.friction;
  const parameters::PhysicalArrays<3>::Sizes sizes{{parameters::Place::coefficient, 1}};
  parameters::PhysicalGradient<3> by(sizes, friction.quantities());
  friction.add_parameter_products(now.local(), p.local(), 1, by);
  parameters::PhysicalDirection<3> change(sizes, friction.quantities());
  change.numbers(parameters::quantities::friction)[0] = 1;
  std::vector<double> y(p.owned().size(), 0.0);
  friction.add_parameter_tangent(now.local(), change, 1, y);
  EXPECT_NEAR(0.4 * comm.sum(by.numbers(parameters::quantities::friction)[0]), whole,
              1e-12 * std::abs(whole));
  EXPECT_NEAR(0.4 * dot(p, y), whole, 1e-12 * std::abs(whole));
}

TEST(SphereContact, DerivativesAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Pile pile(comm);
  pile.problem.begin_contact(0.1, 0.1, pile.u.local());
  EXPECT_GT(comm.sum(GlobalIndex(pile.problem.contact->touching().size())), 60);
  check_derivatives(pile, *pile.problem.barrier, 1e-6);
  // Slide by less and by more than eps_v dt.
  const ParticleManifold manifold(pile.problem.particles->tangents, pile.problem.particles->radii);
  for (const double size : {0.008, 0.03}) {
    const Vector way = pile.direction(11, size * dhat);
    ASSERT_EQ(pile.problem.contact->max_step(pile.u.local(), way.owned(), 0), 1);
    manifold.move(pile.u, 1, way);
    check_derivatives(pile, *pile.problem.friction, 2e-6);
  }
}

/// Forces on pairs cancel, and so do their moments about any point where they act in one point.
TEST(SphereContact, PairsKeepMomenta) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Pile pile(comm);
  pile.problem.begin_contact(0.1, 0.1, pile.u.local());
  std::vector<double> g(pile.direction(0, 1).owned().size(), 0.0);
  pile.problem.barrier->add_gradient(pile.u.local(), 1, g);
  const std::vector<double> pressure = g;
  const ParticleManifold manifold(pile.problem.particles->tangents, pile.problem.particles->radii);
  const Vector way = pile.direction(3, 1e-4 * dhat);
  ASSERT_EQ(pile.problem.contact->max_step(pile.u.local(), way.owned(), 0), 1);
  manifold.move(pile.u, 1, way);
  pile.problem.update(pile.u.local());
  std::fill(g.begin(), g.end(), 0.0);
  add_gradient(pile.problem, pile.u.local(), g);
  std::array<double, 7> sums{};
  for (LocalIndex k = 0; k < pile.u.layout().num_owned; ++k) {
    const auto at = particle_at(pile.u.local(), k);
    const std::span<const double> values(g);
    const Vector3d f = shift_of(values, k), m = at.p.cross(f) + geometry::rotation_matrix(at.q) *
                                                                    turn_of(values, k) *
                                                                    pile.problem.particles->radii[k];
    for (int i = 0; i < 3; ++i) {
      sums[i] += f[i];
      sums[3 + i] += m[i];
    }
    sums[6] += f.norm();
  }
  comm.sum(sums);
  std::vector<double> on_obstacles(12, 0.0);
  pile.problem.barrier->add_obstacle_forces(Pile::num_grains, on_obstacles);
  pile.problem.friction->add_obstacle_forces(Pile::num_grains, on_obstacles);
  comm.sum(on_obstacles);
  // The gradient is minus the force on the particles, which is minus that on the obstacles. Arms are those of
  // the lagged places, 1e-4 dhat ago.
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(sums[i], on_obstacles[i] + on_obstacles[6 + i], 1e-12 * sums[6]);
    EXPECT_NEAR(sums[3 + i], on_obstacles[3 + i] + on_obstacles[9 + i], 1e-5 * r * sums[6]);
  }
}

/// Bonded particles do not touch, and those whose bonds break begin without a force.
TEST(SphereContact, BondsComeBeforeContact) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, block(4, 3, 3, r), {});
  add_contact(problem, {});
  Vector u(problem.particles->points);
  const auto values = u.write_local();
  // Compressed, so that broken pairs would overlap by 0.3 dhat.
  for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
    set_particle(values, k,
                 {(1 - 0.15 * dhat / r) * problem.particles->positions[k], geometry::identity_quaternion()});
  problem.begin_contact(0, 0, u.local());
  EXPECT_EQ(comm.sum(GlobalIndex(problem.contact->touching().size())), 0);
  for (std::size_t bond = 0; bond < problem.particles->bonds.size(); bond += 1) {
    problem.bonds->break_bond(LocalIndex(bond));
    problem.contact->separate(LocalIndex(bond), u.local());
  }
  problem.update(u.local());
  EXPECT_FALSE(problem.contact->overlaps());
  EXPECT_NEAR(comm.sum(problem.barrier->value(u.local())), 0, 1e-20);
  for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
    set_particle(values, k,
                 {(1 - 0.2 * dhat / r) * problem.particles->positions[k], geometry::identity_quaternion()});
  problem.begin_contact(0, 0, u.local());
  EXPECT_EQ(comm.sum(GlobalIndex(problem.contact->touching().size())), problem.particles->num_bonds_global);
}

/// A ball that slides on a plane with friction ends up rolling at 5/7 of its first speed, for any
/// coefficient.
TEST(SphereContact, ASlidingBallEndsUpRolling) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const double mu : {0.2, 0.5}) {
    // Resting: the barrier bears the weight.
    BondedParticles problem = bonded(comm, grains({{0, 0, r + 0.98 * dhat}}, {r}), {});
    problem.gravity = {0, 0, -9.81};
    add_contact(problem, floor_plane(), mu, 1e-4);
    BondedParticlesSolver solver(std::move(problem), steps_of(ParticleIntegrator::be_reflect, 1e-3));
    throw_all(solver, Vector3d(0.5, 0, 0));
    run(solver, 300);
    const auto ledger = solver.ledger();
    const double m = mass_of(r);
    EXPECT_NEAR(ledger.linear_momentum[0] / m, 5.0 / 7 * 0.5, 1e-3 * 0.5) << mu;
    // Backward Euler takes friction where steps end, after the way that it has made shorter.
    EXPECT_NEAR(ledger.dissipated_friction + ledger.dissipated_integrator, m * 0.5 * 0.5 / 7,
                2e-3 * m * 0.25 / 7)
        << mu;
    EXPECT_NEAR(ledger.dissipated_friction, m * 0.5 * 0.5 / 7, 0.1 * mu * m * 0.25 / 7) << mu;
  }
}

/// A ball that lands as it slides: friction that is lagged until it converges is mu times the normal force of
/// the same state, lagged once that of the state before.
TEST(SphereContact, RepeatedLaggingMakesFrictionThatOfTheEndOfTheStep) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double mu = 0.3;
  for (const int iterations : {1, -1}) {
    BondedParticles problem = bonded(comm, grains({{0, 0, r + 1.1 * dhat}}, {r}), {});
    add_contact(problem, floor_plane(), mu, 1e-4);
    auto chosen = steps_of(ParticleIntegrator::be_reflect, 1e-4);
    chosen.friction_iterations = iterations;
    BondedParticlesSolver solver(std::move(problem), chosen);
    throw_all(solver, Vector3d(3, 0, -0.2));
    double worst = 0;
    int touching = 0;
    for (int step = 1; step <= 20; ++step) {
      run(solver, step);
      const std::vector<double> force = solver.obstacle_forces();
      if (!(std::abs(force[2]) > 1e-3)) continue;
      ++touching;
      worst = std::max(worst, std::abs(std::abs(force[0] / force[2]) - mu));
    }
    EXPECT_GT(touching, 3);
    if (iterations == 1) {
      EXPECT_GT(worst, 0.05);
    } else {
      EXPECT_LT(worst, 1e-6);
    }
  }
}

/// mu g t is taken from the speed of a block, which stops after v^2 / (2 mu g).
TEST(SphereContact, ABlockSlidesAsFarAsFrictionLetsIt) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(6, 4, 2, r);
  for (Vector3d& place : set.positions) place[2] += r + 0.97 * dhat;
  BondedParticles problem = bonded(comm, set, {});
  problem.gravity = {0, 0, -9.81};
  const double mu = 0.3, speed = 0.4;
  add_contact(problem, floor_plane(), mu, 1e-4);
  BondedParticlesSolver solver(std::move(problem), steps_of(ParticleIntegrator::be_reflect, 1e-3));
  const Vector3d first = find(solver.problem(), solver.history().newest().u, 0).p;
  throw_all(solver, Vector3d(speed, 0, 0));
  run(solver, 250);
  const Vector3d last = find(solver.problem(), solver.history().newest().u, 0).p;
  EXPECT_NEAR(last[0] - first[0], speed * speed / (2 * mu * 9.81), 0.03 * speed * speed / (2 * mu * 9.81));
  EXPECT_LT(std::abs(solver.ledger().linear_momentum[0]), 1e-3 * 48 * solver.problem().mass.front() * speed);
}

/// A block that is thrown at a plane, breaks, and flies off in pieces that meet: nothing overlaps, energies
/// add up, and the parallel run is the same.
TEST(SphereContact, ADroppedBlockBreaksWithoutOverlap) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(6, 5, 3, r);
  for (Vector3d& place : set.positions) place[2] += r + 2 * dhat;
  BondedParticles problem = bonded(comm, set, {});
  problem.gravity = {0, 0, -9.81};
  problem.strength = strength(problem, 3e4, 3e4);
  SphereObstacles obstacles = plate(4 * r, [](double) { return 0.0; });
  obstacles.planes.push_back({Vector3d(0, 0, -0.5), Vector3d::UnitZ(), 2});
  add_contact(problem, std::move(obstacles), 0.3);
  BondedParticlesSolver solver(std::move(problem), steps_of(ParticleIntegrator::be_reflect, 2e-4, 1e-7));
  throw_all(solver, Vector3d(0, 0, -5));
  const ParticleLedger before = solver.ledger();
  std::size_t broken = 0;
  // On several ranks until it has broken.
  for (int step = 0; step < (comm.size() > 1 ? 25 : 60); ++step) {
    const auto outcome = solver.advance([](const auto&...) {});
    ASSERT_TRUE(outcome.accepted) << outcome.failure << " in step " << step + 1;
    broken += solver.broken_in_step().size();
    EXPECT_FALSE(solver.problem().contact->overlaps());
    EXPECT_GT(solver.problem().contact->least_gap(), 0);
  }
  EXPECT_GT(comm.sum(GlobalIndex(broken)), 20);
  const ParticleLedger now = solver.ledger();
  EXPECT_NEAR(left_over(before, now), 0, 1e-6 * before.kinetic);
  EXPECT_GT(now.dissipated_integrator, 0);
  EXPECT_GT(now.dissipated_friction, 0);
}

/// The point of a triangle next to x, by its sides and its inside one after the other.
double distance_to_triangle(const Vector3d& x, const std::array<Vector3d, 3>& corners) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    const Vector3d a = corners[i], side = corners[(i + 1) % 3] - a;
    const double s = std::clamp((x - a).dot(side) / side.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (x - a - s * side).norm());
  }
  const Vector3d n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
  const double height = (x - corners[0]).dot(n);
  const Vector3d foot = x - height * n;
  bool inside = true;
  for (int i = 0; i < 3; ++i)
    inside = inside && (corners[(i + 1) % 3] - corners[i]).cross(foot - corners[i]).dot(n) >= 0;
  return inside ? std::min(least, std::abs(height)) : least;
}

/// Blocks of different poses fall onto the tip of a pyramid and break there; all distances by brute force.
TEST(SphereContact, NothingOverlapsInManyDrops) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const int num_drops = comm.size() > 1 ? 3 : 10;
  GlobalIndex broken = 0;
  double nearest = 1;
  for (int drop = 0; drop < num_drops; ++drop) {
    particles::ParticleSet set = block(3, 3, 2, r);
    const geometry::Quaternion pose = geometry::quaternion_exponential(
        Vector3d(std::sin(drop), std::cos(2 * drop), std::sin(3 * drop + 1)));
    double lowest = 1;
    for (Vector3d& place : set.positions) {
      place = geometry::rotation_matrix(pose) * (place - Vector3d(2 * r, 2 * r, r));
      lowest = std::min(lowest, place[2]);
    }
    for (Vector3d& place : set.positions) place[2] += 4 * r - lowest;
    BondedParticles problem = bonded(comm, set, {});
    problem.strength = strength(problem, 3e4, 3e4);
    problem.gravity = {0, 0, -9.81};
    SphereObstacles obstacles = plate(6 * r, [](double) { return 0.0; });
    obstacles.vertices.emplace_back(0.2 * r * drop, 0, 2.5 * r);
    obstacles.triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    obstacles.bodies = {1, 1, 1, 1};
    obstacles.place = {};
    const SphereObstacles pyramid = obstacles;
    add_contact(problem, std::move(obstacles), 0.3);
    BondedParticlesSolver solver(std::move(problem), steps_of(ParticleIntegrator::be_reflect, 2e-4, 1e-6));
    throw_all(solver, Vector3d(0, 0, -4));
    const std::size_t count = set.positions.size();
    for (int step = 0; step < 25; ++step) {
      const auto outcome = solver.advance([](const auto&...) {});
      ASSERT_TRUE(outcome.accepted) << outcome.failure << " in step " << step + 1 << " of drop " << drop;
      const Vector& u = solver.history().newest().u;
      std::vector<double> places(3 * count, 0.0);
      for (LocalIndex k = 0; k < u.layout().num_owned; ++k)
        std::copy_n(u.owned().begin() + 7 * std::ptrdiff_t(k), 3,
                    places.begin() + 3 * std::ptrdiff_t(solver.problem().particles->ids[k]));
      comm.sum(places);
      for (std::size_t i = 0; i < count; ++i) {
        const Vector3d x(places.data() + 3 * i);
        for (const auto& triangle : pyramid.triangles) {
          const double gap =
              distance_to_triangle(x, {pyramid.vertices[triangle[0]], pyramid.vertices[triangle[1]],
                                       pyramid.vertices[triangle[2]]}) -
              r;
          ASSERT_GT(gap, 0) << "particle " << i << " in step " << step + 1 << " of drop " << drop;
          nearest = std::min(nearest, gap);
        }
        for (std::size_t j = i + 1; j < count; ++j)
          if ((set.positions[i] - set.positions[j]).norm() > 2 * r + dhat) {
            ASSERT_GT((x - Vector3d(places.data() + 3 * j)).norm(), 2 * r) << drop;
          }
      }
    }
    broken += stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds");
  }
  EXPECT_LT(nearest, dhat);
  EXPECT_GT(broken, 5 * num_drops);
}

/// A plate comes down on a block that stands on a floor, further in each step than there is room for.
TEST(SphereContact, APlatePressesABlock) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  particles::ParticleSet set = block(4, 4, 4, r);
  double top = 0;
  for (Vector3d& place : set.positions) {
    place[2] += r + 0.5 * dhat;
    top = std::max(top, place[2] + r);
  }
  BondedParticles problem = bonded(comm, set, {});
  SphereObstacles obstacles = plate(20 * r, [top](double t) { return top + 0.5 * dhat - t * 2 * dhat; });
  obstacles.planes.push_back({Vector3d::Zero(), Vector3d::UnitZ(), 2});
  add_contact(problem, std::move(obstacles), 0.2, 1e-3);
  BondedParticlesSolver solver(std::move(problem), at_rest());
  const double start_energy = solver.ledger().barrier;
  run(solver, 2);
  const std::vector<double> forces = solver.obstacle_forces();
  EXPECT_GT(forces[2], 10);
  EXPECT_NEAR(forces[2], -forces[8], 1e-6 * forces[2]);
  const ParticleLedger now = solver.ledger();
  EXPECT_GT(now.external_work, now.elastic);
  EXPECT_NEAR(now.elastic + now.barrier - start_energy,
              now.external_work - now.dissipated_friction - now.dissipated_integrator, 1e-9 * now.elastic);
}

} // namespace
} // namespace recoil::solvers::testing

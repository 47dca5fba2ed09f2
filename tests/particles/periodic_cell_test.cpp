#include <numbers>
#include <numeric>
#include <set>
#include <tuple>

#include "particles/support.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::particles {

namespace periodic_cell_test {

using ::testing::HasSubstr;

PeriodicCell oblique() {
  PeriodicCell cell;
  cell.edges << 1, 0.3, -0.2, 0, 0.9, 0.25, 0.1, 0, 1.1;
  cell.origin = {0.2, -0.4, 5};
  return cell;
}

std::vector<Eigen::Vector3d> random_points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 3);
  std::vector<Eigen::Vector3d> points;
  for (std::size_t i = 0; i < count; ++i)
    points.emplace_back(uniform(random), uniform(random), 5 + uniform(random));
  return points;
}

ParticleSet spheres(const std::vector<Eigen::Vector3d>& points, const PeriodicCell& cell) {
  ParticleSet set;
  set.body_names = {"a", "b"};
  set.positions = points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    set.radii.push_back(0.06 + 0.03 * std::sin(double(i)));
    set.volumes.push_back(1);
    set.body.push_back(i % 5 == 0 ? 1 : 0);
  }
  set.cell = cell;
  return set;
}

/// By all images up to a few cells away.
std::set<std::tuple<std::int64_t, std::int64_t, CellShift>> brute_force(const ParticleSet& set,
                                                                        double tolerance) {
  std::set<std::tuple<std::int64_t, std::int64_t, CellShift>> found;
  constexpr int most = 8;
  for (std::int64_t i = 0; i < std::ssize(set.positions); ++i)
    for (std::int64_t j = i + 1; j < std::ssize(set.positions); ++j)
      for (int a = -most; a <= most; ++a)
        for (int b = -most; b <= most; ++b)
          for (int c = -most; c <= most; ++c) {
            const CellShift shift{set.cell->repeats[0] ? a : 0, set.cell->repeats[1] ? b : 0,
                                  set.cell->repeats[2] ? c : 0};
            const Eigen::Vector3d line = set.positions[j] + set.cell->vector(shift) - set.positions[i];
            if (set.body[i] == set.body[j] && line.norm() <= (set.radii[i] + set.radii[j]) * (1 + tolerance))
              found.emplace(i, j, shift);
          }
  return found;
}

TEST(PeriodicCell, WrapsAndFindsTheNearestImage) {
  const PeriodicCell cell = oblique();
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  F(0, 1) = 0.2;
  F(2, 2) = 0.8;
  const double near = cell.widths(F).minCoeff() / 2;
  int tried = 0;
  for (const Eigen::Vector3d& a : random_points(20, 1)) {
    const Eigen::Vector3d inside = cell.wrapped(a, F);
    EXPECT_EQ(cell.shift_of(
                  cell.origin + 0.999999 * (inside - cell.origin) + 1e-9 * F * cell.edges.rowwise().sum(), F),
              CellShift{});
    EXPECT_LT((inside + cell.vector(cell.shift_of(a, F), F) - a).norm(), 1e-13);
    for (const Eigen::Vector3d& b : random_points(20, 2)) {
      const Eigen::Vector3d line = b + cell.vector(cell.nearest(a, b, F), F) - a;
      double shortest = std::numeric_limits<double>::infinity();
      for (int i = -9; i <= 9; ++i)
        for (int j = -9; j <= 9; ++j)
          for (int k = -9; k <= 9; ++k)
            shortest = std::min(shortest, (b + cell.vector({i, j, k}, F) - a).norm());
      if (shortest >= near) continue;
      EXPECT_NEAR(line.norm(), shortest, 1e-13);
      ++tried;
    }
  }
  EXPECT_GT(tried, 50);
  // Of a box the widths are the edges.
  PeriodicCell box;
  box.edges = Eigen::Vector3d(1, 2, 3).asDiagonal();
  EXPECT_TRUE(box.widths().isApprox(Eigen::Vector3d(1, 2, 3), 1e-15));
  EXPECT_DOUBLE_EQ(box.volume(F), 6 * 0.8);
}

TEST(PeriodicCell, BondsAreThoseOfAllImages) {
  for (const bool all : {true, false}) {
    PeriodicCell cell = oblique();
    if (!all) cell.repeats = {true, false, true};
    ParticleSet set = spheres(random_points(90, all ? 3 : 4), cell);
    bond(set, 0.1);
    const auto expected = brute_force(set, 0.1);
    ASSERT_EQ(set.bonds.size(), set.bond_shifts.size());
    std::set<std::tuple<std::int64_t, std::int64_t, CellShift>> found;
    for (std::size_t b = 0; b < set.bonds.size(); ++b)
      found.emplace(set.bonds[b][0], set.bonds[b][1], set.bond_shifts[b]);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found.size(), set.bonds.size());
    EXPECT_GT(found.size(), all ? 20u : 2u);
    check(set, "test");
  }
}

TEST(PeriodicCell, NarrowCellsAndWrongShiftsAreRefused) {
  ParticleSet set = spheres(random_points(10, 5), oblique());
  set.radii.assign(10, 0.2);
  EXPECT_THAT(message_of([&] { bond(set); }), HasSubstr("at least three times as wide"));
  set.bonds = {{0, 1}};
  EXPECT_THAT(message_of([&] { check(set, "test"); }), HasSubstr("1 bonds and 0 shifts"));
  set.bond_shifts = {{0, 1, 0}};
  check(set, "test");
  set.cell->repeats[1] = false;
  EXPECT_THAT(message_of([&] { check(set, "test"); }), HasSubstr("behind which nothing repeats"));
}

TEST(PeriodicCell, EveryParticleOfALatticeHasTwelveBonds) {
  const double r = 0.1;
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc}) {
    PeriodicCell cell;
    cell.origin = {1, -2, 0.3};
    cell.edges = kind == LatticeKind::fcc
                     ? Eigen::Matrix3d(3 * 2 * std::numbers::sqrt2 * r * Eigen::Matrix3d::Identity())
                     : Eigen::Matrix3d(Eigen::Vector3d(8 * r, 2 * 2 * std::numbers::sqrt3 * r,
                                                       3 * 4 * std::sqrt(6.0) / 3 * r)
                                           .asDiagonal());
    ParticleSet set = pack_periodic_lattice(cell, {kind, r}, "cell");
    bond(set);
    check(set, "test");
    std::vector<int> number(set.positions.size(), 0);
    for (const auto& [i, j] : set.bonds) ++number[i], ++number[j];
    EXPECT_EQ(std::ranges::count(number, 12), std::ssize(number));
    for (const Eigen::Vector3d& place : set.positions) EXPECT_EQ(cell.shift_of(place), CellShift{});
    EXPECT_NEAR(std::accumulate(set.volumes.begin(), set.volumes.end(), 0.0) / cell.volume(), 1, 1e-14);

    PeriodicCell slab = cell;
    slab.repeats[2] = false;
    set = pack_periodic_lattice(slab, {kind, r}, "slab");
    bond(set);
    double low = 1e9, high = -1e9;
    for (const Eigen::Vector3d& place : set.positions) {
      low = std::min(low, place.z());
      high = std::max(high, place.z());
    }
    EXPECT_GE(low - cell.origin.z(), r * (1 - 1e-8));
    EXPECT_NEAR(low - cell.origin.z(), cell.origin.z() + cell.edges(2, 2) - high, 1e-12);
    for (const CellShift& shift : set.bond_shifts) EXPECT_EQ(shift[2], 0);

    PeriodicCell longer = cell;
    longer.edges(0, 0) *= 1.1;
    EXPECT_THAT(message_of([&] {
                  pack_periodic_lattice(longer, {kind, r}, "cell");
                }),
                HasSubstr("holds no whole number of these"));
  }
}

TEST(PeriodicCell, RandomPackingsFillTheWholeCell) {
  const double r = 0.09;
  PeriodicCell cell;
  const ClosedSurface box = box_surface({1, 1, 1});
  cell.origin = box.box().min();
  ParticleSet set = pack_random(box, {r, 1.2 * r, 1}, cell);
  bond(set, 2e-3);
  double solid = 0;
  for (std::size_t i = 0; i < set.positions.size(); ++i) {
    EXPECT_EQ(cell.shift_of(set.positions[i]), CellShift{});
    solid += 4 * std::numbers::pi / 3 * std::pow(set.radii[i], 3);
    for (std::size_t j = i + 1; j < set.positions.size(); ++j) {
      const Eigen::Vector3d line =
          set.positions[j] + cell.vector(cell.nearest(set.positions[i], set.positions[j])) - set.positions[i];
      EXPECT_GE(line.norm(), (set.radii[i] + set.radii[j]) * (1 - random_packing_overlap - 1e-12));
    }
  }
  // No layer along walls is less dense.
  EXPECT_GT(solid, 0.6);
  EXPECT_LT(solid, 0.7);
  EXPECT_GT(2 * double(set.bonds.size()) / double(set.positions.size()), 4);
  EXPECT_TRUE(std::ranges::any_of(set.bond_shifts, [](const CellShift& shift) { return !is_zero(shift); }));

  cell.repeats = {true, true, false};
  set = pack_random(box, {r, r, 1}, cell);
  for (const Eigen::Vector3d& place : set.positions)
    EXPECT_LE(std::abs(place.z() - box.box().center().z()), 0.5 - r + 1e-12);
  EXPECT_THAT(message_of([&] { pack_random(box, {0.2, 0.2, 1}, cell); }), HasSubstr("three times as wide"));
}

} // namespace periodic_cell_test

} // namespace recoil::particles

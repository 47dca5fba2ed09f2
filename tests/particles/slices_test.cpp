#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "particles/support.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/distributed_particles.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/particles/particle_slices.hpp"
#include "recoil/particles/partition.hpp"

namespace recoil::particles {

namespace {

namespace slices_test {

using Position = std::array<double, 3>;

std::vector<Position> plain(const std::vector<Eigen::Vector3d>& positions) {
  std::vector<Position> result;
  for (const Eigen::Vector3d& p : positions) result.push_back({p.x(), p.y(), p.z()});
  return result;
}

/// One after the other what the ranks hold is the whole, to the bit, and the other ends are where they say.
void expect_whole(const parallel::Communicator& comm, const ParticleSlices& slices,
                  const ParticleSet& whole) {
  EXPECT_EQ(slices.num_particles, std::ssize(whole.positions));
  EXPECT_EQ(slices.num_bonds, std::ssize(whole.bonds));
  EXPECT_EQ(slices.share.body_names, whole.body_names);
  struct Particle {
    GlobalIndex id;
    Position position;
    double radius, volume;
    std::int32_t body;
  };
  struct Bond {
    GlobalIndex id;
    std::array<std::int64_t, 2> ends;
    double young_modulus;
  };
  const ParticleSet& share = slices.share;
  std::vector<Particle> particles;
  for (std::size_t k = 0; k < slices.ids.size(); ++k)
    particles.push_back(
        {slices.ids[k], plain(share.positions)[k], share.radii[k], share.volumes[k], share.body[k]});
  std::vector<Bond> bonds;
  for (std::size_t k = 0; k < slices.bond_ids.size(); ++k)
    bonds.push_back({slices.bond_ids[k], share.bonds[k],
                     share.bond_constants.empty() ? 0 : share.bond_constants[k].young_modulus});
  EXPECT_TRUE(std::ranges::is_sorted(slices.ids));
  EXPECT_TRUE(std::ranges::is_sorted(slices.bond_ids));

  std::vector<GlobalIndex> entries;
  for (const GlobalIndex id : slices.ids) entries.insert(entries.end(), {id, comm.rank()});
  const std::vector<GlobalIndex> all_entries = comm.all_gather_parts(entries);
  std::map<GlobalIndex, GlobalIndex> holder;
  for (std::size_t k = 0; k < all_entries.size(); k += 2) holder[all_entries[k]] = all_entries[k + 1];
  std::map<GlobalIndex, GlobalIndex> others, expected;
  for (const auto& [id, rank] : slices.other_ends) others[id] = rank;
  for (const Bond& bond : bonds) {
    EXPECT_EQ(holder.at(bond.ends[0]), comm.rank());
    if (holder.at(bond.ends[1]) != comm.rank()) expected[bond.ends[1]] = holder.at(bond.ends[1]);
  }
  EXPECT_EQ(others, expected);
  EXPECT_EQ(others.size(), slices.other_ends.size());

  particles = parallel::gather(comm, 0, particles);
  bonds = parallel::gather(comm, 0, bonds);
  if (comm.rank() != 0) return;
  std::ranges::sort(particles, {}, &Particle::id);
  std::ranges::sort(bonds, {}, &Bond::id);
  ASSERT_EQ(particles.size(), whole.positions.size());
  ASSERT_EQ(bonds.size(), whole.bonds.size());
  const std::vector<Position> positions = plain(whole.positions);
  for (std::size_t k = 0; k < particles.size(); ++k) {
    EXPECT_EQ(particles[k].id, GlobalIndex(k));
    EXPECT_EQ(particles[k].position, positions[k]);
    EXPECT_EQ(particles[k].radius, whole.radii[k]);
    EXPECT_EQ(particles[k].volume, whole.volumes[k]);
    EXPECT_EQ(particles[k].body, whole.body[k]);
  }
  for (std::size_t k = 0; k < bonds.size(); ++k) {
    EXPECT_EQ(bonds[k].id, GlobalIndex(k));
    EXPECT_EQ(bonds[k].ends, whole.bonds[k]);
    if (!whole.bond_constants.empty() && !std::isnan(whole.bond_constants[k].young_modulus)) {
      EXPECT_EQ(bonds[k].young_modulus, whole.bond_constants[k].young_modulus);
    }
  }
}

struct Body {
  ClosedSurface surface;
  Lattice lattice;
  Inside inside = Inside::whole_sphere;
  double tolerance = 1e-6;
};

ParticleSet make_whole(const Body& body) {
  ParticleSet set = pack_centred_lattice(body.surface, body.lattice, body.inside);
  set.bonds = bond_neighbours(set, body.tolerance);
  return set;
}

ParticleSlices make_slices(const parallel::Communicator& comm, const Body& body) {
  ParticleSlices slices = pack_lattice_slices(comm, body.surface, body.lattice, body.inside);
  bond_lattice_slices(comm, slices, body.lattice, body.tolerance);
  return slices;
}

void expect_same(const Body& body) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  expect_whole(comm, make_slices(comm, body), make_whole(body));
}

Body bar() { return {box_surface({3, 1, 0.8}), {LatticeKind::hcp, 0.08}}; }

/// Bonded lattices of both kinds, and a body that the first rank alone has, with constants of its bonds and
/// loose particles.
std::pair<ParticleSlices, ParticleSet> scene(const parallel::Communicator& comm) {
  const Body ball{ball_surface(1, 4), {LatticeKind::fcc, 0.15, some_rotation()}, Inside::centre};
  ParticleSet own = make_whole({box_surface({1, 0.5, 0.5}), {LatticeKind::hcp, 0.1}});
  for (std::size_t k = 0; k < own.bonds.size(); ++k)
    own.bond_constants.emplace_back().young_modulus = 1e6 + double(k);
  own.positions.emplace_back(0, 9, 0);
  own.radii.push_back(0.3);
  own.volumes.push_back(0.1);
  own.body.push_back(0);
  ParticleSet whole = make_whole(bar());
  append(whole, own);
  append(whole, make_whole(ball));
  ParticleSlices slices = make_slices(comm, bar());
  append(slices, slices_of(comm, comm.rank() == 0 ? std::move(own) : ParticleSet()));
  append(slices, make_slices(comm, ball));
  return {std::move(slices), std::move(whole)};
}

/// The parts of all particles, by id, on the first rank.
std::vector<int> gathered(const parallel::Communicator& comm, const ParticleSlices& slices,
                          const std::vector<int>& parts) {
  struct Part {
    GlobalIndex id;
    int part;
  };
  std::vector<Part> all;
  for (std::size_t k = 0; k < parts.size(); ++k) all.push_back({slices.ids[k], parts[k]});
  all = parallel::gather(comm, 0, all);
  std::ranges::sort(all, {}, &Part::id);
  std::vector<int> result;
  for (const Part& own : all) result.push_back(own.part);
  return result;
}

void expect_equal(const DistributedParticles& a, const DistributedParticles& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(plain(a.positions), plain(b.positions));
  EXPECT_EQ(a.radii, b.radii);
  EXPECT_EQ(a.volumes, b.volumes);
  EXPECT_EQ(a.body, b.body);
  EXPECT_EQ(a.body_names, b.body_names);
  EXPECT_EQ(a.num_bonds_global, b.num_bonds_global);
  EXPECT_EQ(a.points->offset, b.points->offset);
  EXPECT_EQ(a.points->num_owned, b.points->num_owned);
  EXPECT_EQ(a.points->ghosts, b.points->ghosts);
  EXPECT_EQ(a.graph->offsets, b.graph->offsets);
  EXPECT_EQ(a.graph->neighbours, b.graph->neighbours);
  ASSERT_EQ(a.bonds.size(), b.bonds.size());
  ASSERT_EQ(a.bond_constants.size(), b.bond_constants.size());
  for (std::size_t k = 0; k < a.bonds.size(); ++k) {
    EXPECT_EQ(a.bonds[k].a, b.bonds[k].a);
    EXPECT_EQ(a.bonds[k].b, b.bonds[k].b);
    EXPECT_EQ(a.bonds[k].id, b.bonds[k].id);
  }
  for (std::size_t k = 0; k < a.bond_constants.size(); ++k)
    EXPECT_TRUE(
        a.bond_constants[k].young_modulus == b.bond_constants[k].young_modulus ||
        (std::isnan(a.bond_constants[k].young_modulus) && std::isnan(b.bond_constants[k].young_modulus)));
}

} // namespace slices_test

using namespace slices_test;

TEST(ParticleSlices, AreThoseOfTheWhole) {
  expect_same(bar());
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc})
    for (const Inside inside : {Inside::whole_sphere, Inside::centre}) {
      expect_same({ball_surface(1, 4), {kind, 0.12}, inside});
      expect_same(
          {LShape{some_rotation(), {1, -2, 3}}.surface(),
           {kind, 0.09, Eigen::AngleAxisd(0.4, Eigen::Vector3d::UnitY()).toRotationMatrix(), {0.3, 0.2, 0.1}},
           inside});
    }
}

// Slices end within a layer, and within a row.
TEST(ParticleSlices, DivideThinBodies) {
  expect_same({box_surface({2, 2, 0.25}), {LatticeKind::hcp, 0.06}});
  expect_same({box_surface({2, 2, 0.2}), {LatticeKind::hcp, 0.06}, Inside::centre, 0.5});
  expect_same({box_surface({4, 0.2, 0.2}), {LatticeKind::hcp, 0.09}});
}

TEST(ParticleSlices, BondFartherNeighbours) {
  for (const double tolerance : {0.0, 0.2, 0.5, 1.2}) {
    Body body = bar();
    body.tolerance = tolerance;
    expect_same(body);
  }
}

TEST(ParticleSlices, LeaveRanksEmpty) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Body one{box_surface({0.5, 0.5, 0.5}), {LatticeKind::hcp, 0.2}};
  ASSERT_EQ(make_whole(one).positions.size(), 1);
  expect_same(one);
  ParticleSlices slices = make_slices(comm, one);
  const std::vector<int> parts = partition(comm, slices);
  EXPECT_EQ(comm.sum(GlobalIndex(distribute(comm, std::move(slices), parts).num_owned())), 1);
}

TEST(ParticleSlices, HoldSeveralBodies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto [slices, whole] = scene(comm);
  expect_whole(comm, slices, whole);
}

TEST(ParticleSlices, AreDistributedAsTheWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto distributed = [&](auto part_of) {
    auto [slices, whole] = scene(comm);
    std::vector<int> parts;
    for (const GlobalIndex id : slices.ids) parts.push_back(part_of(id));
    const std::vector<int> owners = gathered(comm, slices, parts);
    expect_equal(distribute(comm, std::move(slices), parts), distribute(comm, whole, owners));
  };
  distributed([&](GlobalIndex id) { return int(id / 5 % comm.size()); });
  distributed([&](GlobalIndex) { return comm.size() - 1; });
}

TEST(ParticleSlices, ArePartitionedWhoeverHasThem) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto [slices, whole] = scene(comm);
  const std::vector<int> parts = gathered(comm, slices, partition(comm, slices));
  ParticleSlices on_first = slices_of(comm, comm.rank() == 0 ? ParticleSet(whole) : ParticleSet());
  EXPECT_EQ(parts, partition(comm, on_first));
}

TEST(ParticleSlices, ArePartitionedAsWellAsTheWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Body body = bar();
  body.lattice.radius = 0.03;
  const ParticleSlices slices = make_slices(comm, body);
  const std::vector<int> parts = gathered(comm, slices, partition(comm, slices));
  if (comm.rank() != 0) return;
  const ParticleSet whole = make_whole(body);
  const auto cut = [&](const std::vector<int>& of) {
    return std::ranges::count_if(whole.bonds, [&](const auto& bond) { return of[bond[0]] != of[bond[1]]; });
  };
  std::vector<std::int64_t> counts(comm.size(), 0);
  for (const int part : parts) ++counts[part];
  EXPECT_LT(imbalance(counts), 1.05);
  EXPECT_LE(double(cut(parts)), 1.3 * double(cut(partition(whole, comm.size()))));
}

TEST(ParticleSlices, RefuseWrongInputOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Body body = bar();
  body.lattice.radius = -1;
  EXPECT_THAT(message_of([&] { make_slices(comm, body); }), ::testing::HasSubstr("must be positive"));
  body.lattice.radius = 0.6;
  EXPECT_THAT(message_of([&] { make_slices(comm, body); }), ::testing::HasSubstr("no particle fits"));
  body = bar();
  body.tolerance = -1;
  EXPECT_THAT(message_of([&] { make_slices(comm, body); }), ::testing::HasSubstr("0 or more"));
}

TEST(ParticleSlices, KnowTheSurfaceOfTheFirstRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ClosedSurface ell = LShape().surface(), other = box_surface({1, 2, 3});
  const ClosedSurface mine = on_every_rank(comm, comm.rank() == 0 ? &ell : &other);
  EXPECT_EQ(mine.name(), "ell");
  EXPECT_EQ(plain(mine.vertices()), plain(ell.vertices()));
  EXPECT_EQ(mine.triangles(), ell.triangles());
  // Added up in the order of the hierarchy.
  EXPECT_NEAR(mine.volume(), ell.volume(), 1e-14 * ell.volume());
}

} // namespace

} // namespace recoil::particles

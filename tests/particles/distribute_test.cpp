#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/distributed_particles.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/particles/weibull.hpp"

namespace recoil::particles {

namespace {

/// A block of hcp, a block of fcc beside it with another radius, and particles without bonds; every rank
/// makes it for itself.
ParticleSet blocks() {
  const auto block = [](const char* name, double shift, const Lattice& lattice) {
    mesh::GeometrySpec spec;
    spec.name = name;
    spec.generator = mesh::Generator{};
    spec.generator->size = {1, 0.8, 0.7};
    spec.transformation.translation = {shift, 0, 0};
    return pack_lattice(boundary_of_body(mesh::assemble_geometry(std::vector{spec}, 3).deformable, 0),
                        lattice);
  };
  ParticleSet set = block("first", 0, {LatticeKind::hcp, 0.06});
  append(set, block("second", 1.5, {LatticeKind::fcc, 0.07}));
  set.body_names.emplace_back("gas");
  for (int i = 0; i < 5; ++i) {
    set.positions.emplace_back(0.1 * i, 2, 0.3);
    set.radii.push_back(0.01);
    set.volumes.push_back(1e-5);
    set.body.push_back(2);
  }
  set.bonds = bond_neighbours(set);
  return set;
}

/// The same particles in another order.
ParticleSet shuffled(const ParticleSet& set) {
  std::vector<std::size_t> order(set.positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(4));
  ParticleSet result;
  result.body_names = set.body_names;
  for (const std::size_t i : order) {
    result.positions.push_back(set.positions[i]);
    result.radii.push_back(set.radii[i]);
    result.volumes.push_back(set.volumes[i]);
    result.body.push_back(set.body[i]);
  }
  result.bonds = bond_neighbours(result);
  return result;
}

std::size_t at(GlobalIndex index) { return static_cast<std::size_t>(index); }

void check_particles(const DistributedParticles& mine, const ParticleSet& whole) {
  ASSERT_EQ(std::ssize(mine.ids), mine.points->num_local());
  ASSERT_EQ(mine.positions.size(), mine.ids.size());
  ASSERT_EQ(mine.radii.size(), mine.ids.size());
  ASSERT_EQ(mine.volumes.size(), mine.ids.size());
  ASSERT_EQ(mine.body.size(), mine.ids.size());
  EXPECT_EQ(mine.body_names, whole.body_names);
  for (std::size_t i = 0; i < mine.ids.size(); ++i) {
    const std::size_t id = at(mine.ids[i]);
    EXPECT_EQ(mine.positions[i], whole.positions[id]);
    EXPECT_EQ(mine.radii[i], whole.radii[id]);
    EXPECT_EQ(mine.volumes[i], whole.volumes[id]);
    EXPECT_EQ(mine.body[i], whole.body[id]);
  }
  EXPECT_TRUE(std::is_sorted(mine.ids.begin(), mine.ids.begin() + mine.num_owned()));
  EXPECT_EQ(std::set<GlobalIndex>(mine.ids.begin(), mine.ids.end()).size(), mine.ids.size());
}

/// Owner and global number of every particle, known everywhere for the test.
std::map<GlobalIndex, std::array<GlobalIndex, 2>> owners(const parallel::Communicator& comm,
                                                         const DistributedParticles& mine) {
  std::vector<GlobalIndex> entries;
  for (LocalIndex i = 0; i < mine.num_owned(); ++i) {
    entries.push_back(mine.ids[at(i)]);
    entries.push_back(comm.rank());
    entries.push_back(mine.points->global(i));
  }
  std::map<GlobalIndex, std::array<GlobalIndex, 2>> result;
  const auto all = comm.all_gather_parts(entries);
  for (std::size_t i = 0; i < all.size(); i += 3)
    EXPECT_TRUE(result.try_emplace(all[i], std::array{all[i + 1], all[i + 2]}).second) << "owned twice";
  return result;
}

void check_layouts(const parallel::Communicator& comm, const DistributedParticles& mine, std::size_t size) {
  const linalg::VectorLayout &points = *mine.points, &tangents = *mine.tangents;
  EXPECT_EQ(points.block_size, 7);
  EXPECT_EQ(tangents.block_size, 6);
  EXPECT_EQ(points.comm, &comm);
  EXPECT_EQ(points.num_global, static_cast<GlobalIndex>(size));
  EXPECT_EQ(points.offset, comm.exclusive_scan(GlobalIndex{points.num_owned}));
  EXPECT_EQ(points.num_owned, tangents.num_owned);
  EXPECT_EQ(points.offset, tangents.offset);
  EXPECT_EQ(points.num_global, tangents.num_global);
  EXPECT_EQ(points.ghosts, tangents.ghosts);
  EXPECT_TRUE(std::ranges::is_sorted(points.ghosts));
  // Ghosts get what their owners have.
  linalg::Vector ids(mine.tangents);
  auto owned = ids.write_owned();
  for (std::size_t k = 0; k < owned.size(); ++k) owned[k] = static_cast<double>(6 * mine.ids[k / 6]) + k % 6;
  ids.update_ghosts();
  for (std::size_t k = 0; k < ids.local().size(); ++k)
    EXPECT_EQ(ids.local()[k], static_cast<double>(6 * mine.ids[k / 6]) + k % 6);
}

void check_distribution(const ParticleSet& whole, const std::vector<int>& owners_of_all = {}) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const bool root = comm.rank() == 0;
  const DistributedParticles mine =
      distribute(comm, root ? whole : ParticleSet{}, root ? owners_of_all : std::vector<int>{});
  check_particles(mine, whole);
  check_layouts(comm, mine, whole.positions.size());
  const auto owner = owners(comm, mine);
  EXPECT_EQ(owner.size(), whole.positions.size());
  for (std::size_t id = 0; id < owners_of_all.size(); ++id)
    EXPECT_EQ(owner.at(GlobalIndex(id))[0], owners_of_all[id]);
  for (LocalIndex i = mine.num_owned(); i < mine.points->num_local(); ++i) {
    EXPECT_NE(owner.at(mine.ids[at(i)])[0], comm.rank());
    EXPECT_EQ(owner.at(mine.ids[at(i)])[1], mine.points->global(i));
  }

  // Bonds with an owned end, their other ends as ghosts, and no other ghosts.
  EXPECT_EQ(mine.num_bonds_global, std::ssize(whole.bonds));
  std::size_t next = 0;
  GlobalIndex counted = 0;
  std::set<GlobalIndex> ghosts;
  std::map<GlobalIndex, std::set<GlobalIndex>> neighbours;
  for (GlobalIndex id = 0; id < std::ssize(whole.bonds); ++id) {
    const auto [i, j] = whole.bonds[at(id)];
    const bool own_i = owner.at(i)[0] == comm.rank(), own_j = owner.at(j)[0] == comm.rank();
    if (!own_i && !own_j) continue;
    ASSERT_LT(next, mine.bonds.size());
    const DistributedParticles::Bond& bond = mine.bonds[next++];
    EXPECT_EQ(bond.id, id);
    EXPECT_EQ(mine.ids[at(bond.a)], i);
    EXPECT_EQ(mine.ids[at(bond.b)], j);
    EXPECT_EQ(mine.owns(bond), own_i);
    counted += mine.owns(bond);
    if (!own_i) ghosts.insert(i);
    if (!own_j) ghosts.insert(j);
    if (own_i) neighbours[i].insert(owner.at(j)[1]);
    if (own_j) neighbours[j].insert(owner.at(i)[1]);
  }
  EXPECT_EQ(next, mine.bonds.size());
  EXPECT_EQ(comm.sum(counted), mine.num_bonds_global);
  EXPECT_EQ(ghosts, std::set<GlobalIndex>(mine.ids.begin() + mine.num_owned(), mine.ids.end()));

  const linalg::NodeGraph& graph = *mine.graph;
  ASSERT_EQ(std::ssize(graph.offsets), mine.num_owned() + 1);
  for (LocalIndex row = 0; row < mine.num_owned(); ++row) {
    std::set<GlobalIndex> expected = neighbours[mine.ids[at(row)]];
    expected.insert(mine.points->global(row));
    std::vector<GlobalIndex> found;
    for (auto k = graph.offsets[at(row)]; k < graph.offsets[at(row) + 1]; ++k)
      found.push_back(mine.points->global(graph.neighbours[at(k)]));
    EXPECT_EQ(found, std::vector<GlobalIndex>(expected.begin(), expected.end()));
  }
}

TEST(DistributeParticles, GivesEveryRankItsBonds) { check_distribution(blocks()); }
TEST(DistributeParticles, TakesParticlesInAnyOrder) { check_distribution(shuffled(blocks())); }

TEST(DistributeParticles, GivesParticlesToTheirOwners) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ParticleSet set = blocks();
  std::vector<int> owners(set.positions.size());
  for (std::size_t id = 0; id < owners.size(); ++id) owners[id] = static_cast<int>(id / 7) % comm.size();
  check_distribution(set, owners);
  check_distribution(set, std::vector<int>(set.positions.size(), comm.size() - 1));
}

TEST(DistributeParticles, CollectsWhatWasDistributed) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  ParticleSet whole = shuffled(blocks());
  EXPECT_TRUE(collect(distribute(comm, comm.rank() == 0 ? whole : ParticleSet{})).bond_constants.empty());
  for (std::size_t bond = 0; bond < whole.bonds.size(); ++bond) {
    whole.bond_constants.emplace_back().young_modulus = 1e6 + double(bond);
    whole.bond_constants.back().shear_strength = 2e5 + double(bond);
    if (bond % 2 == 0) whole.bond_constants.back().poisson_ratio = 0.3 / double(bond + 1);
  }
  const ParticleSet set = collect(distribute(comm, comm.rank() == 0 ? whole : ParticleSet{}));
  if (comm.rank() != 0) {
    EXPECT_TRUE(set.positions.empty());
    return;
  }
  EXPECT_EQ(set.positions, whole.positions);
  EXPECT_EQ(set.radii, whole.radii);
  EXPECT_EQ(set.volumes, whole.volumes);
  EXPECT_EQ(set.body, whole.body);
  EXPECT_EQ(set.body_names, whole.body_names);
  EXPECT_EQ(set.bonds, whole.bonds);
  ASSERT_EQ(set.bond_constants.size(), whole.bond_constants.size());
  for (std::size_t bond = 0; bond < whole.bonds.size(); ++bond) {
    EXPECT_EQ(set.bond_constants[bond].young_modulus, whole.bond_constants[bond].young_modulus);
    EXPECT_EQ(set.bond_constants[bond].shear_strength, whole.bond_constants[bond].shear_strength);
    EXPECT_TRUE(std::isnan(set.bond_constants[bond].tensile_strength));
    EXPECT_EQ(std::isnan(set.bond_constants[bond].poisson_ratio), bond % 2 == 1);
    if (bond % 2 == 0) {
      EXPECT_EQ(set.bond_constants[bond].poisson_ratio, whole.bond_constants[bond].poisson_ratio);
    }
  }
}

TEST(DistributeParticles, LeavesRanksEmpty) {
  ParticleSet set = blocks();
  set.positions.resize(2);
  set.radii.resize(2);
  set.volumes.resize(2);
  set.body.resize(2);
  set.bonds = {{0, 1}};
  check_distribution(set);
}

TEST(DistributeParticles, TakesParticlesWithoutBonds) {
  ParticleSet set = blocks();
  set.bonds.clear();
  check_distribution(set);
}

TEST(DistributeParticles, BalancesAndRepeats) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ParticleSet set = blocks();
  const DistributedParticles a = distribute(comm, set), b = distribute(comm, set);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.points->offset, b.points->offset);
  const double mean = static_cast<double>(set.positions.size()) / comm.size();
  EXPECT_LT(a.num_owned(), 1.1 * mean);
  // A cut through blocks of a few hundred particles takes a layer of each side along.
  EXPECT_LT(static_cast<double>(a.points->ghosts.size()), 0.8 * mean);
}

// Loose particles of which METIS alone would not know where they lie.
TEST(DistributeParticles, KeepsLooseParticlesTogether) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  ParticleSet set;
  set.body_names = {"gas"};
  std::mt19937 generator(9);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    set.positions.emplace_back(uniform(generator), uniform(generator), uniform(generator));
    set.radii.push_back(0.01);
    set.volumes.push_back(1e-5);
    set.body.push_back(0);
  }
  const DistributedParticles mine = distribute(comm, set);
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  for (LocalIndex i = 0; i < mine.num_owned(); ++i) mean += mine.positions[at(i)] / mine.num_owned();
  double squares = 0;
  for (LocalIndex i = 0; i < mine.num_owned(); ++i) squares += (mine.positions[at(i)] - mean).squaredNorm();
  // The variance of the unit cube is 1/4, which shares at random would have; that of one half of it is 3/16.
  const double variance = comm.sum(squares) / 1000;
  if (comm.size() > 1) {
    EXPECT_LT(variance, 0.22);
  }
}

TEST(DistributeParticles, MakesALayoutForMatrices) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedParticles mine = distribute(comm, blocks());
  linalg::BlockMatrix matrix(mine.tangents, mine.graph);
  const auto values = matrix.begin_filling();
  const Eigen::Matrix<double, 6, 6> identity = Eigen::Matrix<double, 6, 6>::Identity();
  for (const auto& [a, b, id] : mine.bonds)
    for (const auto& [row, column] : {std::pair(a, b), std::pair(b, a)}) {
      if (row >= mine.num_owned()) continue;
      const Eigen::Matrix<double, 6, 6> opposite = -identity;
      values.add<6>(row, matrix.position(row, row), identity.data(), 6);
      values.add<6>(row, matrix.position(row, column), opposite.data(), 6);
    }
  matrix.finish_filling();
  linalg::Vector ones(mine.tangents), product(mine.tangents);
  ones.fill(1);
  matrix.multiply(ones, product);
  EXPECT_EQ(product.norm(), 0);
}

// Every rank that holds a bond gives it the strength that it has on one rank.
TEST(DistributeParticles, BondsHaveTheirRandomFactorsOnAnyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ParticleSet whole = blocks();
  std::map<std::array<std::int64_t, 2>, double> factors;
  for (std::size_t id = 0; id < whole.bonds.size(); ++id)
    factors[whole.bonds[id]] = weibull_factor(5, 2, static_cast<GlobalIndex>(id));
  const DistributedParticles mine = distribute(comm, whole);
  for (const auto& [a, b, id] : mine.bonds)
    EXPECT_EQ(weibull_factor(5, 2, id), factors.at({mine.ids[a], mine.ids[b]}));
}

TEST(DistributeParticles, RefusesWrongSetsOnEveryRank) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  EXPECT_THROW(distribute(comm, ParticleSet{}), InputError);
  ParticleSet set = comm.rank() == 0 ? blocks() : ParticleSet{};
  if (comm.rank() == 0) set.bonds[3] = set.bonds[2];
  EXPECT_THROW(distribute(comm, set), InputError);
}

} // namespace

} // namespace recoil::particles

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "particles/end_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/distributed_particles.hpp"
#include "recoil/particles/partition.hpp"

namespace recoil::particles {

namespace {

/// What travels of a particle; plain, so that it can go as bytes.
struct ParticleRecord {
  std::array<double, 3> position;
  double radius, volume;
  GlobalIndex id;
  std::int32_t body;
};

struct GhostRecord {
  ParticleRecord particle;
  GlobalIndex number; ///< of the layouts
};

/// Ends by their ids, with the ranks that get them.
struct BondRecord {
  GlobalIndex a, b, id;
  int rank_of_a, rank_of_b;
  BondConstants constants;
  CellShift shift; ///< zero without a cell
};

/// Messages to every rank.
struct Shares {
  std::vector<std::vector<ParticleRecord>> owned;
  std::vector<std::vector<BondRecord>> bonds;
};

Shares deal(const parallel::Communicator& comm, const ParticleSlices& slices, const std::vector<int>& parts) {
  const ParticleSet& set = slices.share;
  Shares shares;
  shares.owned.resize(comm.size());
  shares.bonds.resize(comm.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Eigen::Vector3d& position = set.positions[k];
    shares.owned[parts[k]].push_back({{position.x(), position.y(), position.z()},
                                      set.radii[k],
                                      set.volumes[k],
                                      slices.ids[k],
                                      set.body[k]});
  }
  const EndValues<int> rank_of(comm, slices, parts);
  for (std::size_t bond = 0; bond < set.bonds.size(); ++bond) {
    const auto [i, j] = set.bonds[bond];
    const BondRecord record{i,
                            j,
                            slices.bond_ids[bond],
                            rank_of[i],
                            rank_of[j],
                            set.bond_constants.empty() ? BondConstants() : set.bond_constants[bond],
                            set.bond_shifts.empty() ? CellShift{} : set.bond_shifts[bond]};
    shares.bonds[record.rank_of_a].push_back(record);
    if (record.rank_of_b != record.rank_of_a) shares.bonds[record.rank_of_b].push_back(record);
  }
  return shares;
}

/// All that the ranks send to this one, by id; the messages are gone then. Collective.
template <class Record>
std::vector<Record> take_all(const parallel::Communicator& comm, std::vector<std::vector<Record>>& outgoing) {
  const auto incoming = parallel::exchange(comm, std::exchange(outgoing, {}));
  std::vector<Record> all;
  for (const std::vector<Record>& part : incoming) all.insert(all.end(), part.begin(), part.end());
  if (!std::ranges::is_sorted(all, {}, &Record::id)) std::ranges::sort(all, {}, &Record::id);
  return all;
}

/// The other ends of bonds from their owners, by number. Collective.
std::vector<GhostRecord> ask_for_ghosts(const parallel::Communicator& comm, GlobalIndex offset,
                                        const std::vector<ParticleRecord>& owned,
                                        const std::vector<BondRecord>& bonds) {
  struct Question {
    int rank;
    GlobalIndex id;
    auto operator<=>(const Question&) const = default;
  };
  std::vector<Question> ghosts;
  for (const BondRecord& bond : bonds) {
    if (bond.rank_of_a != comm.rank()) ghosts.push_back({bond.rank_of_a, bond.a});
    if (bond.rank_of_b != comm.rank()) ghosts.push_back({bond.rank_of_b, bond.b});
  }
  // Numbers ascend with ranks, and with ids on each.
  std::ranges::sort(ghosts);
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  return parallel::ask_owners(
      comm, ghosts, [](const Question& ghost) { return ghost.rank; },
      [&](const Question& ghost, int) {
        const auto place = std::ranges::lower_bound(owned, ghost.id, {}, &ParticleRecord::id);
        return GhostRecord{*place, offset + (place - owned.begin())};
      });
}

void add_particle(const ParticleRecord& record, DistributedParticles& particles) {
  particles.ids.push_back(record.id);
  particles.positions.emplace_back(record.position[0], record.position[1], record.position[2]);
  particles.radii.push_back(record.radius);
  particles.volumes.push_back(record.volume);
  particles.body.push_back(record.body);
}

/// Layouts of the owned particles and of their ghosts, and what both have. Collective.
void make_layouts(const parallel::Communicator& comm, const std::vector<ParticleRecord>& owned,
                  const std::vector<BondRecord>& bonds, DistributedParticles& particles) {
  linalg::VectorLayout layout;
  layout.comm = &comm;
  layout.num_owned = static_cast<LocalIndex>(owned.size());
  layout.offset = comm.exclusive_scan(GlobalIndex{layout.num_owned});
  layout.num_global = comm.sum(GlobalIndex{layout.num_owned});
  for (const ParticleRecord& record : owned) add_particle(record, particles);
  for (const GhostRecord& ghost : ask_for_ghosts(comm, layout.offset, owned, bonds)) {
    layout.ghosts.push_back(ghost.number);
    add_particle(ghost.particle, particles);
  }
  layout.block_size = 7;
  particles.points = std::make_shared<linalg::VectorLayout>(layout);
  layout.block_size = 6;
  particles.tangents = std::make_shared<linalg::VectorLayout>(layout);
}

void add_bonds(const std::vector<BondRecord>& records, DistributedParticles& particles) {
  const linalg::VectorLayout& layout = *particles.points;
  std::unordered_map<GlobalIndex, LocalIndex> ghost;
  for (LocalIndex i = layout.num_owned; i < layout.num_local(); ++i) ghost[particles.ids[i]] = i;
  const std::span owned = std::span(particles.ids).first(layout.num_owned);
  const auto local = [&](GlobalIndex id, int rank) {
    return rank == layout.comm->rank()
               ? static_cast<LocalIndex>(std::ranges::lower_bound(owned, id) - owned.begin())
               : ghost.at(id);
  };
  particles.bonds.reserve(records.size());
  for (const BondRecord& record : records)
    particles.bonds.push_back(
        {local(record.a, record.rank_of_a), local(record.b, record.rank_of_b), record.id});
}

std::shared_ptr<const linalg::NodeGraph> graph_of(const DistributedParticles& particles) {
  const linalg::VectorLayout& layout = *particles.points;
  std::vector<std::vector<LocalIndex>> rows(layout.num_owned);
  for (LocalIndex row = 0; row < layout.num_owned; ++row) rows[row].push_back(row);
  for (const auto& [a, b, id] : particles.bonds) {
    if (a < layout.num_owned) rows[a].push_back(b);
    if (b < layout.num_owned) rows[b].push_back(a);
  }
  auto graph = std::make_shared<linalg::NodeGraph>();
  graph->offsets.push_back(0);
  for (std::vector<LocalIndex>& row : rows) {
    std::ranges::sort(row, {}, [&](LocalIndex node) { return layout.global(node); });
    graph->neighbours.insert(graph->neighbours.end(), row.begin(), row.end());
    graph->offsets.push_back(std::ssize(graph->neighbours));
  }
  return graph;
}

} // namespace

DistributedParticles distribute(const parallel::Communicator& comm, ParticleSlices&& slices,
                                const std::vector<int>& parts) {
  if (slices.num_particles == 0)
    throw InputError("particles", "there are none: there is nothing to simulate");
  DistributedParticles particles;
  particles.num_bonds_global = slices.num_bonds;
  particles.body_names = slices.share.body_names;
  particles.cell = slices.share.cell;
  const bool have_constants = comm.any(!slices.share.bond_constants.empty());
  Shares shares = deal(comm, slices, parts);
  slices = {};
  const std::vector<ParticleRecord> owned = take_all(comm, shares.owned);
  const std::vector<BondRecord> bonds = take_all(comm, shares.bonds);
  make_layouts(comm, owned, bonds, particles);
  add_bonds(bonds, particles);
  particles.graph = graph_of(particles);
  if (have_constants)
    for (const BondRecord& record : bonds) particles.bond_constants.push_back(record.constants);
  if (particles.cell)
    for (const BondRecord& record : bonds) particles.bond_shifts.push_back(record.shift);
  return particles;
}

DistributedParticles distribute(const parallel::Communicator& comm, ParticleSet set,
                                const std::vector<int>& owners) {
  if (comm.rank() != 0) set = {};
  const std::vector<int> parts = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return std::vector<int>();
    check(set, "particles");
    return owners.empty() ? partition(set, comm.size()) : owners;
  });
  return distribute(comm, slices_of(comm, std::move(set)), parts);
}

ParticleSet collect(const DistributedParticles& particles) {
  const parallel::Communicator& comm = *particles.points->comm;
  std::vector<ParticleRecord> own;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    const Eigen::Vector3d& position = particles.positions[k];
    own.push_back({{position.x(), position.y(), position.z()},
                   particles.radii[k],
                   particles.volumes[k],
                   particles.ids[k],
                   particles.body[k]});
  }
  std::vector<BondRecord> bonds;
  const bool has_constants = comm.any(!particles.bond_constants.empty());
  for (std::size_t k = 0; k < particles.bonds.size(); ++k)
    if (const DistributedParticles::Bond& bond = particles.bonds[k]; particles.owns(bond))
      bonds.push_back({particles.ids[bond.a], particles.ids[bond.b], bond.id, 0, 0,
                       has_constants ? particles.bond_constants[k] : BondConstants(),
                       particles.cell ? particles.bond_shifts[k] : CellShift{}});

  own = parallel::gather(comm, 0, std::move(own));
  bonds = parallel::gather(comm, 0, std::move(bonds));
  ParticleSet set;
  if (comm.rank() != 0) return set;
  std::ranges::sort(own, {}, &ParticleRecord::id);
  std::ranges::sort(bonds, {}, &BondRecord::id);
  for (const ParticleRecord& record : own) {
    set.positions.emplace_back(record.position[0], record.position[1], record.position[2]);
    set.radii.push_back(record.radius);
    set.volumes.push_back(record.volume);
    set.body.push_back(record.body);
  }
  for (const BondRecord& record : bonds) {
    set.bonds.push_back({record.a, record.b});
    if (has_constants) set.bond_constants.push_back(record.constants);
    if (particles.cell) set.bond_shifts.push_back(record.shift);
  }
  set.body_names = particles.body_names;
  set.cell = particles.cell;
  return set;
}

} // namespace recoil::particles

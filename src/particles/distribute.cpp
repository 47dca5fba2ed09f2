#include <algorithm>
#include <numeric>
#include <unordered_map>

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
  GlobalIndex id, number; ///< in the set, and global number of the layouts
  std::int32_t body;
};

/// Ends by their global numbers, or ids.
struct BondRecord {
  GlobalIndex a, b, id;
  BondConstants constants;
};

/// Messages to every rank.
struct Shares {
  std::vector<std::vector<ParticleRecord>> owned, ghosts;
  std::vector<std::vector<BondRecord>> bonds;
};

/// Global numbers, contiguous per part and ascending with ids inside of each.
std::vector<GlobalIndex> numbers_of(const std::vector<int>& parts, int num_parts) {
  std::vector<GlobalIndex> next(num_parts + 1, 0), numbers(parts.size());
  for (const int part : parts) ++next[part + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < parts.size(); ++i) numbers[i] = next[parts[i]]++;
  return numbers;
}

Shares deal(const ParticleSet& set, const std::vector<int>& parts, int num_parts) {
  const std::vector<GlobalIndex> numbers = numbers_of(parts, num_parts);
  const auto record = [&](GlobalIndex id) {
    const Eigen::Vector3d& position = set.positions[id];
    return ParticleRecord{{position.x(), position.y(), position.z()},
                          set.radii[id],
                          set.volumes[id],
                          id,
                          numbers[id],
                          set.body[id]};
  };
  Shares shares;
  shares.owned.resize(num_parts);
  shares.ghosts.resize(num_parts);
  shares.bonds.resize(num_parts);
  for (GlobalIndex id = 0; id < std::ssize(parts); ++id) shares.owned[parts[id]].push_back(record(id));
  for (GlobalIndex bond = 0; bond < std::ssize(set.bonds); ++bond) {
    const auto [i, j] = set.bonds[bond];
    const BondRecord message{numbers[i], numbers[j], bond,
                             set.bond_constants.empty() ? BondConstants() : set.bond_constants[bond]};
    shares.bonds[parts[i]].push_back(message);
    if (parts[i] == parts[j]) continue;
    shares.bonds[parts[j]].push_back(message);
    shares.ghosts[parts[i]].push_back(record(j));
    shares.ghosts[parts[j]].push_back(record(i));
  }
  for (auto& ghosts : shares.ghosts) {
    std::ranges::sort(ghosts, {}, &ParticleRecord::number);
    const auto same = [](const ParticleRecord& a, const ParticleRecord& b) { return a.number == b.number; };
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end(), same), ghosts.end());
  }
  return shares;
}

void make_layouts(const parallel::Communicator& comm, const std::vector<ParticleRecord>& owned,
                  const std::vector<ParticleRecord>& ghosts, DistributedParticles& particles) {
  linalg::VectorLayout layout;
  layout.comm = &comm;
  layout.num_owned = static_cast<LocalIndex>(owned.size());
  layout.offset = comm.exclusive_scan(GlobalIndex{layout.num_owned});
  layout.num_global = comm.sum(GlobalIndex{layout.num_owned});
  for (const ParticleRecord& ghost : ghosts) layout.ghosts.push_back(ghost.number);
  layout.block_size = 7;
  particles.points = std::make_shared<linalg::VectorLayout>(layout);
  layout.block_size = 6;
  particles.tangents = std::make_shared<linalg::VectorLayout>(layout);
}

void add_particles(const std::vector<ParticleRecord>& records, DistributedParticles& particles) {
  for (const ParticleRecord& record : records) {
    particles.ids.push_back(record.id);
    particles.positions.emplace_back(record.position[0], record.position[1], record.position[2]);
    particles.radii.push_back(record.radius);
    particles.volumes.push_back(record.volume);
    particles.body.push_back(record.body);
  }
}

void add_bonds(const std::vector<BondRecord>& records, DistributedParticles& particles) {
  const linalg::VectorLayout& layout = *particles.points;
  std::unordered_map<GlobalIndex, LocalIndex> ghost;
  for (LocalIndex i = layout.num_owned; i < layout.num_local(); ++i) ghost[layout.global(i)] = i;
  const auto local = [&](GlobalIndex number) {
    const GlobalIndex own = number - layout.offset;
    return own >= 0 && own < layout.num_owned ? static_cast<LocalIndex>(own) : ghost.at(number);
  };
  for (const BondRecord& record : records)
    particles.bonds.push_back({local(record.a), local(record.b), record.id});
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

DistributedParticles distribute(const parallel::Communicator& comm, const ParticleSet& set,
                                const std::vector<int>& owners) {
  const bool root = comm.rank() == 0;
  Shares shares;
  parallel::collectively(comm, [&] {
    if (!root) return;
    check(set, "particles");
    if (set.positions.empty()) throw InputError("particles", "there are none: there is nothing to simulate");
    shares = deal(set, owners.empty() ? partition(set, comm.size()) : owners, comm.size());
  });
  for (auto* messages : {&shares.owned, &shares.ghosts}) messages->resize(comm.size());
  shares.bonds.resize(comm.size());

  DistributedParticles particles;
  const auto owned = std::move(parallel::exchange(comm, shares.owned)[0]);
  const auto ghosts = std::move(parallel::exchange(comm, shares.ghosts)[0]);
  const auto bonds = std::move(parallel::exchange(comm, shares.bonds)[0]);
  make_layouts(comm, owned, ghosts, particles);
  add_particles(owned, particles);
  add_particles(ghosts, particles);
  add_bonds(bonds, particles);
  particles.graph = graph_of(particles);
  if (comm.any(!set.bond_constants.empty()))
    for (const BondRecord& record : bonds) particles.bond_constants.push_back(record.constants);
  particles.num_bonds_global = comm.sum(root ? std::ssize(set.bonds) : GlobalIndex{0});
  if (root) particles.body_names = set.body_names;
  comm.broadcast(particles.body_names);
  return particles;
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
                   particles.points->global(k),
                   particles.body[k]});
  }
  std::vector<BondRecord> bonds;
  const bool has_constants = comm.any(!particles.bond_constants.empty());
  for (std::size_t k = 0; k < particles.bonds.size(); ++k)
    if (const DistributedParticles::Bond& bond = particles.bonds[k]; particles.owns(bond))
      bonds.push_back({particles.ids[bond.a], particles.ids[bond.b], bond.id,
                       has_constants ? particles.bond_constants[k] : BondConstants()});

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
  }
  set.body_names = particles.body_names;
  return set;
}

} // namespace recoil::particles

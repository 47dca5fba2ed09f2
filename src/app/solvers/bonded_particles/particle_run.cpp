#include "recoil/app/solvers/bonded_particles/particle_run.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "recoil/app/run/run_state.hpp"
#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/bonded_particles/particle_report.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/log.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/partition.hpp"

namespace recoil::app {

namespace {

/// A new partition is worth the move, or a new attempt that of asking METIS, if the imbalance is that many
/// times larger.
constexpr double worth = 1.1;

/// Largest work of a rank over the mean. Collective.
double imbalance_of(const parallel::Communicator& comm, const solvers::ParticleWork& work) {
  return particles::imbalance(
      comm.all_gather(std::accumulate(work.of_owned.begin(), work.of_owned.end(), GlobalIndex{0})));
}

/// All particles in the order of their ids and all pairs in ascending order, on the first rank; empty
/// elsewhere. Collective.
particles::PartitionGraph gather_graph(const solvers::BondedParticles& problem,
                                       const solvers::ParticleWork& work, std::span<const double> u) {
  struct Record {
    GlobalIndex id;
    std::array<double, 3> position;
    std::int32_t work;
  };
  using Pair = std::array<std::int64_t, 2>;
  const particles::DistributedParticles& of = *problem.particles;
  const parallel::Communicator& comm = *of.points->comm;
  std::vector<Record> own;
  for (LocalIndex k = 0; k < of.num_owned(); ++k) {
    const double* p = u.data() + 7 * std::size_t(k);
    own.push_back({of.ids[k], {p[0], p[1], p[2]}, work.of_owned[k]});
  }
  std::vector<Pair> bonds;
  for (LocalIndex k = 0; k < std::ssize(of.bonds); ++k)
    if (of.owns(of.bonds[k]) && !problem.bonds->is_broken(k))
      bonds.push_back({of.ids[of.bonds[k].a], of.ids[of.bonds[k].b]});

  own = parallel::gather(comm, 0, std::move(own));
  particles::PartitionGraph graph;
  graph.bonds = parallel::gather(comm, 0, std::move(bonds));
  graph.contacts = parallel::gather(comm, 0, work.contacts);
  std::ranges::sort(own, {}, &Record::id);
  std::ranges::sort(graph.bonds);
  std::ranges::sort(graph.contacts);
  for (const Record& record : own) {
    graph.positions.emplace_back(record.position[0], record.position[1], record.position[2]);
    graph.work.push_back(record.work);
  }
  return graph;
}

/// Rank of each particle, on the first one, and the imbalance that this leads to.
struct Deal {
  std::vector<int> owners;
  double imbalance = 1;
};

/// Collective.
Deal deal_again(const parallel::Communicator& comm, particles::PartitionGraph graph) {
  Deal deal = parallel::collectively(comm, [&] {
    Deal found;
    if (comm.rank() != 0) return found;
    found.owners = particles::partition(graph, comm.size());
    std::vector<std::int64_t> sums(comm.size(), 0);
    for (std::size_t k = 0; k < graph.work.size(); ++k) sums[found.owners[k]] += graph.work[k];
    found.imbalance = particles::imbalance(sums);
    return found;
  });
  deal.imbalance = comm.max(deal.imbalance);
  return deal;
}

/// Fields in memory, for layouts with other owners. Collective.
FieldReader keep(const std::vector<checkpoint::Field>& fields) {
  struct Block {
    int components;
    std::vector<double> values;
  };
  std::map<std::string, Block> blocks;
  for (const checkpoint::Field& field : fields)
    blocks[field.name] = {field.components, field.layout->to_blocks<double>(field.owned, field.components)};
  return [blocks = std::move(blocks)](const std::string& name, const io::BlockLayout& layout) {
    const Block& block = blocks.at(name);
    return layout.from_blocks<double>(block.values, block.components);
  };
}

} // namespace

ParticleRun::ParticleRun(const RunStart& start)
    : comm_(start.comm), loaded_(start.loaded), folder_(start.folder.root()),
      begin_(-std::numeric_limits<double>::infinity()) {
  OwnersOf owners;
  if (start.continues) {
    read_distribution(start.folder);
    owners = [&](GlobalIndex count, std::span<const GlobalIndex> ids) {
      return read_owners(start.folder, count, ids);
    };
  }
  solver_ = make_particle_solver(comm_, scene(), distribute_bodies(comm_, scene(), loaded_.geometry, owners),
                                 loaded_.geometry.obstacles);
  output_ = std::make_unique<ParticleOutput>(*solver_, scene(), &distribution_);
  tables_.emplace(comm_, scene(), *solver_, folder_);
}

std::vector<std::string> ParticleRun::describe() { return describe_bodies(loaded_, solver_->problem()); }

void ParticleRun::read_distribution(const checkpoint::RunFolder& folder) {
  checkpoint::TrajectoryReader reader(comm_, folder.trajectory());
  const GlobalIndex newest = reader.restart_point().states.front();
  begin_ = reader.records()[newest].time;
  const stepping::Entries entries = run_state_from_json(reader.extra(newest)).restart.entries;
  distribution_.repartitions = stepping::value_of<GlobalIndex>(entries, "repartitions");
  is_on_as_many_ranks_ = stepping::value_of<GlobalIndex>(entries, "ranks") == comm_.size();
  if (is_on_as_many_ranks_) distribution_.reached = stepping::value_of<double>(entries, "reached_imbalance");
}

/// See OwnersOf; unknown where the run was on another number of ranks, or with other bodies.
std::vector<int> ParticleRun::read_owners(const checkpoint::RunFolder& folder, GlobalIndex num_particles,
                                          std::span<const GlobalIndex> ids) const {
  if (!is_on_as_many_ranks_) return {};
  checkpoint::TrajectoryReader reader(comm_, folder.trajectory());
  const GlobalIndex newest = reader.restart_point().states.front();
  if (reader.shape(newest, "rank").rows != num_particles) return {};
  const std::vector<double> ranks = reader.read(newest, "rank", io::BlockLayout(comm_, ids));
  return {ranks.begin(), ranks.end()};
}

void ParticleRun::before_step() {
  const double allowed = particles_of(scene()).solver.max_imbalance;
  if (allowed >= comm_.size()) return;
  const solvers::BondedParticles& problem = solver_->problem();
  const std::span<const double> u = solver_->history().newest().u.owned();
  const solvers::ParticleWork work = work_of(problem, solver_->time(), u);
  const double before = imbalance_of(comm_, work);
  // Where METIS could not do better last time it is not asked in every step.
  if (before <= std::max(allowed, worth * distribution_.reached)) return;
  const Deal deal = deal_again(comm_, gather_graph(problem, work, u));
  distribution_.reached = deal.imbalance;
  if (before <= worth * deal.imbalance) {
    log_debug(
        fmt::format("the largest work of a rank is {:.2f} times the mean, no partition is better", before));
    return;
  }
  move_to(deal.owners);
  ++distribution_.repartitions;
  log_info(fmt::format(
      "particles are dealt out again: the largest work of a rank is {:.2f} times the mean, was {:.2f}",
      deal.imbalance, before));
}

void ParticleRun::move_to(const std::vector<int>& owners) {
  const stepping::State& state = solver_->history().newest();
  const GlobalIndex id = state.id;
  const io::BlockLayout& nodes = output_->nodes();
  std::vector<checkpoint::Field> fields = output_->restart_fields();
  fields.push_back({"u", state.u.layout().block_size, &nodes, state.u.owned()});
  fields.push_back({"v", state.v.layout().block_size, &nodes, state.v.owned()});
  const FieldReader read = keep(fields);
  const stepping::RestartData data = solver_->restart_data();

  solver_->move_to(make_particle_problem(comm_, scene(),
                                         distribute(comm_, collect(*solver_->problem().particles), owners),
                                         loaded_.geometry.obstacles));
  output_before_ =
      std::exchange(output_, std::make_unique<ParticleOutput>(*solver_, scene(), &distribution_));
  output_->restore(read);
  std::vector<stepping::State> states;
  states.push_back(read_state(read, id, *solver_, *output_));
  solver_->continue_from(data, std::move(states));
  tables_.emplace(comm_, scene(), *solver_, folder_);
}

} // namespace recoil::app

#include "recoil/app/solvers/bonded_particles/spring_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/potentials/spheres/contact_springs.hpp"

namespace recoil::app {

namespace {

using potentials::spring_width;

/// A number of rows that is at least `springs`, of a series that grows by a quarter.
GlobalIndex num_rows(GlobalIndex springs) {
  GlobalIndex rows = 16;
  while (rows < springs) rows += rows / 4;
  return rows;
}

/// Rows of the springs of owned particles, then this rank's share of the empty ones. Collective.
std::unique_ptr<const io::BlockLayout> layout_of(const io::BlockLayout& nodes,
                                                 std::span<const double> counts) {
  const parallel::Communicator& comm = nodes.communicator();
  std::vector<double> in_order = nodes.to_blocks<double>(counts, 1);
  GlobalIndex own = 0;
  for (const double count : in_order) own += GlobalIndex(count);
  const GlobalIndex total = comm.sum(own);
  GlobalIndex next = comm.exclusive_scan(own);
  for (double& entry : in_order) {
    const GlobalIndex count = GlobalIndex(entry);
    entry = double(next);
    next += count;
  }
  const std::vector<double> first = nodes.from_blocks<double>(in_order, 1);
  std::vector<GlobalIndex> rows;
  for (std::size_t k = 0; k < first.size(); ++k)
    for (GlobalIndex i = 0; i < GlobalIndex(counts[k]); ++i) rows.push_back(GlobalIndex(first[k]) + i);
  const GlobalIndex empty = num_rows(total) - total;
  for (GlobalIndex i = io::block_begin(empty, comm.rank(), comm.size());
       i < io::block_begin(empty, comm.rank() + 1, comm.size()); ++i)
    rows.push_back(total + i);
  return std::make_unique<const io::BlockLayout>(comm, rows);
}

} // namespace

void SpringFields::add(const io::BlockLayout& nodes, const particles::DistributedParticles& particles,
                       std::span<const double> springs, std::vector<checkpoint::Field>& fields) {
  State state;
  state.counts.resize(particles.num_owned(), 0.0);
  const std::span ids = std::span(particles.ids).first(particles.num_owned());
  for (const potentials::ContactSpring& spring : potentials::unpacked(springs))
    ++state.counts[std::ranges::lower_bound(ids, spring.first) - ids.begin()];
  state.layout = layout_of(nodes, state.counts);
  state.rows.assign(springs.begin(), springs.end());
  state.rows.resize(std::size_t(state.layout->owned_size()) * spring_width, 0.0);
  newest_.push_front(std::move(state));
  if (newest_.size() > 2) newest_.pop_back();
  const State& kept = newest_.front();
  fields.push_back({"springs", 1, &nodes, kept.counts, io::Centre::node, true});
  fields.push_back(
      {"tangential_springs", spring_width, kept.layout.get(), kept.rows, io::Centre::none, true});
}

std::vector<double> SpringFields::read(const FieldReader& read, const io::BlockLayout& nodes) {
  const std::vector<double> counts = read("springs", nodes);
  const auto layout = layout_of(nodes, counts);
  std::vector<double> rows = read("tangential_springs", *layout);
  if (!nodes.communicator().all(rows.size() == std::size_t(layout->owned_size()) * spring_width))
    throw FileError(fmt::format(
        "the springs along contacts in the trajectory (tangential_springs) need {} numbers for each spring, "
        "but "
        "another version of recoil wrote them: begin the run anew, or continue it with that version",
        spring_width));
  std::size_t own = 0;
  for (const double count : counts) own += std::size_t(count);
  rows.resize(own * spring_width);
  return rows;
}

} // namespace recoil::app

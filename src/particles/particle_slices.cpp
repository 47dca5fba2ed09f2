#include "recoil/particles/particle_slices.hpp"

#include <iterator>
#include <numeric>
#include <utility>

namespace recoil::particles {

namespace {

/// The cell of the first rank, or none, on all. Collective.
void share_cell(const parallel::Communicator& comm, std::optional<PeriodicCell>& cell) {
  std::vector<double> numbers;
  if (cell) {
    numbers.assign(cell->edges.data(), cell->edges.data() + 9);
    numbers.insert(numbers.end(), cell->origin.data(), cell->origin.data() + 3);
    for (const bool repeats : cell->repeats) numbers.push_back(repeats ? 1 : 0);
  }
  comm.broadcast(numbers);
  cell.reset();
  if (numbers.empty()) return;
  cell.emplace();
  cell->edges = Eigen::Map<const Eigen::Matrix3d>(&numbers[0]);
  cell->origin = Eigen::Map<const Eigen::Vector3d>(&numbers[9]);
  for (std::size_t k = 0; k < 3; ++k) cell->repeats[k] = numbers[12 + k] != 0;
}

} // namespace

ParticleSlices slices_of(const parallel::Communicator& comm, ParticleSet&& set) {
  ParticleSlices slices;
  slices.share = std::move(set);
  comm.broadcast(slices.share.body_names);
  share_cell(comm, slices.share.cell);
  slices.ids.resize(slices.share.positions.size());
  std::iota(slices.ids.begin(), slices.ids.end(), GlobalIndex{0});
  slices.bond_ids.resize(slices.share.bonds.size());
  std::iota(slices.bond_ids.begin(), slices.bond_ids.end(), GlobalIndex{0});
  slices.num_particles = comm.sum(GlobalIndex(slices.ids.size()));
  slices.num_bonds = comm.sum(GlobalIndex(slices.bond_ids.size()));
  return slices;
}

void append(ParticleSlices& slices, const ParticleSlices& other) {
  const auto first_bond = slices.share.bonds.size();
  const GlobalIndex here = std::ssize(slices.share.positions);
  append(slices.share, other.share);
  for (auto bond = slices.share.bonds.begin() + std::ptrdiff_t(first_bond); bond != slices.share.bonds.end();
       ++bond)
    for (std::int64_t& end : *bond) end += slices.num_particles - here;
  for (const GlobalIndex id : other.ids) slices.ids.push_back(slices.num_particles + id);
  for (const GlobalIndex id : other.bond_ids) slices.bond_ids.push_back(slices.num_bonds + id);
  for (const auto& [id, rank] : other.other_ends)
    slices.other_ends.push_back({slices.num_particles + id, rank});
  slices.num_particles += other.num_particles;
  slices.num_bonds += other.num_bonds;
}

} // namespace recoil::particles

#include "recoil/particles/particle_slices.hpp"

#include <iterator>
#include <numeric>
#include <utility>

namespace recoil::particles {

ParticleSlices slices_of(const parallel::Communicator& comm, ParticleSet&& set) {
  ParticleSlices slices;
  slices.share = std::move(set);
  comm.broadcast(slices.share.body_names);
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

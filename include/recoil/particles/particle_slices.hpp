#pragma once

#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/particles/packing.hpp"
#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

/// A ParticleSet before it is distributed, of which every rank holds a share: some of the particles, and the
/// bonds that have their first end among these. No rank holds the whole.
struct ParticleSlices {
  /// The end of a bond that another rank holds.
  struct OtherEnd {
    GlobalIndex id;
    int rank;
  };

  ParticleSet share; ///< with the names of all bodies on every rank; ends of bonds by number in the whole
  std::vector<GlobalIndex> ids;                 ///< number in the whole of each particle, ascending
  std::vector<GlobalIndex> bond_ids;            ///< number in the whole of each bond, ascending
  std::vector<OtherEnd> other_ends;             ///< ascending, each once
  GlobalIndex num_particles = 0, num_bonds = 0; ///< of the whole
};

/// Slices of a set that the first rank holds, all of it on that rank. Collective.
ParticleSlices slices_of(const parallel::Communicator& comm, ParticleSet&& set);

/// Appends particles, bodies and bonds of `other`, whose numbers count on from those of `slices`.
void append(ParticleSlices& slices, const ParticleSlices& other);

/// pack_centred_lattice(), of which every rank makes a share: about as many points of the lattice each, in
/// the order of ranks. Numbers and positions are those of the whole, to the bit. Collective.
/// @throws InputError on every rank, as pack_centred_lattice().
ParticleSlices pack_lattice_slices(const parallel::Communicator& comm, const ClosedSurface& surface,
                                   const Lattice& lattice, Inside inside = Inside::whole_sphere);

/// Makes the bonds of bond_neighbours() in a body of a lattice that has none, numbers included. Collective.
/// @param lattice of pack_lattice_slices(). @throws InputError on every rank, as bond_neighbours().
void bond_lattice_slices(const parallel::Communicator& comm, ParticleSlices& body, const Lattice& lattice,
                         double tolerance = 1e-6);

/// Part of each particle of the share, balanced by their number: mesh::partition_items() with the bonds as
/// connections. Depends on the whole and the number of ranks only. Collective.
std::vector<int> partition(const parallel::Communicator& comm, const ParticleSlices& slices);

} // namespace recoil::particles

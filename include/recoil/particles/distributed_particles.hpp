#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/particles/particle_slices.hpp"

namespace recoil::particles {

/// One rank's particles: those that it owns, then as ghosts the other ends of their bonds. A rank may own
/// nothing.
struct DistributedParticles {
  /// Position and unit quaternion of each particle (7 numbers), displacement and rotation (6 numbers); the
  /// same owned and ghost particles.
  std::shared_ptr<const linalg::VectorLayout> points, tangents;

  std::vector<GlobalIndex> ids;           ///< number in the ParticleSet: owned ones ascending, then those of
                                          ///< points->ghosts in their order, which is that of global numbers
  std::vector<Eigen::Vector3d> positions; ///< [m]
  std::vector<double> radii;              ///< [m]
  std::vector<double> volumes;            ///< [m^3]
  std::vector<std::int32_t> body;         ///< index into body_names
  std::vector<std::string> body_names;    ///< of all bodies, on every rank

  struct Bond {
    LocalIndex a, b; ///< a has the smaller id
    GlobalIndex id;  ///< number in ParticleSet::bonds
  };
  std::vector<Bond> bonds;                   ///< all with an owned end, by id
  std::vector<BondConstants> bond_constants; ///< of these bonds; empty: those of the materials
  std::optional<PeriodicCell> cell;          ///< on every rank; none: nothing repeats
  std::vector<CellShift> bond_shifts;        ///< of ends b of these bonds; empty without a cell
  /// Rows of the owned particles: themselves and those bonded to them.
  std::shared_ptr<const linalg::NodeGraph> graph;
  GlobalIndex num_bonds_global = 0;

  LocalIndex num_owned() const { return points->num_owned; }
  /// True on the one rank that counts the bond in sums: the owner of a.
  bool owns(const Bond& bond) const { return bond.a < points->num_owned; }
};

/// Gives every rank the particles of `parts` that are its own, and the bonds at these. `parts` are those of
/// the particles of the share; the same whole, parts and number of ranks give the same result, whoever held
/// which slice. `comm` must outlive the layouts. Collective. @throws InputError on every rank for slices
/// without particles.
DistributedParticles distribute(const parallel::Communicator& comm, ParticleSlices&& slices,
                                const std::vector<int>& parts);

/// The same of a `set` that the first rank holds, as it holds `owners`, the rank of each particle; empty:
/// parts of the bodies at rest (partition()). What other ranks give is not looked at.
/// @throws InputError on every rank, too, for a set that check() refuses.
DistributedParticles distribute(const parallel::Communicator& comm, ParticleSet set,
                                const std::vector<int>& owners = {});

/// The set that was distributed, to the bit, on rank 0; empty elsewhere. Collective.
ParticleSet collect(const DistributedParticles& particles);

} // namespace recoil::particles

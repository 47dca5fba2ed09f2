#pragma once

#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/particles/particle_set.hpp"

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
  /// Rows of the owned particles: themselves and those bonded to them.
  std::shared_ptr<const linalg::NodeGraph> graph;
  GlobalIndex num_bonds_global = 0;

  LocalIndex num_owned() const { return points->num_owned; }
  /// True on the one rank that counts the bond in sums: the owner of a.
  bool owns(const Bond& bond) const { return bond.a < points->num_owned; }
};

/// Gives every rank its share of `set`, which is read on rank 0 only, as is `owners`, the rank of each
/// particle; empty: parts of the bodies at rest (partition()). The same set, owners and number of ranks give
/// the same shares. `comm` must outlive the layouts. Collective.
/// @throws InputError on every rank for a set without particles or one that check() refuses.
DistributedParticles distribute(const parallel::Communicator& comm, const ParticleSet& set,
                                const std::vector<int>& owners = {});

/// The set that was distributed, to the bit, on rank 0; empty elsewhere. Collective.
ParticleSet collect(const DistributedParticles& particles);

} // namespace recoil::particles

#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/collide/candidates.hpp"
#include "recoil/parallel/halo.hpp"
#include "recoil/particles/distributed_particles.hpp"

namespace recoil::potentials {

/// What never changes of a particle in contact; plain, so that it travels between ranks as bytes.
struct Sphere {
  std::array<double, 3> rest; ///< [m]
  double radius;              ///< [m]
  GlobalIndex node;           ///< global number in vectors
  GlobalIndex id;             ///< number in the ParticleSet, whatever ranks there are
  std::int32_t body;
  std::int32_t owner;       ///< rank
  std::uint32_t prescribed; ///< bit i: component i of its tangent vectors is prescribed
};

/// The particles that the contact pairs of one rank touch: all that it owns, numbered as in vectors, then
/// those of other ranks. Moves fields to the pairs and forces back to the owners.
class Spheres {
public:
  Spheres() = default;
  /// `foreign`: particles of other ranks by their number there, by rank, each once. `prescribed`: 6 flags a
  /// particle. Collective.
  Spheres(const particles::DistributedParticles& particles, std::span<const char> prescribed,
          std::span<const collide::RemoteItem> foreign);

  LocalIndex size() const { return LocalIndex(data_.size()); }
  LocalIndex num_owned() const { return num_owned_; }
  const Sphere& operator[](LocalIndex sphere) const { return data_[sphere]; }

  /// `width` numbers of each from those of the owned ones (more at the end are ignored). Collective.
  std::vector<double> gather(std::span<const double> owned, int width) const;
  /// Adds `width` numbers of each to those of its owner in `owned`, times `factor`, in rank order.
  /// Collective.
  void add_to_owners(std::vector<double>& values, int width, double factor, std::span<double> owned) const;

  const parallel::Halo& halo() const { return halo_; }

private:
  LocalIndex num_owned_ = 0;
  std::vector<Sphere> data_;
  parallel::Halo halo_;
};

} // namespace recoil::potentials

#pragma once

#include <functional>
#include <span>

#include "recoil/linalg/vector.hpp"

namespace recoil::linalg {

/// Vectors that a matrix nearly maps to zero, from which algebraic multigrid builds its interpolation: the
/// rigid motions of elastic bodies, translations and spins of particles. Orthonormal; modes that are (nearly)
/// dependent on the others - all nodes on a line, a body held at all but a few nodes - are left out, so there
/// may be fewer than were given.
class NearNullSpace {
public:
  /// Writes the owned entries of mode k.
  using Fill = std::function<void(int mode, std::span<double> values)>;

  /// Cost a few passes over the vectors per mode and mode before it. Collective.
  NearNullSpace(const VectorLayout& layout, int num_modes, const Fill& fill);

  int num_modes() const { return num_modes_; }
  /// Null handle without modes (everything is constrained).
  MatNullSpace get() const { return null_space_.get(); }

private:
  NullSpaceHandle null_space_;
  int num_modes_ = 0;
};

/// Rigid body modes of the nodes at `positions` [m]: translations and linearised rotations about the
/// centroid, 3 in 2D, 6 in 3D; zero in constrained entries.
///
/// `positions` (dim entries per node, owned ones current), `constrained` one flag per local entry (node-major
/// with components; only owned ones are read). Collective.
NearNullSpace rigid_body_modes(const Vector& positions, std::span<const char> constrained);

} // namespace recoil::linalg

#pragma once

#include <span>

#include "recoil/linalg/vector.hpp"

namespace recoil::linalg {

/// Rigid body modes of the nodes at `positions`, the near-kernel from which algebraic multigrid builds its
/// interpolation: translations and linearised rotations about the centroid, 3 in 2D, 6 in 3D. Zero in
/// constrained entries and orthonormalised; modes that are (nearly) dependent on the others - all nodes on a
/// line, a body held at all but a few nodes - are left out, so there may be fewer.
///
/// `positions` (dim entries per node, owned ones current), `constrained` one flag per local entry (node-major
/// with components; only owned ones are read). Cost a few passes over the vectors. Collective.
class NearNullSpace {
public:
  NearNullSpace(const Vector& positions, std::span<const char> constrained);

  int num_modes() const { return num_modes_; }
  /// Null handle without modes (everything is constrained).
  MatNullSpace get() const { return null_space_.get(); }

private:
  NullSpaceHandle null_space_;
  int num_modes_ = 0;
};

} // namespace recoil::linalg

#pragma once

#include <functional>

#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// A linear system that is known by its products. Arguments have current ghosts; results are set on owned
/// entries. Both functions are collective.
struct NonsymmetricSystem {
  std::function<void(const Vector& in, Vector& out)> multiply;
  std::function<void(const Vector& in, Vector& out)> precondition; ///< an approximate inverse; may vary
};

/// Solves A x = b from x = 0 by flexible GMRES with right preconditioning (PETSc's KSPFGMRES) until
/// |b - A x| <= relative_tolerance |b|. Owned and ghost entries of x are set. Collective.
/// @throws whatever the functions throw, which must be the same on all ranks.
LinearResult solve_nonsymmetric(const NonsymmetricSystem& system, const Vector& b, Vector& x,
                                double relative_tolerance, int max_iterations);

} // namespace recoil::linalg

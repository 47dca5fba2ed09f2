#pragma once

#include <memory>
#include <vector>

#include "linalg/symmetric_blocks.hpp"
#include "recoil/linalg/petsc.hpp"

struct gamg_TAG; // PETSc's PC_GAMG

namespace recoil::linalg {

/// What PETSc keeps of GAMG, with the steps of its set-up; null for other preconditioners. Not collective.
const gamg_TAG* find_gamg(PC preconditioner);

/// Has GAMG form the operators P'A P of its levels by BlockTripleProduct where that takes them, by PETSc's
/// products elsewhere. Other preconditioners stay as they are. Before the set-up; not collective.
void use_block_products(PC preconditioner);

/// By level, null where PETSc multiplies.
using LevelProducts = std::vector<std::unique_ptr<SymmetricBlocks>>;

/// Has smoothers and residuals of GAMG's levels between the coarsest and the finest multiply by
/// SymmetricBlocks where BlockTripleProduct formed the operator. Other preconditioners stay as they are.
/// After every set-up, with the same `products`, which must outlive the use of the preconditioner.
/// Collective.
void multiply_levels_by_halves(PC preconditioner, LevelProducts& products);

/// Whether `matrix` was formed by BlockTripleProduct. Not collective.
bool is_block_product(Mat matrix);

} // namespace recoil::linalg

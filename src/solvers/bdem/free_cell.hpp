#pragma once

#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/solvers/bdem/problem.hpp"

/// Cells of which entries of F are free (CellMotion::free_entries()), so that their mean stress vanishes.
/// With particles where they are they follow from the bonds across faces, z(x) = argmin V(x, z): what is left
/// is a function of x with the gradient dV/dx at z(x) and the Hessian V_xx - V_xz V_zz^-1 V_zx (static
/// condensation). Where both F_ij and F_ji are free they change alike, so that the cell does not turn.
namespace recoil::solvers {

/// Brings the free entries to z(x). `u` has 7 numbers a particle, ghosts current. Nothing without free
/// entries. Collective.
void balance_cell(const BondedParticles& problem, std::span<const double> u);

/// Appends the columns of V_xz L^-T, V_zz = L L', with L by Cholesky, that are to be taken from the Hessian,
/// each as the product with itself. `like` has the layout of the unknowns. Collective.
void add_columns_of_cell(const BondedParticles& problem, std::span<const double> u,
                         const linalg::Vector& like, std::vector<linalg::Vector>& columns);

} // namespace recoil::solvers

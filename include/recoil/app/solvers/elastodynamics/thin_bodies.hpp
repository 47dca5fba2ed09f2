#pragma once

#include "recoil/fem/dirichlet.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

/// Warns of bodies of elements of order 1 that can bend: with a piece that moves, is at least five times as
/// long as thick and has at most three cells across its thickness. Strains are constant in a cell, so that it
/// bends too little (shear locking: Hughes, The Finite Element Method, 2000, ch. 4.7). One warning for each
/// number across.
///
/// The length of a piece is sqrt(12 l), l the largest principal variance of its volume; its thickness the
/// same with the smallest one, or 4 V / S (2D: 4 A / S) where that is clearly less, as in curved shells. It
/// has at most three cells across where the vertices inside, but for one in fifty of all, have an edge to the
/// boundary. Collective.
template <int dim>
void warn_of_thin_bodies(const fem::FunctionSpace<dim>& space, const fem::DirichletDofs<dim>& dirichlet);

} // namespace recoil::app
